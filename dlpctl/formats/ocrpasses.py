"""Read a picture in as many OCR passes as its ink needs: rotated, with more contrast, or for words
outside of paragraphs.

A pass reads what the passes before it left: lines that were read with confidence are painted over.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats import ocr
from dlpctl.formats.ocrink import enlargement, flattened, has_ink, is_blank, is_texture, skew_of
from dlpctl.formats.ocrlines import (
    CONFIDENT,
    LEAST_TEXT,
    MOST_LINES,
    confidence,
    file_of,
    has_letters,
    paper_of,
    read_again,
    text_length,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from PIL.Image import Image

    from dlpctl.formats.ocr import Word

Point = tuple[float, float]
Corners = tuple[Point, Point, Point, Point]

UNREAD = "writing that OCR cannot read with confidence"
_UNSURE = 65.0
"""A line or word with a lower confidence is unsure."""
_SURE_SHARE, _WEAK_SHARE, _LITTLE = 0.95, 0.6, 24
"""The confident share of characters in a skewed picture and in a sideways one, and a
small count.
"""
_BESIDE = 0.2
"""The margin of a word that was read, in its heights, since passes differ in their boxes."""
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
            if confidence(line) >= CONFIDENT and text_length(line) >= LEAST_TEXT
        ]

    @property
    def score(self) -> int:
        return sum(map(text_length, self.confident()))

    @property
    def length(self) -> int:
        return max(_LITTLE, sum(map(text_length, self.lines)))


def look(picture: Image, *, enlarge: bool = True, until: float = math.inf) -> Seen:
    """Return the words of a grayscale picture; no pass starts after `until`."""
    if is_blank(picture):
        return Seen([], [])
    try:
        return _look(picture, enlarge=enlarge, until=until)
    except ocr.OcrTimeoutError:
        wide, high = float(picture.width), float(picture.height)
        return Seen([], [((0.0, 0.0), (wide, 0.0), (wide, high), (0.0, high))])


def _look(picture: Image, *, enlarge: bool, until: float) -> Seen:
    times = enlargement(picture) if enlarge else 1
    upright = _read([_View(picture, 0.0, each) for each in sorted({times, 1})])
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
    passes += (_differing(each, best) for each in upright if each is not best)
    unsure = _unsure_lines(picture, passes)
    if unsure and time.monotonic() < until:
        passes += _read_again(picture, unsure)
        unsure = _unsure_lines(picture, passes)
    return Seen(
        [
            word
            for number, each in enumerate(passes)
            for word in _words(each, picture.size, str(number))
        ],
        [_corners(each, _joined(line), picture.size) for each, line in unsure],
    )


def _differing(read: _Pass, best: _Pass) -> _Pass:
    """Return the lines of a pass that the best pass at another scale reads differently."""
    known = {text_of(line) for line in best.lines}
    return read._replace(lines=[line for line in read.confident() if text_of(line) not in known])


def look_sparsely(picture: Image) -> list[str]:
    """Return the words that one pass finds outside of paragraphs, as a second reader."""
    if is_blank(picture):
        return []
    try:
        view = _View(picture, 0.0, enlargement(picture))
        (found,) = _read([view], sparse=not is_texture(picture))
    except ocr.OcrTimeoutError:
        return []
    return [word.text for line in found.lines for word in line]


# ---- a pass


def _read(views: Sequence[_View], *, sparse: bool = False) -> list[_Pass]:
    """Return a pass over each view, all of them in one run."""
    turned = [_rotated(view.picture, view.angle) for view in views]
    shown = [_resized(picture, view.times) for picture, view in zip(turned, views, strict=True)]
    passes: list[_Pass] = []
    found = ocr.words(file_of(shown), pages=len(shown), sparse=sparse)
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


def _rotated(picture: Image, angle: float) -> Image:
    if not angle % 360:
        return picture
    from PIL.Image import Resampling

    return picture.rotate(angle, Resampling.BICUBIC, expand=True, fillcolor=paper_of(picture))


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


def _without(picture: Image, found: _Pass) -> Image:
    """Return a copy without the lines that were read, filled with the shade around each word."""
    from PIL import ImageDraw, ImageStat

    copy = picture.copy()
    draw = ImageDraw.Draw(copy)
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
                draw.rectangle(within, fill=int(ImageStat.Stat(picture.crop(within)).median[0]))
    return copy


# ---- what is left


def _unread(passes: list[_Pass], size: tuple[int, int]) -> Iterator[tuple[_Pass, list[Word]]]:
    """Yield the lines that look like writing and that no pass could read."""
    read = [
        _around(_corners(each, word, size, _BESIDE * word.height))
        for each in passes
        for line in each.confident()
        for word in line
    ]
    for each in passes[:2]:
        for line in each.lines:
            if _is_writing(line) and any(
                _is_unread(_around(_corners(each, word, size)), read)
                for word in line
                if word.confidence < _UNSURE and text_length([word]) >= LEAST_TEXT
            ):
                yield each, line


def _is_unread(word: tuple[float, ...], read: Iterable[tuple[float, ...]]) -> bool:
    """Return whether the middle of a word is on no word that was read."""
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return not any(box[0] < x < box[2] and box[1] < y < box[3] for box in read)


def _unsure_lines(picture: Image, passes: list[_Pass]) -> list[tuple[_Pass, list[Word]]]:
    """Return the unread lines that have the ink of letters."""
    lines = list(_unread(passes, picture.size))
    if not lines:
        return []
    turned = _rotated(picture, passes[0].angle)
    return [(each, line) for each, line in lines if has_letters(turned, _box(line, each.times))]


def _read_again(picture: Image, unsure: list[tuple[_Pass, list[Word]]]) -> Iterator[_Pass]:
    """Yield what is read of the unsure lines one by one, as passes at the picture's scale."""
    if len(unsure) > MOST_LINES:
        return
    angle, size = unsure[0][0].angle, unsure[0][0].size
    boxes = [(_box(line, each.times), line) for each, line in unsure]
    for readings in read_again(_rotated(picture, angle), boxes):
        yield _Pass(readings, angle, size, 1.0)


def _box(line: Sequence[Word], times: float) -> tuple[float, float, float, float]:
    word = _joined(line)
    right, bottom = word.left + word.width, word.top + word.height
    return word.left / times, word.top / times, right / times, bottom / times


def _joined(line: Sequence[Word]) -> Word:
    """Return a line as a single word, with a box around all of its words."""
    left, top = min(word.left for word in line), min(word.top for word in line)
    right = max(word.left + word.width for word in line)
    bottom = max(word.top + word.height for word in line)
    return line[0]._replace(left=left, top=top, width=right - left, height=bottom - top)


def _is_writing(line: list[Word]) -> bool:
    """Return whether an unread line has the even heights of letters."""
    if confidence(line) >= _UNSURE or text_length(line) < 2 * LEAST_TEXT:
        return False
    heights = sorted(word.height for word in line)
    wide = max(word.left + word.width for word in line) - min(word.left for word in line)
    middle = heights[len(heights) // 2]
    return heights[-1] < 2 * middle and wide > 3 * middle


def _around(corners: Iterable[Point]) -> tuple[float, float, float, float]:
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)
