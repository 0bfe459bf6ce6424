"""`dlpctl baseline`: accept findings by name, for a reason and for a time."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlpctl.cli import exceptions, options
from dlpctl.cli.new_exceptions import (
    Expires,
    File,
    Owner,
    Reason,
    counted,
    entry_template,
    save,
    scan_of,
)
from dlpctl.cli.search import Search, everything, search
from dlpctl.cli.render import Printer
from dlpctl.cli.session import Session
from dlpctl.config.places import EXCEPTIONS_FILE
from dlpctl.errors import BaselineError, UsageError
from dlpctl.regular import read_regular
from dlpctl.scan.baseline import Acceptance, Baseline, Entry
from dlpctl.scan.results import FAILURES, Skip

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.scan.importing import Claim
    from dlpctl.scan.results import Result

app = typer.Typer(add_completion=False, no_args_is_help=True)

_SOON = timedelta(days=14)
_SHOWN = 12

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PATH]...", help="Files and folders to scan; this folder."),
]
Types = Annotated[
    str | None,
    typer.Option(
        metavar="LIST", help="Only these categories, types or patterns, joined by commas."
    ),
]
Bound = Annotated[
    bool,
    typer.Option(
        "--with-paths", help="Accept each value in the file where it is now, and nowhere else."
    ),
]


@app.callback()
def _group() -> None:
    """Exceptions: findings that 'dlpctl scan' accepts, because somebody answers for them until a
    day.
    """


@app.command()
def create(
    paths: Paths = None,
    file: File = None,
    owner: Owner = None,
    reason: Reason = "known when the baseline was made",
    expires: Expires = "90d",
    types: Types = None,
    min_score: options.MinScore = None,
    destination: options.Destination = None,
    with_paths: Bound = False,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Accept all that is found now, so that only what is new counts."""
    target = file or Path(EXCEPTIONS_FILE)
    if target.exists():
        raise UsageError(f"{target} exists; 'dlpctl baseline update' adds to it")
    baseline = Baseline.begin(target, os.environ)
    template = entry_template(owner, reason, expires, destination)
    session = Session.begin()
    results = _scan(baseline, paths, session, search(session, types=types, min_score=min_score))
    save(baseline, _entries(results, baseline, template, with_paths), form, begun=True)


@app.command()
def update(
    paths: Paths = None,
    file: File = None,
    owner: Owner = None,
    reason: Reason = "known when the baseline was updated",
    expires: Expires = "90d",
    types: Types = None,
    min_score: options.MinScore = None,
    destination: options.Destination = None,
    with_paths: Bound = False,
    renew: Annotated[
        bool,
        typer.Option("--renew", help="Also renew those that have expired and are still found."),
    ] = False,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Accept what is found and not accepted yet. What is there stays as it is."""
    baseline = _load(file)
    template = entry_template(owner, reason, expires, destination)
    known = Acceptance(baseline, exceptions.today(), template.destination or None)
    session = Session.begin()
    wanted = search(session, types=types, min_score=min_score)
    new = [one for one in _scan(baseline, paths, session, wanted) if not known.accepts(one)]
    renewed = {
        entry: entry._replace(
            owner=template.owner, reason=template.reason, expires=template.expires
        )
        for entry in (known.expired if renew else ())
    }
    old = {entry.fingerprint for entry in known.expired}
    added = [
        one for one in _entries(new, baseline, template, with_paths) if one.fingerprint not in old
    ]
    if not renew:
        for note in known.notes():
            sys.stderr.write(f"dlpctl: {note} --renew extends it.\n")
    save(baseline, [*(renewed.get(one, one) for one in baseline.entries), *added], form)


@app.command()
def audit(
    paths: Paths = None, file: File = None, form: options.Format = options.Output.HUMAN
) -> None:
    """List the exceptions, where they apply, and which have expired or are of no use. Exit status 1
    if any has expired.
    """
    baseline = _load(file)
    today = exceptions.today()
    acceptance = Acceptance(baseline, today)
    places: dict[Entry, list[str]] = {}
    session = Session.begin()
    for one in _scan(baseline, paths, session, everything(session)):
        for entry in acceptance.concerned(one):
            places.setdefault(entry, []).append(f"{one.path}:{one.line}")
    rows = [_audited(entry, today, places.get(entry, [])) for entry in baseline.entries]
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
        printer.line(printer.style(counted(len(rows)) + (f": {listed}" if listed else ""), "bold"))
    raise typer.Exit(1 if any(row["state"] == "expired" for row in rows) else 0)


@app.command()
def prune(
    file: File = None,
    unused: Annotated[
        bool, typer.Option("--unused", help="Also those whose values are not found any more.")
    ] = False,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Remove the exceptions that have expired."""
    baseline = _load(file)
    today = exceptions.today()
    kept = [entry for entry in baseline.entries if not entry.has_expired(today)]
    if unused:
        folder = str(baseline.file.parent)
        acceptance = Acceptance(baseline, today)
        session = Session.begin()
        scanned = _scan(baseline, [folder], session, everything(session))
        found = {entry for one in scanned for entry in acceptance.concerned(one)}
        kept = [entry for entry in kept if entry in found]
    save(baseline, kept, form)


@app.command("import")
def import_(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A .gitleaksignore, or a baseline of detect-secrets."),
    ],
    file: File = None,
    owner: Owner = None,
    expires: Expires = "90d",
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Take over what another tool accepts: what it names is looked up in the files, and found anew."""
    from dlpctl.scan.importing import read_claims

    try:
        text = read_regular(source).decode("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise BaselineError(f"{source}: cannot be read: {problem}") from None
    tool, claims = read_claims(str(source), text)
    target = exceptions.found(file) or Path(EXCEPTIONS_FILE)
    begun = not target.exists()
    baseline = Baseline.begin(target, os.environ) if begun else Baseline.load(target, os.environ)
    template = entry_template(owner, "", expires, None)
    detector = Session.begin().detector()
    entries: list[Entry] = []
    for claim in claims:
        found = _looked_up(claim, source.parent, detector, baseline)
        entries += (
            template._replace(fingerprint=name, type=kind, reason=f"{tool}: {claim.rule}")
            for name, kind in found
        )
        if not found:
            sys.stderr.write(f"dlpctl: {claim.place}: nothing is found there now; left out\n")
    known = {(one.fingerprint, one.type) for one in baseline.entries}
    new = [one for one in entries if (one.fingerprint, one.type) not in known]
    save(baseline, [*baseline.entries, *new], form, begun=begun)


def _load(file: Path | None) -> Baseline:
    target = exceptions.found(file)
    if target is None:
        raise BaselineError(
            f"there is no {EXCEPTIONS_FILE} here or above; 'dlpctl baseline create' makes one"
        )
    return Baseline.load(target, os.environ)


def _scan(
    baseline: Baseline, paths: Sequence[str] | None, session: Session, wanted: Search
) -> list[Result]:
    """Return what is found, with fingerprints; refuse what cannot be read, since nobody can answer
    for that.
    """
    results = []
    for one in scan_of(session, wanted, baseline.keys).files(paths or ["."]):
        if not isinstance(one, Skip):
            results.append(one)
        elif one.why in FAILURES:
            raise BaselineError(
                f"{one.path}: cannot be read: {one.detail or one.why}; nothing was changed"
            )
    return results


def _entries(
    results: Iterable[Result], baseline: Baseline, template: Entry, with_paths: bool
) -> list[Entry]:
    root = baseline.file.absolute().parent
    return [
        template._replace(
            fingerprint=one.fingerprint.partition(" ")[0],
            type=one.type,
            path=_literal(os.path.relpath(one.path, root)) if with_paths else "",
        )
        for one in results
    ]


def _literal(path: str) -> str:
    """A glob for this path alone."""
    from glob import escape

    return escape(path.replace(os.sep, "/"))


def _audited(entry: Entry, today: date, places: Sequence[str]) -> dict[str, Any]:
    if entry.has_expired(today):
        state = "expired"
    elif not places:
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
        "found": len(places),
        "places": list(places),
    }


def _looked_up(
    claim: Claim, root: Path, detector: Detector, baseline: Baseline
) -> list[tuple[str, str]]:
    """Fingerprints and types of what a claim means."""
    from dlpctl.cli.line_index import Lines
    from dlpctl.scan.importing import matching
    from dlpctl.values import fingerprint

    text = _text_of(claim, root)
    if text is None:
        return []
    lines = Lines(text)
    found = matching(claim, text, detector.scan(text), lambda position: lines.place(position)[0])
    return [
        (fingerprint(baseline.keys[0], one.type, text[one.start : one.end], one.category), one.type)
        for one in found
    ]


def _text_of(claim: Claim, root: Path) -> str | None:
    """The file that a claim names, as it was in its commit."""
    if not claim.commit:
        try:
            return read_regular(root / claim.path).decode("utf-8", "surrogateescape")
        except OSError:
            return None
    import subprocess

    shown = subprocess.run(
        ["git", "-C", str(root), "cat-file", "blob", f"{claim.commit}:{claim.path}"],
        capture_output=True,
        check=False,
    )
    return None if shown.returncode else shown.stdout.decode("utf-8", "surrogateescape")
