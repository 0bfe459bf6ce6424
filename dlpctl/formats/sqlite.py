"""SQLite databases: rows, schema, full-text indexes, and remains of deleted rows.

The file is opened in memory. A masked copy is vacuumed, so that free pages and unused space within
pages do not keep replaced values.
"""

from __future__ import annotations

import re
import sqlite3
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import Allowance, BinaryFormat, edited
from dlpctl.formats.binary import has_strings
from dlpctl.formats.distinct import DistinctTexts
from dlpctl.formats.interface import (
    APART,
    Child,
    Children,
    Document,
    Edits,
    Limits,
    Piece,
    Segment,
    View,
)
from dlpctl.formats.pictures.metadata import telling_strings
from dlpctl.formats.wkb import texts_of_geometry

_CELLS_APART = "\n\n"
_SHORT, _KEY = 16, 32
"""The minimum size of a blob that may be a file, and the maximum size of one that may be a key."""
_ZLIB = (b"\x78\x01", b"\x78\x9c", b"\x78\xda")
_STRINGS = re.compile(rb"(?:[\t\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3}){5,}")
_SCHEMA_LABEL = re.compile(
    r"""'(?:[^']|'')*+'|"(?=\w*+[^\w"])[^"]*+"|--[^\n]*+|/\*.*?(?:\*/|\Z)"""
    r"""|(?<!\w)(?P<label>[^\W\d]++)(?!\w)""",
    re.DOTALL,
)
_FTS = re.compile(r"(?i)\s*CREATE\s+VIRTUAL\s+TABLE.*\bUSING\s+(fts[345])\b(.*)", re.DOTALL)
_RTREE = re.compile(r"(?i)\s*CREATE\s+VIRTUAL\s+TABLE.*\bUSING\s+rtree(?:_i32)?\b", re.DOTALL)
_NODE_HEADER = 4
_GEOMETRY, _DELETED = "geometry", "deleted"
_LEAF_TYPES = {2: 12, 5: 12, 10: 8, 13: 8}
_MOST_EQUAL = 100_000


class _Cell(NamedTuple):
    """A value of a table."""

    table: int
    column: int
    row: tuple[object, ...]
    """The rowid of the row, or its primary key."""


class _SqlTable(NamedTuple):
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    sql: str
    dimensions: int = 0
    """The dimensions of an R-tree, for the table of its nodes."""

    def texts_of_numbers(self, blob: bytes) -> list[str] | None:
        """Return the texts of a geometry or of a node; None for any other blob."""
        if not self.dimensions:
            return texts_of_geometry(blob)
        count = int.from_bytes(blob[2:_NODE_HEADER])
        end = _NODE_HEADER + count * (8 + 8 * self.dimensions)
        if end > len(blob) or has_strings(blob[end:]):
            return None
        return list(telling_strings(blob[_NODE_HEADER:end]))


class Sqlite(BinaryFormat):
    name = "sqlite"
    extensions = (".sqlite", ".sqlite3", ".db", ".db3", ".gpkg", ".mbtiles")
    magic = (b"SQLite format 3\0",)
    is_table = True

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        document = Document(self.name, [], [])
        allowance = Allowance(limits)
        with _opened(data) as database:
            tables = _tables(database)
            for number, table in enumerate(tables):
                _read_rows(database, number, table, document, allowance)
            schema = database.execute(
                "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
            ).fetchall()
        parts: list[Piece | str] = []
        for name, sql in schema:
            parts += (*_contents_of_schema(sql, len(document.segments)), "\n")
            document.segments.append(Segment(sql, f"schema of {name}", ("schema", name)))
        left = "\n".join(_leftovers(data))
        if left:
            parts += (Piece(len(document.segments), 0, len(left)), "\n")
            document.segments.append(Segment(left, "deleted rows", _DELETED))
        document.views.append(View("schema and deleted rows", parts, document.segments))
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        with _opened(data) as database:
            tables = _tables(database)
            triggers = database.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall()
            try:
                database.execute("PRAGMA ignore_check_constraints = ON")
                for name, _ in triggers:
                    database.execute(f"DROP TRIGGER {_quoted(name)}")
                changes: list[tuple[_Cell, str | bytes | None]] = []
                for segment, text in edited(document, edits):
                    if isinstance(segment.anchor, _Cell):
                        changes.append((segment.anchor, text))
                    elif segment.anchor == _GEOMETRY:
                        raise CannotMaskError(
                            "a geometry of the database holds a value: remove its row"
                        )
                    elif segment.anchor != _DELETED:
                        raise CannotMaskError(
                            "the schema of the database holds a value: rename it at its source"
                        )
                blobs = dict(_blobs(document)) if children else {}
                changes += ((blobs[key], contents) for key, contents in children.items())
                _Rows(database, tables).change(changes)
                _rebuild_indexes(database, tables)
                for _, sql in triggers:
                    database.execute(sql)
                database.commit()
                database.execute("VACUUM")
            except sqlite3.Error as error:
                raise CannotMaskError(
                    "the database does not take masked values in place of its own"
                ) from error
            return database.serialize()

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        """Return the pages unchanged."""
        return [*super().read_again(data, limits), data.decode("utf-16-le", "replace")]


def _contents_of_schema(sql: str, segment: int) -> Iterator[Piece | str]:
    """Yield all of a statement; its words label its literals and comments, and are no values."""
    done = 0
    for found in _SCHEMA_LABEL.finditer(sql):
        if found["label"]:
            yield from (Piece(segment, done, found.start()), found[0])
            done = found.end()
    yield Piece(segment, done, len(sql))


@contextmanager
def _opened(data: bytes) -> Iterator[sqlite3.Connection]:
    # A database in write-ahead mode cannot be opened without its log; in memory, there is none.
    plain = data[:18] + b"\1\1" + data[20:] if data[18:20] == b"\2\2" else data
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        try:
            database.deserialize(plain)
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA cell_size_check = ON")
            database.execute("PRAGMA secure_delete = ON")
            database.text_factory = _decoded
            if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise FormatError("the SQLite database is damaged")
        except sqlite3.Error as error:
            raise FormatError("the SQLite database is damaged or encrypted") from error
        yield database


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _tables(database: sqlite3.Connection) -> list[_SqlTable]:
    """Return the tables with rows of their own; a full-text index has a table for its parts."""
    tables: list[_SqlTable] = []
    shadows: set[str] = set()
    trees: dict[str, int] = {}
    rows = database.execute("PRAGMA table_list").fetchall()
    for schema, name, table_type, _, without_rowid, *_ in rows:
        if schema != "main" or name.startswith("sqlite_") or table_type == "view":
            continue
        if table_type == "shadow":
            shadows.add(name)
            continue
        sql = database.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        try:
            info = database.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
        except sqlite3.Error:
            # A virtual table of a missing module; its parts are read as tables.
            continue
        columns = tuple(row[1] for row in info if row[6] == 0)
        if sql and _RTREE.match(sql[0]):
            # Auxiliary columns start with a plus sign, and are not in the nodes.
            trees[f"{name}_node"] = (len(columns) - sql[0].count("+")) // 2
        keys = tuple(row[1] for row in sorted(info, key=lambda row: row[5]) if row[5])
        tables.append(
            _SqlTable(name, columns, keys if without_rowid else ("rowid",), sql[0] if sql else "")
        )
    readable = {table.name for table in tables if _FTS.match(table.sql)}
    for name in shadows:
        if name.rsplit("_", 1)[0] not in readable:
            columns = tuple(
                row[1]
                for row in database.execute(f"PRAGMA table_xinfo({_quoted(name)})")
                if row[6] == 0
            )
            tables.append(_SqlTable(name, columns, ("rowid",), "", trees.get(name, 0)))
    return tables


def _read_rows(
    database: sqlite3.Connection,
    number: int,
    table: _SqlTable,
    document: Document,
    allowance: Allowance,
) -> None:
    names = ", ".join(_quoted(name) for name in (*table.key, *table.columns))
    rows: list[Piece | str] = []
    shapes: list[Segment] = []
    columns: list[list[Piece | str]] = [[] for _ in table.columns]
    try:
        cursor = database.execute(" ".join(("SELECT", names, "FROM", _quoted(table.name))))
        for index, row in enumerate(cursor, 1):
            key = tuple(row[: len(table.key)])
            for column, value in enumerate(row[len(table.key) :]):
                if value is None:
                    continue
                cell = _Cell(number, column, key)
                location = f"{table.name} row {index}, {table.columns[column]}"
                if isinstance(value, bytes):
                    allowance.expanded(len(value))
                    if (texts := table.texts_of_numbers(value)) is not None:
                        shapes += (Segment(text, location, _GEOMETRY) for text in texts)
                        continue
                    may_be_key = len(value) <= _KEY and not value.startswith(_ZLIB)
                    if len(value) >= _SHORT and (not may_be_key or has_strings(value)):
                        document.children.append(
                            Child(repr(cell), f"{table.columns[column]} {index}", value)
                        )
                        document.segments.append(Segment("", location, ("blob", repr(cell), cell)))
                    continue
                text = str(value)
                allowance.expanded(len(text))
                piece = Piece(len(document.segments), 0, len(text))
                document.segments.append(Segment(text, location, cell, table.columns[column]))
                rows += (piece, "\t")
                columns[column] += (piece, _CELLS_APART)
            rows.append("\n")
    except sqlite3.Error as error:
        raise FormatError("a table of the SQLite database cannot be read") from error
    for segment in shapes:
        rows += (APART, Piece(len(document.segments), 0, len(segment.text)))
        document.segments.append(segment)
    document.views.append(View(f"rows of {table.name}", rows, document.segments))
    for name, parts in zip(table.columns, columns, strict=True):
        if parts:
            document.views.append(View(f"{table.name}.{name}", parts, document.segments, name))


def _blobs(document: Document) -> Iterator[tuple[str, _Cell]]:
    for segment in document.segments:
        if isinstance(segment.anchor, tuple) and segment.anchor[0] == "blob":
            yield segment.anchor[1], segment.anchor[2]


class _Rows:
    """Rows that change; a row of a table without rowid is found by its key, which may change."""

    def __init__(self, database: sqlite3.Connection, tables: Sequence[_SqlTable]) -> None:
        self._database = database
        self._tables = tables
        self._distinct: defaultdict[tuple[int, int], DistinctTexts] = defaultdict(DistinctTexts)
        self._keys: dict[tuple[int, tuple[object, ...]], tuple[object, ...]] = {}
        """The new key of each row that has one, by table and old key."""

    def change(self, changes: Iterable[tuple[_Cell, str | bytes | None]]) -> None:
        for cell, value in changes:
            if isinstance(value, str):
                self._set_text(cell, value)
            else:
                self._set(cell, value)

    def _set(self, cell: _Cell, value: str | bytes | None) -> None:
        table = self._tables[cell.table]
        name = table.columns[cell.column]
        key = self._keys.get((cell.table, cell.row), cell.row)
        where = " AND ".join(f"{_quoted(each)} = ?" for each in table.key)
        statement = ("UPDATE", _quoted(table.name), "SET", _quoted(name), "= ? WHERE", where)
        self._database.execute(" ".join(statement), (value, *key))
        if name in table.key:
            at = table.key.index(name)
            self._keys[cell.table, cell.row] = (*key[:at], value, *key[at + 1 :])

    def _set_text(self, cell: _Cell, value: str) -> None:
        """Set a cell; where a column is unique, equal texts become distinct."""

        def is_free(text: str) -> bool:
            try:
                self._set(cell, text)
            except sqlite3.IntegrityError:
                return False
            return True

        def numbered(number: int) -> str:
            if number > _MOST_EQUAL:
                raise CannotMaskError("a unique column holds too many values that mask to the same")
            return f"{value} {number}"

        self._distinct[cell[:2]].choose(value, numbered, is_free)


def _rebuild_indexes(database: sqlite3.Connection, tables: Sequence[_SqlTable]) -> None:
    for table in tables:
        found = _FTS.match(table.sql)
        if found is None:
            continue
        if re.search(r"content\s*=\s*(''|\"\")", found[2]):
            raise CannotMaskError(
                "a full-text index without contents cannot be rebuilt: drop it and try again"
            )
        name = _quoted(table.name)
        for command in ("rebuild", "optimize"):
            database.execute(" ".join(("INSERT INTO", name, "(", name, ") VALUES (?)")), (command,))


def _leftovers(data: bytes) -> Iterator[str]:
    """Yield strings in free pages, unused parts of pages and after the last page: deleted rows."""
    size = int.from_bytes(data[16:18], "big")
    size = 65536 if size == 1 else size
    if size < 512:
        return
    count = int.from_bytes(data[28:32], "big") or len(data) // size
    live = set(range(count)) - set(_free_pages(data, size))
    for number in range(-(-len(data) // size)):
        page = data[number * size : (number + 1) * size]
        if number not in live:
            unused = [page]
        else:
            at = 100 if number == 0 else 0
            header = _LEAF_TYPES.get(page[at])
            if header is None:
                continue
            free, cells, start = struct.unpack_from(">HHH", page, at + 1)
            unused = [page[at + header + 2 * cells : start or 65536]]
            steps = 0
            while free and free + 4 <= size and steps < size // 4:
                following, length = struct.unpack_from(">HH", page, free)
                unused.append(page[free + 4 : free + length])
                free, steps = following, steps + 1
        for part in unused:
            for found in _STRINGS.finditer(part):
                yield found[0].decode("utf-8", "replace")


def _free_pages(data: bytes, size: int) -> Iterator[int]:
    trunk = int.from_bytes(data[32:36], "big")
    seen: set[int] = set()
    while trunk and trunk not in seen and trunk * size <= len(data):
        seen.add(trunk)
        page = data[(trunk - 1) * size : trunk * size]
        yield trunk - 1
        following, count = struct.unpack_from(">LL", page)
        for index in range(min(count, size // 4 - 2)):
            yield int.from_bytes(page[8 + 4 * index : 12 + 4 * index], "big") - 1
        trunk = following


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


FORMAT = Sqlite()
