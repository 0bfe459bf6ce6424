"""Put values back in place of their tokens, in streams too, and where a model changed a token.

Besides `<EMAIL_1>` these are tokens: `<email_1>`, `< EMAIL 1 >`, `<EMAIL-1>`, `\\<EMAIL\\_1\\>`,
`&lt;EMAIL_1&gt;`, `%3CEMAIL_1%3E`, `\\u003cEMAIL_1\\u003e`, `＜EMAIL_1＞`, `[EMAIL_1]` and the name
in backticks. Tokens that are not in the store stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from dlpctl.regex import lazy


class ValueStore(Protocol):
    """Returns the values of tokens."""

    def value(self, name: str) -> str | None: ...


class _Brackets(NamedTuple):
    """The brackets of a token, and how its value is written inside them."""

    opening: str
    closing: str
    write: Callable[[str], str]
    keep: str = ""
    """The characters that stay around the value."""


def _as_is(value: str) -> str:
    return value


def _for_html(value: str) -> str:
    import html

    return html.escape(value)


def _for_url(value: str) -> str:
    from urllib.parse import quote

    return quote(value, safe="", errors="surrogatepass")


def _for_json(value: str) -> str:
    import json

    return json.dumps(value)[1:-1]


_BRACKETS = (
    _Brackets("<", ">", _as_is),
    _Brackets("\\<", "\\>", _as_is),
    _Brackets("\\<", ">", _as_is, keep="\\"),
    _Brackets("<", "\\>", _as_is),
    _Brackets("&lt;", "&gt;", _for_html),
    _Brackets("&#60;", "&#62;", _for_html),
    _Brackets("%3c", "%3e", _for_url),
    _Brackets("\\u003c", "\\u003e", _for_json),
    _Brackets("＜", "＞", _as_is),
    _Brackets("[", "]", _as_is),
    _Brackets("\\[", "\\]", _as_is),
    _Brackets("`", "`", _as_is, keep="`"),
    _Brackets("<`", "`>", _as_is),
)
# Between brackets: words of letters and digits, joined by one or two of these; the last word is a
# number.
_JOIN = r"(?:\\?[_\-]|[ \t\u00a0])"
_PAD = r"[ \t\u00a0\u200b]{0,3}"
_LONGEST_INSIDE = 200
_INSIDE = rf"{_PAD}(?P<name>[a-z](?:[a-z0-9]|{_JOIN}){{0,90}}[0-9]){_PAD}"
_NOT_IN_NAMES = lazy(r"[^a-z0-9]+", re.IGNORECASE)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(
        re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word))
    )


def _complete_token() -> re.Pattern[str]:
    # A backtick closes what a backtick opened, whatever follows: text that arrives later in a
    # stream must not change that.
    opening = _any_of(brackets.opening for brackets in _BRACKETS if brackets.opening != "`")
    closing = _any_of(brackets.closing for brackets in _BRACKETS)
    return lazy(
        f"(?P<opening>(?P<tick>(?<!<)`)|{opening}){_INSIDE}(?P<closing>(?(tick)`|(?:{closing})))",
        re.IGNORECASE,
    )


def _unfinished_token() -> re.Pattern[str]:
    """Return the pattern of a text's end that may become a token when more arrives."""

    def parts(words: Iterable[str]) -> str:
        return _any_of(word[:end] for word in words for end in range(1, len(word)))

    opening = _any_of(brackets.opening for brackets in _BRACKETS)
    part_of_opening = parts(brackets.opening for brackets in _BRACKETS)
    part_of_closing = parts(brackets.closing for brackets in _BRACKETS)
    inside = rf"{_PAD}(?:[a-z][a-z0-9_\-\\ \t\u00a0\u200b]{{0,{_LONGEST_INSIDE}}})?"
    unfinished = rf"(?:{opening}){inside}(?:{part_of_closing})?|(?:{part_of_opening})"
    return lazy(rf"(?:{unfinished})\Z", re.IGNORECASE)


_WHOLE = _complete_token()
_UNFINISHED = _unfinished_token()
_LONGEST_TOKEN = _LONGEST_INSIDE + 16
_TOKEN = lazy(r"<[A-Z][A-Z0-9_]*_[1-9][0-9]*>")
_MOST_UNKNOWN = 100
_BY_BRACKETS = {(brackets.opening, brackets.closing): brackets for brackets in _BRACKETS}


class Unmasker:
    """Restores a text that arrives in pieces; it holds back only what may be part of a token."""

    def __init__(self, store: ValueStore, *, in_json: bool = False) -> None:
        """`in_json` means that the text is JSON, in which values must be escaped."""
        self._store = store
        self._in_json = in_json
        self._held = ""
        self.restored: int = 0
        """The number of replaced tokens."""
        self.unknown: dict[str, None] = {}
        """The tokens, as `mask` writes them, that are not in the store, each once."""

    def feed(self, chunk: str) -> str:
        text = self._held + chunk
        restored, position = self._restore(text)
        unfinished = _UNFINISHED.search(text, max(position, len(text) - _LONGEST_TOKEN))
        cut = unfinished.start() if unfinished else len(text)
        self._held = text[cut:]
        return restored + text[position:cut]

    @property
    def held(self) -> str:
        """The end of the text that is held back."""
        return self._held

    def finish(self) -> str:
        """Return the rest of the text after the last piece."""
        text, self._held = self._held, ""
        return text

    def _restore(self, text: str) -> tuple[str, int]:
        """Return the text up to the end of its last token, and the position of that end."""
        parts: list[str] = []
        position = 0
        for match in _WHOLE.finditer(text):
            value = self._value(match)
            if value is not None:
                parts += (text[position : match.start()], value)
                position = match.end()
                self.restored += 1
            elif len(self.unknown) < _MOST_UNKNOWN and _TOKEN.fullmatch(match[0]):
                self.unknown[match[0]] = None
        return "".join(parts), position

    def _value(self, match: re.Match[str]) -> str | None:
        brackets = _BY_BRACKETS.get((match["opening"].lower(), match["closing"].lower()))
        if brackets is None:
            return None
        name = match["name"]
        value = self._store.value(_NOT_IN_NAMES.sub("_", name).upper())
        if value is None:
            return None
        written = brackets.write(value)
        if self._in_json and brackets.write is not _for_json:
            import json

            written = json.dumps(written, ensure_ascii=False)[1:-1]
        if brackets.keep == "\\":
            # The name shows whether the backslash is Markdown's or preceded the value before.
            return written if "\\" in name else f"\\{written}"
        return brackets.keep + written + brackets.keep


def unmask(text: str, vault: ValueStore) -> str:
    """Return the text with every token of the vault replaced by its value."""
    unmasker = Unmasker(vault)
    return unmasker.feed(text) + unmasker.finish()
