"""Scan databases: every table and column, in a read-only session, without reporting values.

A column is read in pages by the primary key, or else as a stream. Its distinct values are scanned
under the column's name, like those of a table in memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.detect.values import scan_values
from dlpctl.errors import InputError, UsageError
from dlpctl.scan.results import Result, Skip, Summary, Why
from dlpctl.scan.source import DATABASES

if TYPE_CHECKING:
    from dlpctl.detect.allow import AllowList
    from dlpctl.detect.engine import Detector
    from dlpctl.scan.selection import Selection
    from dlpctl.types import Finding

_SYSTEM = frozenset(
    (
        *("information_schema", "pg_catalog", "mysql", "performance_schema", "sys"),
        *("system.information_schema", "system.main", "temp.main"),
    )
)
_ELSEWHERE = {
    Why.VIEW: "it repeats what its tables hold",
    Why.FOREIGN: "scan the server that holds it",
    Why.PARTITION: "it is read with its table",
}
_INHERITED = """
SELECT child_of.nspname, child.relname, parent_of.nspname, parent.relname, child.relispartition
FROM pg_inherits
JOIN pg_class AS child ON child.oid = inhrelid
JOIN pg_namespace AS child_of ON child_of.oid = child.relnamespace
JOIN pg_class AS parent ON parent.oid = inhparent
JOIN pg_namespace AS parent_of ON parent_of.oid = parent.relnamespace
"""
"""The tables of PostgreSQL whose rows another table shows as well."""
_PAGE = 10_000
_LONGEST = 1 << 24
_OF_DATA = "22"
"""The class of SQL states whose messages quote data."""
_STRICT = "SET SESSION TRANSACTION READ ONLY"

_Named = tuple[str | None, str]
"""A table by its schema and name."""


class _Inherited(NamedTuple):
    """The tables whose rows other tables show as well."""

    partitions: dict[_Named, _Named]
    """Partitions, and the tables that consist of them."""
    parents: set[_Named]
    """Tables that show the rows of tables which inherit from them, beside their own."""


class _Found(NamedTuple):
    """The findings of one pattern in a column."""

    finding: Finding
    values: int
    score: float


class DatabaseScan:
    """Scans databases into the summary of a scan, in which tables count as files."""

    def __init__(
        self,
        detector: Detector,
        min_score: float,
        allow: AllowList,
        selection: Selection,
        summary: Summary,
        accepts: Callable[[Result], bool] | None = None,
        on_step: Callable[[Summary], object] | None = None,
    ) -> None:
        self._detector = detector
        self._min_score = min_score
        self._allow = allow.acceptor("")
        self._selection = selection
        self._summary = summary
        self._accepts = accepts
        self._on_step = on_step

    def scan(self, urls: Sequence[str]) -> Iterator[Result | Skip]:
        """Yield a finding for each type of each column, and a skip for data that was not read."""
        self._summary.partial = True
        self._summary.nouns = self._summary.nouns | {"table"} if self._summary.files else {"table"}
        for url in urls:
            for result in self._database(url):
                if isinstance(result, Skip):
                    self._summary.skip(result)
                elif self._accepts is not None and self._accepts(result):
                    self._summary.accepted += 1
                    continue
                else:
                    self._summary.add(result)
                yield result
        self._summary.partial = False

    def _database(self, url: str) -> Iterator[Result | Skip]:
        with _opened(url) as database:
            for schema, table, passed_over in database.tables():
                shown = f"{database.name}/{_name(schema, table)}"
                if why := self._why_not((schema, table)):
                    yield Skip(shown, why)
                    continue
                is_part = self._is_read_with_another(database, (schema, table))
                if reason := passed_over or (Why.PARTITION if is_part else None):
                    yield Skip(shown, reason, _ELSEWHERE[reason])
                    continue
                try:
                    yield from self._table(database, shown, schema, table)
                except database.problems as problem:
                    database.roll_back()
                    yield Skip(shown, Why.UNREADABLE, _reason(problem))

    def _why_not(self, table: _Named) -> Why | None:
        return self._selection.why_not_inside(_name(*table).replace(".", "/"))

    def _is_read_with_another(self, database: _Database, table: _Named) -> bool:
        """Return whether a table is a partition of one that is scanned."""
        partitions = database.inherited.partitions
        while table in partitions:
            table = partitions[table]
            if not self._why_not(table):
                return True
        return False

    def _table(
        self, database: _Database, shown: str, schema: str | None, table: str
    ) -> Iterator[Result | Skip]:
        columns, key = database.columns(schema, table)
        self._summary.files += 1
        for column in columns:
            yield from self._column(shown, column, database.values(schema, table, column, key))
            database.roll_back()  # no transaction stays open after a column

    def _column(
        self, shown: str, column: str, pages: Iterator[Sequence[Any]]
    ) -> Iterator[Result | Skip]:
        values = 0
        found: dict[str, _Found] = {}
        unread: Counter[str] = Counter()
        for page in pages:
            texts: Counter[str] = Counter()
            for value in page:
                text, reason = _text_of(value)
                if reason:
                    unread[reason] += 1
                elif text is not None:
                    texts[text] += 1
            values += len(page)
            self._summary.bytes += sum(map(len, texts))
            self._judge(column, texts, found)
            if self._on_step is not None:
                self._on_step(self._summary)
        for each in found.values():
            yield self._result(shown, column, each, values)
        for reason, count in unread.items():
            noun = "value" if count == 1 else "values"
            yield Skip(shown, Why.UNINSPECTED, f"column {column}: {count:,} {noun}: {reason}")

    def _judge(self, column: str, texts: Counter[str], found: dict[str, _Found]) -> None:
        values = list(texts)
        for number, findings in scan_values(self._detector, column, values, self._min_score):
            value = values[number]
            seen: dict[str, Finding] = {}
            for finding in findings:
                exact = value[finding.start : finding.end]
                if self._allow is None or not self._allow(finding, exact):
                    seen.setdefault(finding.pattern_id, finding)
            for name, finding in seen.items():
                known = found.get(name) or _Found(finding, 0, 0.0)
                count = known.values + texts[value]
                found[name] = known._replace(values=count, score=max(known.score, finding.score))

    def _result(self, shown: str, column: str, each: _Found, values: int) -> Result:
        name = each.finding.pattern_id
        identity = sha256(f"{shown}\0{column}\0{name}".encode("utf-8", "replace"))
        return Result(
            *(shown, 1, 1, 1, 1, 0, 0),
            *(each.finding.type, each.finding.category.value, each.score, name),
            self._detector.label(name),
            None,
            identity.hexdigest()[:32],
            inner=f"{column}: {each.values:,} of {values:,} values",
        )


def _name(schema: str | None, table: str) -> str:
    return f"{schema}.{table}" if schema else table


def _text_of(value: Any) -> tuple[str | None, str]:
    """Return a value as text, or the reason why it has none."""
    if value is None or isinstance(value, bool):
        return None, ""
    if isinstance(value, bytes | bytearray | memoryview):
        try:
            value = bytes(value).decode()
        except UnicodeDecodeError:
            return None, "binary data"
    if isinstance(value, dict | list | tuple | set):
        try:
            value = json.dumps(value, ensure_ascii=False, default=str)
        except (ValueError, RecursionError):
            return None, "it nests too deep"
    text = value if isinstance(value, str) else str(value)
    return (text, "") if len(text) <= _LONGEST else (None, "longer than 16 MB")


class _Database:
    """A connection, which can only read."""

    def __init__(self, name: str, connection: Any) -> None:
        import sqlalchemy

        self.name = name
        self.problems = (sqlalchemy.exc.SQLAlchemyError, UnicodeDecodeError)
        self._connection = connection
        self._dialect = connection.dialect.name
        self._sql = sqlalchemy

    def roll_back(self) -> None:
        """End the transaction, which has written nothing; the next query starts another."""
        self._connection.rollback()

    def tables(self) -> Iterator[tuple[str | None, str, Why | None]]:
        """Yield the tables with their schemas, and the reason to skip a table without own data."""
        inspector = self._sql.inspect(self._connection)
        schemas = [None] if self._dialect == "sqlite" else sorted(inspector.get_schema_names())
        chosen = self._connection.engine.url.database
        if self._dialect in ("mysql", "mariadb") and chosen:
            schemas = [chosen]
        for schema in schemas:
            if schema in _SYSTEM or (schema or "").startswith("pg_"):
                continue
            named: dict[str, Why | None] = dict.fromkeys(inspector.get_table_names(schema))
            named |= dict.fromkeys(inspector.get_view_names(schema), Why.VIEW)
            if self._dialect == "postgresql":
                named |= dict.fromkeys(inspector.get_foreign_table_names(schema), Why.FOREIGN)
                named |= dict.fromkeys(inspector.get_materialized_view_names(schema))
            for table, passed_over in sorted(named.items()):
                yield schema, table, passed_over

    @cached_property
    def inherited(self) -> _Inherited:
        inherited = _Inherited({}, set())
        if self._dialect != "postgresql":
            return inherited
        for *names, is_partition in self._connection.execute(self._sql.text(_INHERITED)):
            child, parent = (names[0], names[1]), (names[2], names[3])
            if is_partition:
                inherited.partitions[child] = parent
            else:
                inherited.parents.add(parent)
        self.roll_back()
        return inherited

    def columns(self, schema: str | None, table: str) -> tuple[list[str], list[str]]:
        """Return the columns of a table, and those of its primary key."""
        if self._dialect == "duckdb":  # has no catalogue of PostgreSQL to reflect completely
            rows = self._select(self._sql.column("*", is_literal=True), schema, table).limit(0)
            return list(self._connection.execute(rows).keys()), []
        inspector = self._sql.inspect(self._connection)
        columns = [column["name"] for column in inspector.get_columns(table, schema)]
        if self._dialect == "sqlite":  # whose keys may be null or invalid text: none comes after
            return columns, []
        return columns, inspector.get_pk_constraint(table, schema)["constrained_columns"]

    def _select(self, what: Any, schema: str | None, table: str) -> Any:
        named = self._sql.table(table, schema=schema)
        query = self._sql.select(what).select_from(named)
        if (schema, table) in self.inherited.parents:
            query = query.with_hint(named, "ONLY", self._dialect)
        return query

    def values(
        self, schema: str | None, table: str, column: str, key: Sequence[str]
    ) -> Iterator[Sequence[Any]]:
        """Yield the values of a column in pages."""
        sql = self._sql
        wanted = sql.column(column)
        if not key:
            rows = self._connection.execution_options(stream_results=True, yield_per=_PAGE).execute(
                self._select(wanted, schema, table)
            )
            yield from (page for page in rows.scalars().partitions(_PAGE))
            return
        keys = [sql.column(name) for name in key]
        query = self._select(wanted, schema, table).add_columns(*keys).order_by(*keys).limit(_PAGE)
        last: tuple[Any, ...] | None = None
        while True:
            page = query
            if last is not None:
                after = sql.tuple_(*keys) > sql.tuple_(*map(sql.literal, last))
                after = keys[0] > last[0] if len(keys) == 1 else after
                page = query.where(after)
            rows = self._connection.execute(page).all()
            yield [row[0] for row in rows]
            if len(rows) < _PAGE:
                return
            last = tuple(rows[-1][1:])


@contextmanager
def _opened(address: str) -> Iterator[_Database]:
    """Connect in a way that cannot write; raise `InputError` if that fails."""
    try:
        import sqlalchemy
        from sqlalchemy.pool import NullPool
    except ImportError:
        raise UsageError(
            "databases need more packages: install dlpctl with its extra, dlpctl[databases]"
        ) from None
    try:
        given = sqlalchemy.engine.make_url(address)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        raise UsageError("a database has an address such as postgresql://HOST/NAME") from None
    parts = given.drivername, None, None, given.host, given.port, given.database
    name = sqlalchemy.engine.URL.create(*parts).render_as_string().rstrip("/")
    url = given.set(drivername=DATABASES[given.drivername])
    try:
        url, arguments = _read_only(url)
        engine = sqlalchemy.create_engine(
            url, connect_args=arguments, poolclass=NullPool, hide_parameters=True
        )
        sqlalchemy.event.listen(engine, "connect", _restrict)
        connection = engine.connect()
    except (ImportError, sqlalchemy.exc.NoSuchModuleError):
        raise UsageError(
            f"{name}: install its driver, or dlpctl with its extra, dlpctl[databases]"
        ) from None
    except sqlalchemy.exc.SQLAlchemyError as problem:
        raise InputError(f"{name}: cannot connect: {_reason(problem)}") from None
    with connection:
        try:
            yield _Database(name, connection)
        except sqlalchemy.exc.SQLAlchemyError as problem:
            raise InputError(f"{name}: cannot be read: {_reason(problem)}") from None


def _restrict(driver: Any, _record: object) -> None:
    """Make a new connection read-only, including one that replaces a lost connection."""
    library = type(driver).__module__.partition(".")[0]
    if library == "psycopg":
        driver.read_only = True
    elif library == "sqlite3":
        driver.text_factory = _decoded
    elif library == "pymysql":
        driver.query(_STRICT)


def _decoded(raw: bytes) -> str:
    """Return text that may not be UTF-8; the driver would raise an error that quotes the text."""
    return raw.decode("utf-8", "replace")


def _read_only(url: Any) -> tuple[Any, dict[str, Any]]:
    """Return the address for opening a database read-only, and the driver's arguments."""
    scheme = url.drivername
    if scheme not in ("sqlite", "duckdb"):
        return url, {"connect_timeout": 20}
    file = Path(url.database or "")
    if not file.is_file():
        raise InputError(f"{scheme}:///{url.database or ''}: there is no such database file")
    if scheme == "duckdb":
        return url, {"read_only": True}
    return url.set(database=file.absolute().as_uri(), query={"mode": "ro", "uri": "true"}), {}


def _reason(problem: BaseException) -> str:
    """Return the reason of a driver's failure: its first line, unless that may quote a value."""
    original = getattr(problem, "orig", None) or problem
    state = getattr(original, "sqlstate", None)
    if isinstance(original, UnicodeDecodeError) or str(state or "").startswith(_OF_DATA):
        return f"{type(original).__name__} in its data"
    diagnosis = getattr(getattr(original, "diag", None), "message_primary", None)
    lines = str(diagnosis or original).strip().splitlines() or [type(original).__name__]
    return lines[0][:200]
