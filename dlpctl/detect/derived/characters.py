"""Characters that look like others, and characters without a shape that spell a text."""

from __future__ import annotations

import unicodedata

_HYPHENS = "\u2212\u00b7\u2022\u2027\u30fb"
"""Signs that part groups like hyphens, although their category is another one."""
_TAGS_OF_TEXT = range(0xE0000, 0xE0080)
_SELECTORS, _MORE_SELECTORS = range(0xFE00, 0xFE10), 0xE0100
_LONGEST_KEYCAP = 2


def is_unseen(run: bytes) -> bool:
    """Return whether a run consists of characters without a shape of their own."""
    return unicodedata.category(run.decode()[0]) in ("Cf", "Mn", "Me")


def unseen_text(run: bytes) -> bytes:
    """Return the text that characters without a shape spell, if they spell one."""
    codes = list(map(ord, run.decode()))
    if codes[0] in _TAGS_OF_TEXT:
        return bytes(code - _TAGS_OF_TEXT.start for code in codes)
    if len(codes) > _LONGEST_KEYCAP and (codes[0] in _SELECTORS or codes[0] >= _MORE_SELECTORS):
        spelled = (
            code - _SELECTORS.start
            if code in _SELECTORS
            else code - _MORE_SELECTORS + len(_SELECTORS)
            for code in codes
        )
        return bytes(spelled).decode("utf-8", "replace").encode()
    return b""


def plain_forms(run: bytes) -> bytes:
    """Return compatibility forms as their plain characters, and all digits, blanks and hyphens as
    those of ASCII.
    """
    return "".join(map(_plain_form, run.decode())).encode()


def _plain_form(char: str) -> str:
    digit = unicodedata.digit(char, None)
    if digit is not None:
        return str(digit)
    category = unicodedata.category(char)
    return (
        " "
        if category == "Zs"
        else "-"
        if category == "Pd" or char in _HYPHENS
        else unicodedata.normalize("NFKC", char)
    )
