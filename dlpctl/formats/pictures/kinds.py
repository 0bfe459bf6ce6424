"""Types of pictures that are only pixels: how each is recognized, and whether it can be written.

Such a file counts as inspected if encoding its pixels again yields the same file. If it contains
anything else, its copy is made from the pixels.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL.Image import Image

EXACT = {"1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"}
"""Modes in which a copy preserves every pixel."""
BESIDE = "bytes beside the pixels"
"""The reason why a file that contains more than pixels is not inspected."""


class PictureKind(NamedTuple):
    """A type by its name in Pillow, and by the start of its files."""

    pillow: str
    start: re.Pattern[bytes]
    extensions: tuple[str, ...]
    is_written: bool = True
    is_named: bool = False
    """True if other files start in the same way, so that the file's name decides."""


KINDS = (
    PictureKind("ICO", lazy(rb"\x00\x00\x01\x00[\x01-\x40]\x00"), (".ico",), is_named=True),
    PictureKind("PPM", lazy(rb"P[1-6][ \t\r\n]"), (".pbm", ".pgm", ".ppm", ".pnm")),
    PictureKind("XBM", lazy(rb"\s*#define \w+_width \d"), (".xbm",)),
    PictureKind("XPM", lazy(rb"\s*/\* XPM \*/"), (".xpm",), is_written=False),
    PictureKind(
        "PCX", lazy(rb"\x0a[\x00\x02\x03\x05]\x01[\x01\x02\x04\x08]"), (".pcx",), is_named=True
    ),
    PictureKind("SGI", lazy(rb"\x01\xda[\x00\x01][\x01\x02]"), (".sgi", ".rgb", ".rgba", ".bw")),
    PictureKind("SUN", lazy(rb"\x59\xa6\x6a\x95"), (".ras", ".sun")),
    PictureKind("DDS", lazy(rb"DDS \x7c\x00\x00\x00"), (".dds",)),
    PictureKind("ICNS", lazy(rb"icns"), (".icns",)),
    PictureKind(
        "JPEG2000",
        lazy(rb"\xff\x4f\xff\x51|\x00\x00\x00\x0cjP  \r\n\x87\n"),
        (".jp2", ".j2k", ".jpf", ".j2c", ".jpx"),
    ),
    PictureKind(
        "TGA",
        lazy(rb"(?s).[\x00\x01][\x01-\x03\x09-\x0b].{13}[\x08\x10\x18\x20]"),
        (".tga",),
        is_named=True,
    ),
)
BY_PILLOW = {picture_kind.pillow: picture_kind for picture_kind in KINDS}


def extensions_of_kind(head: bytes, name: str) -> tuple[str, ...]:
    """Return the extensions of a picture of only pixels; none if the file is no such picture."""
    lowered = name.lower()
    for picture_kind in KINDS:
        if picture_kind.start.match(head) and (
            not picture_kind.is_named or lowered.endswith(picture_kind.extensions)
        ):
            return picture_kind.extensions
    return ()


def icons_of(image: Image) -> Iterator[Image]:
    """Return the pictures of an icon, largest first."""
    icon = image.ico  # type: ignore[attr-defined]
    sizes: dict[tuple[int, int], Image] = {}
    for index in range(len(icon.entry)):
        frame = icon.frame(index)
        sizes.setdefault(frame.size, frame)
    yield from sorted(sizes.values(), key=lambda each: each.width, reverse=True)
