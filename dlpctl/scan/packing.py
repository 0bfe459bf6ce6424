"""Results on their way from a worker: many are packed, and unpacked as they are taken.

Until then they take a tenth of their memory, so that it does not grow with what is found.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from dlpctl.errors import EngineError
from dlpctl.scan.results import Result

_CHUNK = 1 << 12
_LARGEST_CHUNK = 256 << 20
"""The most bytes of an unpacked chunk: a worker has read hostile files, and is not trusted."""
_LEVEL = 1


def packed(results: Iterable[Sequence[Any]]) -> list[Sequence[Any] | str]:
    """Return results as JSON carries them: as they are, or as strings with some thousands each."""
    rest = iter(results)
    chunk = [*islice(rest, _CHUNK)]
    following = [*islice(rest, _CHUNK)]
    if not following:
        return [*chunk]
    chunks: list[Sequence[Any] | str] = []
    while chunk:
        data = zlib.compress(json.dumps(chunk).encode(), _LEVEL)
        chunks.append(b64encode(data).decode())
        chunk, following = following, [*islice(rest, _CHUNK)]
    return chunks


def unpacked(carried: Iterable[Sequence[Any] | str]) -> Iterator[Result]:
    """Yield the results that JSON has carried."""
    for item in carried:
        if isinstance(item, str):
            yield from map(Result._make, _chunk(item))
        else:
            yield Result._make(item)


def _chunk(text: str) -> list[Sequence[Any]]:
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(b64decode(text), _LARGEST_CHUNK)
        if unpacker.eof:
            results: list[Sequence[Any]] = json.loads(data)
            return results
    except (ValueError, RecursionError, zlib.error):
        pass
    raise EngineError("a worker sent results that cannot be read")
