"""The shared part of `allow` and `baseline`: options, the scan, and writing exceptions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from dlpctl.cli import accepted, options
from dlpctl.cli.render import Printer
from dlpctl.config.locations import EXCEPTIONS_FILE
from dlpctl.errors import UsageError
from dlpctl.scan.baseline import Baseline, Entry, expiry, merged_by_union
from dlpctl.scan.reports import counted

if TYPE_CHECKING:
    pass

BaselineFile = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FILE", help=f"The exceptions; the nearest {EXCEPTIONS_FILE}."
    ),
]


class ExceptionOptions(NamedTuple):
    """The owner, last day and file of new exceptions."""

    file: BaselineFile = None
    owner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Owner of the exceptions; you by default.")
    ] = None
    expires: Annotated[
        str, typer.Option(metavar="WHEN", help="The last day: 2027-01-31, 90d or never.")
    ] = "90d"

    def entry_template(self, reason: str, destination: str | None = None) -> Entry:
        """Return an exception without fingerprint and type, as a template for new ones."""
        from dlpctl.policy.selectors import parse_destination

        where = parse_destination(destination).value if destination else ""
        try:
            until = expiry(self.expires, accepted.today())
        except ValueError as problem:
            raise UsageError(f"--expires {self.expires}: {problem}") from None
        if self.owner is not None and not self.owner.strip():
            raise UsageError("--owner is empty; name the person who owns the exceptions")
        return Entry("", "", self.owner or _login(), until, reason, destination=where)


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise UsageError("your login name is not known; pass --owner NAME") from None


def baseline_to_add_to(named: Path | None) -> Baseline:
    """Return the exceptions to extend; a new file is created at the repository's root."""
    file = accepted.exceptions_file(named) or _root() / EXCEPTIONS_FILE
    return Baseline.load(file, os.environ) if file.exists() else Baseline.start(file, os.environ)


def _root() -> Path:
    """Return the root of the repository of the working folder, else the working folder."""
    working = Path.cwd()
    folders = (working, *working.parents)
    return next((folder for folder in folders if (folder / ".git").exists()), working)


def keep(baseline: Baseline, entries: Iterable[Entry]) -> tuple[Baseline, bool]:
    """Write a file of exceptions; return it, and whether git newly merges it by union."""
    new = baseline.with_entries(entries)
    is_new = not new.file.exists()
    if is_new or set(baseline.entries) != set(new.entries):
        new.save()
    return new, is_new and _in_git(new.file) and merged_by_union(new.file)


def save(baseline: Baseline, entries: Iterable[Entry], form: options.Output) -> None:
    """Write a file of exceptions, and print what changed."""
    new, by_union = keep(baseline, entries)
    before, after = set(baseline.entries), set(new.entries)
    added, removed = len(after - before), len(before - after)
    printer = Printer()
    if form is options.Output.JSON:
        counts = {"exceptions": len(after), "added": added, "removed": removed}
        printer.json({"file": str(new.file), **counts})
        return
    types = Counter(entry.type for entry in after)
    listed = ", ".join(f"{count} {name}" for name, count in sorted(types.items()))
    total = f"{counted(len(after), 'exception')}{f' ({listed})' if listed else ''}"
    printer.line(f"{_shown(new.file)}: {total}; {added} added, {removed} removed")
    if by_union:
        attributes = _shown(new.file.with_name(".gitattributes"))
        printer.line(f"{attributes}: {new.file.name} merges by union; commit both")


def _shown(file: Path) -> str:
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)


def _in_git(file: Path) -> bool:
    return any((folder / ".git").exists() for folder in file.absolute().parents)
