"""The report on a table: what its columns are, without any of their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_MOST = 0.5
"""The share of values from which on a type is what a column is."""


@dataclass(slots=True)
class ColumnReport:
    """The findings in a column, or in one part of a nested one."""

    name: str
    """The path of the column: `email`, `customer.phones[]`."""
    values: int = 0
    """Values that are not null."""
    found: Counter[str] = field(default_factory=Counter)
    """The number of values with a finding, by type."""
    uninspected: str = ""
    """The reason why some of the column could not be read; empty if all of it was."""

    @property
    def shares(self) -> Mapping[str, float]:
        """The share of values with a finding, by type, the largest first."""
        return {name: count / self.values for name, count in self.found.most_common()}

    @property
    def type(self) -> str | None:
        """The type of at least half of the values; None without one."""
        return next((name for name, share in self.shares.items() if share >= _MOST), None)

    def to_dict(self) -> dict[str, Any]:
        """Return what can be written as JSON."""
        return {
            "name": self.name,
            "type": self.type,
            "values": self.values,
            "found": {
                name: {"values": count, "share": round(count / self.values, 4)}
                for name, count in self.found.most_common()
            },
            "uninspected": self.uninspected or None,
        }


@dataclass(slots=True)
class Classification:
    """The reports on the columns of a table."""

    rows: int
    columns: Sequence[ColumnReport]

    def __getitem__(self, name: str) -> ColumnReport:
        """Return the report on a column by its name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def sensitive(self) -> list[ColumnReport]:
        """The columns in which something was found."""
        return [column for column in self.columns if column.found]

    @property
    def uninspected(self) -> list[ColumnReport]:
        """The columns that could not be read, or not completely."""
        return [column for column in self.columns if column.uninspected]

    def to_dict(self) -> dict[str, Any]:
        """Return what can be written as JSON."""
        return {"rows": self.rows, "columns": [column.to_dict() for column in self.columns]}
