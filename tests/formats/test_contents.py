"""The bytes of a file, which a text replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dlpctl.formats.contents import FileBytes

if TYPE_CHECKING:
    from limits import Limiter

TEXT = "name,city\nJörg,Łódź\n" * 3


class Bytes(bytes):
    """Bytes that tell when they are freed."""

    def __new__(cls, data: bytes, freed: list[str]) -> Bytes:
        made = super().__new__(cls, data)
        made.freed = freed
        return made

    freed: list[str]

    def __del__(self) -> None:
        self.freed.append("freed")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_bytes_are_freed_and_made_again(mark: str, piece: int, limit: Limiter) -> None:
    limit("dlpctl.formats.contents._PIECE", piece)
    data = (mark + TEXT).encode()
    freed: list[str] = []
    content = FileBytes(Bytes(data, freed))
    for _ in range(2):
        assert content.data == data
        assert content.holds(data)
        assert not any(map(content.holds, (data[:-1], data + b"x", b"x" + data[1:], b"")))
        content.keep_as(TEXT, mark)
        assert freed == ["freed"]
    content.forget()
    assert content.data == b""


def test_a_file_may_be_no_more_than_a_mark() -> None:
    content = FileBytes("\ufeff".encode())
    content.keep_as("", "\ufeff")
    assert content.holds("\ufeff".encode())
    assert not content.holds(b"")
