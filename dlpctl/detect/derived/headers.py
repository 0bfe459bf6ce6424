"""The headers of tables: their form, and which of them name sensitive columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path

from dlpctl.detect.confirm.context import label_regex
from dlpctl.detect.linear import Find, compile_regex, finders
from dlpctl.detect.patterns.model import Pattern
from dlpctl.detect.patterns.syntax import prefix_of
from dlpctl.regex import lazy

_BEYOND = r"\x{A1}-\x{24FF}\x{2580}-\x{10FFFF}"  # all but the lines of boxes
_WORD = rf"[A-Za-z_#{_BEYOND}][\w{_BEYOND}.#/()'-]*"
_CELL = rf"""["'`]?{_WORD}(?: (?:/ )?(?:\((?:[0-9]{{1,2}} )?)?{_WORD})*["'`]?"""
_NUMBER = r"(?:\(?[0-9]{1,2}[.)] )?"
"""The number of a box in a form."""
_ALIGNED = rf"{_NUMBER}{_WORD}(?:,? (?:{_WORD}|[/&+-]|\({_WORD},?(?: {_WORD},?){{0,3}}))*"
_QUOTED = f'"{_WORD}(?: {_WORD})*"'
_BLANK = r"[ \t]*"
_BAR = "[│┃║]"
DASHED = "┆"
# A row of headers of HTML, or one cell before its value.
_TAGS = r"\s*(?:</?[a-z]+[^<>]*>\s*)?"
_HEADERS = rf"(?:<th\b[^<>]*>{_TAGS}[^<>]*{_TAGS}</th>\s*){{2,}}</tr>"
# Elements of HTML and XML for a name, and for its value.
_NAMING = "th|dt|td|div|p|h[1-6]|span|b|strong|em|term|(?:[a-z]{1,16}_)?(?:label|key|name|field)"
_NAMED = "td|dd|div|span|p|para(?:graph)?|string|date|textarea|value"
_COLON = r"(?::|<span\b[^<>]*>:</span>)?"
_PREFIX = "(?:[a-z]{1,8}:)?"
_NAME = rf"\[?{_CELL}\]?"
"""A column of a statement, in brackets in those of SQL Server."""
_CELL_OF_BAR = rf"{_BLANK}{_NUMBER}{_CELL}{_BLANK}"
HEADER = (
    rf"(?mi:^(?:[ ]*\|(?:{_BLANK}\|)?{_CELL_OF_BAR}(?:\|{_CELL_OF_BAR})*\|?"
    rf"|(?:(?:\"\")?[,;])?{_CELL}(?:{_BLANK}[,;|]{_BLANK}{_CELL})+|{_CELL}(?:[ ]*\t+{_CELL})+"
    rf"|[ ]+{_CELL}(?:{_BLANK}\|{_BLANK}{_CELL})+|{_BAR}(?:{_CELL_OF_BAR}(?:{_BAR}|{DASHED}))+"
    rf"|{_QUOTED}(?: {_QUOTED})+"
    rf"|[ ]*(?:[|│┃║][ ]*)?{_ALIGNED}(?: {{2,}}{_ALIGNED})+(?:[ ]*[|│┃║])?"
    rf"|{_WORD}(?: {_WORD})*:(?: {{2,}}{_WORD}(?: {_WORD})*:)+)[ \t]*\r?\n"
    rf"|{_HEADERS}|<{_PREFIX}(?:{_NAMING})\b[^<>]*>\s*{_CELL_OF_BAR}{_COLON}\s*"
    r"(?:</[a-z:]+[0-9]?>\s*)?"
    rf"(?:</?(?:[a-su-z]|t[a-qs-z])[^<>]*>\s*){{0,3}}<{_PREFIX}(?:{_NAMED})\b[^<>]*>\s*"
    rf"|\binsert\s+(?:into\s+)?[^\s(]+\s*(?:\({_BLANK}{_NAME}(?:\s*,\s*{_NAME})*{_BLANK}\)\s*)?"
    rf"values\s*"
    rf"|^copy\s+[^\s(]+\s*\({_CELL}(?:\s*,\s*{_CELL})*\)\s*from\s+stdin[^\n]*\n)"
)
WITHIN_LINES = b"<iI"
"""The first characters of headers that need not start a line."""
_LETTER = r"A-Za-z\x{C0}-\x{17F}"
_LONGEST_NAME = 48
_AROUND_NAME = b"\"'` \t:"
_ESCAPED = lazy(r"\\.")
_JOINT = "[ _./-]{0,2}"
_BRIEF = 2
"""The most letters of a word that only counts as a complete word: many words start with it."""
_LABEL_WORD = lazy(r"[^\W\d_]{3,}")
_HUMP = lazy(rb"(?<=[a-z])(?=[A-Z])")
_SPELLED = lazy(rb"(?<=\b[A-Za-z])_(?=[A-Za-z](?:_|\b))|(?<=_[A-Za-z])_(?=[A-Za-z](?:_|\b))")
_ADDITION = lazy(
    rb"(?:[ _-]?(?:value|field|input|text|txt|str|raw))?(?:[ _-]|(?<!IPv))[0-9]{0,2}\Z",
    re.IGNORECASE,
)
"""The end of a key that does not say what its value is."""
_MOST_NAMES = 4096
"""The headers and keys whose names are kept: texts repeat them."""


def key_words(key: bytes) -> bytes:
    """Return the words of a key, without a number and a word such as `Value` at its end."""
    return _HUMP.sub(b" ", _ADDITION.sub(b"", key, count=1) or key)


class HeaderWords:
    """The words that make a column sensitive: those of the library, and the words of context,
    keywords and labels of patterns that are not in it.
    """

    def __init__(self, further: Callable[[], Iterable[Pattern]] = tuple) -> None:
        self._further = further
        self._names: dict[bytes, bytes] = {}

    def are_in(self, names: bytes) -> bool:
        """Return whether one of the names is that of a sensitive column."""
        if b"." in names or b"_" in names:  # B.S.N., b_s_n
            names += b" " + _SPELLED.sub(b"", names.replace(b".", b""))
        if (words := _HUMP.sub(b" ", names)) != names:
            names += b" " + words
        return any(search(names, 0, len(names))[0][0] >= 0 for search in self._searches)

    def name(self, header: bytes) -> bytes:
        """Return the words of a header or key if it names something sensitive, or nothing."""
        bare = header.strip(_AROUND_NAME)
        if len(bare) > _LONGEST_NAME:
            return b""
        name = self._names.get(bare)
        if name is None:
            fitting = (each for each in (key_words(bare), bare) if self.are_in(each))
            name = next(fitting, b"")
            if len(self._names) > _MOST_NAMES:
                self._names.clear()
            self._names[bare] = name
        return name

    @cached_property
    def _searches(self) -> list[Find]:
        words = {word for pattern in self._further() for word in _label_words(pattern)}
        own = [finders(label_regex(tuple(sorted(words))))[0]] if words else []
        return [_library_search(), *own]


def _label_words(pattern: Pattern) -> Iterable[str]:
    context = pattern.context.words if pattern.context else ()
    prefix = "" if pattern.labels else _ESCAPED.sub(" ", prefix_of(pattern.regex))
    return (*context, *pattern.keywords, *pattern.labels, *_LABEL_WORD.findall(prefix))


@cache
def _library_search() -> Find:
    import dlpctl_patterns

    listed = Path(dlpctl_patterns.__path__[0], "column_words.txt").read_text(encoding="utf-8")
    words = listed.partition("\n")[2].split()
    long = _either(word for word in words if len(word) > _BRIEF)
    brief = _either(word for word in words if len(word) <= _BRIEF)
    left, right = rf"(?:^|[^{_LETTER}])", rf"(?:$|[^{_LETTER}])"
    regex = rf"(?i){left}{long}|{long}{right}|{left}{brief}(?:{right}|(?-i:[A-Z]))"
    return finders(compile_regex(regex, "column_words.txt", megabytes=32))[0]


def _either(words: Iterable[str]) -> str:
    """Return a regex of the words, in which `_` is any joint."""
    return f"(?:{'|'.join(re.escape(word).replace('_', _JOINT) for word in words)})"
