"""Recognize the format of a file, for `check`, `mask` and `scan` alike.

The content decides, and the name if the content is ambiguous. This module knows no format: each
format's own module recognizes its files, and `quickcheck` is generated from these modules.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from dlpctl.errors import FormatError
from dlpctl.formats.quickcheck import NAMES, STARTS
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from dlpctl.formats.interface import Format

HEAD = 1 << 16
"""The number of bytes at the start of a file that identify its format."""
ZIP_END = 22 + (1 << 16)
"""The number of bytes at the end of a file that contain the end of a ZIP archive: its record and a
comment.
"""
CONTROLS = bytes(set(range(32)) - set(b"\a\t\n\r\f\b\x1b"))
"""Control characters, which are rare in text."""
CATCH_ALL = 90
"""The rank of plain text and unknown binaries, which claim any file."""

_MAGIC_SIZE = 16
SHIFTED = b"\x1b$)C"
"""Announces Korean in ISO 2022, which uses more control characters."""
_SHIFTS = b"\x0e\x0f"
_STARTS = tuple((home, lazy(start), within) for home, start, within in STARTS)
_ZIP_RECORD = b"PK\x05\x06"


def is_source_text(data: bytes, name: str) -> bool:
    """Return whether a file is text that needs no format, because plain text shows all of it.

    Its encoding may be any except UTF-16 and similar ones. Most files of a source tree pass, and
    none for which `recognize` would name a format that reads more than the plain characters.
    """
    if name.lower().endswith(NAMES):
        return False
    return (
        _has_text_bytes(data[:HEAD])
        and not document_in_text(data, name)
        and not (len(data) > HEAD and ends_with_zip(data))
    )


def document_in_text(data: bytes, name: str = "") -> str:
    """Return the format of a document that is written in text characters, or an empty string."""
    for home, start, within in _STARTS:
        if start.search(data, 0, within) if within else start.match(data, 0, HEAD):
            from dlpctl.formats.discovery import formats_in

            for candidate in formats_in(home):
                if candidate.sniff(data, name):
                    return candidate.name
    return ""


def _has_text_bytes(head: bytes) -> bool:
    """Return whether a file can be text: few control characters, and none in its first bytes."""
    controls = len(head) - len(head.translate(None, CONTROLS))
    if not controls:
        return True
    if SHIFTED in head:
        return _has_text_bytes(head.replace(SHIFTED, b"").translate(None, _SHIFTS))
    start = head[:_MAGIC_SIZE]
    return (
        controls <= len(head) // 100
        and b"\0" not in head
        and len(start.translate(None, CONTROLS)) == len(start)
    )


def recognize(data: bytes, name: str, tail: bytes = b"") -> Format:
    """Return the format that reads a file first, by its start and, if it is large, its `tail`."""
    claiming = readings(data, name, tail)
    # A format that claims a text by its name only reads what plain text would claim as well.
    decodes = any(chosen.name == "text" for chosen in claiming)
    return next(chosen for chosen in claiming if decodes or not getattr(chosen, "is_text", False))


def readings(data: bytes, name: str, tail: bytes = b"") -> list[Format]:
    """Return the formats that may read a file, likeliest first."""
    from dlpctl.formats.discovery import format_named, formats, rank

    claiming = [candidate for candidate in formats() if candidate.sniff(data, name)]
    if any(getattr(candidate, "archive", False) for candidate in claiming):
        # The first file of an archive may be early enough to be taken for the archive itself.
        claiming.sort(key=lambda each: (rank(each) >= CATCH_ALL, has_preamble(each, data)))
    if not data.startswith(b"PK") and ends_with_zip(tail or data):
        # Programs open a ZIP whatever precedes it. After a real file of another format, it is a
        # file in disguise.
        if rank(claiming[0]) < CATCH_ALL:
            raise FormatError(f"the file is two files in one: {claiming[0].name} and zip")
        claiming.insert(0, format_named("zip"))
    return claiming


def extensions_of(data: bytes, name: str) -> list[str]:
    """Return the extensions that fit a file that is written under a name, likeliest first."""
    claiming = readings(data, name)
    decodes = any(chosen.name == "text" for chosen in claiming)
    fitting: list[str] = []
    for each in claiming:
        if decodes or not getattr(each, "is_text", False):
            kinds_of = getattr(each, "extensions_of", None)
            fitting += each.extensions if kinds_of is None else kinds_of(data, name)
    return fitting


def has_known_extension(name: str) -> bool:
    """Return whether files with the extension of a name have a format."""
    from dlpctl.formats.discovery import formats

    suffix = PurePosixPath(name.lower()).suffix
    return bool(suffix) and any(suffix in each.extensions for each in formats())


def has_preamble(candidate: Format, data: bytes) -> bool:
    found = getattr(candidate, "has_preamble", None)
    return found is not None and found(data)


def ends_with_zip(data: bytes) -> bool:
    """Return whether a ZIP archive ends where the data end."""
    at = data.rfind(_ZIP_RECORD, max(len(data) - ZIP_END, 0))
    return at >= 0 and at + 22 + int.from_bytes(data[at + 20 : at + 22], "little") == len(data)


def is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
