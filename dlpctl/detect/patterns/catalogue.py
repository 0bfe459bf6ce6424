"""The catalogue of detection types: their names, the laws that cover them, and their display."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dlpctl.regex import lazy
from dlpctl.types import Category

_NAMES = re.compile(r'\[([A-Z0-9_]+)\]\ncategory = ".+"\nlabel = "(.+)"\nplural = "(.+)"\n')
_NOTE = lazy(r" \(.*\)$")


class DetectionType(NamedTuple):
    name: str
    category: Category
    label: str
    plural: str
    checksum: bool
    """True if some patterns of the type compute a checksum."""
    sample: bool
    """True if reports show a masked sample; for some values, even a part reveals too much."""
    laws: tuple[str, ...]
    """The laws that make the type sensitive: `HIPAA-n` is the n-th identifier of 45 CFR
    164.514(b)(2).
    """
    regions: tuple[str, ...] = ()


def detection_types() -> list[DetectionType]:
    """Return all types of the library, by category and in the order of its files."""
    import tomllib

    types = []
    for file in _files():
        for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items():
            types.append(
                DetectionType(
                    name=name,
                    category=Category(table["category"]),
                    label=table["label"],
                    plural=table["plural"],
                    checksum=table["checksum"],
                    sample=table["sample"] == "partial",
                    laws=tuple(table["laws"]),
                    regions=tuple(table.get("regions", ())),
                )
            )
    return sorted(types, key=lambda each: list(Category).index(each.category))


@cache
def labels() -> dict[str, tuple[str, str]]:
    """Return the nouns for one value of a type, and for several.

    A regex extracts them from the files: each check needs them, and importing a TOML parser takes
    longer than most checks.
    """
    return {
        name: (_within_a_sentence(label, plural), plural)
        for file in _files()
        for name, label, plural in _NAMES.findall(file.read_text(encoding="utf-8"))
    }


def _within_a_sentence(label: str, plural: str) -> str:
    """Return the label without a note, in lower case if the plural is: `Indian` and `VAT` stay."""
    bare = _NOTE.sub("", label)
    return bare[:1].lower() + bare[1:] if plural[:1].islower() else bare


def _files() -> Iterator[Path]:
    import dlpctl_patterns

    yield from sorted((Path(dlpctl_patterns.__path__[0]) / "types").glob("*.toml"))
