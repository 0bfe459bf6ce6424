"""Bodies of requests: content encodings with size limits, and forms with files."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.errors import DlpctlError
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dlpctl.gateway.inspecting import Inspected

_BOUNDARY = lazy(r"[A-Za-z0-9'()+_,./:=? -]{1,70}")
_PARAMETER = lazy(r';\s*([a-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))', 2)


class RefusedError(DlpctlError):
    """A request that the gateway refuses."""

    code = "refused"

    def __init__(self, status: int, message: str, found: Inspected | None = None) -> None:
        """`found` is the result of the inspection, if any."""
        super().__init__(message)
        self.status = status
        self.found = found


def decompressed(body: bytes, encoding: str, largest: int) -> bytes:
    """Return a body without its content encoding; raise `RefusedError` if that fails."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return body
    decode = _DECODERS.get(name)
    if decode is None:
        raise RefusedError(415, "the content encoding of the body is not supported")
    try:
        data = decode(body, largest + 1)
    except ImportError:
        raise RefusedError(415, f"the content encoding {name} is not installed") from None
    except RefusedError:
        raise
    except Exception:  # each library has its own errors
        raise RefusedError(400, f"the body is not valid {name}") from None
    if len(data) > largest:
        raise RefusedError(413, f"the decoded body is larger than {largest:,} bytes")
    return data


def _zlib(window: int) -> Callable[[bytes, int], bytes]:
    def decode(body: bytes, most: int) -> bytes:
        decoder = zlib.decompressobj(window)
        data = decoder.decompress(body, most)
        if len(data) < most and (not decoder.eof or decoder.unused_data):
            raise RefusedError(400, "the compressed body is incomplete or followed by other data")
        return data

    return decode


def _brotli(body: bytes, most: int) -> bytes:
    import brotli

    decoder = brotli.Decompressor()
    data = b"".join(_brotli_pieces(decoder, body, most))
    if len(data) < most and not decoder.is_finished():
        raise RefusedError(400, "the compressed body is incomplete")
    return data


def _brotli_pieces(decoder: Any, body: bytes, most: int) -> Iterator[bytes]:
    size, given = 0, body
    while size < most:
        piece: bytes = decoder.process(given, output_buffer_limit=most)
        given = b""
        if not piece:
            return
        size += len(piece)
        yield piece


def _zstd(body: bytes, most: int) -> bytes:
    import io

    import zstandard

    with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
        io.BytesIO(body), read_across_frames=True
    ) as reader:
        data: bytes = reader.read(most)
    return data


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _zlib(31),
    "x-gzip": _zlib(31),
    "deflate": _zlib(15),
    "br": _brotli,
    "zstd": _zstd,
}


class Part(NamedTuple):
    """A part of a form, and the position of its content in the body."""

    name: str
    filename: str | None
    start: int
    end: int


def parameters(header: str) -> dict[str, str]:
    return {
        match[1].lower(): match[2].replace("\\", "") if match[2] is not None else match[3]
        for match in _PARAMETER.finditer(header)
    }


def form_parts(body: bytes, content_type: str) -> list[Part]:
    """Return the parts of a form; raise `RefusedError` if it is malformed."""
    boundary = parameters(content_type).get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise RefusedError(400, "the form has no boundary")
    mark = b"--" + boundary.encode("ascii")
    if not body.startswith(mark):
        raise RefusedError(400, "the form does not start with its boundary")
    parts = []
    position = len(mark)
    while body[position : position + 2] == b"\r\n":
        head_end = body.find(b"\r\n\r\n", position)
        following = body.find(b"\r\n" + mark, position)
        if head_end < 0 or not head_end < following:
            raise RefusedError(400, "the form has a part without an end")
        parts.append(_part(body[position + 2 : head_end], head_end + 4, following))
        position = following + 2 + len(mark)
    if body[position:].rstrip(b"\r\n") != b"--":
        raise RefusedError(400, "the form has no end")
    return parts


def _part(head: bytes, start: int, end: int) -> Part:
    for line in head.split(b"\r\n"):
        field, _, value = line.decode("utf-8", "replace").partition(":")
        name = field.strip().lower()
        if name == "content-transfer-encoding":
            raise RefusedError(400, "a part of the form has a transfer encoding")
        if name == "content-disposition":
            given = parameters(value)
            return Part(given.get("name", ""), given.get("filename"), start, max(start, end))
    raise RefusedError(400, "a part of the form has no name")
