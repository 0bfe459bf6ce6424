"""Names in Chinese characters, kana and Hangul, as opposed to words that start like a
family name.
"""

from __future__ import annotations

from functools import cache

from dlpctl.detect.validators.registry import validator
from dlpctl.detect.validators.wordlists import read_rows

_ENDINGS = frozenset("者部課室係様欄号番票状表額数性化的了是在们們을를는에로")
"""The last characters of departments, roles and grammatical forms."""
_PARTICLES = frozenset("的の")


@cache
def _words() -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the words that are not names, and their endings, which start with `-`."""
    words = " ".join(read_rows("no_script_names")).split()
    endings = tuple(word[1:] for word in words if word[0] == "-")
    return frozenset(words), endings


@validator("script_name")
def script_name(value: str) -> bool:
    """A name rather than a usual word of the same form."""
    words, endings = _words()
    return (
        value not in words
        and value[:2] not in words
        and value[-1:] not in _ENDINGS
        and _PARTICLES.isdisjoint(value)
        and not value.endswith(endings)
    )
