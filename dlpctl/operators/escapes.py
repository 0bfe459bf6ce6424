"""Read the escapes within a value, which a mask must leave whole or hide whole."""

from __future__ import annotations

import html

from dlpctl.regex import lazy

_ESCAPE = lazy(
    r"\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}"
    r"|&(?:#\d{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});"
)
"""An escape of JSON, of a string, of a URL or of HTML."""


def unescaped(value: str) -> tuple[str, list[str]]:
    """Return a text whose escapes are single characters, and what is written for each character."""
    plain: list[str] = []
    written: list[str] = []
    end = 0
    for escape in _ESCAPE.finditer(value):
        between = value[end : escape.start()]
        plain += between, _meaning(escape.group())
        written += *between, escape.group()
        end = escape.end()
    return "".join([*plain, value[end:]]), [*written, *value[end:]]


def _meaning(escape: str) -> str:
    """Return the character of an escape; a byte of a letter beyond ASCII counts as a letter."""
    if escape[0] == "&":
        return html.unescape(escape)[:1]
    code = int(escape.lstrip("\\ux%"), 16)
    return chr(code) if code < 0x80 or escape[1:2] == "u" else "\xe9"
