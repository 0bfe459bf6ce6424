"""Read a picture in as many OCR passes as its ink needs: rotated, with more contrast, or for words
outside of paragraphs.

A pass reads what the passes before it left: lines that were read with confidence are painted over.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from dlpctl.formats import ocr
from dlpctl.formats.ocr.ink import (
    colored_ink,
    enlargement,
    flattened,
    has_ink,
    is_blank,
    is_texture,
    most_enlargement,
    skew_of,
    slope_of,
    without_boxes,
)
from dlpctl.formats.ocr.lines import (
    CONFIDENT,
    LEAST_TEXT,
    MOST_LINES,
    Box,
    box_of,
    confidence,
    has_letters,
    is_long,
    joined,
    read_again,
    text_length,
    text_of,
)
from dlpctl.formats.ocr.rows import rows_of_letters
from dlpctl.formats.ocr.scans import halved, read_at_half, without_grain
from dlpctl.formats.ocr.seen import Corners, Seen, SeenWord, recalled
from dlpctl.formats.ocr.single_pass import (
    Pass,
    View,
    around,
    corners_of,
    read_views,
    rotated,
    without_lines,
)
from dlpctl.formats.ocr.spaced import read_spaced
from dlpctl.formats.ocr.struck import read_unstruck, without_strikes
from dlpctl.formats.pictures.barcodes import codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from PIL.Image import Image

    from dlpctl.formats.ocr import Word

UNREAD = "writing that OCR cannot read with confidence"
_UNSURE = 65.0
"""A line or word with a lower confidence is unsure."""
_WEAK_SHARE = 0.6
"""The confident share of characters in a sideways picture."""
_BESIDE = 0.2
"""The margin of a word that was read, in its heights, since passes differ in their boxes."""
_BETTER = 1.1
"""The minimum ratio of confident characters for preferring a sideways picture."""
_MOST_BOXES = 4 * MOST_LINES
"""The maximum number of lines that are compared with each other."""
_TRIAL_PIXELS = 1_500_000
_SMALL_SIDE = 64
"""The longest side of a picture without room for rotated lines or loose words."""


def look(picture: Image, *, enlarge: bool = True, until: float = math.inf) -> Seen:
    """Return the words of a picture and the texts of its codes; no pass starts after `until`."""
    read = partial(_shades_and_colors, until=until)
    seen = read_at_half(picture, partial(read, enlarge=False)) or read(picture, enlarge=enlarge)
    return Seen([*seen.words, *_codes(picture.convert("L"))], seen.unread)


def _shades_and_colors(picture: Image, *, enlarge: bool, until: float) -> Seen:
    words, unread = _seen(picture.convert("L"), enlarge=enlarge, until=until)
    colors = colored_ink(picture)
    if colors is None:
        return Seen(words, unread)
    more = _seen(colors, enlarge=enlarge, until=until)
    words = [*words, *(word._replace(line=f"colors {word.line}") for word in more.words)]
    return Seen(words, [*unread, *more.unread])


def _codes(picture: Image) -> Iterator[SeenWord]:
    for number, (text, corners) in enumerate(codes(picture)):
        yield SeenWord(text, f"codes {number}/0", around(corners), corners)


def _seen(picture: Image, *, enlarge: bool, until: float) -> Seen:
    picture = without_grain(picture)
    if is_blank(picture):
        return Seen([], [])
    try:
        return recalled(
            f"look {enlarge}",
            picture,
            until,
            lambda: _look(picture, enlarge=enlarge, until=until),
        )
    except ocr.OcrTimeoutError:
        return Seen([], [_corners_of_box((0.0, 0.0, float(picture.width), float(picture.height)))])


def _look(picture: Image, *, enlarge: bool, until: float) -> Seen:
    times = enlargement(picture) if enlarge else 1
    views = [View(picture, 0.0, 1)]
    unboxed = without_boxes(picture)
    if unboxed is not None:
        picture = unboxed
        # The letters are far from each other, so that OCR misreads some at each scale.
        views += (View(picture, 0.0, each) for each in range(1, most_enlargement(picture) + 1))
    elif times > 1:
        views.append(View(picture, 0.0, times))
    unstruck = without_strikes(picture)
    views += [] if unstruck is None else [View(unstruck.picture, 0.0, times)]
    upright = read_views(views)
    spaced, disputed = ([], []) if unboxed is None else _read_spaced(picture, upright)
    struck, misread = read_unstruck(unstruck, upright)
    first = best = max(upright, key=lambda each: each.score)
    if max(picture.size) <= _SMALL_SIDE:
        until = -math.inf
    if time.monotonic() < until:
        first = _turned(picture, first, times)
    passes = [first]
    left = without_lines(picture, first)
    if first.sideways is not None:
        left = without_lines(left, first.sideways)
    for turns in ((0.0,), (90.0, 270.0)):
        if not has_ink(left) or time.monotonic() >= until:
            break
        shades = flattened(left)
        views = [View(shades, first.angle + turn, times) for turn in turns]
        for turn, read in zip(turns, read_views(views, sparse=True), strict=True):
            found = read._replace(lines=read.confident()) if turn else read
            passes.append(found)
            left = without_lines(left, found)
    passes += [each.sideways for each in passes if each.sideways is not None]
    sloping, crossing = _sloping(picture, passes, times) if time.monotonic() < until else ([], [])
    passes += sloping
    boxes = _boxes_read(sloping, picture.size)
    disputed = [each for each in disputed if _is_beside(*each, boxes, picture.size)]
    passes += (*(_differing(each, best) for each in upright if each is not best), *spaced, *struck)
    unsure = _unsure_lines(picture, passes)
    if unsure and time.monotonic() < until:
        passes += _read_again(picture, unsure)
        unsure = _unsure_lines(picture, passes)
    unread = [
        corners_of(each, joined(line), picture.size)
        for each, line in (*unsure, *crossing, *disputed, *misread)
    ]
    known = [*_boxes_read(passes, picture.size), *map(around, unread)]
    unread += map(_corners_of_box, _unread_rows(left, known))
    return Seen(
        [
            word
            for number, each in enumerate(passes)
            for word in _words(each, picture.size, str(number))
        ],
        unread,
    )


def _sloping(
    picture: Image, passes: Sequence[Pass], times: float
) -> tuple[list[Pass], list[tuple[Pass, list[Word]]]]:
    """Return the pass over lines that run across the page, as of a stamp, a watermark or the labels
    of a chart, and its unread lines.
    """
    for found in passes:
        picture = without_lines(picture, found, ink_only=True)
    slope = slope_of(flattened(picture))
    if not slope.angle:
        return [], []
    turned = [float(slope.angle + turn) for turn in (0, 90, 180, 270)]
    trials = read_views([View(picture, angle, 1) for angle in turned])
    best = max(trials, key=lambda trial: trial.weight)
    again = [] if times == 1 else read_views([View(picture, best.angle, times)])
    read = max((best, *again), key=lambda each: each.weight)
    # These lines may cross others, which were read.
    crossing = [(read, line) for line in read.lines if _is_writing(line)]
    return [read], crossing if slope.is_clearest else []


def _read_spaced(
    picture: Image, passes: Sequence[Pass]
) -> tuple[list[Pass], list[tuple[Pass, list[Word]]]]:
    """Return what is read of lines with letters far from each other, and those that are misread."""
    lines = [(each, line) for each in passes for line in each.lines if is_long(line)]
    lines.sort(key=lambda each: -text_length(each[1]))
    boxes: dict[Box, tuple[Pass, list[Word]]] = {}
    for found, line in lines:
        box = box_of(line, found.times)
        if len(boxes) < _MOST_BOXES and not any(_is_in(box, other) for other in boxes):
            boxes[box] = found, line
    readings = read_spaced(picture, list(boxes))
    read = [line for lines in readings if lines for line in lines]
    known: dict[str, list[tuple[float, Box]]] = defaultdict(list)
    for each, line in lines:
        if confidence(line) >= CONFIDENT and not any(map(str.isdigit, text_of(line))):
            known[text_of(line)].append((each.times, box_of(line, each.times)))
    disputed = [
        line
        for (box, line), found in zip(boxes.items(), readings, strict=True)
        if found == [] and not _is_read_alike(box, known[text_of(line[1])])
    ]
    return [Pass(read, 0.0, picture.size, 1.0)], disputed


def _is_read_alike(box: Box, readings: Iterable[tuple[float, Box]]) -> bool:
    """Return whether a line reads alike at two scales, at which OCR misreads spaced letters in
    other ways.
    """
    return len({times for times, other in readings if _is_in(other, box)}) > 1


def _is_in(box: Box, other: Box) -> bool:
    """Return whether the middle of a box is in another one."""
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return other[0] < x < other[2] and other[1] < y < other[3]


def _differing(read: Pass, best: Pass) -> Pass:
    """Return the lines of a pass that the best pass at another scale reads differently."""
    known = {text_of(line) for line in best.confident()}
    return read._replace(lines=[line for line in read.confident() if text_of(line) not in known])


def look_sparsely(picture: Image) -> list[str]:
    """Return the texts of codes, and the words that one pass finds outside of paragraphs, as a
    second reader.
    """
    picture = picture.convert("L")
    texts = [text for text, _ in codes(picture)]
    if is_blank(picture):
        return texts
    try:
        seen = recalled("sparse", picture, math.inf, lambda: _look_sparsely(picture))
    except ocr.OcrTimeoutError:
        return texts
    return [*texts, *(word.text for word in seen.words)]


def _look_sparsely(picture: Image) -> Seen:
    half = halved(picture)
    picture = without_grain(picture if half is None else half)
    view = View(picture, 0.0, enlargement(picture) if half is None else 1)
    (found,) = read_views([view], sparse=not is_texture(picture))
    return Seen([*_words(found, picture.size, "0")], [])


# ---- words


def _words(found: Pass, size: tuple[int, int], name: str) -> Iterable[SeenWord]:
    room = found.times / 2 if found.times > 1 else 0.0
    for number, line in enumerate(found.lines):
        for word in line:
            right, bottom = word.left + word.width, word.top + word.height
            box = (word.left, word.top, right, bottom)
            yield SeenWord(word.text, f"{name}/{number}", box, corners_of(found, word, size, room))


# ---- turns


def _turned(picture: Image, upright: Pass, times: float) -> Pass:
    """Return the pass with the best rotation of the picture.

    OCR may read a skewed picture with confidence, but some lines in pieces or not at all.
    """
    small = min(times, math.sqrt(_TRIAL_PIXELS / (picture.width * picture.height)))
    skew = skew_of(picture)
    weak = upright.score < _WEAK_SHARE * upright.length
    angles = [skew + turn for turn in ((0, 90, 180, 270) if weak else (0,)) if skew + turn]
    if not angles:
        return upright
    views = [View(picture, angle, max(small, 0.3)) for angle in angles]
    if weak and times > 1 and skew:
        views.append(View(picture, float(skew), 1))  # these letters were already large enough
    trials = read_views(views)
    best = max(trials, key=lambda trial: trial.score)
    if best.score < max(upright.score * (1 if best.angle == skew else _BETTER), 1):
        return upright
    again = [] if best.times == times else read_views([View(picture, best.angle, times)])
    return max((*again, best, upright), key=lambda trial: trial.score)


# ---- what is left


def _unread(passes: list[Pass], size: tuple[int, int]) -> Iterator[tuple[Pass, list[Word]]]:
    """Yield the lines that look like writing and that no pass could read."""
    read = _boxes_read(passes, size)
    for each in passes[:2]:
        for line in each.lines:
            unsure = [
                word
                for word in line
                if word.confidence < _UNSURE and text_length([word]) >= LEAST_TEXT
            ]
            if _is_writing(line) and _is_beside(each, unsure, read, size):
                yield each, line


def _boxes_read(passes: Iterable[Pass], size: tuple[int, int]) -> list[Box]:
    """Return the boxes of the words that were read with confidence."""
    return [
        around(corners_of(each, word, size, _BESIDE * word.height))
        for each in passes
        for line in each.confident()
        for word in line
    ]


def _is_beside(
    found: Pass, words: Iterable[Word], read: Iterable[Box], size: tuple[int, int]
) -> bool:
    """Return whether any of the words is at no place that was read."""
    return any(_is_unread(around(corners_of(found, word, size)), read) for word in words)


def _is_unread(word: tuple[float, ...], read: Iterable[tuple[float, ...]]) -> bool:
    """Return whether the middle of a word is on no word that was read."""
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return not any(box[0] < x < box[2] and box[1] < y < box[3] for box in read)


def _unread_rows(left: Image, known: list[Box]) -> list[Box]:
    """Return the rows of letters apart from the known boxes and from each other; the picture
    itself if they are too many to compare.
    """
    rows = rows_of_letters(left)
    if len(rows) > _MOST_BOXES:
        return [(0.0, 0.0, float(left.width), float(left.height))]
    unread: list[Box] = []
    for row in rows:
        if _is_unread(row, [*known, *unread]):
            unread.append(row)
    return unread


def _corners_of_box(box: Box) -> Corners:
    left, top, right, bottom = box
    return (left, top), (right, top), (right, bottom), (left, bottom)


def _unsure_lines(picture: Image, passes: list[Pass]) -> list[tuple[Pass, list[Word]]]:
    """Return the unread lines that have the ink of letters."""
    lines = list(_unread(passes, picture.size))
    if not lines:
        return []
    turned = rotated(picture, passes[0].angle)
    return [(each, line) for each, line in lines if has_letters(turned, box_of(line, each.times))]


def _read_again(picture: Image, unsure: list[tuple[Pass, list[Word]]]) -> Iterator[Pass]:
    """Yield what is read of the unsure lines one by one, as passes at the picture's scale."""
    if len(unsure) > MOST_LINES:
        return
    angle, size = unsure[0][0].angle, unsure[0][0].size
    boxes = [(box_of(line, each.times), line) for each, line in unsure]
    for readings in read_again(rotated(picture, angle), boxes):
        yield Pass(readings, angle, size, 1.0)


def _is_writing(line: list[Word]) -> bool:
    """Return whether an unread line has the even heights of letters."""
    if confidence(line) >= _UNSURE or not is_long(line):
        return False
    heights = sorted(word.height for word in line)
    wide = max(word.left + word.width for word in line) - min(word.left for word in line)
    middle, lower = heights[len(heights) // 2], heights[(len(heights) - 1) // 2]
    # Of two words, the middle height is the larger one.
    return heights[-1] < min(2 * middle, 3 * lower) and wide > 3 * middle
