"""Choose the tokens that an edit of a value in several parts changes.

A value may be written in several strings or elements. What is between them is syntax: keys, styles
and attributes, which stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dlpctl.formats.encoding import Edit
from dlpctl.formats.source import Token
from dlpctl.regex import lazy

IsSyntax = Callable[[Token, Token, Token], bool]
"""Takes the token where an edit starts, the token before another one, and that one."""

_COLON = lazy(r"\s*+:")
_OF_VALUES = lazy(r"[0-9@]")


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


def is_inner_attribute(first: Token, previous: Token, token: Token) -> bool:
    """Return whether a token is an attribute between texts."""
    return token.kind == "attribute" and first.kind != "attribute"


def is_other_member(source: str, previous: Token, token: Token) -> bool:
    """Return whether a token is a key, or a value of one that has no number and no address."""
    if _COLON.match(source, token.end):
        return True
    has_key = source[previous.end : token.start].strip() == ":"
    return has_key and not _OF_VALUES.search(source, token.start, token.end)
