"""The workbook of Excel: its sheets, their tables, its styles and its shared strings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dlpctl.formats.office import sheet
from dlpctl.formats.office.numbers import Shown, shown_by_style
from dlpctl.formats.office.parts import PackagePlan, tags
from dlpctl.formats.office.pivots import pivot_fields
from dlpctl.formats.office.reading import Spot
from dlpctl.formats.office.strings import Strings
from dlpctl.formats.office.xmltext import decoded
from dlpctl.regex import lazy

RANGE = lazy(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})(?::\$?([A-Z]{1,3})\$?([0-9]{1,7}))?")
_TELLING_PLACE = lazy(r"@|\d{5}")


@dataclass(slots=True)
class CellTable:
    """A table of a sheet."""

    part: str
    row: int
    first_column: int
    last_column: int
    columns: list[str]


@dataclass(slots=True)
class Sheet:
    """A sheet, and its label for display."""

    part: str
    label: str
    tables: list[CellTable] = field(default_factory=list)

    def headers(self) -> dict[int, int]:
        """Return the row of each column's header, by the tables of the sheet."""
        return {
            column: table.row
            for table in self.tables
            for column in range(table.first_column, table.last_column + 1)
        }


@dataclass(frozen=True, slots=True)
class StringsSpot(Spot):
    """The anchor of strings that no cell shows."""

    used: bytes = b""
    """A byte for each string of the workbook, 1 if a cell shows the string."""


class Workbook:
    """The sheets, tables, styles and shared strings of a workbook."""

    def __init__(self, parts: Mapping[str, bytes], plan: PackagePlan) -> None:
        self.parts = parts
        self.part = next(
            (
                each.target
                for each in plan.relations
                if each.source == "" and each.type.endswith("/officeDocument")
            ),
            "",
        )
        main = decoded(parts.get(self.part, b""), self.part, strict=False).text
        self.names = [each.get("name", "") for each, _, _ in tags(main, "sheet")]
        by_id = {each.key: each.target for each in plan.relations if each.source == self.part}
        listed = {
            by_id.get(each.get("id", ""), ""): each.get("name", "")
            for each, _, _ in tags(main, "sheet")
        }
        from_1904 = any(
            each.get("date1904") in {"1", "true"} for each, _, _ in tags(main, "workbookPr")
        )
        self.sheets = {
            part: Sheet(
                part, label_of_sheet(listed.get(part, ""), part), list(self._tables(part, plan))
            )
            for part in parts
            if "worksheet+xml" in plan.type_of(part)
            or "macrosheet+xml" in plan.type_of(part).lower()
            or (part in listed and plan.is_xml(part))
        }
        self.fields = pivot_fields(parts, plan)
        """The names of the fields of each part of a pivot table's cache."""
        strings = next(iter(plan.targets(self.part, "sharedStrings")), "")
        self.strings_part = strings if strings in parts else ""
        styles = next(iter(plan.targets(self.part, "styles")), "")
        self.shown: dict[str, Shown] = {}
        if styles in parts:
            self.shown = shown_by_style(decoded(parts[styles], styles).text, from_1904=from_1904)

    def strings(self) -> Strings:
        return Strings(
            decoded(self.parts[self.strings_part], self.strings_part).text
            if self.strings_part
            else ""
        )

    def _tables(self, part: str, plan: PackagePlan) -> Iterator[CellTable]:
        for target in plan.targets(part, "table"):
            if target not in self.parts:
                continue
            source = decoded(self.parts[target], target).text
            for table, _, _ in tags(source, "table"):
                found = RANGE.match(table.get("ref", ""))
                if found and table.get("headerRowCount", "1") != "0":
                    first = sheet.number_of(found[1])
                    columns = [
                        sheet.decoded(each.get("name", ""))
                        for each, _, _ in tags(source, "tableColumn")
                    ]
                    yield CellTable(target, int(found[2]), first, first + len(columns) - 1, columns)


def label_of_sheet(name: str, part: str) -> str:
    """Return the label of a sheet: its name, unless the name looks like a value."""
    return part if not name or _TELLING_PLACE.search(name) else name
