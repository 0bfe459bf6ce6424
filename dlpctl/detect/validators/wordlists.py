"""Lists of words and small tables that validators need, read from `dlpctl_patterns/words`."""

from __future__ import annotations

from functools import cache
from pathlib import Path


def read_rows(name: str) -> list[str]:
    """Return the lines of a file without its comments."""
    import dlpctl_patterns

    file = Path(dlpctl_patterns.__path__[0], "words", f"{name}.txt")
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


@cache
def read_words(name: str) -> frozenset[str]:
    return frozenset(" ".join(read_rows(name)).split())


def read_table(name: str) -> dict[str, str]:
    """Return the value of each word: a row is `value: word word ...`."""
    rows = (row.partition(": ") for row in read_rows(name))
    return {word: value for value, _, listed in rows for word in listed.split()}
