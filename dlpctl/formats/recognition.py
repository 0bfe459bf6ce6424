"""The one recognizer: what a file is read as, for `check`, `mask` and `scan` alike.

The content decides, and the name where the content leaves a choice. `is_source_text` is the quick
check that most files of a source tree pass: it needs no format to be imported, and it never passes
a file for which `recognize` would name a format that reads more than the plain characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.errors import FormatError
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from dlpctl.formats.interface import Format

HEAD = 1 << 16
"""Bytes at the start of a file that tell its format."""
ZIP_END = 22 + (1 << 16)
"""Bytes at the end of a file that hold the end of a ZIP archive: its record and a comment."""
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))
"""Bytes that text has next to none of."""
CATCH_ALL = 90
"""The rank of plain text and unknown binaries, which claim any file."""

_BOM_AND_BLANKS = b"\xef\xbb\xbf \t\r\n"
_MAGIC_IN_TEXT = (
    b"%PDF-", b"GIF8", b"BZh", b"PAR1", b"RIFF", b"BM", b"PK", b"\xff\xd8\xff", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
"""Starts of binary files whose next bytes need not tell them from text."""
_MAGIC_SIZE = 16
SHIFTED = b"\x1b$)C"
"""Announces Korean in ISO 2022, which has control characters of its own."""
_SHIFTS = b"\x0e\x0f"
_NAMED = (
    ".csv", ".tsv", ".tab", ".psv", ".eml", ".emlx", ".mht", ".mhtml", ".mbox", ".mbx", ".ipynb",
)  # fmt: skip
"""Text whose format shows more than the characters do: what is encoded, or labelled elsewhere."""
_PDF_WITHIN = 1024
_PDF_HEADER = lazy(rb"%PDF-[0-9]")
_PDF_OBJECT = lazy(rb"[0-9]\s+[0-9]+\s+obj\b")
_MAIL_START = lazy(rb"(?:From |[A-Za-z][A-Za-z0-9-]*:)")
_MAIL_FIELD = lazy(
    rb"(?im)^(?:From|To|Subject|Date|Received|Message-ID|MIME-Version|Return-Path|Delivered-To|Cc):"
)
_HEADER_END = lazy(rb"\r?\n\r?\n")
_ZIP_RECORD = b"PK\x05\x06"


def is_source_text(data: bytes, name: str) -> bool:
    """Whether a file is text that shows all it holds as it is, so that no format is needed.

    Its encoding may be any but UTF-16 and its like.
    """
    if name.lower().endswith(_NAMED) or data.startswith(_MAGIC_IN_TEXT):
        return False
    return _has_text_bytes(data[:HEAD]) and not (
        starts_like_pdf(data)
        or starts_like_rtf(data)
        or starts_like_mail(data)
        or (len(data) > HEAD and ends_with_zip(data))
    )


def _has_text_bytes(head: bytes) -> bool:
    """Whether text is all that a file can be, by its bytes: few controls, and none in a magic."""
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
    """Return the format that a file is read by first; raise `FormatError` for two files in one.

    Of a large file, `data` may be its start and `tail` its last `ZIP_END` bytes.
    """
    from dlpctl.formats.source import TextFormat

    claiming = readings(data, name, tail)
    # A format that claims a text by its name reads only what plain text would claim as well.
    decodes = any(chosen.name == "text" for chosen in claiming)
    return next(chosen for chosen in claiming if decodes or not isinstance(chosen, TextFormat))


def readings(data: bytes, name: str, tail: bytes = b"") -> list[Format]:
    """Return the formats that a file may be read as, the likeliest first."""
    from dlpctl.formats.discovery import format_named, formats, rank

    claiming = [candidate for candidate in formats() if candidate.sniff(data, name)]
    if not data.startswith(b"PK") and ends_with_zip(tail or data):
        # Programs open a ZIP whatever comes before it. After a real file of another format, it is
        # a file in disguise.
        if rank(claiming[0]) < CATCH_ALL:
            raise FormatError(f"the file is two files in one: {claiming[0].name} and zip")
        claiming.insert(0, format_named("zip"))
    return claiming


def starts_like_pdf(head: bytes) -> bool:
    """Whether a PDF starts here, or after the junk that readers of PDF skip."""
    if head.find(b"%PDF-", 0, _PDF_WITHIN + 5) < 0:
        return False
    header = _PDF_HEADER.search(head, 0, _PDF_WITHIN + 6)
    if header is None:
        return head.startswith(b"%PDF-")
    # A program that writes PDF names the header too, but holds no objects.
    return leads_with_pdf(head) or _PDF_OBJECT.search(head, header.end()) is not None


def leads_with_pdf(data: bytes) -> bool:
    """Whether nothing comes before the header of a PDF."""
    return data[:_PDF_WITHIN].lstrip(_BOM_AND_BLANKS).startswith(b"%PDF-")


def starts_like_rtf(head: bytes) -> bool:
    if head[:1] in _BOM_AND_BLANKS:
        head = head[:HEAD].lstrip(_BOM_AND_BLANKS)
    return head.startswith(b"{\\rtf")


def starts_with_header(head: bytes) -> bool:
    """Whether the first line is one of a mail's header, or starts a mailbox."""
    return _MAIL_START.match(head) is not None


def starts_like_mail(head: bytes) -> bool:
    """Whether the first lines are a mail's header, by fields that other text does not have."""
    if not starts_with_header(head):
        return False
    fields = {
        found[0].lower() for found in _MAIL_FIELD.finditer(_HEADER_END.split(head[:HEAD], 1)[0])
    }
    return (b"mime-version:" in fields and len(fields) > 2) or len(fields) > 4


def ends_with_zip(data: bytes) -> bool:
    """Whether a ZIP archive ends where the data end."""
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
