"""A schema of PostgreSQL as the database of the control plane, which several nodes may share.

One node writes at a time: it holds a database lock until its transaction ends, so that the chain
has one end and each quota one counter. The next transaction on any node sees everything that was
committed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from dlpctl.control.database import BUSY_SECONDS, Connection
from dlpctl.control.migrations import STEPS, Step
from dlpctl.control.postgresql.dialect import translated, translated_step
from dlpctl.control.seals import triggers
from dlpctl.errors import StoreError, UsageError

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    from dlpctl.control.postgresql.connection import SCHEMA, TURN, WRITING, PostgresConnection
except ImportError:
    raise UsageError(
        "serve.database needs more packages: install dlpctl with its extra, dlpctl[postgresql]"
    ) from None

if TYPE_CHECKING:
    from psycopg import Error

SCHEMES = ("postgresql://", "postgres://")
_ADVICE = {
    "25006": "it is a standby, which cannot be written; name the primary server",
    "42501": "{problem}; let the user create the schema and own what is in it:"
    " GRANT CREATE ON DATABASE {database} TO {user}",
    "53100": "{problem}; make room on its disk, nothing was recorded",
    "55P03": f"another node has held it for {BUSY_SECONDS:.0f} seconds; try again",
}
"""Advice by SQLSTATE."""
_UNREACHED = "{problem}; see that it runs, and that serve.database has its address"
_REFUSED = "{problem}; see to the user, the password and the database in serve.database"
_REFUSALS = ("password", "authentication", "does not exist", "pg_hba.conf")
"""Words in libpq's message when the server refuses a connection: such errors have no SQLSTATE."""
_INVALID = """
    SELECT 'index ' || indexrelid::regclass AS found FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = to_regnamespace(?) AND NOT indisvalid
    UNION ALL
    SELECT 'constraint ' || conname FROM pg_constraint
    WHERE connamespace = to_regnamespace(?) AND NOT convalidated"""


class PostgresDatabase:
    errors: type[Exception] = psycopg.Error
    contradictions: type[Exception] = psycopg.IntegrityError
    reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    writing = WRITING
    is_shared = True
    shortest_word = 1 << 30  # there is no search index

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """`parameters` are those of libpq."""
        self._parameters = dict(parameters)
        host, port = (self._parameters.get(name) for name in ("host", "port"))
        where = f"{host or ''}:{port}" if port else f"{host or ''}"
        self.name = f"postgresql://{where}/{self._parameters.get('dbname') or ''}"

    @classmethod
    def of(cls, address: str) -> PostgresDatabase:
        """Parse an address; errors do not repeat it, since it may hold a password."""
        if not address.startswith(SCHEMES):
            raise UsageError("serve.database: must start with postgresql://")
        try:
            return cls(conninfo_to_dict(address))
        except psycopg.Error:
            raise UsageError(
                "serve.database: is no address of PostgreSQL: write"
                " postgresql://USER@HOST:5432/DATABASE, and characters such as @ and / as %40 and"
                " %2F"
            ) from None

    @property
    def is_new(self) -> bool:
        with self.opened() as connection:
            if self._version(connection) is None:
                return True
            sql = "SELECT 1 FROM state WHERE name = 'key'"
            return connection.execute(sql).fetchone() is None

    @contextmanager
    def opened(self) -> Iterator[Connection]:
        """Open a connection for the time of a `with` block."""
        try:
            with closing(self.connect()) as connection:
                yield connection
        except psycopg.Error as problem:
            raise self.explained(problem) from None

    def connect(self) -> Connection:
        return PostgresConnection.open(self._parameters)

    def upgrade(self, connection: Connection) -> None:
        if self._version(connection) == len(STEPS):
            return
        run = cast("PostgresConnection", connection).script
        run(TURN)
        try:
            version = self._version(connection)
            if version is None:
                self._create(connection)
            for step in STEPS[version or 0 :]:
                run(_script(step))
            for statement in _watching():
                run(statement)
            connection.execute("UPDATE steps SET taken = ?", (len(STEPS),))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _create(self, connection: Connection) -> None:
        encoding: str = connection.execute("SHOW server_encoding").fetchone()[0]
        if encoding != "UTF8":
            raise StoreError(
                f"{self.name}: keeps texts as {encoding}; create a database with ENCODING 'UTF8'"
            )
        sql = "SELECT to_regnamespace(?)"
        if connection.execute(sql, (SCHEMA,)).fetchone()[0] is None:
            connection.execute(f"CREATE SCHEMA {SCHEMA}")
        functions = files(__package__ or "").joinpath("functions.sql").read_text("utf-8")
        cast("PostgresConnection", connection).script(functions)

    def _version(self, connection: Connection) -> int | None:
        """Return the number of applied steps; None if the schema does not exist yet."""
        sql = "SELECT to_regclass(?)"
        if connection.execute(sql, (f"{SCHEMA}.steps",)).fetchone()[0] is None:
            return None
        version: int = connection.execute("SELECT taken FROM steps").fetchone()[0]
        if version > len(STEPS):
            raise StoreError(
                f"{self.name}: a newer dlpctl has written it (schema {version}, this one knows"
                f" {len(STEPS)}); upgrade dlpctl on this node"
            )
        return version

    def watch(self, connection: Connection) -> None:
        """Create the temporary table that the triggers write to, for this session."""
        # A node that vanishes during a transaction must not keep others from writing.
        timeout = f"'{BUSY_SECONDS:.0f}s'"
        connection.execute(f"SET idle_in_transaction_session_timeout = {timeout}")
        connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS touched"
            " (tbl TEXT, key TEXT, held TEXT, rowid BIGINT GENERATED ALWAYS AS IDENTITY)"
        )

    def has_lost(self, connection: Connection) -> bool:
        return cast("PostgresConnection", connection).is_lost

    def problems(self, connection: Connection) -> tuple[str, ...]:
        rows = connection.execute(_INVALID, (SCHEMA, SCHEMA)).fetchall()
        return tuple(f"the {row['found']} is not valid" for row in rows)

    def damage(self, connection: Connection) -> str:
        del connection  # the server checks its pages
        return ""

    def vacuum(self, connection: Connection) -> None:
        connection.execute("VACUUM")

    def explained(self, problem: Exception) -> StoreError:
        error = cast("Error", problem)
        reason = self._reason(error)
        if error.sqlstate is None and isinstance(error, psycopg.OperationalError):
            advice = _REFUSED if any(word in reason for word in _REFUSALS) else _UNREACHED
        else:
            advice = _ADVICE.get(error.sqlstate or "", "{problem}")
        who = {name: self._parameters.get(name) or "..." for name in ("dbname", "user")}
        text = advice.format(problem=reason, database=who["dbname"], user=who["user"])
        return StoreError(f"{self.name}: {text}")

    def _reason(self, problem: Error) -> str:
        """Return one line that holds neither a value of a row nor a password."""
        text = str(problem.diag.message_primary or problem).strip()
        line = text.partition("FATAL:")[2].strip() or text
        line = line.splitlines()[0] if line else type(problem).__name__
        password = self._parameters.get("password")
        return line.replace(password, "***") if password else line


def _script(step: Step) -> str:
    own = step.postgresql()
    return translated_step(step.sql()) if own is None else own


def _watching() -> Iterator[str]:
    """Yield the statements that create the triggers for the sealed tables."""
    for table, change, statement in triggers():
        name = f"touched_{table}_{change}".lower()
        yield f"""
            CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF to_regclass('pg_temp.touched') IS NOT NULL THEN {translated(statement)} END IF;
                RETURN NULL;
            END
            $$"""
        yield (
            f"CREATE OR REPLACE TRIGGER {name} AFTER {change} ON {table}"
            f" FOR EACH ROW EXECUTE FUNCTION {name}()"
        )
