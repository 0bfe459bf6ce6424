"""The invisible text of a page that is a picture: each letter at its position in the picture."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats.pdf import canvas as canvases
from dlpctl.formats.pdf.edit import number_text
from dlpctl.formats.pdf.matrix import Matrix, Point, apply, multiply
from dlpctl.formats.pdf.reading import LINE_HYPHEN, Box

if TYPE_CHECKING:
    import pikepdf
    from PIL.Image import Image

    from dlpctl.formats.pdf.align import Alignment
    from dlpctl.formats.pdf.canvas import CanvasText
    from dlpctl.formats.pdf.glyphs import GlyphAt

_LINE = re.compile(r"[^\r\n]+")
_WORD = re.compile(r"\S+ *")
_HYPHENS = (LINE_HYPHEN, "\x02")
_DESCENT, _HEIGHT = 0.25, 1.2
"""The part of a letter's box below the baseline, and the height of the box, in em."""
_CORE = (0.05, 0.65)
"""The part of a line, in em above the baseline, in which every word has ink."""
_QUARTER, _STRAIGHT = math.pi / 2, 0.01
"""A turn, and the most by which the direction of upright text differs from one."""
_NOTHING = b"1 0 0 %s 1 %s d1" % (number_text(-_DESCENT), number_text(_HEIGHT - _DESCENT))
"""A glyph without ink. pdfium reads it because its box is not empty."""
_TO_UNICODE = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Words def /CMapType 2 def
1 begincodespacerange <00> <FF> endcodespacerange
1 beginbfrange <00> <FF> <%s> endbfrange
endcmap end end"""


class Letter(NamedTuple):
    """A character of a word, with its start and width in em."""

    text: str
    start: float
    width: float


class Word(NamedTuple):
    """Letters on a common baseline, with the spaces after them."""

    frame: Matrix
    """From the space of the word, where the em is 1, to the page."""
    letters: list[Letter]


class _Shape(NamedTuple):
    """The area of a character on the page."""

    text: str
    middle: Point
    width: float
    height: float
    angle: float


class Fonts:
    """Fonts whose glyphs are empty and an em wide, one for each 256 characters of Unicode.

    A font lists all of these characters, so that it does not reveal those of masked values.
    """

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        from pikepdf import Array, Dictionary, Name

        self._pdf = pdf
        self._made: dict[int, pikepdf.Object] = {}
        names = Array([0, *[Name.nothing] * 256])
        self._encoding = pdf.make_indirect(Dictionary(Type=Name.Encoding, Differences=names))
        self._drawings = Dictionary(nothing=pdf.make_stream(_NOTHING))

    def of(self, words: Iterable[Word]) -> dict[str, pikepdf.Object]:
        """Return the fonts of words, by name."""
        blocks = {ord(letter.text) >> 8 for word in words for letter in word.letters}
        return {f"/{_font_name(block)}": self._font(block) for block in sorted(blocks)}

    def _font(self, block: int) -> pikepdf.Object:
        from pikepdf import Array, Dictionary, Name

        if block not in self._made:
            first = chr(block << 8).encode("utf-16-be").hex().encode()
            self._made[block] = self._pdf.make_indirect(
                Dictionary(
                    Type=Name.Font,
                    Subtype=Name.Type3,
                    FontMatrix=Array([1, 0, 0, 1, 0, 0]),
                    FontBBox=Array([0, -_DESCENT, 1, _HEIGHT - _DESCENT]),
                    FirstChar=0,
                    LastChar=255,
                    Widths=Array([1] * 256),
                    Encoding=self._encoding,
                    CharProcs=self._drawings,
                    ToUnicode=self._pdf.make_stream(_TO_UNICODE % first),
                )
            )
        return self._made[block]


def _font_name(block: int) -> str:
    return f"W{block:X}"


def content(words: Iterable[Word]) -> bytes:
    """Return operators that write words without showing them."""
    parts = [b"BT 3 Tr"]
    for frame, letters in map(_as_one_line, words):
        parts.append(b" ".join(map(number_text, frame)) + b" Tm")
        pen = 0.0
        for (block, width), group in groupby(letters, key=_font_and_width):
            strings = []
            for text, start, _ in group:
                gap = number_text((pen - start) / width * 1000)
                strings.append(b"%s <%02x>" % (gap, ord(text) & 255))
                pen = start + width
            font, stretch = _font_name(block).encode(), number_text(width * 100)
            parts.append(b"/%s 1 Tf %s Tz [%s] TJ" % (font, stretch, b" ".join(strings)))
    return b"\n".join([*parts, b"ET"])


def _as_one_line(word: Word) -> Word:
    """Return a word that pdfium reads as one line.

    If a line is not horizontal, pdfium takes each operator for a line of its own, and letters of
    equal widths need only one.
    """
    frame, letters = word
    if abs(frame[1]) <= _STRAIGHT * abs(frame[0]):
        return word
    width = max(letter.width for letter in letters)
    return Word(frame, [letter._replace(width=width) for letter in letters])


def _font_and_width(letter: Letter) -> tuple[int, float]:
    return ord(letter.text) >> 8, letter.width


def words_of(found: CanvasText, picture: Image, to_pixels: Matrix) -> Iterator[Word]:
    """Yield the words that a picture of the page shows.

    Text that the picture covers, or that is beside the page or in a hidden layer, is left out.
    """
    chars = found.chars or found.reader.chars(found.raw)
    align = cache(found.align)
    for line in _LINE.finditer(found.raw):
        words: list[Word] = []
        for match in _WORD.finditer(found.raw, *line.span()):
            shown = [at for at in range(*match.span()) if not chars[at].generated]
            words += _words(_shapes(found, align, shown))
        yield from _as_seen([word for word in words if _has_ink(picture, to_pixels, word)])
    if found.in_order:
        return
    alignment = align()
    unread = canvases.unread_glyphs(found, alignment)
    glyphs = (glyph for glyph, is_unread in zip(alignment.glyphs, unread, strict=True) if is_unread)
    for _, group in groupby(glyphs, key=lambda glyph: glyph.show):
        shapes = (_divided(list(glyph.text), _shape_of(glyph)) for glyph in group)
        for word in _words(chain.from_iterable(shapes)):
            if _has_ink(picture, to_pixels, word):
                yield word


def _shapes(
    found: CanvasText, align: Callable[[], Alignment], indexes: Iterable[int]
) -> Iterator[_Shape]:
    """Yield the areas of characters that pdfium reads; those of a ligature share a box."""
    for box, group in groupby(indexes, key=found.reader.box):
        members = list(group)
        texts = ["-" if found.raw[at] in _HYPHENS else found.raw[at] for at in members]
        angle = found.reader.angle(members[0])
        quarters = round(angle / _QUARTER)
        owners = []
        if not math.isclose(angle, quarters * _QUARTER, abs_tol=_STRAIGHT):
            owners = align().by_char[members[0]]  # the box of a slanted letter is too large
        yield from _divided(
            texts, _shape_of(align().glyphs[owners[0]]) if owners else _shape_in(box, quarters)
        )


def _shape_of(glyph: GlyphAt) -> _Shape:
    a, b, c, d = glyph.frame[:4]
    middle = apply(glyph.frame, glyph.advance / 2, _HEIGHT / 2 - _DESCENT)
    width, height = abs(glyph.advance) * math.hypot(a, b), _HEIGHT * math.hypot(c, d)
    return _Shape("", middle, width, height, math.atan2(b, a))


def _shape_in(box: Box, quarters: int) -> _Shape:
    """Return the area of a box with a line in one of four directions."""
    sides = box.right - box.left, box.top - box.bottom
    width, height = sides if quarters % 2 == 0 else sides[::-1]
    middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
    return _Shape("", middle, width, height, quarters * _QUARTER)


def _divided(texts: Sequence[str], shape: _Shape) -> Iterator[_Shape]:
    """Divide an area among the characters in it, without those that no font can write."""
    width = shape.width / max(len(texts), 1)
    for number, text in enumerate(texts):
        if text.isprintable() and width > 0 < shape.height:
            (x, y), shift = shape.middle, (number + 0.5) * width - shape.width / 2
            middle = x + shift * math.cos(shape.angle), y + shift * math.sin(shape.angle)
            yield shape._replace(text=text, middle=middle, width=width)


def _words(shapes: Iterable[_Shape]) -> Iterator[Word]:
    """Yield the runs of characters on common baselines."""
    run: list[_Shape] = []
    for shape in shapes:
        if run and not _continues(run[-1], shape):
            yield _word(run)
            run = []
        run.append(shape)
    if run:
        yield _word(run)


def _continues(before: _Shape, shape: _Shape) -> bool:
    x, y = _turned(shape.middle, before.angle)
    last_x, last_y = _turned(before.middle, before.angle)
    return (
        math.isclose(before.angle, shape.angle, abs_tol=0.01)
        and abs(y - last_y) < before.height / 2
        and abs(x - last_x) < before.height + (before.width + shape.width) / 2
    )


def _word(run: list[_Shape]) -> Word:
    angle = run[0].angle
    if any(_is_from_right(shape.text) for shape in run):
        run = sorted(run, key=lambda shape: _turned(shape.middle, angle)[0])
    middles = [_turned(shape.middle, angle) for shape in run]
    bottom = min(y - shape.height / 2 for (_, y), shape in zip(middles, run, strict=True))
    top = max(y + shape.height / 2 for (_, y), shape in zip(middles, run, strict=True))
    em = (top - bottom) / _HEIGHT
    starts = [x - shape.width / 2 for (x, _), shape in zip(middles, run, strict=True)]
    widths = [round(shape.width / em, 4) for shape in run]
    cosine, sine = em * math.cos(angle), em * math.sin(angle)
    origin = _turned((starts[0], bottom + em * _DESCENT), -angle)
    return Word(
        (cosine, sine, -sine, cosine, *origin),
        [
            Letter(shape.text, (start - starts[0]) / em, width)
            for start, shape, width in zip(starts, run, widths, strict=True)
        ],
    )


def _turned(point: Point, angle: float) -> Point:
    """Return a point in the coordinates of a line with an angle."""
    (x, y), cosine, sine = point, math.cos(angle), math.sin(angle)
    return x * cosine + y * sine, y * cosine - x * sine


def _has_ink(picture: Image, to_pixels: Matrix, word: Word) -> bool:
    """Return whether the picture is of more than one shade at the letters of a word."""
    shown = [letter for letter in word.letters if letter.text != " "]
    if not shown:
        return False
    frame = multiply(word.frame, to_pixels)
    last = shown[-1]
    corners = [apply(frame, x, y) for x in (0.0, last.start + last.width) for y in _CORE]
    xs, ys = zip(*corners, strict=True)
    left, top = max(math.floor(min(xs)), 0), max(math.floor(min(ys)), 0)
    right = min(math.ceil(max(xs)), picture.width)
    bottom = min(math.ceil(max(ys)), picture.height)
    if left >= right or top >= bottom:
        return False
    low, high = picture.crop((left, top, right, bottom)).getextrema()
    return low != high


def _is_from_right(text: str) -> bool:
    return unicodedata.bidirectional(text) in ("R", "AL")


def _as_seen(words: list[Word]) -> list[Word]:
    """Return a line in the order in which it is seen: readers reverse Hebrew and Arabic."""
    if not any(_is_from_right(letter.text) for word in words for letter in word.letters):
        return words
    a, b = words[0].frame[:2]
    return sorted(words, key=lambda word: a * word.frame[4] + b * word.frame[5])
