"""Choose the tokens that an edit of a value in several parts changes.

A value may be written in several strings or elements. What is between them is syntax: keys, styles
and attributes, which stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from dlpctl.formats.encoding import Edit
from dlpctl.formats.source import Token
from dlpctl.regex import lazy

IsSyntax = Callable[[Token, Token, Token], bool]
"""Takes the token where an edit starts, the token before another one, and that one."""

_COLON = lazy(r"\s*+:")
_OF_VALUES = lazy(r"[0-9@]")
_NAME = lazy(r"([^\s\"'<>/=]+)[\"']?\s*[=:]\s*\Z")
_LABEL = lazy(r"<[^\s<>]+>")
_LONGEST_NAME = 80


def without_syntax(
    tokens: Iterable[Token], edits: Sequence[Edit], is_syntax: IsSyntax
) -> Iterator[Token]:
    """Yield the tokens without those of the syntax within one of the ordered edits."""
    at = 0
    previous = first = Token(0, 0, "")
    for token in tokens:
        while at < len(edits) and edits[at].end <= token.start:
            at += 1
        is_within = at < len(edits) and edits[at].start < token.start and token.end <= edits[at].end
        if not is_within:
            first = token
        elif is_syntax(first, previous, token):
            previous = token
            continue
        previous = token
        yield token


def is_other_attribute(source: str, first: Token, previous: Token, token: Token) -> bool:
    """Return whether a token is an attribute between texts, or between attributes of one name."""
    return token.syntax == "attribute" and (
        first.syntax != "attribute" or _name_of(source, first) != _name_of(source, token)
    )


def is_other_member(source: str, first: Token, previous: Token, token: Token) -> bool:
    """Return whether a token is a key, or a value that has no number and no address, of another key
    than the first.
    """
    if _COLON.match(source, token.end):
        return True
    has_key = source[previous.end : token.start].strip() == ":"
    is_of_value = _OF_VALUES.search(source, token.start, token.end)
    return has_key and not is_of_value and _name_of(source, first) != _name_of(source, token)


def _name_of(source: str, token: Token) -> str:
    """Return the name of an attribute, or the key of a member."""
    before = source[max(token.start - _LONGEST_NAME, 0) : token.start]
    name = _NAME.search(before)
    return name[1] if name else ""


def with_plain_replacements(
    source: str, edits: Iterable[Edit], sign: str, syntax: re.Pattern[str]
) -> list[Edit]:
    """Return edits whose replacements have no syntax of a value in several parts, which `sign`
    tells, unless each part may get its own part of the replacement.
    """
    return [
        Edit(start, end, syntax.sub("", replacement) or "*")
        if sign in replacement
        and sign in source[start:end]
        and len(replacement) != end - start
        and not _LABEL.fullmatch(replacement)
        else Edit(start, end, replacement)
        for start, end, replacement in edits
    ]
