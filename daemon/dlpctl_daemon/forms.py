"""Reads a form with a file. What was sent is kept in memory alone: nothing of it comes to lie on a
disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from werkzeug.datastructures import Headers
from werkzeug.sansio.multipart import Data, Epilogue, Event, Field, File, MultipartDecoder, NeedData

from dlpctl.errors import RequestError

_FIELD_BYTES = 1 << 20
_PARTS = 16
_CHUNK = 1 << 16


class Part(NamedTuple):
    name: str
    filename: str | None
    """None where it is no file."""
    data: bytes


def read_parts(stream: IO[bytes], boundary: str, length: int) -> list[Part]:
    decoder = _Decoder(boundary.encode("ascii", "replace"), _FIELD_BYTES, max_parts=_PARTS)
    try:
        return list(_parts(_events(decoder, stream, length)))
    except ValueError:
        raise RequestError(
            "file: is missing: the body is no form, or one that was cut off"
        ) from None


class _Decoder(MultipartDecoder):
    def _parse_headers(self, data: bytes | bytearray) -> Headers:
        """File names are UTF-8, or else Latin-1, as older clients send them."""
        try:
            return super()._parse_headers(data)
        except UnicodeDecodeError:
            return super()._parse_headers(data.decode("latin-1").encode())


def _events(decoder: MultipartDecoder, stream: IO[bytes], length: int) -> Iterator[Event]:
    left = length
    while True:
        data = stream.read(min(_CHUNK, left))
        left -= len(data)
        decoder.receive_data(data or None)
        while not isinstance(event := decoder.next_event(), NeedData):
            if isinstance(event, Epilogue):
                return
            yield event
        if not data:
            raise ValueError("cut off")


def _parts(events: Iterable[Event]) -> Iterator[Part]:
    name, filename, pieces = "", None, list[bytes]()
    for event in events:
        if isinstance(event, Field | File):
            name, pieces = event.name or "", []
            filename = event.filename if isinstance(event, File) else None
        elif isinstance(event, Data):
            pieces.append(event.data)
            if not event.more_data:
                yield Part(name, filename, b"".join(pieces))
