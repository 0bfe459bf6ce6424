"""Values before their labels as a derived text: each value right after its label.

`521-09-1183 (social security number)` and `521-09-1183 is her SSN` read like a table with the label
as the header.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.columns import Columns
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.detect.derived.interface import DerivedText
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_LABEL_CHARACTER = r"(?:[^()\[\]\n0-9:=,;.（）]|\.[^\s()\[\]0-9:=,;.])"
_FIRST = r"[^\s()\[\]0-9:=,;.]"
_LABEL = rf"{_FIRST}{_LABEL_CHARACTER}{{1,39}}"
_LABEL_IN_BRACKETS = rf"{_FIRST}(?:{_LABEL_CHARACTER}|\. ){{1,39}}"
_IS = (
    "is|was|as|ist|war|est|était|es|era|è|é|är|er|on|jest|je|to|este|is het|olarak|adalah|это"
    "|als|comme|como|come|som|jako|kao|как|як|<-|←"
)
_WHOSE = (
    "the|an?|my|our|your|his|her|their|its|die|der|das|meine?|seine?|ihre?|le|la|l['’]|mon|ma|son"
    "|sa|votre|el|mi|su|il|lo|mio|sua|seu|o|meu|minha|het|de|mijn|mitt?|min|ditt?"
)
_LETTERS = r"[A-Za-z\x{C0}-\x{17F}]{2,16}"
_OWN = r"numara(?:m(?:[ıi]z)?|l[ıi]|n[ıi]z|s[ıi])"
"""The Turkish word for a number, with whose it is: `55017722 müşteri numaram`."""
_FOLLOWED = (
    r"[0-9]((?:[ -]?[A-Za-z]{1,3})?)[\"'`*]{0,2}(?:(?:[ \t]{0,2}（|[ \t]{1,2}[(\[])"
    rf"({_LABEL_IN_BRACKETS})\.?[)\]）]"
    rf"|[ \t]{{1,3}}(?:{_IS})[ \t](?:(?:{_WHOSE})[ \t]?){{0,2}}({_LABEL})"
    rf"|[ \t]((?:{_LETTERS} ){{0,2}}{_OWN}))"
)
"""The last digit of a value, what follows it in the value, and its label as a group."""
_search = finder(_FOLLOWED, "labels after their values")
GATE = (
    r"[0-9](?:[ -]?[A-Za-z]{1,3})?[\"'`*]{0,2}(?:(?:[ \t]{0,2}（|[ \t]{1,2}[(\[])"
    r"[^\s()\[\]0-9:=,;.][^()\[\]\n0-9:=,;（）]"
    rf"|[ \t]{{1,3}}(?:{_IS})[ \t]|[ \t](?:{_LETTERS} ){{0,2}}{_OWN})"
)
"""Matches wherever a label may follow, whatever it is."""
_VALUE = lazy(
    rb"(?<![0-9A-Za-z/.-])(?:[A-Z]{1,4} )?(?=[A-Za-z/.-]*[0-9])[0-9A-Za-z/.-]+"
    rb"(?: (?:(?=[A-Za-z/.-]*[0-9])[0-9A-Za-z/.-]+|[A-Z]{1,2}))*\Z"
)
"""A number in groups at the end of a text."""
_FURTHER = lazy(
    rb" (?:of(?! birth)|from|for|to|on|in|at|by|that|which|and|or|we|von|vom|f\xc3\xbcr|und|im)\b.*"
)
"""The rest of the phrase after a label: `date of the passport` does not name a passport."""
_LONGEST = 48
_FEWEST_DIGITS = 2


class FollowedText(DerivedText):
    """The values of a text that their labels follow."""

    def __init__(self, cells: Columns) -> None:
        self.data = cells.data
        self._cells = cells

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        return self._cells.original_span(start, end)

    @classmethod
    def of(cls, data: bytes, words: HeaderWords) -> FollowedText | None:
        """Return the values with labels that name something sensitive, or None without any."""
        cells = Columns(_followed(data, words))
        return cls(cells) if cells.data else None


def _followed(data: bytes, words: HeaderWords) -> Iterator[Cells]:
    search, size = _search(), len(data)
    position = 0
    while (groups := search(data, position, size))[0][0] >= 0:
        position = groups[0][0] + 1
        label = _FURTHER.sub(b"", data[slice(*max(groups[2:]))])
        if not words.are_in(label):
            continue
        end = groups[1][1]
        value = _VALUE.search(data, max(0, end - _LONGEST), end)
        if value is not None and sum(map(str.isdigit, value[0].decode())) >= _FEWEST_DIGITS:
            position = groups[0][1]
            yield Cells([label], [value.start()], [value[0]])
