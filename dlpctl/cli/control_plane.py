"""What the commands of the control plane share: a backend, and how its answers are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

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

Org = Annotated[str, typer.Argument(metavar="ORG", help="The organization's id or slug.")]
Expires = Annotated[
    str | None,
    typer.Option(metavar="WHEN", help="A day or a moment, as in 2027-01-31 or 2027-01-31T12:00Z."),
]


@contextmanager
def local() -> Iterator[LocalBackend]:
    """The control plane in this user's folder."""
    from dlpctl.backend.local import LocalBackend

    session = Session.begin()
    config = session.config
    with closing(
        LocalBackend.open(config.data_folder, session.detector, config.serve.issuer)
    ) as opened:
        yield opened


@contextmanager
def backend(server: str | None) -> Iterator[Backend]:
    """The control plane of the server that the option or the settings name, or else the one in this
    user's folder.
    """
    config = Session.begin(server=server).config
    if config.server is None:
        with local() as opened:
            yield opened
        return
    from dlpctl.backend.remote import RemoteBackend

    with closing(RemoteBackend.open(config.server, config.data_folder)) as asked:
        yield asked


@contextmanager
def evidence(
    server: str | None, database: Path | None, key: Path | None
) -> Iterator[EvidenceSource]:
    """The audit log of a server, or of a database on this machine, which is only read."""
    config = Session.begin(server=server).config
    if config.server is not None and database is None:
        with backend(server) as asked:
            yield asked
        return
    if server is not None and config.server is not None:
        raise UsageError("--database is a file on this machine; leave out --server")
    from dlpctl.backend.local import LocalEvidence
    from dlpctl.control.service import DATABASE, KEY_FILE

    file = database or config.data_folder / DATABASE
    with LocalEvidence.open(file, key or file.parent / KEY_FILE) as opened:
        yield opened


def given(**fields: Any) -> dict[str, Any]:
    """The fields that the user has given."""
    return {name: value for name, value in fields.items() if value is not None}


def whole(policy: Policy) -> dict[str, Any]:
    """What a policy says, with nothing left of what was said before it."""
    return {"minScore": None, "defaultAction": None, "customPatterns": None} | policy.to_dict()


def show_list(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], form: Output, none: str
) -> None:
    printer = Printer()
    if form is Output.JSON:
        printer.json(list(rows))
    elif rows:
        cells = [[readable(column, row[column]) for column in columns] for row in rows]
        printer.table(cells, head=[column.upper().replace("_", " ") for column in columns])
    else:
        printer.line(none)


def show_one(answer: Mapping[str, Any], form: Output) -> None:
    printer = Printer()
    if form is Output.JSON:
        printer.json(answer)
    else:
        long = {
            name: value
            for name, value in answer.items()
            if isinstance(value, str) and "\n" in value
        }
        printer.table(
            (name, readable(name, value)) for name, value in answer.items() if name not in long
        )
        for value in long.values():
            printer.line(value.rstrip())


def done(what: str, form: Output) -> None:
    """For what has no answer."""
    if form is Output.HUMAN:
        Printer().line(what)


def readable(name: str, value: Any) -> str:
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
            item
            if isinstance(item, str)
            else str(item.get("name", item))
            if isinstance(item, dict)
            else str(item)
            for item in value
        )
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items())
    if name.endswith("_at") and isinstance(value, str):
        return value[:19].replace("T", " ")
    return str(value)
