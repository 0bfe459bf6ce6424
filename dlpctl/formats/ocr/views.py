"""The texts of a picture's words: by line, across columns, and with letters read as digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from statistics import median

from dlpctl.formats.interface import Document, Piece, Segment, Uninspected, View
from dlpctl.formats.ocr.passes import UNREAD
from dlpctl.formats.ocr.seen import Corners, SeenWord
from dlpctl.formats.wraps import goes_on

UNREAD_LINE = "\ufffd"
"""The text of a line that OCR cannot read."""
Lines = list[list[int]]
"""The numbers of the words of each line."""
_ALIKE = str.maketrans("OoQDIil|SsBZzGg", "000011115582266")
_DIGITS_MISREAD = re.compile(r"(?=[^0-9]*[0-9])[-0-9OoQDIil|SsBZzGg().,/+]{2,}")
_COUNTRY = re.compile(r"([A-Z]{2})(?=[0-9OoQDIil|SsBZz]{2})")
_AT_MISREAD = re.compile(r"(?<=\w)[©®](?=\w)")
_DOT_MISREAD = re.compile(r"(?<=@)(?P<domain>[\w-]{2,}?)(?=(?:com|org|net|edu|gov|info|de)$)")
_SPLIT = re.compile(
    r"[0-9][.,:/]? [0-9]|[@_+] \w|\w [@_.+]\w?|[\w.] -|\w- \w|\A- [0-9]"
    r"|\( [0-9]|[0-9] \)|\w\. [a-z0-9]"
)
"""Matches around a space that OCR may insert within a number or an address."""
_CELL_GAP = 3.0
"""Words of a row with a larger distance, in heights of a letter or usual gaps, are in two cells."""
_FEW_LETTERS = 2


def add_words(
    name: str,
    words: Sequence[SeenWord],
    segments: list[Segment],
    segment_of: Callable[[SeenWord, str], Segment],
) -> Iterator[View]:
    """Add a segment for each word, made by `segment_of`, and yield the views of the segments."""
    first = len(segments)
    segments += (segment_of(word, word.text) for word in words)
    lines = [
        [number for number, _ in group]
        for _, group in groupby(enumerate(words), key=lambda each: each[1].line)
    ]
    numbers = {number: first + number for number in range(len(words))}
    yield from _views(name, lines, words, numbers, segments)
    yield from _closed_up(f"{name}, closed up", lines, words, numbers, segments)
    rows = _rows(lines, words)
    if rows != lines:
        yield from _views(f"{name}, across columns", rows, words, numbers, segments)
    misread = {number: text for number, word in enumerate(words) if (text := _as_meant(word.text))}
    if misread:
        meant = {number: len(segments) + at for at, number in enumerate(misread)}
        segments += (segment_of(words[number], text) for number, text in misread.items())
        yield from _views(f"{name}, as meant", lines, words, numbers | meant, segments)


def add_unread(
    document: Document,
    lines: Iterable[Corners],
    location: str,
    segment_of: Callable[[SeenWord, str], Segment],
) -> None:
    """Report lines that OCR cannot read, each with a segment by which the line is painted over."""
    for number, corners in enumerate(lines):
        xs, ys = zip(*corners, strict=True)
        box = (min(xs), min(ys), max(xs), max(ys))
        line = SeenWord(UNREAD_LINE, f"unread/{number}", box, corners)
        document.uninspected.append(Uninspected(location, UNREAD, len(document.segments)))
        document.segments.append(segment_of(line, line.text))


def _views(
    name: str,
    lines: Lines,
    words: Sequence[SeenWord],
    numbers: dict[int, int],
    segments: Sequence[Segment],
) -> Iterator[View]:
    """Return the views of lines: one per line, joined by a space, and joined."""
    if not lines:
        return
    texts = [" ".join(segments[numbers[word]].text for word in line) for line in lines]
    for suffix, glue in (("", "\n"), (", lines joined by a space", " "), (", lines joined", "")):
        joined = [glue != "\n" and goes_on(texts, number, glue) for number in range(len(lines))]
        if suffix and not any(joined):
            continue
        parts: list[Piece | str] = []
        for number, line in enumerate(lines):
            gaps = [False, *_gaps(line, words)]
            for at, (word, is_apart) in enumerate(zip(line, gaps, strict=True)):
                if at:
                    parts.append("\t" if is_apart else " ")
                segment = numbers[word]
                parts.append(Piece(segment, 0, len(segments[segment].text)))
            parts.append(glue if joined[number] else "\n")
        yield View(name + suffix, parts[:-1], segments)


def _closed_up(
    name: str,
    lines: Lines,
    words: Sequence[SeenWord],
    numbers: dict[int, int],
    segments: Sequence[Segment],
) -> Iterator[View]:
    """Yield a view of the lines with spaces that OCR may have inserted, without these spaces."""
    parts: list[Piece | str] = []
    for line in lines:
        glues = [
            "\t" if is_apart else _glue(words[left].text, words[right].text)
            for is_apart, (left, right) in zip(_gaps(line, words), pairwise(line), strict=True)
        ]
        if "" not in glues:
            continue
        for word, glue in zip(line, [*glues, "\n"], strict=True):
            segment = numbers[word]
            parts += Piece(segment, 0, len(segments[segment].text)), glue
    if parts:
        yield View(name, parts[:-1], segments)


def _glue(text: str, following: str) -> str:
    return "" if _SPLIT.search(f"{text[-2:]} {following[:2]}") else " "


def _gaps(line: Sequence[int], words: Sequence[SeenWord]) -> list[bool]:
    """Return for each space of a line whether it separates two cells.

    Letters in boxes are far from each other, so that most of them are words of their own.
    """
    pairs = [(words[left], words[right]) for left, right in pairwise(line)]
    gaps = [right.box[0] - left.box[2] for left, right in pairs]
    spaced = 2 * sum(len(words[word].text) <= _FEW_LETTERS for word in line) > len(line)
    letter = median(gaps) if gaps and spaced else 0.0
    return [
        gap > _CELL_GAP * max(left.box[3] - left.box[1], letter)
        for gap, (left, _) in zip(gaps, pairs, strict=True)
    ]


def _rows(lines: Lines, words: Sequence[SeenWord]) -> Lines:
    """Return the words by row, across the columns that OCR detected."""
    rows: Lines = []
    for _, group in groupby(lines, key=lambda line: words[line[0]].line.partition("/")[0]):
        found: list[tuple[float, float, list[int]]] = []
        for line in sorted(group, key=lambda line: words[line[0]].box[1]):
            top = min(words[number].box[1] for number in line)
            bottom = max(words[number].box[3] for number in line)
            for row, (high, low, members) in enumerate(found[-4:], max(len(found) - 4, 0)):
                shared = min(low, bottom) - max(high, top)
                if 2 * shared > min(low - high, bottom - top):
                    found[row] = (min(high, top), max(low, bottom), members + line)
                    break
            else:
                found.append((top, bottom, list(line)))
        rows += (
            sorted(members, key=lambda number: words[number].box[0]) for _, _, members in found
        )
    return rows


def _as_meant(text: str) -> str:
    """Return a word with letters replaced by the digits that they resemble; empty if there are
    none.
    """
    country = _COUNTRY.match(text)
    head = country[1] if country else ""
    digits = text[len(head) :]
    if _DIGITS_MISREAD.fullmatch(digits):
        digits = digits.translate(_ALIKE)
    meant = _DOT_MISREAD.sub(r"\g<domain>.", head + _AT_MISREAD.sub("@", digits))
    return "" if meant == text else meant
