"""Decoded text: without what hides a value, such as invisible characters, other digits and letters,
single spaced characters and encodings.

Runs that hide something are decoded, with some text around each, into the text that a reader or a
program would see. A finding is reported at its position in the original; a finding in an encoded
run covers the complete run, since a part of it cannot be masked.
"""

from __future__ import annotations

import base64
import binascii
import io
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Self
from urllib.parse import unquote_to_bytes

from dlpctl.detect.derived.characters import is_unseen, plain_forms, unseen_text
from dlpctl.detect.derived.interface import DerivedText
from dlpctl.detect.derived.marks import unboxed, unmarked, untagged
from dlpctl.detect.derived.numerals import is_number, joined_groups, plain_number, unspaced
from dlpctl.detect.derived.pieces import Pieces, end_of_word, start_of_character
from dlpctl.detect.derived.runs import (
    BOXED,
    COLOUR_NAMES,
    GROUPS,
    LITERAL,
    MARKS,
    MAY_BE_PACKED,
    QUOTED,
    SOFT_BREAKS,
    TAGGED,
)
from dlpctl.regex import lazy
from dlpctl.texts.deflated import GZIP, RAW, ZLIB, Inflater
from dlpctl.texts.encoded import unescaped

Run = tuple[int, int, bytes]
"""The span of a run, and what it reads."""

_BEFORE, _AFTER = 160, 64
"""Bytes around a run that are copied with it: as far as labels and context reach."""
_BEYOND_ASCII = 0x80
_LABEL = 48
"""Bytes before a value that may be its label."""
_FIRST = 16
"""Characters of base64 or hexadecimal that are decoded first, to see whether they are text."""

_LETTER = lazy(rb"[A-Za-z\x80-\xff]")
_HEX_DIGITS = b"0123456789ABCDEFabcdef :-"
_SOFT_BREAK = lazy(SOFT_BREAKS.encode())
_MAY_BE_PACKED = lazy(MAY_BE_PACKED.encode())
_SHAPES = lazy(
    f"({MARKS})|({TAGGED})|({LITERAL})|({GROUPS})|({QUOTED})|({COLOUR_NAMES})|({BOXED})".replace(
        r"\b", ""
    ).encode()
)
_PREFIXED = lazy(rb"(0[xX]|\\{1,2}x)[0-9A-Fa-f]{8}")
_GZIP_HEAD, _ZLIB_HEADS = b"\x1f\x8b\x08", (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_MOST_INFLATED, _RATIO = 1 << 20, 100
"""The most that deflated data in a text may expand to: in bytes, and in times its size."""
_AFTER_SPACED = b"\t\n\v\f\r \"'<,;)"
_SEPARATED = frozenset({b" ", b".", b"_", b"*", b"-"})
_UNITS = lazy(rb"(?:\\u[0-9A-Fa-f]{4})+")
_BASE32 = lazy(rb"[E-P][A-Z2-7]{15,}|[e-p][a-z2-7]{19,}")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r") + b"\x7f"


class DecodedText(DerivedText):
    """A text in which runs of another text are decoded, with the positions of everything in the
    original.
    """

    def __init__(self, data: bytes, pieces: Pieces, outer: DecodedText | None = None) -> None:
        self.data = data
        self._pieces = pieces
        self._starts = pieces.starts
        self._outer = outer

    @classmethod
    def with_runs(
        cls, data: bytes, runs: Iterable[Run], outer: DecodedText | None = None
    ) -> Self | None:
        """Return the text with these runs as they read; None without any."""
        text, pieces = copy_around(data, runs)
        return cls(text, pieces, outer) if pieces.starts else None

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span in the original; None where nothing of it, of its label or right after it
        was decoded, so that the original has it too.
        """
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        # A value right beside a decoded run may have no boundary in the original.
        before = first - (start == self._starts[first] and first > 0)
        after = last + 2 if end == self._end_of(last) else last + 1
        pieces = self._pieces
        if not any(pieces.decoded[before:after]) and not self._has_decoded_label(start, before):
            return None
        if not pieces.decoded[first]:
            start = pieces.origins[first] + start - pieces.starts[first]
        else:
            start = pieces.origins[first]
        if not pieces.decoded[last]:
            end = pieces.origins[last] + end - pieces.starts[last]
        else:
            end = pieces.ends[last]
        return self._outer.original_span(start, end) if self._outer else (start, end)

    def _has_decoded_label(self, start: int, last: int) -> bool:
        """Return whether letters were decoded in what may be the label of a value."""
        first = max(bisect_right(self._starts, start - _LABEL) - 1, 0)
        return any(
            self._pieces.decoded[number]
            and _LETTER.search(self.data, self._starts[number], self._end_of(number))
            for number in range(first, last)
        )

    def _end_of(self, number: int) -> int:
        following = self._starts[number + 1 : number + 2]
        return following[0] if following else len(self.data)


def hiding_text(data: bytes, runs: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yield the starts of the runs, each of letters and digits in a text of its own, that hide
    something or may be packed.
    """
    plain: list[tuple[int, int]] = []
    for start, end in runs:
        if _MAY_BE_PACKED.match(data, start, end):
            yield start
        else:
            plain.append((start, end))
    yield from (start for start, _, _ in decoded_runs(data, plain))


def copy_around(data: bytes, runs: Iterable[Run]) -> tuple[bytes, Pieces]:
    """Return what runs are decoded to, each with some text around it."""
    view = io.BytesIO()
    pieces = Pieces(len(data))
    add, write = pieces.add, view.write
    size = 0

    def copy(start: int, end: int) -> None:
        nonlocal size
        if start < end:
            add(size, start, end, decoded=False)
            size += write(data[start:end])

    copied = 0
    for start, end, decoded in runs:
        if not pieces.starts:
            copy(start_of_character(data, max(copied, start - _BEFORE)), start)
        elif start - copied > _AFTER + _BEFORE:
            after = end_of_word(data, copied + _AFTER, start - _BEFORE)
            copy(copied, after)
            add(size, after, after, decoded=False)
            size += write(b"\n\n")
            copy(start_of_character(data, start - _BEFORE), start)
        else:
            copy(copied, start)
        if decoded:
            add(size, start, end, decoded=True)
            size += write(decoded)
        elif pieces.starts:
            # Nothing is left of an invisible run, but the text after it counts as decoded.
            add(size, end, end, decoded=True)
        copied = end
    if copied:
        copy(copied, end_of_word(data, copied + _AFTER, len(data)))
    return view.getvalue(), pieces


def decoded_runs(data: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[Run]:
    """Return the spans of runs that hide something, with what they hide."""
    last_end = 0
    lines_of_digits = False
    inflate = inflater(data)
    for start, end in spans:
        if data[end - 1 : end].isspace() and _SOFT_BREAK.fullmatch(data, start, end):
            yield start, end, b""
            last_end = end
            continue
        run = data[start:end]
        if run[:1] != b"\\":  # which a blank may end
            run = run.rstrip(_AFTER_SPACED if run[1:2] == b" " else None)
        decoded = _decoder(run)(run)
        if decoded is None and _MAY_BE_PACKED.match(run):
            decoded = _inflated(run, inflate)
        # The digits of a number are not those of a word in hexadecimal, which could be a label.
        if decoded is not None and is_number(run) and _LETTER.search(decoded):
            decoded = None
        if decoded is None and b"\n" in run:
            yield from _decoded_lines(run, start)
        # Single digits on one line after the other are a table.
        is_table = decoded is not None and lines_of_digits and data[last_end:start].isspace()
        lines_of_digits = run[1:2] in _SEPARATED
        last_end = end
        if decoded is not None and not is_table and (decoded or start):
            first, last = start + run.startswith(b"="), start + len(run)
            if run[0] >= _BEYOND_ASCII and (blanks := decoded[: -len(decoded.lstrip(b" "))]):
                after = first  # where a value starts
                for _ in blanks:
                    after = start_of_character(data, after + 1)
                yield first, after, blanks
                first, decoded = after, decoded[len(blanks) :]
            yield first, last, decoded


def _decoded_lines(run: bytes, start: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield the first lines of a run that are texts of their own, before one that is none."""
    for line in run.splitlines(keepends=True):
        bare = line.strip()
        decoded = _encoded(bare)
        if decoded is None:
            return
        first = start + line.index(bare)
        yield first, first + len(bare), decoded
        start += len(line)


def _decoder(run: bytes) -> Callable[[bytes], bytes | None]:
    """Return the decoder of a run, by its first bytes."""
    if _PREFIXED.match(run):
        return _encoded_or_escaped
    if shape := _SHAPES.fullmatch(run):
        return _BY_SHAPE[shape.lastindex or 0]
    if run[0] >= _BEYOND_ASCII:
        return unseen_text if is_unseen(run) else plain_forms
    if by_start := _DECODERS.get(run[:2]) or _DECODERS.get(run[:1]):
        return by_start
    if run[1:2] in _SEPARATED:
        return unspaced
    return _encoded if run.isascii() else plain_forms


def _nothing(_: bytes) -> bytes:
    return b""


def _unquoted(run: bytes) -> bytes:
    return binascii.a2b_qp(run)


def _encoded(run: bytes) -> bytes | None:
    """Return the text in hexadecimal or base64; None if it is no text."""
    digits = _hex_digits(run)
    if digits:
        return _text(binascii.unhexlify(digits)) if len(digits) % 2 == 0 else None
    if run.isalpha() and (run.islower() or run[1:].islower()):
        return None
    plain = b"".join(run.translate(_URL_SAFE).split()).rstrip(b"=")
    if _text(_base64(plain[:_FIRST])) is None:
        return _base32(plain) if _BASE32.fullmatch(plain) else None
    return _text(_base64(plain))


def _encoded_or_escaped(run: bytes) -> bytes | None:
    """Return the text in hexadecimal, or that of one escape and the digits after it."""
    text = _encoded(run)
    return _escaped(run) if text is None and run[:1] == b"\\" else text


def _hex_digits(run: bytes) -> bytes:
    """Return the digits of a run in hexadecimal; nothing for any other run."""
    prefix = _PREFIXED.match(run)
    may_be_hex = len(run) % 2 == 0 or run[2:3] in b" :-"
    if prefix or (may_be_hex and not run.translate(None, _HEX_DIGITS)):
        return run[prefix.end(1) if prefix else 0 :].translate(None, b" :-")
    return b""


def _inflated(run: bytes, inflate: Inflater) -> bytes | None:
    """Return the text that a run deflates; None if there is none."""
    digits = _hex_digits(run)
    packed = binascii.unhexlify(digits[: len(digits) & ~1]) if digits else from_base64(run)
    if packed.startswith(_GZIP_HEAD):
        return inflate(packed, GZIP).decode("utf-8", "replace").encode() or None
    is_wrapped = packed.startswith(_ZLIB_HEADS)
    return _text(inflate(packed, ZLIB if is_wrapped else RAW)) or None


def inflater(data: bytes) -> Inflater:
    """Return what inflates the runs of a text, up to a limit for all of them."""
    return Inflater(_MOST_INFLATED + _RATIO * len(data))


def decode_base64(run: bytes, inflate: Inflater) -> bytes | None:
    """Return the text that a run of base64 encodes or deflates; None if it is no text."""
    text = _encoded(run)
    return _inflated(run, inflate) if text is None and _MAY_BE_PACKED.match(run) else text


def from_base64(run: bytes) -> bytes:
    """Return what a run of base64 encodes, in either alphabet and over lines."""
    return _base64(b"".join(run.translate(_URL_SAFE).split()).rstrip(b"="))


def _base64(plain: bytes) -> bytes:
    size = len(plain) - (len(plain) % 4 == 1)
    try:
        return binascii.a2b_base64(plain[:size] + b"==")
    except binascii.Error:
        return b"\0"


def _base32(plain: bytes) -> bytes | None:
    """Return the text in base32, whose last group of eight characters may lack some."""
    padded = plain + b"=" * (-len(plain) % 8)
    try:
        return _text(base64.b32decode(padded, casefold=True))
    except binascii.Error:
        return None


def _ascii85(run: bytes) -> bytes | None:
    try:
        return _text(base64.a85decode(run, adobe=True))
    except ValueError:
        return None


def _text(decoded: bytes) -> bytes | None:
    """Return text in UTF-8 or UTF-16 as UTF-8; None if it is no text."""
    if b"\0" in decoded:
        if any(decoded[1::2]) or not decoded[::2].isascii():
            return None
        decoded = decoded[::2]
    if len(decoded) != len(decoded.translate(None, _CONTROLS)):
        return None
    if not decoded.isascii():
        try:
            decoded.decode()
        except UnicodeDecodeError:
            return None
    return decoded


def _percent(run: bytes) -> bytes:
    return binascii.unhexlify(run.translate(None, b"%")).decode("utf-8", "replace").encode()


def _form(run: bytes) -> bytes | None:
    """Return the value of a field of a form, if it may be a number or an address."""
    text = unquote_to_bytes(run[1:].replace(b"+", b" "))
    digits = sum(byte in b"0123456789" for byte in text)
    return text.decode("utf-8", "replace").encode() if digits > 3 or b"@" in text else None


def _utf7(run: bytes) -> bytes | None:
    """Return the characters of ASCII that UTF-7 spells in base64; None if it spells others."""
    wide = _base64(run[1:].rstrip(b"-"))
    text = wide[1 : len(wide) // 2 * 2 : 2]
    is_ascii = not any(wide[: len(text) * 2 : 2]) and text.isascii()
    return text if is_ascii and text.decode().isprintable() else None


def _escaped(run: bytes) -> bytes:
    if _UNITS.fullmatch(run):
        units = binascii.unhexlify(run.replace(b"\\u", b""))
        return units.decode("utf-16-be", "replace").encode()
    text = unescaped(run).decode("utf-8", "surrogatepass")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


_DECODERS: dict[bytes, Callable[[bytes], bytes | None]] = {
    b"%": _percent,
    b"%u": _escaped,
    b"\\": _escaped,
    b"&": _escaped,
    b"=": _form,
    b"+": _utf7,
    b"\x1b": _nothing,
    b"\x08": _nothing,
    b"_": _nothing,
    b"_x": _escaped,
    b"?=": _nothing,
    b" ": _nothing,
    b"<": _ascii85,
}
_BY_SHAPE = (
    _nothing,
    unmarked,
    untagged,
    plain_number,
    joined_groups,
    _unquoted,
    _nothing,
    unboxed,
)
"""The decoders of runs that are told by more than their first bytes."""
