"""`dlpctl allow`: accept one finding, for a reason and for a time."""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from dlpctl.cli import exceptions, options
from dlpctl.cli.new_exceptions import Expires, File, Owner, entry_template, save, scan_of
from dlpctl.cli.session import Session
from dlpctl.config.places import EXCEPTIONS_FILE
from dlpctl.errors import InputError, UsageError
from dlpctl.scan.baseline import Acceptance, Baseline
from dlpctl.scan.results import Skip

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from dlpctl.cli.search import Search
    from dlpctl.scan.results import Result
    from dlpctl.scan.scanner import Scan

app = typer.Typer(add_completion=False)

_FINGERPRINT = re.compile(r"[0-9a-f]{32}(?:-\d+)?")
_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")


@app.command()
def allow(
    finding: Annotated[
        str,
        typer.Argument(
            metavar="FILE:LINE|FINGERPRINT",
            help="The finding; FILE:LINE:COLUMN where a line has several, or its 'id' in a report.",
        ),
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it may stay.")],
    owner: Owner = None,
    expires: Expires = "90d",
    types: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="The --types of the scan that found it, if it had any."),
    ] = None,
    file: File = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Accept one finding. Scans and hooks pass over its value until the day in --expires."""
    from dlpctl.cli.search import HOOK_TYPES, search

    if not reason.strip():
        raise UsageError("--reason is empty; say why the finding may stay")
    template = entry_template(owner, reason, expires, None)
    baseline, begun = _baseline(file)
    session = Session.begin()
    searches = [
        search(session, types=types),
        search(session, types=types, default_types=HOOK_TYPES),
    ]
    lookup = _Lookup(session, searches, baseline)
    found = (
        lookup.fingerprint(finding) if _FINGERPRINT.fullmatch(finding) else lookup.place(finding)
    )
    entry = template._replace(fingerprint=found.fingerprint.partition(" ")[0], type=found.type)
    acceptance = Acceptance(baseline, exceptions.today())
    added = [] if acceptance.accepts(found) else [entry]
    kept = [one for one in baseline.entries if one not in acceptance.expired]
    save(baseline, [*added, *kept], form, begun=begun)


def _baseline(named: Path | None) -> tuple[Baseline, bool]:
    """The exceptions to add to, and whether they are new: then their place is the root of the
    repository.
    """
    file = exceptions.found(named) or _root() / EXCEPTIONS_FILE
    if file.exists():
        return Baseline.load(file, os.environ), False
    return Baseline.begin(file, os.environ), True


def _root() -> Path:
    """The root of the repository that the working folder is in, else the working folder."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


class _Lookup(NamedTuple):
    """Looks for one finding in what `scan` finds, and in what a hook does."""

    session: Session
    searches: Sequence[Search]
    """A fingerprint is made of the line without what else is found in it, so it depends on the
    search.
    """
    baseline: Baseline

    def place(self, place: str) -> Result:
        """The only finding at a place in a file."""
        named = _PLACE.fullmatch(place)
        if named is None:
            raise UsageError(
                f"{place}: is neither FILE:LINE nor a fingerprint of 32 hexadecimal digits"
            )
        file, line, column = named["file"], int(named["line"]), named["column"]
        found = [
            one
            for one in self._results(self._scan(self.searches[0]).files([file]), strict=True)
            if one.line <= line <= one.end_line and column in (None, str(one.column))
        ]
        return _only(found, place)

    def fingerprint(self, name: str) -> Result:
        """The finding of this name: in what is staged, else in this folder."""
        for scanned in self._scans():
            with closing(scanned):
                for one in self._results(scanned):
                    if name == one.identity or name in one.fingerprint.split():
                        return one
        raise InputError(
            f"{name}: no finding in what is staged or in this folder has this fingerprint;"
            " run it where the scan ran, with the same --types"
        )

    def _scan(self, wanted: Search) -> Scan:
        return scan_of(self.session, wanted, self.baseline.keys)

    def _scans(self) -> Iterator[Generator[Result | Skip]]:
        from dlpctl.scan.git import Repository

        try:
            repository = Repository(".")
        except InputError:
            pass  # a folder can be searched without git
        else:
            for wanted in self.searches:
                yield self._scan(wanted).blobs(repository, repository.staged(()))
        for wanted in self.searches:
            yield self._scan(wanted).files(["."])

    def _results(
        self, scanned: Iterable[Result | Skip], *, strict: bool = False
    ) -> Iterator[Result]:
        for one in scanned:
            if not isinstance(one, Skip):
                yield one
            elif strict:
                raise InputError(f"{one.path}: was not scanned: {one.detail or one.why.value}")


def _only(found: list[Result], place: str) -> Result:
    """The finding if all are of the same value; a value is accepted as a whole."""
    values = {one.fingerprint: one for one in found}
    if not values:
        raise InputError(f"{place}: nothing is found there")
    if len(values) > 1:
        listed = ", ".join(f"{_name(one)} ({one.type})" for one in values.values())
        raise UsageError(f"{place}: there are several findings; name one of {listed}")
    return next(iter(values.values()))


def _name(one: Result) -> str:
    return f"{one.path}:{one.line}:{one.column}" if one.has_columns else one.identity
