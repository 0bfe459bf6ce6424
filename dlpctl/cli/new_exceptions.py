"""Exceptions that commands add: who answers for them, why and until when, and the file that holds
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlpctl.cli import exceptions, options
from dlpctl.cli.render import Printer
from dlpctl.config.places import EXCEPTIONS_FILE
from dlpctl.errors import UsageError
from dlpctl.scan.baseline import Baseline, Entry, expiry, merged_by_union

if TYPE_CHECKING:
    from dlpctl.cli.search import Search
    from dlpctl.cli.session import Session
    from dlpctl.scan.scanner import Scan

File = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help=f"The exceptions; the nearest {EXCEPTIONS_FILE}, here or above.",
    ),
]
Owner = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who answers for them; your login name.")
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why they may stay.")]
Expires = Annotated[str, typer.Option(metavar="WHEN", help="Until 2027-01-31, for 90d, or never.")]


def scan_of(session: Session, wanted: Search, keys: tuple[bytes, ...]) -> Scan:
    """Return a scan whose results have fingerprints with these keys."""
    from dlpctl.scan.content import Examiner
    from dlpctl.scan.scanner import Scan
    from dlpctl.scan.walk import Selection

    allow = session.allow_list()
    selection = Selection(allowed=allow.skips if session.config.allow.paths else None)
    examiner = Examiner(wanted.detector, wanted.min_score, allow, keys=keys)
    return Scan(examiner, selection, limits=session.config.limits)


def entry_template(owner: str | None, reason: str, expires: str, destination: str | None) -> Entry:
    """Return an exception without a fingerprint, with what new ones have in common."""
    from dlpctl.preflight import parse_destination

    where = parse_destination(destination).value if destination else ""
    try:
        until = expiry(expires, exceptions.today())
    except ValueError as problem:
        raise UsageError(f"--expires {expires}: {problem}") from None
    if owner is not None and not owner.strip():
        raise UsageError("--owner is empty; name who answers for them")
    return Entry("", "", owner or _login(), until, reason, destination=where)


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise UsageError("nobody knows who you are here; say --owner NAME") from None


def save(
    baseline: Baseline, entries: Iterable[Entry], form: options.Output, *, begun: bool = False
) -> None:
    """Write a file of exceptions and print what changed; `begun` says that the file is new."""
    new = baseline.with_entries(entries)
    before, after = set(baseline.entries), set(new.entries)
    if begun or before != after:
        new.save()
    by_union = begun and _in_git(new.file) and merged_by_union(new.file)
    added, removed = len(after - before), len(before - after)
    printer = Printer()
    if form is options.Output.JSON:
        printer.json(
            {"file": str(new.file), "exceptions": len(after), "added": added, "removed": removed}
        )
        return
    types = Counter(entry.type for entry in after)
    listed = ", ".join(f"{count} {name}" for name, count in sorted(types.items()))
    printer.line(
        f"{_shown(new.file)}: {counted(len(after))}{f' ({listed})' if listed else ''}; {added} added, {removed} removed"
    )
    if by_union:
        printer.line(
            f"{_shown(new.file.with_name('.gitattributes'))}: {new.file.name} merges by union; commit both"
        )


def _shown(file: Path) -> str:
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)


def _in_git(file: Path) -> bool:
    return any((folder / ".git").exists() for folder in file.absolute().parents)


def counted(number: int) -> str:
    return f"{number:,} exception{'' if number == 1 else 's'}"
