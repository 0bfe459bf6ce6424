"""The shared part of control plane commands: choosing the backend and printing answers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.cli import options
from dlpctl.cli.options import Output
from dlpctl.cli.render import Printer
from dlpctl.cli.session import Session
from dlpctl.errors import UsageError
from dlpctl.types import LARGEST_NUMBER

if TYPE_CHECKING:
    from pathlib import Path

    from dlpctl.backend.interface import Backend, EvidenceSource
    from dlpctl.backend.local import LocalBackend
    from dlpctl.policy.model import Policy


@contextmanager
def local(*, restoring: bool = False) -> Iterator[LocalBackend]:
    """Yield the control plane in this user's data folder, for `restoring` even if the database is
    damaged or lost.
    """
    from dlpctl.backend.local import LocalBackend

    session = Session.start()
    config = session.config
    with closing(
        LocalBackend.open(
            config.data_folder,
            session.detector,
            config.serve.issuer,
            os.environ,
            config.serve.database_url,
            restoring=restoring,
        )
    ) as opened:
        yield opened


@contextmanager
def backend(server: str | None) -> Iterator[Backend]:
    """Yield the control plane of the server named by option or settings, else the local one."""
    config = Session.start(server=server).config
    if config.server is None:
        with local() as opened:
            yield opened
        return
    from dlpctl.backend.remote import RemoteBackend

    with closing(RemoteBackend.open(config.server, config.data_folder, os.environ)) as asked:
        yield asked


@contextmanager
def evidence(
    server: str | None, database: Path | None, key: Path | None
) -> Iterator[EvidenceSource]:
    """Yield the audit log of a server, or of a local database, which is opened read-only."""
    config = Session.start(server=server).config
    if config.server is not None and database is None:
        with backend(server) as asked:
            yield asked
        return
    if server is not None and config.server is not None:
        raise UsageError("--database is a file on this machine; leave out --server")
    from dlpctl.backend.local import LocalEvidence
    from dlpctl.control.service import DATABASE, KEY_FILE

    folder = database.parent if database else config.data_folder
    where = database or config.serve.database_url or folder / DATABASE
    with LocalEvidence.open(where, key or folder / KEY_FILE) as opened:
        yield opened


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that the user set."""
    return {name: value for name, value in fields.items() if value is not None}


def changes(**fields: Any) -> dict[str, Any]:
    """Return the fields that the user set, at least one."""
    if not (body := given(**fields)):
        raise UsageError("nothing to change; give at least one option")
    return body


def complete_policy(policy: Policy) -> dict[str, Any]:
    """Return a policy as a request that replaces every field of a stored one."""
    return {"minScore": None, "defaultAction": None, "customPatterns": None} | policy.to_dict()


class ControlOptions(NamedTuple):
    """The control plane to ask, and the output format."""

    form: options.Format = Output.HUMAN
    server: options.Server = None

    @property
    def as_json(self) -> bool:
        return self.form is Output.JSON

    def backend(self) -> AbstractContextManager[Backend]:
        return backend(self.server)

    def ask(self, operation: str, *given: Any, **query: Any) -> Any:
        """Return the answer to an operation; see `Backend`."""
        with self.backend() as asked:
            return getattr(asked, operation)(*given, **query)

    def print_list(self, rows: Sequence[Mapping[str, Any]], columns: str, none: str) -> None:
        """Print rows as a table with these columns; print `none` if there are no rows."""
        printer = Printer()
        names = columns.split()
        if self.as_json:
            printer.json(list(rows))
        elif rows:
            cells = [[readable(name, row[name]) for name in names] for row in rows]
            printer.table(cells, head=[name.upper().replace("_", " ") for name in names])
        else:
            printer.line(none)

    def print_record(self, answer: Mapping[str, Any]) -> None:
        """Print one record: short values as a table, multi-line values after it."""
        printer = Printer()
        if self.as_json:
            printer.json(answer)
            return
        long = [name for name, value in answer.items() if isinstance(value, str) and "\n" in value]
        short = [(name, value) for name, value in answer.items() if name not in long]
        printer.table((name, readable(name, value)) for name, value in short)
        for name in long:
            printer.line(answer[name].rstrip())

    def print_done(self, text: str) -> None:
        """Print what was done; nothing for JSON."""
        if not self.as_json:
            Printer().line(text)


def readable(name: str, value: Any) -> str:
    """Return the value of a field in a form for people."""
    if value is None or value in ("", [], {}):
        return "-"
    if value == LARGEST_NUMBER:
        return "unlimited"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return " ".join(
            str(item.get("name", item) if isinstance(item, dict) else item) for item in value
        )
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items())
    if name.endswith("_at") and isinstance(value, str):
        return value[:19].replace("T", " ")
    return str(value)
