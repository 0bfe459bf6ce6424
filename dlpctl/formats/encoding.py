"""Decode bytes to text and encode edits, so that everything else keeps its bytes.

Text comes in every encoding, and sometimes in several within one file: logs that two programs write
to, dumps that were concatenated. A file is decoded as a whole if possible, or else line by line;
`splice` writes edits at byte offsets.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dlpctl.errors import CannotMaskError
from dlpctl.formats.binary import content_type
from dlpctl.formats.controls import END_OF_FILE, SEPARATORS, count, has_zero_ended_texts
from dlpctl.formats.recognition import CONTROLS, HEAD, SHIFTED

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MULTIBYTE = ("gb18030", "cp932", "euc_jp", "cp949", "big5hkscs")
# The characters in everyday texts of each language, among all that its encoding supports.
_EVERYDAY = {
    "gb18030": "gb2312",
    "cp932": "shift_jis",
    "euc_jp": "euc_jp",
    "cp949": "euc_kr",
    "big5hkscs": "big5",
}
_SINGLE_BYTE = ("cp1252", "cp1251", "cp1250", "koi8-r", "cp1253", "cp1254", "cp1255", "cp1256")
# ISO 2022 shifts between character sets, so a part has no meaning without the preceding text.
_SHIFTING = {"iso2022_jp", "iso2022_kr", "hz"}
_ESCAPES = {b"\x1b$B": "iso2022_jp", b"\x1b$@": "iso2022_jp", SHIFTED: "iso2022_kr"}
_DECLARED = re.compile(
    rb"""(?i)(?:<\?xml[^>]{0,80}encoding\s*=\s*|<meta[^>]{0,120}charset\s*=\s*"""
    rb"""|#[^\n]{0,40}coding[:=]\s*)["']?([a-z0-9_.:-]{2,30})"""
)
_SAMPLE = HEAD
_EBCDIC = "cp037"
_EBCDIC_SPACE = b"\x40"
_EBCDIC_LINE_ENDS = str.maketrans("", "", "\n\r\t\x85")
_WIDE = ("utf-16", "utf-32")
_NARROW = re.compile(rb"[\t\r\n -~]{48}")
"""Text of single bytes, which a program wrote after text in UTF-16 or UTF-32."""
_FIRST = 16
"""The number of bytes at the start of a text that must not contain a zero."""
_BLOCK = 1 << 12
_BINARY_BYTES = CONTROLS.replace(b"\0", b"")
"""Zeros are not included: a crash during the writing of a log leaves them."""
_GUESSED = 1 << 13
"""The number of bytes in lines beyond ASCII from which an older encoding is guessed."""


class Edit(NamedTuple):
    """A range of a text and its replacement."""

    start: int
    end: int
    replacement: str

    def within(self, first: int, last: int) -> Edit:
        """Return the part of the edit within a range: a value without the quotes around it."""
        return Edit(
            min(max(self.start, first), last), max(min(self.end, last), first), self.replacement
        )

    def moved(self, by: int) -> Edit:
        return Edit(self.start + by, self.end + by, self.replacement)


class _Run(NamedTuple):
    """Characters from `char` on, which are the bytes from `byte` on, in one encoding."""

    char: int
    byte: int
    codec: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file, and the bytes of its characters."""

    text: str
    runs: tuple[_Run, ...]

    @property
    def codec(self) -> str | None:
        """The encoding in which each part can be written on its own; None for several encodings, or
        one with shifts.
        """
        codec = self.runs[0].codec
        return codec if len(self.runs) == 1 and codec not in _SHIFTING else None

    @property
    def encoding(self) -> str:
        names = {run.codec for run in self.runs}
        return names.pop() if len(names) == 1 else "mixed"


def decode(data: bytes) -> Decoded | None:
    """Return the text of `data`, or None if `data` is not text."""
    for bom, codec in _BOMS:
        if data.startswith(bom):
            text = _strict(data[len(bom) :], codec)
            if text is not None:
                return Decoded(text, (_Run(0, len(bom), codec),))
    sample = data.rstrip(END_OF_FILE)[:_SAMPLE]
    if b"\0" in sample:
        wide = _wide(data)
        if wide is not None:
            return wide
        if not content_type(data) and has_zero_ended_texts(data):
            return Decoded(data.decode(), (_Run(0, 0, "utf-8"),))
        if b"\0" in sample[:_FIRST]:
            return None
    if _is_ebcdic(sample):
        text = _strict(data, _EBCDIC)
        return None if text is None else Decoded(text, (_Run(0, 0, _EBCDIC),))
    shifted = b"" if SHIFTED not in sample else b"\x0e\x0f"
    few = len(sample) // 100
    if count(sample, CONTROLS.translate(None, shifted + SEPARATORS)) > few:
        return None
    if count(sample, SEPARATORS) > few:
        # Other encodings would take binary data for text.
        text = _strict(data, "utf-8")
        return None if text is None else Decoded(text, (_Run(0, 0, "utf-8"),))
    for escape, codec in _ESCAPES.items():
        if escape in data:
            text = _strict(data, codec)
            if text is not None:
                return Decoded(text, (_Run(0, 0, codec),))
    text = _strict(data, "utf-8")
    if text is not None:
        return Decoded(text, (_Run(0, 0, "utf-8"),))
    return _legacy(data)


def binary_at(data: bytes, decoded: Decoded) -> int | None:
    """Return the start of binary data after the part that was recognized as text; None if there are
    none.
    """
    if decoded.encoding not in {"mixed", "latin-1", *_SINGLE_BYTE, *_MULTIBYTE}:
        return None
    for at in range(_SAMPLE, len(data), _BLOCK):
        block = data[at : at + _BLOCK]
        if len(block) - len(block.translate(None, _BINARY_BYTES)) > len(block) // 20:
            return at
    return None


def splice(data: bytes, decoded: Decoded, edits: Iterable[Edit]) -> bytes:
    """Return bytes with ordered, disjoint edits applied; all other bytes stay."""
    text, runs = decoded.text, decoded.runs
    if any(run.codec in _SHIFTING for run in runs):
        return spliced(text, edits).encode(runs[0].codec, "replace")
    output: list[bytes] = []
    written = 0
    run_index = 0
    char, byte = 0, runs[0].byte

    def byte_at(offset: int) -> int:
        nonlocal char, byte, run_index
        while run_index + 1 < len(runs) and runs[run_index + 1].char <= offset:
            run_index += 1
            char, byte = runs[run_index].char, runs[run_index].byte
        byte += len(text[char:offset].encode(runs[run_index].codec))
        char = offset
        return byte

    for edit in edits:
        start = byte_at(edit.start)
        codec = runs[run_index].codec
        end = byte_at(edit.end)
        if start < written:
            raise CannotMaskError("two edits overlap: the text cannot be masked with certainty")
        output += (data[written:start], edit.replacement.encode(codec, "replace"))
        written = end
    output.append(data[written:])
    return b"".join(output)


def spliced(
    text: str, edits: Iterable[Edit], write: Callable[[str], str] = str, margin: int | None = None
) -> str:
    """Return a text with disjoint edits applied; a `margin` is kept at both of its ends."""
    parts: list[str] = []
    read = 0
    for edit in edits:
        start, end, replacement = (
            edit if margin is None else edit.within(margin, len(text) - margin)
        )
        parts += (text[read:start], write(replacement))
        read = end
    parts.append(text[read:])
    return "".join(parts)


def on_one_line(text: str) -> str:
    """Return a replacement for a context in which a line end would end the value."""
    return text.replace("\n", " ")


def character(code: int) -> str:
    """Return a character; a lone surrogate is replaced."""
    return "\ufffd" if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF else chr(code)


def _strict(data: bytes, codec: str) -> str | None:
    """Return the text if encoding it restores every byte, so that offsets are certain."""
    if codec.startswith(_WIDE) and _NARROW.search(data):
        return None
    try:
        text = data.decode(codec)
        certain = codec == "utf-8" or text.encode(codec) == data
    except (UnicodeError, LookupError):
        return None
    return text if certain else None


def _wide(data: bytes) -> Decoded | None:
    """Return UTF-16 or UTF-32 without a byte order mark, recognized by its zero bytes."""
    sample = data[: min(len(data), _SAMPLE) & ~3]
    zeros = [sample[at::4].count(0) * 4 for at in range(4)]
    size = max(len(sample), 1)
    candidates = []
    if min(zeros[1:]) > size * 0.6:
        candidates.append("utf-32-le")
    if min(zeros[:3]) > size * 0.6:
        candidates.append("utf-32-be")
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if not len(sample):
        even, odd = data[::2].count(0) * 4, data[1::2].count(0) * 4
        size = max(len(data), 1)
    if odd > size * 0.6 and even < odd // 8:
        candidates.append("utf-16-le")
    if even > size * 0.6 and odd < even // 8:
        candidates.append("utf-16-be")
    for codec in candidates:
        text = _strict(data, codec)
        if text is None or "\0" in text[:2000]:
            continue
        if not any(unicodedata.category(char) in {"Cn", "Co"} for char in text[:2000]):
            return Decoded(text, (_Run(0, 0, codec),))
    return None


def _is_ebcdic(sample: bytes) -> bool:
    """Return whether a text is EBCDIC: no ASCII spaces, only EBCDIC characters."""
    if b" " in sample or _EBCDIC_SPACE not in sample:
        return False
    text = sample.decode(_EBCDIC).translate(_EBCDIC_LINE_ENDS)
    return text.isascii() and text.isprintable()


def _legacy(data: bytes) -> Decoded:
    lines = data.splitlines(keepends=True)
    foreign = [line for line in lines if not line.isascii()]
    bad = [line for line in foreign if _strict(line, "utf-8") is None]
    codec = _guess(b"".join(bad)[:_GUESSED], _declared(data))
    full = None if len(bad) < len(foreign) else _strict(data, codec)
    if full is not None:
        return Decoded(full, (_Run(0, 0, codec),))
    return _by_line(lines, codec)


def _by_line(lines: Iterable[bytes], codec: str) -> Decoded:
    texts: list[str] = []
    runs: list[_Run] = []
    char = byte = 0
    for line in lines:
        # Latin-1 decodes any byte, so the loop always returns, and offsets are right even if
        # letters are not.
        for name in ("utf-8", codec, "latin-1"):
            text = _strict(line, name)
            if text is not None:
                break
        else:
            raise AssertionError("latin-1 reads every byte")
        if not runs or (runs[-1].codec != name and not line.isascii()):
            runs.append(_Run(char, byte, name))
        elif (
            line.isascii()
            and runs[-1].codec not in {"utf-8", "latin-1"}
            and _strict(line, runs[-1].codec) != text
        ):
            runs.append(_Run(char, byte, "utf-8"))
        texts.append(text)
        char += len(text)
        byte += len(line)
    return Decoded("".join(texts), tuple(runs) or (_Run(0, 0, "utf-8"),))


def _declared(data: bytes) -> str | None:
    found = _DECLARED.search(data[:2048])
    if found is None:
        return None
    try:
        return codecs.lookup(found[1].decode("ascii")).name
    except LookupError:
        return None


def _guess(sample: bytes, declared: str | None) -> str:
    """Return the legacy encoding in which the sample looks most like natural text."""
    if (
        declared is not None
        and declared not in _SHIFTING
        and _readable(sample, declared) is not None
    ):
        return declared
    best, best_score = "latin-1", 0.0
    for codec in (*_MULTIBYTE, *_SINGLE_BYTE):
        text = _readable(sample, codec)
        score = 0.0 if text is None else _likeness(text, _EVERYDAY.get(codec))
        if score > best_score:
            best, best_score = codec, score
    return best


def _readable(sample: bytes, codec: str) -> str | None:
    try:
        # The sample may end within a character.
        return codecs.getincrementaldecoder(codec)().decode(sample)
    except (UnicodeError, LookupError):
        return None


def _likeness(text: str, everyday: str | None) -> float:
    """Return how much the characters beyond ASCII resemble text of one script, up to 1."""
    foreign = [(index, char) for index, char in enumerate(text) if char > "\x7f"]
    if not foreign:
        return 0.0
    score = 0.0
    for index, char in foreign:
        script = _script(char)
        before = text[index - 1] if index else " "
        if script == "other":
            score -= 0.5 if unicodedata.category(char)[0] in "CS" else -0.2
        elif everyday is not None:
            score += (
                _rarity(char, everyday) if not (before.isascii() and before.isalpha()) else -1.0
            )
        elif any(
            near.isalpha() and _script(near) != script
            for near in (before, text[index + 1 : index + 2])
        ):
            score -= 1.0
        elif char.isupper() and before.islower():
            score -= 0.5
        elif script == "latin" and before > "\x7f":
            # Accented letters occur among plain letters; a row of them is another alphabet that was
            # decoded wrongly.
            score += 0.1
        else:
            score += 0.8 if char.islower() or not char.isupper() else 0.5
    return score / len(foreign)


def _rarity(char: str, everyday: str) -> float:
    """Return the score of an East Asian character: the first rows of the standards
    are used most.
    """
    try:
        lead = char.encode(everyday)[0]
    except UnicodeError:
        return -1.0
    common = {
        "gb2312": 0xB0 <= lead <= 0xD7,
        "shift_jis": 0x82 <= lead <= 0x97,
        "euc_jp": 0xA4 <= lead <= 0xCF,
        "euc_kr": 0xB0 <= lead <= 0xC8,
        "big5": 0xA4 <= lead <= 0xC6,
    }[everyday]
    return (1.0 if _script(char) in {"kana", "hangul"} else 0.9) if common else 0.1


def _script(char: str) -> str:
    if not char.isalpha():
        return "other"
    if char < "\u0250":
        return "latin"
    if "\u3040" <= char <= "\u30ff":
        return "kana"
    if "\uac00" <= char <= "\ud7a3":
        return "hangul"
    if "\u3400" <= char <= "\u9fff" or char > "\uffff":
        return "han"
    return unicodedata.name(char, "other").split(" ")[0]
