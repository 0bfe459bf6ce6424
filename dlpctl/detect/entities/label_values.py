"""Values beside labels that look like names or addresses."""

from __future__ import annotations

import re
from collections.abc import Callable

from dlpctl.detect.entities.crf.words import WordFlags
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

Flags = Callable[[str], WordFlags]

_WORDS = lazy(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NAME = lazy(r"[^\W\d_](?:[^\W\d_]|[ '’.,-])*")
_MEMBER = lazy(r"[^\W\d_]{2}\.[^\W\d_]{2}")  # request.user
_MAIL = lazy(r"[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*\.[A-Za-z]{2,}")
_MOST_WORDS, _USUAL = 6, 3
_NOT_NAMES = lexicon_words("not_names")


def is_name(value: str, flags: Flags) -> bool:
    """Return whether a value may be a name in a place for names: its words are names,
    or unknown.
    """
    if not 1 < len(value) <= 60 or not _NAME.fullmatch(value) or _MEMBER.search(value):
        return False
    words = _WORDS.findall(value)
    if len(words) > _MOST_WORDS or value.count(",") > 1:
        return False
    known = [flags(word) for word in words]
    if not known or known[-1].company or value in _NOT_NAMES:
        return False
    if any(map(_is_usual_word, known)):
        return False
    if any(map(_is_known, known)):
        return True
    parts = [each for each in known if not each.particle]
    if not parts or any(each.common or each.title for each in parts):
        return False
    if known[0].particle:  # van der vlugt
        return True
    return len(parts) == len(words) and all(word[0].isupper() for word in words)


def is_persons(value: str, flags: Flags) -> bool:
    """Return whether one of the words is known as a name, and none is usual as another word."""
    known = [flags(word) for word in _WORDS.findall(value)]
    return any(map(_is_known, known)) and not any(
        each.common == _USUAL and not (_is_known(each) or each.particle) for each in known
    )


def is_full_name(value: str, flags: Flags) -> bool:
    """Return whether a value is several words that are known as names."""
    words = _WORDS.findall(value)
    return len(words) > 1 and all(_is_known(flags(word)) for word in words)


def _is_usual_word(flags: WordFlags) -> bool:
    """Return whether a word is usual in any text, and as a name is not."""
    return flags.common > 1 and not (flags.usual or flags.particle or flags.suffix)


def _is_known(flags: WordFlags) -> bool:
    """Return whether a word is a name rather than anything else."""
    return max(flags.given, flags.surname) > (flags.common) // 2


def is_address(value: str) -> bool:
    """Return whether a value may be an address in a place for addresses: words and a number."""
    return (
        5 < len(value) <= 120
        and len(_WORDS.findall(value)) + len(re.findall(r"\d+", value)) > 1
        and bool(re.search(r"\d", value))
        and bool(re.search(r"[^\W\d_]{3}", value))
        and not re.search(r"@|://|[\\{}=_$]|0x|\d\.\d", value)
    )


def is_mail(value: str) -> bool:
    """Return whether a value is a mail address."""
    return "@" in value and _MAIL.fullmatch(value) is not None
