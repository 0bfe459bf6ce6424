"""The second reader: pypdf, which shares no code with the first, and all strings and streams."""

from __future__ import annotations

import io
import logging
import re
import zlib
from collections.abc import Iterator

from dlpctl.errors import FormatError
from dlpctl.formats.interface import Limits

_TROUBLE = (
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    AssertionError,
    zlib.error,
)
_LITERAL = re.compile(rb"\(((?:[^()\\]|\\.)*+)\)|<([0-9A-Fa-f\s]*+)>", re.DOTALL)
_FONT_PROGRAMS = ("/Type1C", "/CIDFontType0C", "/OpenType")
_FONT_NAMES = ("/BaseFont", "/FontName", "/FontFamily")
"""Typefaces have names like persons."""
_DIGITS = re.compile(r"@|[0-9]{3}")
_POSTER_PIXELS = 10_000_000
"""More pixels than this may be more bytes than pypdf expands."""
_PICTURE_FILTERS = ("/DCTDecode", "/JPXDecode", "/CCITTFaxDecode", "/JBIG2Decode")


def read(data: bytes, limits: Limits) -> list[str]:
    """Return all text of a file, in each way in which it may be written."""
    import pypdf
    from pypdf.errors import PyPdfError

    if len(data) > limits.input_bytes:
        raise FormatError(
            f"the PDF is larger than {limits.input_bytes >> 20} MB: split it or raise "
            "limits.input_bytes"
        )
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted:
            raise FormatError("the second reader cannot look into an encrypted PDF")
        texts = [page.extract_text() for page in reader.pages]
        texts += list(_objects(reader, limits))
    except (PyPdfError, NotImplementedError, *_TROUBLE) as error:
        raise FormatError(
            f"the second reader cannot read the PDF ({type(error).__name__})"
        ) from error
    texts.append(data.decode("latin-1"))
    return [text for text in texts if text]


def _objects(reader: object, limits: Limits) -> Iterator[str]:
    from pypdf import PdfReader
    from pypdf.generic import IndirectObject

    if not isinstance(reader, PdfReader):
        return
    budget = limits.expanded_bytes
    numbers = {
        (number, generation) for generation, table in reader.xref.items() for number in table
    }
    numbers |= {(number, 0) for number in reader.xref_objStm}
    yield from _strings(reader.trailer)
    for number, generation in sorted(numbers):
        item = reader.get_object(IndirectObject(number, generation, reader))
        yield from _strings(item)
        for text in _stream(item):
            budget -= len(text)
            if budget < 0:
                raise FormatError(
                    "the PDF expands beyond the limit: raise limits.expanded_bytes if you trust it"
                )
            yield text


def _strings(item: object) -> Iterator[str]:
    """Return the strings and names of an object, without following references."""
    from pypdf.generic import (
        ArrayObject,
        ByteStringObject,
        DictionaryObject,
        NameObject,
        TextStringObject,
    )

    stack = [item]
    while stack:
        each = stack.pop()
        if isinstance(each, DictionaryObject):
            stack += [
                part
                for key, value in each.items()
                if key not in _FONT_NAMES or _DIGITS.search(str(value))
                for part in (key, value)
            ]
        elif isinstance(each, ArrayObject):
            stack += list(each)
        elif isinstance(each, ByteStringObject):
            yield bytes(each).decode("latin-1")
        elif isinstance(each, TextStringObject | NameObject) and len(each) > 1:
            yield str(each)


def _stream(item: object) -> Iterator[str]:
    """Yield the decoded bytes of a stream, and its strings without operators."""
    from pypdf.errors import PyPdfError
    from pypdf.generic import StreamObject

    if not isinstance(item, StreamObject):
        return
    is_image = str(item.get("/Subtype", "")) == "/Image"
    filters = str(item.get("/Filter", ""))
    if any(name in filters for name in _PICTURE_FILTERS):
        yield item._data.decode("latin-1")
        return
    if "/Length1" in item or str(item.get("/Subtype", "")) in _FONT_PROGRAMS:
        # A font lists the characters of its text in order, which looks like a value of consecutive
        # characters.
        return
    try:
        data = item.get_data()
    except PyPdfError:
        size = [int(str(item[key])) for key in ("/Width", "/Height")] if is_image else [0, 0]
        if size[0] * size[1] > _POSTER_PIXELS:
            return
        raise
    raw = data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")
    if is_image and len(raw) > 1 << 20:
        return
    if raw.lstrip()[:8] == b"/CIDInit":
        return
    yield raw.decode("latin-1")
    if raw[:2] in (b"\xfe\xff", b"\xff\xfe"):
        yield raw.decode("utf-16", "replace")
    pieces = []
    for literal, hexadecimal in _LITERAL.findall(raw):
        digits = re.sub(rb"\s", b"", hexadecimal)
        pieces.append(literal or bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii")))
    joined = b"".join(pieces)
    if joined:
        yield joined.decode("latin-1")
        yield joined[: len(joined) // 2 * 2].decode("utf-16-be", "replace")
