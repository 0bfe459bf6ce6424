"""Texts beside the pixels of a picture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dlpctl.formats import jpeg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL.Image import Image

_TEXT = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f\ufffd]{4,}")
_EXIF_FOLDERS = (0x8769, 0x8825, 0xA005)


def metadata_of(image: Image, data: bytes) -> Iterator[str]:
    """Texts beside the pixels: EXIF, XMP, IPTC, comments, and bytes after the end."""
    values: list[object] = [
        value for key, value in image.info.items() if key not in {"exif", "icc_profile"}
    ]
    exif = image.getexif()
    values += exif.values()
    for folder in _EXIF_FOLDERS:
        values += exif.get_ifd(folder).values()
    # What other programs put into segments of a JPEG and chunks of a PNG. Profiles of colors are no
    # words of anybody.
    for _, contents, *_ in (*getattr(image, "applist", ()), *getattr(image, "private_chunks", ())):
        if not contents.startswith((b"Exif", b"ICC_PROFILE")):
            values.append(contents)
    if rest := _after_end(data):
        values.append(rest)
    for value in values:
        for text in (value,) if isinstance(value, str) else _decodings(value):
            yield from (found[0] for found in _TEXT.finditer(text))


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


def _after_end(data: bytes) -> bytes:
    """Return the bytes after the end of a PNG or JPEG, where programs hide things."""
    if data.startswith(b"\x89PNG"):
        end = data.find(b"IEND")
        return data[end + 8 :] if end >= 0 else b""
    if data.startswith(b"\xff\xd8"):
        return data[jpeg.end_of(data) :]
    return b""
