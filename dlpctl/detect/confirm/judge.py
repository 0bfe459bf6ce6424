"""A trained judge of what may be a password: the words and quoted texts near a label.

Rules know the frames that somebody thought of. The judge weighs what a reader sees in any frame:
the label, what is between it and the candidate, the shape of the candidate and what follows it. Its
weights are those of a logistic regression over hashed features; for how they are made, see
tests/training/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from math import exp
from typing import NamedTuple
from zlib import crc32

from dlpctl.detect.validators import secrets_judge, secrets_literals
from dlpctl.detect.validators.remembered import remembered
from dlpctl.detect.validators.wordlists import read_rows, read_words
from dlpctl.regex import lazy

AFTER, BEFORE = 140, 60
"""The number of bytes after and before a label that are judged."""
NEXT_LINE = 80
SIZE = 1 << 15
"""The number of weights."""
_ZERO, _STEP, _LARGEST, _ROW = ord("O"), 8, 43, 64
"""The character of the weight 0, the number of steps of a weight by 1, the largest number of steps
in the file, and the weights in one of its rows.
"""
_MOST = 24
"""The maximum number of candidates of one label."""
_LOWEST, _HIGHEST = 0.4, 0.64
"""The scores of findings. A pattern for one frame, which knows where the value ends, wins."""
_CANDIDATE = lazy(
    r"(?<![0-9A-Za-z])(?P<quote>[\"'`])(?P<quoted>[^\"'`\n\s,:;(){}=<>][^\"'`\n]{2,62}"
    r"[^\"'`\n\s,:;({=<>\\])(?P=quote)(?![0-9A-Za-z])"
    # Letters of scripts that have no blanks between words end a value.
    r"|(?:[!#$%*+.0-9?@A-Z^_a-z~-]++|[\xc2-\xdf][\x80-\xbf]|&(?!\w{1,20}=))++"
)
_SHORTEST, _SHORTEST_NUMBER, _LONGEST = 4, 6, 65
_HEX, _ABSTRACT = lazy(r"[0-9a-f]{8,}"), lazy(r"[a-z]{4,}(?:ity|ment|ness|tion)s?")
_TIME, _STANDARD = lazy(r"\d{4}-\d\d-\d\d"), lazy(r"[A-Z]{2,8}[#-]\d{1,3}")
_CALLED = ("(", "[")
_STEM = secrets_literals.PASSWORD_STEM
_OF_NUMBERS = lazy(r"pin|puk|code|wi-?fi|wlan")
_ASSIGNED = lazy(r"\s{1,8}=\s{1,8}")
_CONTROL = lazy(r"[\x00-\x08\x0e-\x1f\x7f]")
_NAME_GOES_ON = lazy(r"[\w-]*")
_RUN = lazy(r"[a-z\x80-\xff]+|[A-Z]+|[0-9]+|[^\w]+|_+")
_TOKEN = lazy(r"[a-z\x80-\xff]+|[0-9]+|\s+|[^\w\s]|_", re.IGNORECASE)
_WORD, _LAST_WORD = lazy(r"[^\W\d_]+"), lazy(r"([^\W\d_]+)\W*$")
_OF_WORD, _NOT_OF_WORD = lazy(r"\w"), lazy(r"\W")
_LINE_IS_LABEL = lazy(r"(?:[\"'*`)]{0,2}|[^\n]{0,24}?[:=>?]\**)[ \t]*\r?\n\s{0,20}")


NextLabel = Callable[[bytes, int, int], int]


class Judged(NamedTuple):
    """A candidate with its score, as byte offsets."""

    start: int
    end: int
    score: float


class Candidate(NamedTuple):
    """A candidate in the text around a label, of which each byte is one character."""

    text: str
    label: tuple[int, int]
    value: tuple[int, int]
    quote: str


def judged(data: bytes, start: int, end: int, next_label: NextLabel) -> Iterator[Judged]:
    """Yield the candidates near the label at `start` to `end` that may be passwords."""
    for first, candidate in candidates(data, start, end, next_label):
        score = probability(candidate)
        if score >= _LOWEST:
            value, stop = candidate.value
            yield Judged(first + value, first + stop, min(int(100 * score) / 100, _HIGHEST))


def candidates(
    data: bytes, start: int, end: int, next_label: NextLabel
) -> Iterator[tuple[int, Candidate]]:
    """Yield the candidates near a label, with the offset of the text that they refer to."""
    first = max(data.rfind(b"\n", max(0, start - BEFORE), start) + 1, start - BEFORE, 0)
    last = _window_end(data, end)
    following = next_label(data, end, last)
    text = data[first:last].decode("latin-1")
    limit = following - first if following >= 0 else len(text)
    if found := _CONTROL.search(text, end - first, limit):  # between the strings of a binary
        limit = found.start()
    cut = last < len(data) and data[last : last + 1] not in b" \t\r\n\"'`<>(){}[],;|=:/&"
    label = start - first, end - first
    after = _NAME_GOES_ON.match(text, label[1]).end()  # type: ignore[union-attr]
    for number, found in enumerate(_CANDIDATE.finditer(text, after)):
        if number == _MOST or found.start() >= limit:
            break
        value = _trimmed(text, *found.span("quoted" if found["quote"] else 0))
        written = text[slice(*value)]
        if not found["quote"] and (
            _is_of_code(text, *found.span())
            # another variable, of which the rules say how likely it is a value
            or (written.isalpha() and _ASSIGNED.fullmatch(text, after, value[0]))
        ):
            continue
        if (cut and found.end() == len(text)) or not _is_possible(
            written, text[slice(*label)].lower(), found["quote"] or ""
        ):
            continue
        yield first, Candidate(text, label, value, found["quote"] or "")


def _is_of_code(text: str, start: int, end: int) -> bool:
    return text.startswith(_CALLED, end) or text.endswith("::", 0, start)


def _window_end(data: bytes, end: int) -> int:
    stop = data.find(b"\n", end, end + AFTER)
    if stop < 0:
        return min(len(data), end + AFTER)
    rest = data[end : stop + NEXT_LINE + 1].decode("latin-1")
    if found := _LINE_IS_LABEL.match(rest):
        below = data.find(b"\n", end + found.end(), end + found.end() + NEXT_LINE)
        return below if below >= 0 else min(len(data), end + found.end() + NEXT_LINE)
    return stop


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a value without the marks of the sentence around it."""
    while end > start and text[end - 1] in ".?*":
        end -= 1
    while start < end and text[start] == "*":
        start += 1
    return start, end


@cache
def _common() -> frozenset[str]:
    return secrets_judge.PROGRAM_WORDS | read_words("password_labels")


@remembered
def _is_possible(value: str, label: str, quote: str) -> bool:
    """Return whether a value needs a judge at all: most words near labels do not."""
    lowered = value.lower()
    if (
        not _SHORTEST <= len(value) <= _LONGEST
        or lowered in _common()
        or _letters(lowered) in _letters(label)
    ):
        return False
    if value.isalpha() and _letters(label) in lowered:
        return False
    if not quote and _is_name(value, label):
        return False
    if (_STEM.search(lowered) or lowered.endswith("pass")) and sum(map(str.isdigit, value)) < 2:
        return False
    if _HEX.fullmatch(lowered) and len(value) % 2 == 0 and not value.isdigit():
        return False
    if _TIME.match(value) or _STANDARD.fullmatch(value) or value[0] == ".":
        return False
    return not _is_evaluated(value)


def _is_evaluated(value: str) -> bool:
    """Return whether a value is a template, code, a path or a number of a program."""
    literals = secrets_literals
    return bool(
        any(each.search(value) for each in (literals.TEMPLATE, literals.CODE, literals.PATH))
        or any(each.fullmatch(value) for each in (literals.PROGRAM_NUMBER, literals.MEASURE))
        or (literals.MEMBER.fullmatch(value) and not literals.is_written_with_dots(value))
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _is_name(value: str, label: str) -> bool:
    """Return whether a value without quotes is the name of a type or constant, or a number."""
    if value.isdigit():
        return len(value) < _SHORTEST_NUMBER and _OF_NUMBERS.search(label) is None
    if value[-1] == "&":
        return True
    if value[:-1].isalpha() and value[-1].isdigit():
        return value[:-1].lower() in secrets_judge.PROGRAM_WORDS
    if value.islower():
        is_name = "_" in value and value.replace("_", "").isalpha()
        return is_name or _ABSTRACT.fullmatch(value) is not None
    if value.isalpha():
        return value.isupper() or _is_identifier(value)
    if value.replace("-", "").isalpha():
        return any(map(_is_identifier, value.split("-")))
    return len(value) <= _SHORTEST and value.isupper()


def _is_identifier(word: str) -> bool:
    """Return whether a word is of several words, of which programs have one: `MultiIndex`."""
    parts = [part.lower() for part in secrets_judge.PART.findall(word)]
    return len(parts) > 1 and not _common().isdisjoint(parts)


@remembered
def probability(candidate: Candidate) -> float:
    """Return the probability that a candidate is a password."""
    weights = _weights()
    value = candidate.text[slice(*candidate.value)]
    total = sum([weights[index] for index in _numbers(_around(candidate))])
    total += _value_total(value, candidate.quote)
    return 1 / (1 + exp(-total / _STEP)) if total > -80 * _STEP else 0.0


@cache
def _weights() -> list[int]:
    return [ord(char) - _ZERO for char in "".join(read_rows("password_lines"))]


def written(weights: Iterable[float]) -> str:
    """Return weights as the text of the file that has them, one character each."""
    steps = [min(max(round(_STEP * weight), -_LARGEST), _LARGEST) for weight in weights]
    signs = "".join([chr(_ZERO + step) for step in steps])
    rows = [signs[at : at + _ROW] for at in range(0, len(signs), _ROW)]
    return "\n".join(["# The weights of the judge of passwords; see tests/training.", *rows, ""])


def features(candidate: Candidate) -> list[int]:
    """Return the numbers of the weights that decide."""
    value = candidate.text[slice(*candidate.value)]
    return _numbers(_around(candidate)) + _numbers(_within(value, candidate.quote))


@remembered
def _value_total(value: str, quote: str) -> int:
    weights = _weights()
    return sum([weights[index] for index in _numbers(_within(value, quote))])


def _numbers(names: Iterable[str]) -> list[int]:
    return [crc32(name.encode("latin-1")) % SIZE for name in set(names)]


def _around(candidate: Candidate) -> Iterator[str]:
    """Yield the features of what surrounds a value, as texts."""
    text, (label_start, label_end), (start, end), quote = candidate
    value = text[start:end]
    shape = _shape(value)
    label = text[label_start:label_end].strip("\"'_ ").lower()
    gap = text[label_end : start - len(quote)]
    tokens = _TOKEN.findall(gap.lower())
    words = [token for token in tokens if token.isalpha()]
    frame = _frame(tokens)
    last = _frame(tokens[-4:])
    yield "bias"
    yield f"kind {shape}"
    yield f"quote {quote} {shape}"
    yield f"label {label}"
    yield f"frame {frame}" if len(tokens) < 12 else "frame long"
    yield f"last {last}"
    yield f"last {last} {shape}"
    yield f"words {min(len(words), 9)} {shape[:2]}"
    if words:
        yield f"word before {words[-1]}"
    marks = "".join([token for token in tokens if not token.isalnum() and not token.isspace()])
    yield f"marks {marks[-6:]}"
    yield f"marks {marks[-3:]} {shape}"
    following = text[end + len(quote) :]
    near = "".join(following[:2].split(" ")[:1]) or following[:1]
    near = _OF_WORD.sub("w", near)
    yield f"after {near}"
    yield f"after {near} {last}"
    if found := _WORD.search(following[:24]):
        yield f"word after {found[0].lower()}"
    before = text[max(0, label_start - 24) : label_start].lower()
    if found := _LAST_WORD.search(before):
        yield f"word before label {found[1]}"
    mark = before[-1:]
    in_word = mark.isalnum()
    yield f"mark before label {in_word} {'' if in_word else mark}"
    yield "below" if "\n" in gap else "beside"
    yield f"distance {len(gap) // 12}"


def _frame(tokens: list[str]) -> str:
    return "".join(
        [
            " " if token.isspace() and "\n" not in token else "0" if token.isdigit() else token
            for token in tokens
        ]
    )


def _shape(value: str) -> str:
    """Return a coarse description of a value: its classes of characters and their order."""
    classes = "".join(map(_class_of, _RUN.findall(value)))
    return classes if len(classes) <= 5 else classes[:2] + f"~{''.join(sorted(set(classes)))}"


def _class_of(run: str) -> str:
    first = run[0]
    if first.islower() or first > "\x7f":
        return "a"
    if first.isupper():
        return "A"
    if first.isdigit():
        return "9"
    if run in "_.-":
        return "_"
    return " " if run == " " else "!"


def _within(value: str, quote: str) -> Iterator[str]:
    """Yield the features of a value alone, as texts."""
    lowered = value.lower()
    words = [word.lower() for word in secrets_judge.PART.findall(value)]
    known = sum(word in _common() for word in words)
    if value.isalpha():  # of other values, hardly one occurs twice
        yield f"value {lowered}"
        yield f"ends {lowered[-3:]}"
        yield f"starts {lowered[:3]}"
    yield f"size {min(len(value), 24) // 2} {bool(quote)}"
    wordy = min(max(int(2 * secrets_judge.wordiness(value)), -6), 4)
    yield f"wordy {wordy} {bool(quote)}"
    yield f"known {min(known, 3)} of {min(len(words), 4)} {bool(quote)}"
    if secrets_literals.describes(lowered):
        yield f"describes {bool(quote)}"
    if secrets_judge.is_patterned(value):
        yield "patterned"
    for mark in set(_NOT_OF_WORD.findall(value)):
        yield f"has {mark}"
    for word in words[:6]:
        if word in _common():
            yield f"part {word}"
