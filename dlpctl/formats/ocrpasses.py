"""Read a picture in as many OCR passes as its ink needs: rotated, with more contrast, or for words
outside of paragraphs.

A pass reads what the passes before it left: lines that were read with confidence are painted over.
"""

from __future__ import annotations

import io
import math
import time
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats import ocr
from dlpctl.formats.barcodes import codes
from dlpctl.formats.ocrink import (
    colored_ink,
    enlargement,
    flattened,
    has_ink,
    is_blank,
    is_texture,
    most_enlargement,
    skew_of,
    slope_of,
    strong_ink,
    without_boxes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from PIL.Image import Image

    from dlpctl.formats.ocr import Word

Point = tuple[float, float]
Corners = tuple[Point, Point, Point, Point]

UNREAD = "writing that OCR cannot read with confidence"
_CONFIDENT, _UNSURE = 70.0, 65.0
"""A line with the first confidence counts as read, and one below the second as unread."""
_LEAST_TEXT = 3
"""The minimum number of letters and digits of a line that OCR did not invent."""
_SURE_SHARE, _WEAK_SHARE, _LITTLE = 0.95, 0.6, 24
"""The confident share of characters in a skewed picture and in a sideways one, and a
small count.
"""
_BETTER = 1.1
"""The minimum ratio of confident characters for preferring a rotated picture."""
_TRIAL_PIXELS = 1_500_000
_SMALL_SIDE = 64
"""A picture with sides up to this length is read once: it has no room for rotated lines or loose
words.
"""


class SeenWord(NamedTuple):
    """A word of a picture."""

    text: str
    line: str
    """Identifies the word's line among those of all passes."""
    box: tuple[float, float, float, float]
    """Left, top, right and bottom as read; comparable only within one pass."""
    corners: Corners
    """The corners in pixels of the picture, clockwise from the start of the word's top."""


class Seen(NamedTuple):
    """The words of a picture, and the areas that were not read."""

    words: list[SeenWord]
    unread: list[Corners]
    """Lines of writing that no pass could read."""


class _View(NamedTuple):
    """A picture as prepared for a pass."""

    picture: Image
    angle: float
    times: float


class _Pass(NamedTuple):
    """The words of one pass, by line."""

    lines: list[list[Word]]
    angle: float
    size: tuple[int, int]
    """The size of the rotated picture."""
    times: float

    def confident(self) -> list[list[Word]]:
        return [
            line
            for line in self.lines
            if _confidence(line) >= _CONFIDENT and _length(line) >= _LEAST_TEXT
        ]

    @property
    def score(self) -> int:
        return sum(map(_length, self.confident()))

    @property
    def weight(self) -> float:
        """The number of characters, weighted by their confidence."""
        return sum(_length(line) * _confidence(line) for line in self.lines)

    @property
    def length(self) -> int:
        return max(_LITTLE, sum(map(_length, self.lines)))


def look(picture: Image, *, enlarge: bool = True, until: float = math.inf) -> Seen:
    """Return the words of a picture and the texts of its codes; no pass starts after `until`."""
    shades = picture.convert("L")
    words, unread = _seen(shades, enlarge=enlarge, until=until)
    colors = colored_ink(picture)
    if colors is not None:
        more = _seen(colors, enlarge=enlarge, until=until)
        words = [*words, *(word._replace(line=f"colors {word.line}") for word in more.words)]
        unread = [*unread, *more.unread]
    return Seen([*words, *_codes(shades)], unread)


def _codes(picture: Image) -> Iterator[SeenWord]:
    for number, (text, corners) in enumerate(codes(picture)):
        yield SeenWord(text, f"codes {number}/0", _around(corners), corners)


def _seen(picture: Image, *, enlarge: bool, until: float) -> Seen:
    if is_blank(picture):
        return Seen([], [])
    try:
        return _look(picture, enlarge=enlarge, until=until)
    except ocr.OcrTimeoutError:
        wide, high = float(picture.width), float(picture.height)
        return Seen([], [((0.0, 0.0), (wide, 0.0), (wide, high), (0.0, high))])


def _look(picture: Image, *, enlarge: bool, until: float) -> Seen:
    times = enlargement(picture) if enlarge else 1
    views = [_View(picture, 0.0, each) for each in sorted({times, 1})]
    unboxed = without_boxes(picture)
    if unboxed is not None:
        picture = unboxed
        # The letters are far from each other, so that OCR misreads some at each scale.
        scales = range(1, most_enlargement(picture) + 1)
        views += (_View(picture, 0.0, each) for each in scales)
    upright = _read(views)
    first = best = max(upright, key=lambda each: each.score)
    if max(picture.size) <= _SMALL_SIDE:
        until = -math.inf
    if first.score < _SURE_SHARE * first.length and time.monotonic() < until:
        first = _turned(picture, first, times)
    passes = [first]
    left = _without(picture, first)
    for turns in ((0.0,), (90.0, 270.0)):
        if not has_ink(left) or time.monotonic() >= until:
            break
        shades = flattened(left)
        views = [_View(shades, first.angle + turn, times) for turn in turns]
        for turn, read in zip(turns, _read(views, sparse=True), strict=True):
            found = read._replace(lines=read.confident()) if turn else read
            passes.append(found)
            left = _without(left, found)
    sloping = _sloping(picture, passes, times) if time.monotonic() < until else []
    passes += sloping
    passes += (_differing(each, best) for each in upright if each is not best)
    return Seen(
        [
            word
            for number, each in enumerate(passes)
            for word in _words(each, picture.size, str(number))
        ],
        [*_unread(passes, picture.size), *_unread(sloping, picture.size, across=True)],
    )


def _sloping(picture: Image, passes: Sequence[_Pass], times: float) -> list[_Pass]:
    """Return the pass over lines that run across the page, as of a stamp or a watermark."""
    for found in passes:
        picture = _without(picture, found, ink_only=True)
    slope = slope_of(flattened(picture))
    if not slope:
        return []
    turned = [float(slope + turn) for turn in (0, 90, 180, 270)]
    trials = _read([_View(picture, angle, 1) for angle in turned])
    best = max(trials, key=lambda trial: trial.weight)
    again = [] if times == 1 else _read([_View(picture, best.angle, times)])
    return [max((best, *again), key=lambda each: each.weight)]


def _differing(read: _Pass, best: _Pass) -> _Pass:
    """Return the lines of a pass that the best pass at another scale reads differently."""
    known = {_text(line) for line in best.lines}
    return read._replace(lines=[line for line in read.confident() if _text(line) not in known])


def look_sparsely(picture: Image) -> list[str]:
    """Return the texts of codes, and the words that one pass finds outside of paragraphs, as a
    second reader.
    """
    picture = picture.convert("L")
    texts = [text for text, _ in codes(picture)]
    if is_blank(picture):
        return texts
    try:
        view = _View(picture, 0.0, enlargement(picture))
        (found,) = _read([view], sparse=not is_texture(picture))
    except ocr.OcrTimeoutError:
        return texts
    return [*texts, *(word.text for line in found.lines for word in line)]


def _confidence(line: Iterable[Word]) -> float:
    """Return the confidence of a line, weighted by the length of its words."""
    weights = [(len(word.text), word.confidence) for word in line]
    return sum(length * each for length, each in weights) / max(
        sum(length for length, _ in weights), 1
    )


def _text(line: Iterable[Word]) -> str:
    return " ".join(word.text for word in line)


def _length(line: Iterable[Word]) -> int:
    return sum(sum(map(str.isalnum, word.text)) for word in line)


# ---- a pass


def _read(views: Sequence[_View], *, sparse: bool = False) -> list[_Pass]:
    """Return a pass over each view, all of them in one run."""
    turned = [_rotated(view.picture, view.angle) for view in views]
    shown = [_resized(picture, view.times) for picture, view in zip(turned, views, strict=True)]
    passes: list[_Pass] = []
    found = ocr.words(_file(shown), pages=len(shown), sparse=sparse)
    for words, picture, view in zip(found, turned, views, strict=True):
        lines: dict[str, list[Word]] = defaultdict(list)
        for word in words:
            lines[word.line].append(word)
        passes.append(_Pass(list(lines.values()), view.angle, picture.size, view.times))
    return passes


def _resized(picture: Image, times: float) -> Image:
    if times == 1:
        return picture
    from PIL.Image import Resampling

    size = round(picture.width * times), round(picture.height * times)
    return picture.resize(size, Resampling.LANCZOS)


def _file(pictures: Sequence[Image]) -> bytes:
    output = io.BytesIO()
    first, *more = pictures
    if more:
        # Fax compression, which Pillow keeps from the source file, supports only two shades.
        first.save(output, "TIFF", save_all=True, append_images=more, compression="raw")
    else:
        first.save(output, "PNG", compress_level=1)
    return output.getvalue()


def _rotated(picture: Image, angle: float) -> Image:
    if not angle % 360:
        return picture
    from PIL.Image import Resampling

    return picture.rotate(angle, Resampling.BICUBIC, expand=True, fillcolor=_paper_of(picture))


def _paper_of(picture: Image) -> int:
    """Return the most frequent shade."""
    shades = picture.histogram()
    return shades.index(max(shades))


def _words(found: _Pass, size: tuple[int, int], name: str) -> Iterable[SeenWord]:
    room = found.times / 2 if found.times > 1 else 0.0
    for number, line in enumerate(found.lines):
        for word in line:
            right, bottom = word.left + word.width, word.top + word.height
            box = (word.left, word.top, right, bottom)
            yield SeenWord(word.text, f"{name}/{number}", box, _corners(found, word, size, room))


def _corners(found: _Pass, word: Word, size: tuple[int, int], room: float = 0.0) -> Corners:
    """Return the corners of a word, with a margin, in the picture before its rotation."""
    sine, cosine = (each(math.radians(-found.angle)) for each in (math.sin, math.cos))

    def back(x: float, y: float) -> Point:
        x, y = x / found.times - found.size[0] / 2, y / found.times - found.size[1] / 2
        return x * cosine + y * sine + size[0] / 2, y * cosine - x * sine + size[1] / 2

    left, top = word.left - room, word.top - room
    right, bottom = word.left + word.width + room, word.top + word.height + room
    return back(left, top), back(right, top), back(right, bottom), back(left, bottom)


# ---- turns


def _turned(picture: Image, upright: _Pass, times: float) -> _Pass:
    """Return the pass with the best rotation of the picture."""
    small = min(times, math.sqrt(_TRIAL_PIXELS / (picture.width * picture.height)))
    skew = skew_of(picture)
    weak = upright.score < _WEAK_SHARE * upright.length
    angles = [skew + turn for turn in ((0, 90, 180, 270) if weak else (0,)) if skew + turn]
    if not angles:
        return upright
    views = [_View(picture, angle, max(small, 0.3)) for angle in angles]
    if weak and times > 1 and skew:
        views.append(_View(picture, float(skew), 1))  # these letters were already large enough
    trials = _read(views)
    best = max(trials, key=lambda trial: trial.score)
    if best.score < max(_BETTER * upright.score, 1):
        return upright
    again = [] if best.times == times else _read([_View(picture, best.angle, times)])
    return max((best, *again, upright), key=lambda trial: trial.score)


def _without(picture: Image, found: _Pass, *, ink_only: bool = False) -> Image:
    """Return a copy without the lines that were read, filled with the shade around each word.

    `ink_only` leaves what is fainter than their letters.
    """
    from PIL import ImageStat

    copy = picture.copy()
    for line in found.confident():
        for word, following in zip(line, [*line[1:], None], strict=True):
            right = word.left + word.width
            if following is not None and 0 < following.left - right < 2 * word.height:
                right = following.left
            room = max(3.0 * found.times, word.height / 4)
            box = _around(
                _corners(found, word._replace(width=right - word.left), picture.size, room)
            )
            left, top, right, bottom = (round(each) for each in box)
            within = (
                max(left, 0),
                max(top, 0),
                min(right, picture.width),
                min(bottom, picture.height),
            )
            if within[0] < within[2] and within[1] < within[3]:
                part = picture.crop(within)
                paper = int(ImageStat.Stat(part).median[0])
                copy.paste(paper, within, strong_ink(part, paper) if ink_only else None)
    return copy


# ---- what is left


def _unread(
    passes: list[_Pass], size: tuple[int, int], *, across: bool = False
) -> Iterator[Corners]:
    """Yield the lines that look like writing and that no pass could read.

    Lines `across` the page may cross lines that were read.
    """
    read = [
        _around(_corners(each, word, size, word.height / 2))
        for each in passes
        for line in each.confident()
        for word in line
        if not across
    ]
    for each in passes[:2]:
        for line in each.lines:
            if _is_writing(line) and not any(
                _meet(_around(_corners(each, word, size)), box) for word in line for box in read
            ):
                yield _corners(each, _joined(line), size)


def _joined(line: Sequence[Word]) -> Word:
    """Return a line as a single word, with a box around all of its words."""
    left, top = min(word.left for word in line), min(word.top for word in line)
    right = max(word.left + word.width for word in line)
    bottom = max(word.top + word.height for word in line)
    return line[0]._replace(left=left, top=top, width=right - left, height=bottom - top)


def _is_writing(line: list[Word]) -> bool:
    """Return whether an unread line has the even heights of letters."""
    if _confidence(line) >= _UNSURE or _length(line) < 2 * _LEAST_TEXT:
        return False
    heights = sorted(word.height for word in line)
    wide = max(word.left + word.width for word in line) - min(word.left for word in line)
    middle = heights[len(heights) // 2]
    return heights[-1] < 2 * middle and wide > 3 * middle


def _around(corners: Iterable[Point]) -> tuple[float, float, float, float]:
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _meet(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    return (
        first[0] < second[2]
        and second[0] < first[2]
        and first[1] < second[3]
        and second[1] < first[3]
    )
