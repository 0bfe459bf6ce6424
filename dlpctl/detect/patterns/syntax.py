"""The syntax of a regex: its value, the part before it, and looser forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dlpctl.regex import lazy

NAMED = lazy(r"\{\{([a-z_]+)\}\}")
VALUE = lazy(r"\(\?P?<value>")
_FLAGS = lazy(r"\(\?[a-zA-Z]+\)")
_PARTS = lazy(r"\\.|\[\^?\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*\]|[()|]", re.DOTALL)
_COUNTED = lazy(_PARTS.pattern.removesuffix("|[()|]") + r"|\{(\d+),\d+\}", re.DOTALL)
_UNBOUNDED = {"0": "*", "1": "+"}
_GROUP = lazy(r"\((?:\?[a-zA-Z]*:)?[^()]*\)[?*]?")
_NO_LETTERS = lazy(
    r"\\.|\[\^?(?:\\.|[^\]\\])*\](?:[?*+]|\{[0-9,]+\})*|.[?*]|.\{[0-9,]+\}", re.DOTALL
)
_OF_WORD, _OF_PHRASE = 6, 9
"""The number of letters of a part that is rare without the rest of its word or phrase."""
PLAIN = lazy("(?i:[a-jl-rt-z]{5,})")
"""The letters of a word without `k` and `s`, which have a third form beyond ASCII."""
_DEPTHS = {"(": 1, ")": -1}


def value_of(regex: str) -> str:
    """Return the content of the group `value`; without one, the complete regex."""
    found = VALUE.search(regex)
    if not found:
        return regex
    depth = 1
    for part in _PARTS.finditer(regex, found.end()):
        depth += _DEPTHS.get(part[0], 0)
        if not depth:
            return regex[found.end() : part.start()]
    return regex[found.end() :]


def prefix_of(regex: str) -> str:
    """Return the part that precedes the value in every match, or an empty text."""
    found = VALUE.search(regex)
    if not found:
        return ""
    depth = 0
    for part in _PARTS.finditer(regex):
        if part.start() == found.start() and depth:
            return ""  # the value may be in only one of the alternatives, as it may below
        depth += _DEPTHS.get(part[0], 0)
        if part[0] == "|" and not depth:
            return ""
    return regex[: found.start()]


def flags_of(regex: str) -> str:
    """Return the flags that a regex starts with, or an empty text."""
    found = _FLAGS.match(regex)
    return found[0] if found else ""


def loosened(regex: str) -> str:
    """Return the regex without upper bounds of counts: a far smaller automaton with
    more matches.
    """
    return _COUNTED.sub(
        lambda found: _UNBOUNDED.get(found[1], f"{{{found[1]},}}") if found[1] else found[0], regex
    )


def stems_of(regex: str, before: str = "") -> str:
    """Return a regex of parts of its words, without what is optional or beyond ASCII: an automaton
    of them compiles in a fraction of the time. `before` is what precedes words that have no long
    part.
    """
    words = _alternatives(regex)
    return "|".join(dict.fromkeys(_stem(word) or before + word for word in words))


def _alternatives(regex: str) -> list[str]:
    """Return the alternatives of a regex, or of the group that is all of it."""
    inner = regex[3:-1]
    if regex.startswith("(?:") and value_of(f"(?P<value>{regex[3:]}") == inner:
        return _alternatives(inner)
    depth = start = 0
    alternatives: list[str] = []
    for part in _PARTS.finditer(regex):
        depth += _DEPTHS.get(part[0], 0)
        if part[0] == "|" and not depth:
            alternatives.append(regex[start : part.start()])
            start = part.end()
    return [*alternatives, regex[start:]]


def _stem(word: str) -> str:
    """Return the longest part of a word with only plain letters; an empty text if it is short."""
    before = ""
    while before != word:
        before, word = word, _GROUP.sub("\n", word)
    stem = max(PLAIN.findall(_NO_LETTERS.sub("\n", word)), key=len, default="")
    return stem if len(stem) >= (_OF_PHRASE if " " in word else _OF_WORD) else ""


class Fragments(NamedTuple):
    """The parts that the patterns of a file share."""

    regexes: Mapping[str, str]
    words: Mapping[str, Sequence[str]]
    """The fragments that are lists of words, of which `regexes` match any."""

    def in_labels(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Return labels in which the name of a list is replaced by its words as alternatives."""
        joined = {name: "|".join(words) for name, words in self.words.items()}
        return tuple(
            NAMED.sub(lambda found: joined.get(found[1], found[0]), each) for each in labels
        )


def put_in(regex: str, fragments: Mapping[str, str], fail: Callable[[str], None]) -> str:
    """Return a regex with its fragments inserted; `fail` is called with unknown ones."""

    def expand(found: re.Match[str]) -> str:
        name = found[1]
        if name not in fragments:
            fail(name)
        return fragments.get(name, "")

    return NAMED.sub(expand, regex)


def unknown_fragment(name: str, where: str) -> str:
    """Return the problem of a fragment that a regex names."""
    return f"fragment {name!r} is not defined {where}"
