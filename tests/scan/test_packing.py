"""Many results take little memory on their way from a worker, and come as they were."""

from __future__ import annotations

import json
import tracemalloc
import zlib
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import EngineError
from dlpctl.scan.packing import packed, unpacked
from dlpctl.scan.results import Result

if TYPE_CHECKING:
    from limits import Limiter


def results(count: int) -> list[Result]:
    return [
        Result(
            "a.log", n, 3, n, 30, n * 50, n * 50 + 20, "EMAIL", "PII", 0.9, "email", "E-mail", None,
            sha256(b"%d" % n).hexdigest()[:32],
        )
        for n in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 4_096, 4_097, 10_000])
def test_results_come_as_they_were(count: int) -> None:
    made = results(count)
    carried = json.loads(json.dumps(packed(iter(made))))
    assert all(isinstance(each, str) for each in carried) == (count > 4_096 or not count)
    assert [*unpacked(carried)] == made


def test_they_are_unpacked_as_they_are_taken() -> None:
    carried = packed(iter(results(12_000)))
    assert sum(map(len, carried)) * 3 < len(json.dumps(results(12_000)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in unpacked(carried)) == 12_000
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_what_is_no_chunk_ends_the_scan(limit: Limiter) -> None:
    whole = zlib.compress(json.dumps(results(3)).encode())
    for data in (b"", whole[:-9], zlib.compress(b"{"), zlib.compress(b"[" * 100_000)):
        with pytest.raises(EngineError):
            [*unpacked([b64encode(data).decode()])]
    with pytest.raises(EngineError):
        [*unpacked(["not in base64: ä"])]
    limit("dlpctl.scan.packing._LARGEST_CHUNK", 100)
    with pytest.raises(EngineError):
        [*unpacked([b64encode(whole).decode()])]
