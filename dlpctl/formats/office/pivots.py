"""Caches of pivot tables: copies of a table whose columns are the fields of the cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlpctl.formats.office.parts import PackagePlan, tags
from dlpctl.formats.office.xmltext import decoded, unescaped
from dlpctl.regex import lazy

_RECORDS = "pivotCacheRecords"
_FIELD, _RECORD = "cacheField", "r"
_ITEMS = {"s", "n", "d", "b", "e", "m", "x"}
_NUMBERS = {"n", "d"}
_SHORTEST = 6
"""The number of characters of a number that may be more than an amount."""
_NAME = lazy(r"\sname\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


class PivotFields:
    """The fields of a cache, followed while its elements are read."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._column = 0
        self._field = ""

    def label(self, element: str, attribute: str) -> str:
        """Return the name of the field that an attribute belongs to; empty if there is none."""
        if attribute != "v" or element not in _ITEMS:
            return ""
        column = self._names[self._column] if self._column < len(self._names) else ""
        return self._field or column

    def is_content(self, element: str, attribute: str, value: str) -> bool:
        """Return whether a number may be a value."""
        return element in _NUMBERS and attribute == "v" and len(value) >= _SHORTEST

    def start(self, element: str, attributes: str) -> None:
        """Follow an element, after its attributes."""
        if element == _FIELD:
            found = _NAME.search(attributes)
            self._field = unescaped(found[1] or found[2] or "") if found else ""
        elif element == _RECORD:
            self._column = 0
        elif element in _ITEMS:
            self._column += 1


def pivot_fields(parts: Mapping[str, bytes], plan: PackagePlan) -> dict[str, list[str]]:
    """Return the names of the fields of each part of a cache."""
    fields: dict[str, list[str]] = {}
    for definition in parts:
        if "pivotCacheDefinition" not in plan.type_of(definition) + definition:
            continue
        if not plan.is_xml(definition) or definition.endswith(".rels"):
            continue
        source = decoded(parts[definition], definition, strict=False).text
        names = [each.get("name", "") for each, _, _ in tags(source, _FIELD)]
        fields |= dict.fromkeys((definition, *plan.targets(definition, _RECORDS)), names)
    return fields
