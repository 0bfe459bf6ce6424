"""Places of a file for people: names of members, sheets and files may hold values."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from dlpctl.masking.already_masked import is_already_masked
from dlpctl.masking.apply import mask_text
from dlpctl.masking.leaks import Value
from dlpctl.masking.operators import Masker
from dlpctl.masking.repeats import Repeats
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.files.finding import PlacedValue, Scan

_OPERATOR = "redact"
_COUNTED = lazy(r"(?:(?:line|page) [0-9]+)?")
"""Places without a name in them."""
_SUFFIX = lazy(r"\.(?=[A-Za-z0-9]{1,8}(?:$| > |/))", re.MULTILINE)


class PlaceNames:
    """Shows texts of a report without any value in them, whatever a policy thinks of it."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._placed: Sequence[PlacedValue] = ()

    def know(self, placed: Sequence[PlacedValue]) -> None:
        """Know the values of the file: a name tells them without the words around them."""
        self._placed = placed
        self.__dict__.pop("_repeats", None)

    @cached_property
    def _repeats(self) -> Repeats:
        return Repeats(
            {
                Value(each.finding.type, each.finding.category, each.value): each.finding
                for each in self._placed
            }
        )

    def shown(self, texts: Sequence[str]) -> list[str]:
        """All at once: there may be a hundred thousand."""
        lines = {text: " ".join(text.split()) for text in texts if not _COUNTED.fullmatch(text)}
        if not lines:
            return list(texts)
        shown = self._masked("\n".join(lines.values())).split("\n")
        if len(shown) != len(lines):
            shown = [self._masked(line) for line in lines.values()]
        by_text = dict(zip(lines, shown, strict=True))
        return [by_text.get(text, text) for text in texts]

    def _masked(self, text: str) -> str:
        # `jane@acme.com.pdf` is no address, but for the part before the suffix.
        readings = dict.fromkeys((text, _SUFFIX.sub("\n", text)))
        found = [
            each
            for reading in readings
            for each in self._scan(reading)
            if not is_already_masked(each.type, each.category, text[each.start : each.end])
        ]
        found += self._repeats.outside(text, found)
        return mask_text(text, ((each, _OPERATOR) for each in found), Masker())
