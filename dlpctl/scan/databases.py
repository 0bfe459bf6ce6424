"""Scan databases: every table and column, in a read-only session, without reporting values.

A column is read in pages by its primary key, or as a stream. Its distinct values are scanned under
its name, as in a table in memory.
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
from dlpctl.errors import UsageError
from dlpctl.scan.results import Result, Skip, Summary, Why
from dlpctl.scan.source import DATABASES, UnreadError

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

    def _database(self, address: str) -> Iterator[Result | Skip]:
        url, name = _parsed(address)
        try:
            with _opened(url) as database:
                yield from self._tables(database, name)
        except UnreadError as error:
            yield Skip(name, error.why, error.detail)

    def _tables(self, database: _Database, name: str) -> Iterator[Result | Skip]:
        for schema, table, passed_over in database.tables():
            shown = f"{name}/{_name(schema, table)}"
            why = self._why_not((schema, table)) or passed_over
            if not why and self._is_read_with_another(database, (schema, table)):
                why = Why.PARTITION
            if why:
                yield Skip(shown, why, _ELSEWHERE.get(why, ""))
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

    def __init__(self, connection: Any) -> None:
        import sqlalchemy

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
            streamed = self._connection.execution_options(stream_results=True, yield_per=_PAGE)
            rows = streamed.execute(self._select(wanted, schema, table))
            yield from rows.scalars().partitions(_PAGE)
            return
        keys = [sql.column(name) for name in key]
        query = self._select(wanted, schema, table).add_columns(*keys).order_by(*keys).limit(_PAGE)
        page = query
        while True:
            rows = self._connection.execute(page).all()
            yield [row[0] for row in rows]
            if len(rows) < _PAGE:
                return
            last = rows[-1][1:]
            after = sql.tuple_(*keys) > sql.tuple_(*map(sql.literal, last))
            page = query.where(keys[0] > last[0] if len(keys) == 1 else after)


def _parsed(address: str) -> tuple[Any, str]:
    """Return the URL of a database, and its name in reports, without user and password."""
    try:
        from sqlalchemy.engine import URL, make_url
        from sqlalchemy.exc import ArgumentError

        url = make_url(address)
    except ImportError:
        raise UsageError(
            "databases need more packages: install dlpctl with its extra, dlpctl[databases]"
        ) from None
    except (ArgumentError, ValueError):
        raise UsageError("a database has an address such as postgresql://HOST/NAME") from None
    parts = url.drivername, None, None, url.host, url.port, url.database
    return url, URL.create(*parts).render_as_string().rstrip("/")


@contextmanager
def _opened(given: Any) -> Iterator[_Database]:
    """Connect in a way that cannot write; raise `UnreadError` if that fails."""
    import sqlalchemy

    try:
        url, arguments = _read_only(given)
        engine = sqlalchemy.create_engine(
            url, connect_args=arguments, poolclass=sqlalchemy.pool.NullPool, hide_parameters=True
        )
        sqlalchemy.event.listen(engine, "connect", _restrict)
        connection = engine.connect()
    except (ImportError, sqlalchemy.exc.NoSuchModuleError):
        raise UsageError(
            f"{given.drivername}: install its driver, or dlpctl with its extra, dlpctl[databases]"
        ) from None
    except sqlalchemy.exc.SQLAlchemyError as problem:
        raise UnreadError(Why.UNREADABLE, f"cannot connect: {_reason(problem)}") from None
    with connection:
        try:
            yield _Database(connection)
        except sqlalchemy.exc.SQLAlchemyError as problem:
            raise UnreadError(Why.UNREADABLE, _reason(problem)) from None


def _restrict(driver: Any, _record: object) -> None:
    """Make a new connection read-only, including one that replaces a lost connection."""
    library = type(driver).__module__.partition(".")[0]
    if library == "psycopg":
        driver.read_only = True
    elif library == "sqlite3":
        driver.text_factory = lambda raw: raw.decode("utf-8", "replace")  # errors quote text
    elif library == "pymysql":
        driver.query("SET SESSION TRANSACTION READ ONLY")


def _read_only(given: Any) -> tuple[Any, dict[str, Any]]:
    """Return the address for opening a database read-only, and the driver's arguments."""
    scheme = given.drivername
    url = given.set(drivername=DATABASES[scheme])
    if scheme not in ("sqlite", "duckdb"):
        return url, {"connect_timeout": 20}
    file = Path(url.database or "")
    if not file.is_file():
        raise UnreadError(Why.UNREADABLE, "there is no such database file")
    if scheme == "duckdb":
        return url, {"read_only": True}
    return url.set(database=file.absolute().as_uri(), query={"mode": "ro", "uri": "true"}), {}


def _reason(problem: BaseException) -> str:
    """Return the reason of a driver's failure: its first line, unless that may quote a value."""
    original = getattr(problem, "orig", None) or problem
    state = str(getattr(original, "sqlstate", ""))
    if isinstance(original, UnicodeDecodeError) or state.startswith("22"):  # an error of data
        return f"{type(original).__name__} in its data"
    text = getattr(getattr(original, "diag", None), "message_primary", None) or original
    lines = str(text).strip().splitlines() or [type(original).__name__]
    return lines[0][:200]
