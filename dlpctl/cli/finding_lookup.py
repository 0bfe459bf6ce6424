"""Find the finding that a user names by position or fingerprint."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.cli.scans.coverage import scan_of
from dlpctl.errors import InputError, UsageError
from dlpctl.scan.results import Result, Skip

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from dlpctl.cli.search import Search
    from dlpctl.cli.session import Session
    from dlpctl.scan.scanner import Scan

_FINGERPRINT = re.compile(r"[0-9a-f]{32}(?:-\d+)?")
_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")


class FindingLookup(NamedTuple):
    """Looks up findings in the results of `scan` and of hooks."""

    session: Session
    searches: Sequence[Search]
    """Fingerprints depend on the search: they include the line without its other findings."""
    keys: tuple[bytes, ...]

    def find(self, name: str) -> Result:
        return (
            self._by_fingerprint(name) if _FINGERPRINT.fullmatch(name) else self._by_position(name)
        )

    def _by_position(self, position: str) -> Result:
        """Return the only finding at a position in a file."""
        named = _PLACE.fullmatch(position)
        if named is None:
            raise UsageError(
                f"{position}: is neither FILE:LINE nor a fingerprint of 32 hexadecimal digits"
            )
        file, line, column = named["file"], int(named["line"]), named["column"]
        found = [
            result
            for result in self._results(self._scan(self.searches[0]).files([file]), strict=True)
            if result.line <= line <= result.end_line and column in (None, str(result.column))
        ]
        return _only(found, position)

    def _by_fingerprint(self, name: str) -> Result:
        """Return the finding with this fingerprint: in staged changes, else in this folder."""
        for scanned in self._scans():
            with closing(scanned):
                for result in self._results(scanned):
                    if name == result.identity or name in result.fingerprint.split():
                        return result
        raise InputError(
            f"{name}: no finding in staged changes or in this folder has this fingerprint;"
            " run this where the scan ran, with the same --types"
        )

    def _scan(self, wanted: Search) -> Scan:
        return scan_of(self.session, wanted, self.keys)

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
        for result in scanned:
            if not isinstance(result, Skip):
                yield result
            elif strict:
                raise InputError(
                    f"{result.path}: was not scanned: {result.detail or result.why.value}"
                )


def _only(found: list[Result], position: str) -> Result:
    """Return the finding if all have the same value; exceptions are for values, not positions."""
    values = {result.fingerprint: result for result in found}
    if not values:
        raise InputError(f"{position}: nothing is found there")
    if len(values) > 1:
        listed = ", ".join(f"{_name(result)} ({result.type})" for result in values.values())
        raise UsageError(f"{position}: there are several findings; name one of {listed}")
    return next(iter(values.values()))


def _name(result: Result) -> str:
    return f"{result.path}:{result.line}:{result.column}" if result.has_columns else result.identity
