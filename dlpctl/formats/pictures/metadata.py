"""Texts beside the pixels of a picture."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any

from dlpctl.formats.pictures import heif, jpeg

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from PIL.Image import Exif, Image

_TEXT = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f\ufffd]{4,}")
_STRING = re.compile(rb"[\t\n\r -~]{9,}")
_VALUE = re.compile(
    rb"[\w.+-]{2}@[\w-]+\.[A-Za-z]{2}|(?:[0-9][^0-9A-Za-z]{0,2}){8}"
    rb"|(?<![^\s=:\"'])(?:[A-Z]{4}|[a-z]{2,8}[_-])[A-Za-z0-9_/+-]{12}"
)
_BITMAPS = ("BMP", "DIB")
_GIF_EXTENSION, _GIF_FRAME = 0x21, 0x2C
_RUN = re.compile(rb"[\x20-\x7e]{4,}|(?:[\x20-\x7e]\x00){4,}")
_EXIF = b"Exif\0\0"
_GPS = 0x8825
_EXIF_FOLDERS = (0x8769, _GPS, 0xA005)
_COORDINATES = ((1, 2, 3, 4), (19, 20, 21, 22))
"""The tags of a position: north or south, latitude, east or west, longitude."""


def metadata_of(image: Image, data: bytes) -> Iterator[str]:
    """Yield texts beside the pixels: EXIF, XMP, IPTC, comments, and bytes after the end."""
    values: list[object] = [
        value for key, value in image.info.items() if key not in {"exif", "icc_profile"}
    ]
    values += _values_of(image.getexif())
    for name, contents in heif.note_items(data):
        start = 4 + int.from_bytes(contents[:4])
        values += _exif_values(contents[start:]) if name == heif.EXIF else [contents]
    # Data of other programs in JPEG segments and PNG chunks. Color profiles and the heads of JPEG
    # contain no personal text.
    for _, contents, *_ in (*getattr(image, "applist", ()), *getattr(image, "private_chunks", ())):
        if not contents.startswith((b"Exif", b"ICC_PROFILE", b"JFIF\0", b"Adobe\0")):
            values.append(contents)
    values += _gif_texts(data) if data.startswith(b"GIF8") else ()
    if rest := _after_end(data):
        values.append(rest)
    yield from dict.fromkeys(_texts(values))


def jpeg_notes(data: bytes) -> str:
    """Return the texts beside the pixels of a JPEG file, one a line."""
    values: list[object] = []
    texts: list[str] = []
    for contents in jpeg.note_segments(data):
        texts += (found[0].replace(b"\0", b"").decode() for found in _RUN.finditer(contents))
        is_exif = contents.startswith(_EXIF)
        values += _exif_values(contents[len(_EXIF) :]) if is_exif else [contents]
    return "\n".join(dict.fromkeys([*texts, *_texts(values)]))


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        for text in (value,) if isinstance(value, str) else _decodings(value):
            yield from (found[0] for found in _TEXT.finditer(text))


def _exif_values(data: bytes) -> list[object]:
    """Return the values of Exif; none of what cannot be read."""
    import PIL.Image

    exif = PIL.Image.Exif()
    try:
        exif.load(data)
        return list(_values_of(exif))
    except (OSError, ValueError, SyntaxError, LookupError, TypeError, struct.error):
        return []


def _values_of(exif: Exif) -> Iterator[object]:
    yield from exif.values()
    for folder in _EXIF_FOLDERS:
        yield from exif.get_ifd(folder).values()
    yield from _positions(exif.get_ifd(_GPS))


def _positions(folder: Mapping[int, Any]) -> Iterator[str]:
    """Yield where a picture was taken and what it shows, which are no texts in the file."""
    for north, latitude, east, longitude in _COORDINATES:
        try:
            degrees = [_degrees(folder[latitude]), _degrees(folder[longitude])]
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            continue
        signs = folder.get(north) == "S", folder.get(east) == "W"
        first, second = (-each if sign else each for each, sign in zip(degrees, signs, strict=True))
        yield f"GPS: {first:.6f}, {second:.6f}"


def _degrees(parts: Sequence[Any]) -> float:
    """Return degrees, minutes and seconds as degrees."""
    return sum(float(part) * 60.0**-power for power, part in enumerate(parts))


def hidden_strings(image: Image, data: bytes) -> Iterator[str]:
    """Yield the strings with a number, an address or a key in bytes that no viewer shows.

    Color profiles contain their makers' texts, and bytes between the parts of a picture are mostly
    pixels.
    """
    for each in (_without_pixels(image, data), image.info.get("icc_profile") or b""):
        yield from telling_strings(each)


def _without_pixels(image: Image, data: bytes) -> bytes:
    """Return a file without the rows of a bitmap, whose bytes may be digits."""
    tiles = getattr(image, "tile", ())
    if image.format not in _BITMAPS or not tiles or tiles[0][0] != "raw":
        return data
    _, (_, top, _, bottom), start, (_, size, *_) = tiles[0]
    return data[:start] + b"\0" + data[start + size * (bottom - top) :]


def telling_strings(data: bytes) -> Iterator[str]:
    """Yield the strings with a number, an address or a key."""
    for found in _STRING.finditer(data):
        if _VALUE.search(found[0]):
            yield found[0].decode()


def _decodings(value: object) -> Iterator[str]:
    if isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
        if value.count(0) * 3 > len(value):
            yield value.decode("utf-16-le", "replace")
    elif isinstance(value, (dict, list, tuple)):
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, str):
                yield inner
            else:
                yield from _decodings(inner)


def _gif_texts(data: bytes) -> Iterator[bytes]:
    """Yield the contents of all extensions, such as comments, and the bytes after the end."""

    def after_table(at: int, flags: int) -> int:
        return at + (3 << (flags & 7) + 1 if flags & 0x80 else 0)

    at = after_table(13, data[10]) if len(data) > 10 else len(data)
    while at + 1 < len(data) and data[at] in (_GIF_EXTENSION, _GIF_FRAME):
        is_frame = data[at] == _GIF_FRAME
        at = after_table(at + 10, data[min(at + 9, len(data) - 1)]) + 1 if is_frame else at + 2
        blocks = []
        while at < len(data) and (size := data[at]):
            blocks.append(data[at + 1 : at + 1 + size])
            at += 1 + size
        at += 1
        if not is_frame:
            yield b"".join(blocks)
    yield data[at + 1 :]


def _after_end(data: bytes) -> bytes:
    """Return the bytes after the end of a PNG or JPEG, where programs hide data."""
    if data.startswith(b"\x89PNG"):
        end = data.find(b"IEND")
        return data[end + 8 :] if end >= 0 else b""
    if data.startswith(b"\xff\xd8"):
        return data[jpeg.end_of(data) :]
    return b""
