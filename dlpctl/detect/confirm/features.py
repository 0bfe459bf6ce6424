"""The features of what may be a password near a label: what surrounds it, and its shape."""

from __future__ import annotations

import string
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from dlpctl.detect.validators import secrets_judge, secrets_literals, secrets_phrases
from dlpctl.detect.validators.wordlists import read_words
from dlpctl.regex import lazy

_RUN = lazy(r"[^\WA-Z0-9_]+|[A-Z]+|[0-9]+|\W+|_+")
_TOKEN = lazy(r"[^\W0-9_]+|[0-9]+|\s+|[^\w\s]|_")
_LINE_END = lazy(r"[ \t\r]+\n")
_WORD, _LAST_WORD = lazy(r"[^\W\d_]+"), lazy(r"([^\W\d_]+)\W*$")
_ENDING = lazy(r"[./#-][a-z]{0,4}\d{0,7}$")
_AMOUNT = lazy(r"\d{1,3}([^\W\d_]+)")
_AFTER_WORD = "!?*"
_NUMBER_AFTER_AT = lazy(r"@\d+\W?$")
_ENDS_IN_WORD = lazy(r"[^\W\d_]\s+$")
_OF_WORD, _NOT_OF_WORD = lazy(r"\w"), lazy(r"\W")


class Candidate(NamedTuple):
    """A candidate in the text around a label, of which each byte is one character."""

    text: str
    label: tuple[int, int]
    value: tuple[int, int]
    quote: str


@cache
def common_words() -> frozenset[str]:
    """Return the words of programs and of what is written about passwords."""
    return secrets_judge.PROGRAM_WORDS | read_words("password_labels")


def decoded(part: str) -> str:
    """Return a part of a text, of which each byte is one character, as the text that it is."""
    return part if part.isascii() else part.encode("latin-1").decode("utf-8", "replace")


def context(candidate: Candidate) -> tuple[str, ...]:
    """Return what decides besides the value: side and name of the label, the text between them, the
    shape and quote of the value, and what is next to the outer ends of both in their line.
    """
    text, (label_start, label_end), (start, end), quote = candidate
    side, first, last = "", label_start, end + len(quote)
    gap = text[label_end : start - len(quote)]
    if end <= label_start:
        side, first, last = "<", start - len(quote), label_end
        gap = text[end + len(quote) : label_start]
    before, after = decoded(text[max(0, first - 24) : first]), decoded(text[last : last + 24])
    word_before, word_after = _LAST_WORD.search(before), _WORD.search(after.partition("\n")[0])
    return (
        side,
        decoded(text[label_start:label_end]).strip("\"'_ ").lower(),
        _LINE_END.sub("\n", decoded(gap)).lower(),
        _shape(decoded(text[start:end])),
        quote,
        _OF_WORD.sub("w", after[:2].partition(" ")[0] or after[:1]),
        word_after[0].lower() if word_after else "",
        word_before[1].lower() if word_before else "",
        "w" if before[-1:].isalnum() else before[-1:],
    )


def around(
    side: str,
    label: str,
    gap: str,
    shape: str,
    quote: str,
    near: str,
    word_after: str,
    word_before: str,
    mark: str,
) -> Iterator[str]:
    """Yield the features of what surrounds a value, as texts."""
    tokens = _TOKEN.findall(gap)
    words = [token for token in tokens if token.isalpha()]
    frame, last = _frame(tokens), _frame(tokens[-4:])
    marks = "".join([token for token in tokens if not token.isalnum() and not token.isspace()])
    group = "password" if secrets_literals.PASSWORD_WORD.search(label) else label
    for name in (
        "bias",
        f"kind {shape}",
        f"quote {quote} {shape}",
        f"label {label}",
        f"label {label} {shape}",
        f"frame {frame}" if len(tokens) < 12 else "frame long",
        f"last {last}",
        f"last {last} {shape}",
        f"words {min(len(words), 9)} {shape[:2]}",
        f"{'word' if _ENDS_IN_WORD.search(gap) else 'sign'} before {shape}",
        f"word before {words[-1]}" if words else "no word before",
        f"marks {marks[-6:]}",
        f"marks {marks[-3:]} {shape}",
        f"after {near}",
        f"after {near} {last}",
        f"word after {word_after}",
        f"word before label {word_before}",
        f"label {label} {word_before}",
        f"label {label} {frame}" if len(tokens) < 6 else "label far",
        f"group {group} {frame}" if len(tokens) < 6 else f"group {group} {last}",
        f"group {group} {shape}",
        f"mark before label {mark}",
        "below" if "\n" in gap else "beside",
        f"distance {len(gap) // 12}",
        f"{'next' if '. ' in gap else 'same'} sentence",
    ):
        yield side + name


def _frame(tokens: list[str]) -> str:
    return "".join(
        [
            " " if token.isspace() and "\n" not in token else "0" if token.isdigit() else token
            for token in tokens
        ]
    )


def _shape(value: str) -> str:
    """Return a coarse description of a value: its classes of characters and their order, or that it
    is a word which says how a password is.
    """
    if secrets_literals.describes(value.lower().rstrip(_AFTER_WORD)):
        return "d"
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


def within(value: str, quote: str) -> Iterator[str]:
    """Yield the features of a value alone, as texts."""
    value = decoded(value)
    lowered = value.lower()
    words = [word.lower() for word in secrets_judge.PART.findall(value)]
    known = sum(word in common_words() for word in words)
    word = lowered.rstrip(_AFTER_WORD)
    if word.isalpha():  # of other values, hardly one occurs twice
        yield f"value {word}"
        yield f"starts {word[:3]}"
        yield from [f"ends {word[-size:]}" for size in (2, 3, 4)]
    yield f"size {min(len(value), 24) // 2} {bool(quote)}"
    wordy = min(max(int(2 * secrets_judge.wordiness(value)), -6), 4)
    yield f"wordy {wordy} {bool(quote)}"
    yield f"known {min(known, 3)} of {min(len(words), 4)} {bool(quote)} {' ' in value}"
    yield f"literal {secrets_literals.password(value)} {bool(quote)}"
    if amount := _AMOUNT.fullmatch(lowered):
        yield f"amount {amount[1]}"
    yield f"digits {min(sum(map(str.isdigit, value)), 5)} of {min(len(words), 4)}"
    if ending := _ENDING.search(lowered):  # of a file, a page of a manual, or a number of an issue
        yield f"ending {ending[0].rstrip(string.digits)}"
    if " " in value:  # few words that somebody draws are as short as those of sentences
        short = sum(len(word) < 4 for word in words)
        yield f"short {min(short, 3)} of {min(len(words), 6)} {bool(quote)}"
        yield f"phrase {secrets_phrases.password_or_phrase(value)} {bool(quote)}"
    if secrets_judge.is_patterned(value):
        yield "patterned"
    marks = set(_NOT_OF_WORD.findall(value))
    yield f"marks {''.join(sorted(marks))}"
    if "@" in marks and _NUMBER_AFTER_AT.search(value):  # `root@2024`, unlike an address
        marks.remove("@")
    for mark in marks:
        yield f"has {mark} {min(value.index(mark), 2)} {value[-1] == mark}"
    for word in words[:6]:
        if word in common_words():
            yield f"part {word}"
