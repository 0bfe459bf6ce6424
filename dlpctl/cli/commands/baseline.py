"""Accept findings in a file of exceptions, each with an owner, a reason and an expiry date.

The file identifies values by keyed hashes.

Examples:
    dlpctl baseline create --owner jane --reason "sample data"
    dlpctl baseline audit
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from dlpctl.cli import accepted, options
from dlpctl.cli.app import App
from dlpctl.cli.render import Printer
from dlpctl.cli.scans.coverage import scan_of
from dlpctl.cli.scans.new_exceptions import (
    BaselineFile,
    ExceptionOptions,
    baseline_to_add_to,
    save,
)
from dlpctl.cli.search import Search, everything, search
from dlpctl.cli.session import Session
from dlpctl.config.locations import EXCEPTIONS_FILE
from dlpctl.errors import BaselineError, UsageError
from dlpctl.scan.baseline import Acceptance, Baseline, Entry
from dlpctl.scan.reports import counted
from dlpctl.scan.results import FAILURES, Result, Skip
from dlpctl.system.regular import read_regular

SECTION = ("Repositories, shells and help", 32)

app = App(__doc__)

_SOON = timedelta(days=14)
_SHOWN = 12

Reason = Annotated[str, typer.Option(metavar="REASON", help="Why they are accepted.")]


class SelectionOptions(NamedTuple):
    """The findings that become exceptions."""

    paths: options.Paths = None
    types: options.Types = None
    min_score: options.MinScore = None
    destination: options.Destination = None
    with_paths: Annotated[
        bool, typer.Option("--with-paths", help="Accept each value only in its current file.")
    ] = False

    def results(self, baseline: Baseline, session: Session) -> list[Result]:
        wanted = search(session, types=self.types, min_score=self.min_score)
        return _scan(baseline, self.paths, session, wanted)

    def entries(
        self, results: Iterable[Result], baseline: Baseline, template: Entry
    ) -> list[Entry]:
        root = baseline.file.absolute().parent
        return [
            template._replace(
                fingerprint=item.fingerprint.partition(" ")[0],
                type=item.type,
                path=_literal(os.path.relpath(item.path, root)) if self.with_paths else "",
            )
            for item in results
        ]


@app.command()
def create(
    selection: SelectionOptions,
    exception: ExceptionOptions,
    reason: Reason = "known when the baseline was made",
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Accept all current findings, so that only new ones count.

    Examples:
        dlpctl baseline create --owner jane --reason "sample data"
        dlpctl baseline create tests/ --types SECRETS --expires 90d
    """
    target = exception.file or Path(EXCEPTIONS_FILE)
    if target.exists():
        raise UsageError(f"{target} exists; 'dlpctl baseline update' adds to it")
    baseline = Baseline.start(target, os.environ)
    template = exception.entry_template(reason, selection.destination)
    results = selection.results(baseline, Session.start())
    entries = selection.entries(results, baseline, template)
    save(baseline, entries, form)


@app.command()
def update(
    selection: SelectionOptions,
    exception: ExceptionOptions,
    reason: Reason = "known when the baseline was updated",
    renew: Annotated[
        bool, typer.Option("--renew", help="Also renew expired exceptions still in use.")
    ] = False,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Accept new findings, too. Existing exceptions do not change.

    Examples:
        dlpctl baseline update
        dlpctl baseline update --renew --expires 90d
    """
    baseline = _load(exception.file)
    template = exception.entry_template(reason, selection.destination)
    known = Acceptance(baseline, accepted.today(), template.destination or None)
    new = [item for item in selection.results(baseline, Session.start()) if not known.accepts(item)]
    old = {entry.fingerprint for entry in known.expired}
    entries = selection.entries(new, baseline, template)
    added = [item for item in entries if item.fingerprint not in old]
    kept = list(baseline.entries)
    if renew:
        owner, reason, expires = template.owner, template.reason, template.expires
        kept = [
            item._replace(owner=owner, reason=reason, expires=expires)
            if item in known.expired
            else item
            for item in kept
        ]
    else:
        for expired in known.remarks():
            sys.stderr.write(f"dlpctl: {expired} --renew extends it.\n")
    save(baseline, [*kept, *added], form)


@app.command()
def audit(
    paths: options.Paths = None,
    file: BaselineFile = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """List the exceptions, where they apply, and which are expired or unused.

    Exit status 1 if any is expired.

    Examples:
        dlpctl baseline audit
        dlpctl baseline audit src/ --format json
    """
    baseline = _load(file)
    today = accepted.today()
    acceptance = Acceptance(baseline, today)
    positions: dict[Entry, list[str]] = {}
    session = Session.start()
    for item in _scan(baseline, paths, session, everything(session)):
        for entry in acceptance.concerned(item):
            positions.setdefault(entry, []).append(f"{item.path}:{item.line}")
    rows = [_audited(entry, today, positions.get(entry, [])) for entry in baseline.entries]
    printer = Printer()
    if form is options.Output.JSON:
        printer.json(rows)
    else:
        columns = ("fingerprint", "type", "state", "expires", "owner", "found", "reason")
        cells = [
            [str(row[name])[: _SHOWN if name == "fingerprint" else None] for name in columns]
            for row in rows
        ]
        printer.table(cells, head=[name.upper() for name in columns])
        states = Counter(str(row["state"]) for row in rows)
        listed = ", ".join(f"{count} {state}" for state, count in states.most_common())
        printer.line(
            printer.style(
                counted(len(rows), "exception") + (f": {listed}" if listed else ""), "bold"
            )
        )
    raise typer.Exit(1 if any(row["state"] == "expired" for row in rows) else 0)


@app.command()
def prune(
    file: BaselineFile = None,
    unused: Annotated[
        bool, typer.Option("--unused", help="Also remove exceptions whose values no longer occur.")
    ] = False,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Remove the expired exceptions.

    Examples:
        dlpctl baseline prune
        dlpctl baseline prune --unused
    """
    baseline = _load(file)
    today = accepted.today()
    kept = [entry for entry in baseline.entries if not entry.has_expired(today)]
    if unused:
        folder = str(baseline.file.parent)
        acceptance = Acceptance(baseline, today)
        session = Session.start()
        scanned = _scan(baseline, [folder], session, everything(session))
        found = {entry for item in scanned for entry in acceptance.concerned(item)}
        kept = [entry for entry in kept if entry in found]
    save(baseline, kept, form)


@app.command("import")
def import_(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A .gitleaksignore, or a detect-secrets baseline."),
    ],
    exception: ExceptionOptions,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Import exceptions of another tool, after finding each in the files.

    Examples:
        dlpctl baseline import .gitleaksignore
        dlpctl baseline import .secrets.baseline --owner jane
    """
    from dlpctl.scan.importing import find_claimed, read_claims

    try:
        text = read_regular(source).decode("utf-8")
    except UnicodeDecodeError:
        raise BaselineError(f"{source}: is not UTF-8") from None
    except OSError as problem:
        raise BaselineError(f"{source}: cannot be read: {problem.strerror}") from None
    tool, claims = read_claims(str(source), text)
    baseline = baseline_to_add_to(exception.file)
    template = exception.entry_template("")
    detector = Session.start().detector()
    entries: list[Entry] = []
    for claim in claims:
        found = find_claimed(claim, source.parent, detector.scan, baseline.keys[0])
        reason = f"{tool}: {claim.rule}"
        entries += (
            template._replace(fingerprint=fingerprint, type=type_name, reason=reason)
            for fingerprint, type_name in found
        )
        if not found:
            sys.stderr.write(f"dlpctl: {claim.location}: nothing is found there now; left out\n")
    known = {(item.fingerprint, item.type) for item in baseline.entries}
    new = [item for item in entries if (item.fingerprint, item.type) not in known]
    save(baseline, [*baseline.entries, *new], form)


def _load(file: Path | None) -> Baseline:
    target = accepted.exceptions_file(file)
    if target is None:
        raise BaselineError(
            f"there is no {EXCEPTIONS_FILE} here or above; 'dlpctl baseline create' makes one"
        )
    return Baseline.load(target, os.environ)


def _scan(
    baseline: Baseline, paths: Sequence[str] | None, session: Session, wanted: Search
) -> list[Result]:
    """Return the findings with fingerprints; fail if any file cannot be read."""
    results = []
    for item in scan_of(session, wanted, baseline.keys).files(paths or ["."]):
        if not isinstance(item, Skip):
            results.append(item)
        elif item.why in FAILURES:
            raise BaselineError(
                f"{item.path}: cannot be read: {item.detail or item.why}; nothing was changed"
            )
    return results


def _literal(path: str) -> str:
    """Return a glob that matches only this path."""
    from glob import escape

    return escape(path.replace(os.sep, "/"))


def _audited(entry: Entry, today: date, locations: Sequence[str]) -> dict[str, Any]:
    if entry.has_expired(today):
        state = "expired"
    elif not locations:
        state = "unused"
    elif entry.expires and entry.expires - today <= _SOON:
        state = "expires soon"
    else:
        state = "in use"
    return {
        "fingerprint": entry.fingerprint,
        "type": entry.type,
        "state": state,
        "owner": entry.owner,
        "expires": entry.expires.isoformat() if entry.expires else "never",
        "reason": entry.reason,
        "path": entry.path or None,
        "destination": entry.destination or None,
        "found": len(locations),
        "places": list(locations),
    }
