"""Excel workbooks: cells with their headers, formulas with their results, names with references."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from dlpctl.errors import CannotMaskError
from dlpctl.formats.cellgroups import is_header
from dlpctl.formats.distinct import DistinctNames
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.encoding import spliced
from dlpctl.formats.interface import Limits
from dlpctl.formats.office import formulas, sheet
from dlpctl.formats.office.flow import ATTRIBUTES, Dialect, Flow
from dlpctl.formats.office.formulas import Renames
from dlpctl.formats.office.joining import TEXT
from dlpctl.formats.office.layers import Prompt, layers_of
from dlpctl.formats.office.opc import OpenXml, in_reading_order, label_of, part_readings
from dlpctl.formats.office.parts import PackagePlan, tags
from dlpctl.formats.office.reading import Leaf, Reading, Spot, disjoint
from dlpctl.formats.office.strings import STRINGS
from dlpctl.formats.office.workbook import RANGE, CellTable, Sheet, StringsSpot, Workbook
from dlpctl.formats.office.writing import source_edits
from dlpctl.formats.office.xmltext import decoded
from dlpctl.formats.office.zipped import READ_BEFORE, Wanted
from dlpctl.regex import lazy

_FORMULAS = {
    "f",
    "formula",
    "formula1",
    "formula2",
    "definedName",
    "calculatedColumnFormula",
    "totalsRowFormula",
}
_PIVOT_CACHE = lazy(r"xl/pivotCache/pivotCache\w+\.xml")
_CLAIM = lazy(r"\scontains(?:SemiMixedTypes|NonDate|String|Integer|Date)=(?:\"[^\"]*\"|'[^']*')")
_LOCATIONS = {"hyperlink@location"}
_SHEET_NAMES = {"sheet@name", "worksheetSource@sheet", "rangeSet@sheet", "sheetName@val", "lpstr"}


class Excel(OpenXml):
    """The format of workbooks."""

    def readings(
        self, parts: Mapping[str, bytes], plan: PackagePlan, limits: Limits
    ) -> Iterator[tuple[Reading, Spot]]:
        book = Workbook(parts, plan)
        strings = book.strings()
        texts = strings.texts()
        used = bytearray(len(texts))
        shown = sheet.ShownSize(limits, sum(map(len, texts)))
        for part in in_reading_order(parts):
            if part in book.sheets:
                yield from self._sheet(book, book.sheets[part], texts, used, shown, limits)
            elif plan.is_xml(part) and part != book.strings_part:
                for reading in part_readings(part, parts[part], limits, book.fields.get(part)):
                    yield (
                        reading,
                        Spot(part, reading.layer, label_of(part), reading.paragraphs, reading.unit),
                    )
        if book.strings_part:
            reading = strings.reading(used)
            label = book.strings_part
            yield (
                reading,
                StringsSpot(label, reading.layer, label, reading.paragraphs, "", bytes(used)),
            )

    def _sheet(
        self,
        book: Workbook,
        each: Sheet,
        strings: Sequence[str],
        used: bytearray,
        shown: sheet.ShownSize,
        limits: Limits,
    ) -> Iterator[tuple[Reading, Spot]]:
        source = decoded(book.parts[each.part], each.part).text
        split = sheet.split(source)
        shows, formula_texts = sheet.read(source, split, strings, book.shown, used)
        shown.add(shows, len(source))
        del source
        prompts = _prompts(split.shell)
        yield from layers_of(each.part, each.label, shows, formula_texts, each.headers(), prompts)
        for reading in Flow(split.shell, Dialect.OFFICE, limits, each.part).readings():
            yield (
                reading,
                Spot(each.part, reading.layer, each.label, reading.paragraphs, reading.unit),
            )

    def changes(self, wanted: Wanted[PackagePlan]) -> dict[str, list[TextEdit]]:
        return _Masking(wanted).changes()

    def voided(self, wanted: Wanted[PackagePlan], changes: Mapping[str, object]) -> set[str]:
        """Return the calculation chain, which lists cells whose formulas may be gone."""
        if not any("worksheet" in wanted.plan.type_of(part) for part in changes):
            return set()
        orders = (each for each in wanted.plan.relations if each.type.endswith("/calcChain"))
        return {each.target for each in orders} & wanted.parts.keys()


def _prompts(source: str) -> Iterator[Prompt]:
    for each, _, _ in tags(source, "dataValidation"):
        title, words = each.get("promptTitle", ""), each.get("prompt", "")
        texts = f"{title} {words}".strip(), title, words
        if label := next(filter(is_header, texts), ""):
            for found in RANGE.finditer(each.get("sqref", "")):
                last_row = int(found[4] or found[2])
                yield Prompt(sheet.number_of(found[1]), int(found[2]), last_row, label)


class _Masking:
    """The edits of one workbook, in which a value may be stored twice."""

    def __init__(self, wanted: Wanted[PackagePlan]) -> None:
        self._parts, self._plan, self._wanted = wanted.parts, wanted.plan, wanted.edits
        self._source_of, self._streamed = wanted.source, wanted.streamed
        self._book = Workbook(self._parts, self._plan)
        self._strings = self._book.strings()
        self._string_edits: dict[int, list[TextEdit]] = {}
        self._cells: dict[str, dict[str, tuple[sheet.CellSpot, str]]] = {}
        """The anchor and text of the cells of each sheet, by layer."""
        self._used = b""
        self._splits: dict[str, sheet.Split] = {}
        self._overrides: defaultdict[str, sheet.CellTexts] = defaultdict(sheet.CellTexts)
        """New texts of cells that are not shared strings, by sheet and position."""
        self._table_columns: dict[str, dict[str, str]] = {}
        self._renames = Renames()
        self._found: dict[str, list[TextEdit]] = {}
        for text, _, spot, _ in wanted.segments:
            if isinstance(spot, sheet.CellSpot):
                self._cells.setdefault(spot.part, {})[spot.layer] = spot, text
            elif isinstance(spot, StringsSpot):
                self._used = spot.used

    def changes(self) -> dict[str, list[TextEdit]]:
        self._rename()
        for part in self._book.sheets:
            self._cell_edits(part)
        for each in self._book.sheets.values():
            for table in each.tables:
                self._match_headers(each, table)
        for part in self._parts:
            if part in self._book.sheets:
                self._write_sheet(part)
            elif part != self._book.strings_part and self._plan.is_xml(part):
                self._write_part(part)
        if self._book.strings_part:
            self._write_strings()
        self._withdraw_claims()
        return self._found

    def _withdraw_claims(self) -> None:
        """Remove the flags of pivot caches that a field contains only numbers."""
        if not any(_PIVOT_CACHE.match(part) for part in self._found):
            return
        for part in self._parts:
            source = self._source(part) if _PIVOT_CACHE.match(part) and "Definition" in part else ""
            for _, start, end in tags(source, "sharedItems"):
                for claim in _CLAIM.finditer(source, start, end):
                    self._found.setdefault(part, []).append(TextEdit(*claim.span(), ""))
                if (
                    "containsNumber" in source[start:end]
                    and "containsMixedTypes" not in source[start:end]
                ):
                    at = start + len("<sharedItems") + source[start:end].index("sharedItems") - 1
                    self._found[part].append(TextEdit(at, at, ' containsMixedTypes="1"'))

    def _source(self, part: str) -> str:
        return self._source_of(part).text

    def _layer(self, part: str, layer: str) -> tuple[sheet.CellSpot, str]:
        nothing = sheet.CellSpot(part, layer, "", array("I"), columns=array("I"))
        return self._cells.get(part, {}).get(layer, (nothing, ""))

    def _split(self, part: str) -> sheet.Split:
        if part not in self._splits:
            self._splits[part] = sheet.split(self._source(part))
        return self._splits[part]

    def _cell_at(self, part: str, position: int) -> sheet.Cell:
        return sheet.cell_at(self._source(part), self._split(part), position)

    def _rename(self) -> None:
        """Collect the names of sheets and ranges that are masked, with their new names."""
        sheets = DistinctNames(self._book.names, str.casefold)
        names = DistinctNames(key=str.casefold)
        for leaf, text in self._changed_names():
            # Several elements may define one name; the first one counts.
            if leaf.text in self._book.names:
                self._renames.sheets[leaf.text] = formulas.sheet_name(text, sheets)
            elif leaf.element == "definedName@name":
                self._renames.names[leaf.text] = formulas.defined_name(text, names)

    def _changed_names(self) -> Iterator[tuple[Leaf, str]]:
        """Yield the attributes that change in the workbook and in its copies of other files."""
        others = (part for part in self._parts if "externalLink" in self._plan.type_of(part) + part)
        for part in (self._book.part, *others):
            edits = self._wanted.get((part, ATTRIBUTES))
            if edits:
                for reading in part_readings(part, self._parts[part], READ_BEFORE):
                    if reading.layer == ATTRIBUTES:
                        yield from reading.changed(edits)

    def _cell_edits(self, part: str) -> None:
        spot, text = self._layer(part, sheet.CELLS)
        for index, found in spot.touched(self._wanted.get((part, sheet.CELLS), ()), text):
            position = spot.positions[index]
            cell = self._cell_at(part, position)
            if cell.type == "s":
                self._string_edits.setdefault(int(cell.value), []).extend(found)
            else:
                new = spliced(spot.text_of(index, text), found)
                self._overrides[part].add(position, new)

    def _text_now(self, part: str, position: int, shown: str) -> str:
        """Return the text of a cell after masking."""
        if (new := self._overrides[part].get(position)) is not None:
            return new
        cell = self._cell_at(part, position)
        edits = self._string_edits.get(int(cell.value), ()) if cell.type == "s" else ()
        return spliced(shown, disjoint(edits))

    def _header_cells(self, part: str, row: int) -> dict[int, tuple[int, str]]:
        """Return the cells of a row by column: the position of each in the source, and its text."""
        spot, text = self._layer(part, sheet.CELLS)
        return {
            column: (spot.positions[index], spot.text_of(index, text))
            for column, index in spot.in_row(row).items()
        }

    def _match_headers(self, each: Sheet, table: CellTable) -> None:
        """Set the names of a table's columns to the texts of its header cells, all distinct."""
        edits = self._wanted.get((table.part, ATTRIBUTES), ())
        readings = part_readings(table.part, self._parts[table.part], READ_BEFORE)
        changed = {
            leaf.text: text
            for reading in readings
            if reading.layer == ATTRIBUTES
            for leaf, text in reading.changed(edits)
        }
        cells = self._header_cells(each.part, table.row)
        now: dict[str, str] = {}
        for number, name in enumerate(table.columns):
            text = changed.get(name, name)
            if table.first_column + number in cells:
                position, shown = cells[table.first_column + number]
                new = self._text_now(each.part, position, shown)
                text = text if new == shown else new
            now[name] = text
        kept = (text for name, text in now.items() if text == name)
        headers = DistinctNames(kept, str.casefold)
        for number, (name, text) in enumerate(now.items()):
            if text == name:
                continue
            new = formulas.column_name(text, headers)
            self._table_columns.setdefault(table.part, {})[name] = new
            self._renames.columns[name] = new
            if table.first_column + number in cells:
                position, _ = cells[table.first_column + number]
                self._overrides[each.part].set(position, new)

    def _fit(self, part: str, leaf: Leaf, edits: Sequence[TextEdit]) -> str:
        text = spliced(leaf.text, edits) if edits else leaf.text
        if leaf.element in _FORMULAS or leaf.element in _LOCATIONS:
            new = formulas.masked(leaf.text, edits, self._renames)
            if new is None and leaf.element in _LOCATIONS:
                return text
            if new is None and part.startswith("xl/charts/"):
                raise CannotMaskError("a chart refers to a range whose name holds a value")
            return '"' + edits[0].replacement.replace('"', '""') + '"' if new is None else new
        if leaf.element == "Relationship@Target" and leaf.text.startswith("#"):
            return "#" + (formulas.masked(leaf.text[1:], (), self._renames) or "")
        if leaf.element == "definedName@name":
            return self._renames.names.get(leaf.text, leaf.text)
        if leaf.element == "tableColumn@name":
            return self._table_columns.get(part, {}).get(leaf.text, leaf.text)
        if leaf.element in _SHEET_NAMES and leaf.text in self._renames.sheets:
            return self._renames.sheets[leaf.text]
        return text

    def _write_part(self, part: str) -> None:
        layers = [layer for layer in (TEXT, ATTRIBUTES, "remarks") if (part, layer) in self._wanted]
        if not layers and not self._renames and part not in self._table_columns:
            return
        self._write(
            part,
            self._source(part),
            part_readings(part, self._parts[part], READ_BEFORE, self._book.fields.get(part)),
            0,
            0,
        )

    def _write(
        self, part: str, source: str, readings: Iterator[Reading], after: int, shift: int
    ) -> None:
        for reading in readings:
            edits = self._wanted.get((part, reading.layer), ())
            if edits or self._renames or part in self._table_columns:
                changed = reading.changed(edits, lambda leaf, found: self._fit(part, leaf, found))
                for edit in source_edits(source, reading.layer, changed):
                    by = shift if edit.start >= after else 0
                    self._found.setdefault(part, []).append(
                        TextEdit(edit.start + by, edit.end + by, edit.replacement)
                    )

    def _write_sheet(self, part: str) -> None:
        split = self._split(part)
        shell = Flow(split.shell, Dialect.OFFICE, READ_BEFORE, part).readings()
        self._write(part, split.shell, shell, split.start, split.end - split.start)
        spot, text = self._layer(part, sheet.FORMULAS)
        formula_edits = dict(spot.touched(self._wanted.get((part, sheet.FORMULAS), ()), text))
        new_formulas: dict[int, str | None] = {}
        for index, position in enumerate(spot.positions):
            formula = spot.text_of(index, text)
            new = formulas.masked(formula, formula_edits.get(index, []), self._renames)
            if new != formula:
                new_formulas[position] = new
        source, texts = self._source(part), self._overrides[part]
        changed = sheet.formula_edits(source, split, texts, new_formulas, spot.positions)
        self._found.setdefault(part, []).extend(changed)
        self._streamed[part] = partial(sheet.text_edits, source, split, texts)

    def _write_strings(self) -> None:
        part = self._book.strings_part
        edits = list(
            self._strings.edits(
                {index: disjoint(found) for index, found in self._string_edits.items()}
            )
        )
        wanted = self._wanted.get((part, STRINGS))
        if wanted:
            changed = self._strings.reading(self._used).changed(wanted)
            edits += source_edits(
                self._source(part), TEXT, [(leaf, sheet.encoded(text)) for leaf, text in changed]
            )
        if edits:
            self._found.setdefault(part, []).extend(edits)
