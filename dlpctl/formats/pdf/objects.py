"""Safe access to PDF objects: types, numbers, and a stream's bytes within a budget."""

from __future__ import annotations

import zlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeGuard

from dlpctl.errors import FormatError

if TYPE_CHECKING:
    from pikepdf import Array, Dictionary, Name, Object, Stream, String


def is_dictionary(value: object) -> TypeGuard[Dictionary]:
    """Return whether a value is a dictionary, not a stream."""
    import pikepdf

    return isinstance(value, pikepdf.Dictionary)


def is_stream(value: object) -> TypeGuard[Stream]:
    import pikepdf

    return isinstance(value, pikepdf.Stream)


def is_array(value: object) -> TypeGuard[Array]:
    import pikepdf

    return isinstance(value, pikepdf.Array)


def is_name(value: object) -> TypeGuard[Name]:
    import pikepdf

    return isinstance(value, pikepdf.Name)


def is_string(value: object) -> TypeGuard[String]:
    import pikepdf

    return isinstance(value, pikepdf.String)


def name_text(value: object) -> str:
    """Return a name with its slash, in any encoding; empty for any other object."""
    return bytes(value).decode("utf-8", "replace") if is_name(value) else ""


def number(value: Any) -> float:
    """Return a number; zero for any other object."""
    return float(value) if isinstance(value, int | float | Decimal) else 0.0


def is_true(value: object) -> bool:
    return value is True


def numbers(value: object, count: int) -> tuple[float, ...] | None:
    """Return an array of `count` numbers; None for any other object."""
    if not is_array(value) or len(value) != count:
        return None
    return tuple(number(each) for each in value)


def filters_of(stream: Object) -> list[str]:
    given = stream.get("/Filter")
    if is_name(given):
        return [name_text(given)]
    return [name_text(each) for each in given] if is_array(given) else []


def stream_bytes(stream: Object, budget: int) -> bytes:
    """Return the decoded bytes of a stream; raise if they are more than `budget`."""
    from pikepdf import StreamDecodeLevel

    filters = filters_of(stream)
    parameters = stream.get("/DecodeParms")
    if filters and all(name in ("/FlateDecode", "/Fl") for name in filters) and parameters is None:
        data = stream.read_raw_bytes()
        for _ in filters:
            data = _inflate(data, budget)
        return data
    # RunLengthDecode may expand 2 bytes to 128 at most.
    data = stream.read_bytes(StreamDecodeLevel.specialized)
    return _within(budget, data)


def before_last_filter(stream: Object, budget: int) -> bytes:
    """Return the bytes of a stream as its last filter takes them: those of a JPEG file."""
    from pikepdf import Array, Name, Object, Pdf, Stream

    def is_telling(value: object) -> bool:
        return is_dictionary(value) and len(value) > 0

    raw, names, parameters = stream.read_raw_bytes(), filters_of(stream), stream.get("/DecodeParms")
    if len(names) < 2:
        return raw
    with Pdf.new() as apart:
        earlier = Stream(apart, raw)
        earlier["/Filter"] = Array(Name(name) for name in names[:-1])
        given = list(parameters)[: len(names) - 1] if is_array(parameters) else []
        if any(map(is_telling, given)):
            earlier["/DecodeParms"] = Array(
                Object.parse(each.unparse(resolved=True) if is_telling(each) else b"null")
                for each in given
            )
        return stream_bytes(earlier, budget)


def _inflate(data: bytes, budget: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        out = inflater.decompress(data, budget + 1)
    except zlib.error:
        out = _inflate_damaged(data, budget)
    return _within(budget, out)


def _within(budget: int, data: bytes) -> bytes:
    if len(data) > budget:
        raise FormatError(
            "the PDF expands beyond the limit: raise limits.expanded_bytes if you trust it"
        )
    return data


def _inflate_damaged(data: bytes, budget: int) -> bytes:
    """Return the readable part of a damaged stream: other readers show it too."""
    inflater = zlib.decompressobj()
    out = bytearray()
    for start in range(0, len(data), 256):
        try:
            out += inflater.decompress(data[start : start + 256], budget + 1)
        except zlib.error:
            break
        if len(out) > budget:
            break
    return bytes(out)
