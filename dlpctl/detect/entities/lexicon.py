"""The words of all languages that indicate a name or an address, by purpose.

A language is one file in `dlpctl_patterns/names/lexicon`; `patterns/README.md` describes its keys.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_ENTRY = re.compile(r"^(\w+) = '''(.*?)'''", re.MULTILINE | re.DOTALL)
"""Lexicons are TOML with only such entries: importing a TOML parser takes longer than a check."""


def words(key: str) -> frozenset[str]:
    """Return the words of a key in all languages; `_` in a file is a blank."""
    return frozenset(_words().get(key, ()))


def alternatives(key: str) -> str:
    """Return the expressions of a key in all languages as one regex."""
    return "|".join(_words().get(key, ("(?!)",)))


@cache
def _words() -> dict[str, list[str]]:
    import dlpctl_patterns

    listed: dict[str, list[str]] = {}
    for file in sorted((Path(dlpctl_patterns.__path__[0]) / "names" / "lexicon").glob("*.toml")):
        for key, entry in _ENTRY.findall(file.read_text(encoding="utf-8")):
            listed.setdefault(key, []).extend(entry.split())
    return {key: [word.replace("_", " ") for word in entry] for key, entry in listed.items()}
