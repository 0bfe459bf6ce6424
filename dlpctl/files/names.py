"""Locations in a file, for display: names of members, sheets and files may hold values."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Protocol

from dlpctl.masking.already_masked import is_already_masked
from dlpctl.masking.apply import mask_text
from dlpctl.masking.masker import Masker
from dlpctl.masking.repeats import Repeats
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from dlpctl.files.finding import Scan
    from dlpctl.types import Finding

_OPERATOR = "redact"
_NUMBER = lazy(r"(?:(?:\A|, )(?:line|page|row|paragraph|text) [0-9]{1,9}|![A-Z]{1,3}[0-9]{1,7})\Z")
"""The end of a location that cannot be part of a name."""
_SUFFIX = lazy(r"\.(?=[A-Za-z0-9]{1,8}(?:$| > |/))", re.MULTILINE)


class KnownValues(Protocol):
    """The values of a file."""

    def outside(self, text: str, findings: Sequence[Finding], /) -> list[Finding]:
        """Return the positions of values in a text that are not in its findings."""


class PlaceNames:
    """Shows texts of a report with every value masked, whatever the policy decides."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._values_of: Callable[[], KnownValues] = Repeats
        self._shown: dict[str, str] = {}

    def know(self, values_of: Callable[[], KnownValues]) -> None:
        """Set the values of the file: in a name, they appear without the context that detection
        needs.
        """
        self._values_of = cache(values_of)
        self._shown.clear()

    def shown(self, texts: Sequence[str]) -> list[str]:
        """Return the texts with values masked."""
        return list(self.each_shown(lambda: texts))

    def each_shown(self, texts_of: Callable[[], Iterable[str]]) -> Iterator[str]:
        """Yield texts with values masked; `texts_of` is called twice, since a million locations
        take much memory.
        """
        self._learn(dict.fromkeys(_parted(text)[0] for text in texts_of()))
        for name, number in map(_parted, texts_of()):
            yield self._shown.get(name, name) + number

    def _learn(self, names: Iterable[str]) -> None:
        """Mask new names. All are masked together: most locations differ only in a number."""
        lines = {name: " ".join(name.split()) for name in names if name and name not in self._shown}
        if lines:
            shown = self._masked("\n".join(lines.values())).split("\n")
            if len(shown) != len(lines):
                shown = [self._masked(line) for line in lines.values()]
            self._shown.update(zip(lines, shown, strict=True))

    def _masked(self, text: str) -> str:
        # `jane@acme.com.pdf` is not an address, but its part before the suffix is.
        readings = dict.fromkeys((text, _SUFFIX.sub("\n", text)))
        found = [
            each
            for reading in readings
            for each in self._scan(reading)
            if not is_already_masked(each.type, each.category, text[each.start : each.end])
        ]
        found += self._values_of().outside(text, found)
        return mask_text(text, ((each, _OPERATOR) for each in found), Masker())


def _parted(location: str) -> tuple[str, str]:
    """Return the part of a location that may be a name, and the number after it."""
    found = _NUMBER.search(location)
    return (location[: found.start()], found[0]) if found else (location, "")
