"""Workbooks of Excel 5 to 2003 (`.xls`): sheets are records in a stream.

A masked text keeps its size, and a masked number becomes zero.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from math import isfinite

from dlpctl.errors import FormatError
from dlpctl.formats.compound import inner
from dlpctl.formats.compound import records as biff
from dlpctl.formats.compound.container import Compound
from dlpctl.formats.compound.document import CompoundFormat
from dlpctl.formats.compound.part import Part
from dlpctl.formats.compound.records import Cell, CellReader, Continued, Record, records
from dlpctl.formats.compound.texts import ByteTexts, codec_of_page, write
from dlpctl.formats.encoding import Edit
from dlpctl.formats.interface import Limits, Segment, Uninspected
from dlpctl.formats.office.layers import layers_of
from dlpctl.formats.office.numbers import Shown, plain, shown_by_code
from dlpctl.formats.office.reading import Reading, Spot, ViewPlan, disjoint
from dlpctl.formats.office.sheet import CELLS, FORMULAS, CellSpot, ShownSize, Shows
from dlpctl.formats.office.workbook import label_of_sheet

_STRINGS, _TEXTS = "strings", "texts"
_CACHES = "_SX_DB_CUR/"


class Excel(CompoundFormat):
    name = "xls"
    extensions = (".xls", ".xlt")
    main = ("Workbook", "Book")

    def reads(self, path: str) -> bool:
        return path in self.main or path.startswith(_CACHES)

    def parts(self, compound: Compound, limits: Limits) -> Iterator[tuple[str, Part]]:
        for path in compound.streams:
            if self.reads(path):
                yield path, _Workbook(compound.read(path), path).part(limits)

    def change(
        self, path: str, copy: bytearray, segments: list[Segment], edits: Mapping[str, list[Edit]]
    ) -> None:
        book = _Workbook(bytes(copy), path)
        of_strings: list[Edit] = []
        strings: Segment | None = None
        for segment in segments:
            spot = segment.anchor
            if isinstance(spot, CellSpot):
                found = edits.get(f"{spot.part}\0{spot.layer}", [])
                touched = {
                    spot.positions[index]: (changes, spot.text_of(index, segment.text))
                    for index, changes in spot.touched(found, segment.text)
                }
                of_strings += book.write_cells(copy, spot, touched)
            elif isinstance(spot, Spot) and (spot.part, spot.layer) == (path, _STRINGS):
                strings = segment
                of_strings += edits.get(f"{path}\0{_STRINGS}", [])
        if strings is not None and of_strings:
            assert isinstance(strings.anchor, Spot)
            write(copy, strings.anchor, strings.text, disjoint(of_strings))


class _Workbook:
    """The records of a workbook, or of the cache of a pivot table."""

    def __init__(self, data: bytes, path: str) -> None:
        self._data, self._path = data, path
        self._is_cache = path.startswith(_CACHES)
        self._version, self._codec, self._from_1904 = biff.BIFF8, "cp1252", False
        self._sheets: list[tuple[int, str]] = []
        self._strings, self._texts = ByteTexts(data), ByteTexts(data)
        self._used = bytearray()
        self._shown: list[Shown | None] = []
        self._known: list[tuple[int, int]] = []
        self._string_texts: list[str] = []
        self._globals()

    def _records(self, start: int) -> Iterator[Record]:
        # The records of a cache start without a mark.
        return records(self._data, start, int(self._is_cache))

    def _reader(self) -> CellReader:
        return CellReader(self._data, self._version, self._codec)

    def _globals(self) -> None:
        if self._is_cache:
            return
        codes: dict[str, str] = {}
        formats: list[str] = []
        for record, more in _with_continued(self._records(0)):
            start = record.start
            if record.type == biff.BOF and start == 4:
                (self._version,) = struct.unpack_from("<H", self._data, start)
                if self._version not in (biff.BIFF5, biff.BIFF8):
                    raise FormatError("the workbook is of an unknown version")
            elif record.type == biff.FILE_PASSWORD:
                raise FormatError("the file is encrypted: save it without a password")
            elif record.type == biff.CODE_PAGE:
                (page,) = struct.unpack_from("<H", self._data, start)
                self._codec = codec_of_page(page) if page != 1200 else "cp1252"
            elif record.type == biff.DATE_MODE:
                self._from_1904 = bool(self._data[start])
            elif record.type == biff.SHEET:
                self._sheets.append((self._number(start, 4), self._text_of(record)))
            elif record.type == biff.NUMBER_FORMAT:
                codes[str(self._number(start, 2))] = self._text_of(record)
            elif record.type == biff.STYLE_FORMAT:
                formats.append(str(self._number(start + 2, 2)))
            elif record.type == biff.STRINGS:
                self._read_strings([record, *more])
        by_number = {
            each: shown_by_code(each, codes, self._from_1904) for each in dict.fromkeys(formats)
        }
        self._shown = [by_number[each] for each in formats]

    def _number(self, at: int, size: int) -> int:
        return int.from_bytes(self._data[at : at + size], "little")

    def _text_of(self, record: Record) -> str:
        return "".join(
            self._data[at : at + size].decode(codec, "replace")
            for at, size, codec in self._reader().other_text(record)
        )

    def _read_strings(self, parts: list[Record]) -> None:
        for runs, spoken in Continued(self._data, parts).strings():
            self._string_texts.append(self._strings.add(runs))
            if spoken:
                self._texts.add(spoken)
        self._used = bytearray(len(self._string_texts))

    def part(self, limits: Limits) -> Part:
        """Return the texts of the workbook."""
        part = Part()
        shown = ShownSize(limits, len(self._data))
        sheets = [
            (start, label_of_sheet(name, f"sheet {number}"))
            for number, (start, name) in enumerate(self._sheets, 1)
        ]
        sheets.insert(0, (0, "pivot table" if self._is_cache else "workbook"))
        starts = [start for start, _ in sheets]
        if len({*starts}) < len(starts):
            raise FormatError("two sheets of the file have one position")
        ends: list[int] = []
        for start, label in sheets:
            ends.append(self._read_texts(start, part))
            shows, constants = self._shows(start)
            shown.add(shows, 0)
            part.readings += layers_of(f"{self._path}!{start}", label, shows, constants, {}, ())
        part.readings.append((self._unused(), self._strings.spot(self._path, _STRINGS, _STRINGS)))
        texts = self._texts
        part.readings.append((texts.reading(_TEXTS), texts.spot(self._path, _TEXTS, _TEXTS)))
        part.known = [*self._known, *self._strings.spans(), *texts.spans()]
        self._add_unknown(part, starts, ends)
        return part

    def _add_unknown(self, part: Part, starts: list[int], ends: list[int]) -> None:
        """Report the bytes that belong to no sheet."""
        spans = sorted(zip(starts, ends, strict=True))
        end = 0
        for start, following in [*spans, (len(self._data), len(self._data))]:
            if start > end and self._data[end:start].strip(b"\0"):
                part.uninspected.append(Uninspected("workbook", "data that belong to no sheet"))
                break
            end = max(end, following)

    def _unused(self) -> Reading:
        """Return the strings of the workbook; a view shows only those that are in no cell."""
        parts: list[tuple[int, int] | str] = []
        for first, text, used in zip(
            self._strings.firsts, self._string_texts, self._used, strict=True
        ):
            if text and not used:
                parts += [(first, first + len(text)), "\n"]
        text = "\n".join(self._string_texts)
        return Reading(_STRINGS, text, plans=[ViewPlan(_STRINGS, parts)] if parts else [])

    def _read_texts(self, start: int, part: Part) -> int:
        """Read the texts of a sheet that are in no cell, and return the position of its end."""
        reader = self._reader()
        end = start
        for record, more in _with_continued(self._records(start)):
            end = record.start + record.size
            if record.type == biff.TEXT_OBJECT and more:
                self._read_object(record, more)
            elif record.type in biff.DRAWING:
                part.children += inner.children(self._path, self._data, [record, *more], part)
            elif runs := reader.other_text(record):
                self._texts.add(runs)
            for joined in reader.joined_strings(record):
                self._texts.add(joined)
            if more:
                end = more[-1].start + more[-1].size
        return end

    def _read_object(self, record: Record, more: list[Record]) -> None:
        """Read the text of a text box or a comment."""
        length = self._number(record.start + 10, 2)
        if length and self._version >= biff.BIFF8:
            continued = Continued(self._data, more)
            self._texts.add(list(continued.characters(length, continued.take(1)[0])))

    def cells(self, start: int) -> Iterator[tuple[Cell, bool]]:
        """Yield the cells of a sheet, and the numbers in formulas (True)."""
        reader = self._reader()
        for record in self._records(start):
            for cell in reader.cells(record):
                yield cell, False
            for cell in reader.constants(record):
                yield cell, True

    def _shows(self, start: int) -> tuple[Shows, Shows]:
        shows, constants = Shows(), Shows()
        for cell, is_constant in self.cells(start):
            text = self._text(cell)
            if text:
                to = constants if is_constant else shows
                to.add(text, cell.row, cell.column, cell.at)
        return shows, constants

    def _text(self, cell: Cell) -> str:
        """Return what a cell shows."""
        if cell.string >= 0:
            if cell.string >= len(self._used):
                return ""
            self._used[cell.string] = 1
            return self._string_texts[cell.string]
        if cell.runs:
            self._known += [(run.at, run.at + run.size) for run in cell.runs]
            return ByteTexts(self._data).add(cell.runs)
        self._known.append((cell.at, cell.at + cell.size))
        if not isfinite(cell.number):
            return ""
        stored = plain(repr(cell.number))
        shown = self._shown[cell.style] if cell.style < len(self._shown) else None
        return shown(stored) if shown is not None else stored

    def write_cells(
        self, copy: bytearray, spot: CellSpot, touched: dict[int, tuple[list[Edit], str]]
    ) -> Iterator[Edit]:
        """Write the edits of cells, and yield those of strings."""
        if not touched or spot.layer not in (CELLS, FORMULAS):
            return
        start = int(spot.part.rpartition("!")[2])
        for cell, is_constant in self.cells(start):
            if cell.at not in touched or is_constant != (spot.layer == FORMULAS):
                continue
            edits, text = touched[cell.at]
            if cell.string >= 0:
                first = self._strings.firsts[cell.string]
                yield from (each.moved(first) for each in edits)
            elif cell.runs:
                texts = ByteTexts(self._data)
                texts.add(cell.runs)
                write(copy, texts.spot("", "", ""), text, edits)
            else:
                copy[cell.at : cell.at + cell.size] = bytes(cell.size)


def _with_continued(found: Iterator[Record]) -> Iterator[tuple[Record, list[Record]]]:
    """Yield each record with those that continue it."""
    last: Record | None = None
    more: list[Record] = []
    for record in found:
        if record.type == biff.CONTINUE and last is not None:
            more.append(record)
            continue
        if last is not None:
            yield last, more
        last, more = record, []
    if last is not None:
        yield last, more
