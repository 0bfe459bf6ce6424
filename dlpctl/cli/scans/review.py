"""The findings under review and the actions on them, which the keyboard interface calls."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.cli import accepted
from dlpctl.cli.scans.coverage import scan_of
from dlpctl.cli.scans.new_exceptions import keep
from dlpctl.errors import InputError, OutputError, UsageError, os_errors
from dlpctl.scan.baseline import Acceptance, Baseline, Entry, expiry
from dlpctl.scan.reports.advice import rotation
from dlpctl.scan.results import FAILURES, Result, Skip
from dlpctl.system.regular import read_regular
from dlpctl.types import Category

if TYPE_CHECKING:
    from dlpctl.cli.search import Search
    from dlpctl.cli.session import Session

_EDITORS = {
    **dict.fromkeys(("code", "codium", "cursor", "windsurf"), ("--goto", "{file}:{line}:{column}")),
    **dict.fromkeys(("subl", "zed", "hx", "helix"), ("{file}:{line}:{column}",)),
    **dict.fromkeys(("idea", "pycharm", "webstorm"), ("--line", "{line}", "{file}")),
    "notepad": ("{file}",),
}
"""Arguments that open a file at a line, by editor; other editors get those of vi."""
_OF_OTHERS = ("+{line}", "{file}")


class Review:
    """The findings of a scan, or with `of_accepted` those that are accepted by exceptions."""

    def __init__(
        self,
        session: Session,
        wanted: Search,
        baseline: Baseline,
        template: Entry,
        *,
        of_accepted: bool = False,
    ) -> None:
        self._session = session
        self._wanted = wanted
        self._baseline = baseline
        self._template = template
        self._of_accepted = of_accepted
        self._accepted_before = self.acceptance()
        self.results: list[Result] = []
        self.unread: list[Skip] = []
        self.files = 0

    def scan(self, paths: Sequence[str]) -> None:
        """Find the findings to review."""
        scan = scan_of(self._session, self._wanted, self._baseline.keys, excerpts=sys.maxsize)
        for found in scan.files(paths):
            if not isinstance(found, Skip):
                if self._accepted_before.accepts(found) is self._of_accepted:
                    self.results.append(found)
            elif found.why in FAILURES:
                self.unread.append(found)
        self.files += scan.summary.files

    def acceptance(self) -> Acceptance:
        """Return the test of whether a finding is accepted now."""
        return Acceptance(self._baseline, accepted.today())

    def left(self) -> int:
        """Return the number of findings that are still undecided."""
        known = self.acceptance()
        return sum(not known.accepts(result) for result in self.results)

    def accept(self, result: Result, reason: str, expires: str) -> None:
        """Accept the value of a finding wherever it occurs."""
        if not reason.strip():
            raise UsageError("say why the finding is accepted")
        try:
            until = expiry(expires.strip(), accepted.today())
        except ValueError as problem:
            raise UsageError(f"the last day {problem}") from None
        entry = self._template._replace(
            fingerprint=result.fingerprint.partition(" ")[0],
            type=result.type,
            reason=reason.strip(),
            expires=until,
        )
        self._baseline, _ = keep(self._baseline, [*self._entries_of_others(result), entry])

    def reject(self, result: Result) -> None:
        """Remove the exceptions for a finding's value, so that it counts again."""
        self._baseline, _ = keep(self._baseline, self._entries_of_others(result))

    def mask(self, result: Result) -> None:
        """Mask the value in its file, at this position only."""
        text = self._text_of(result)
        value = text[result.start : result.end]
        if not self._is_value_of(result, value):
            raise InputError(f"{result.path} has changed since it was scanned")
        masked = self._mask(result, value)
        _rewrite(Path(result.path), f"{text[: result.start]}{masked}{text[result.end :]}")
        self.scan_again(result.path)

    def scan_again(self, path: str) -> None:
        """Replace the findings of a file that may have changed."""
        first = next(at for at, each in enumerate(self.results) if each.path == path)
        others = [each for each in self.results if each.path != path]
        self.results = []
        if Path(path).exists():
            self.scan([path])
        self.results = [*others[:first], *self.results, *others[first:]]

    def explain(self, result: Result) -> list[str]:
        """Return why a value is a finding, and how to replace a secret."""
        lines = [f"{result.label} ({result.pattern_id}), score {result.score:.2f}"]
        if not result.inner:
            lines += (f"  {step}" for step in self._steps(result))
        if how := rotation(result):
            lines += filter(None, (how.advice, how.page, how.command))
        return lines

    def editor(self, result: Result, environ: Mapping[str, str] = os.environ) -> list[str]:
        """Return the command that opens a finding in the user's editor."""
        usual = "notepad" if sys.platform == "win32" else "vi"
        command = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or usual)
        values = {"file": result.path, "line": result.line, "column": result.column}
        arguments = _EDITORS.get(Path(command[0]).stem, _OF_OTHERS)
        return [*command, *(argument.format(**values) for argument in arguments)]

    def _steps(self, result: Result) -> Sequence[str]:
        """Return the reasons for a score, as far as they are known."""
        from dlpctl.detect.explain import explain

        try:
            text = self._text_of(result)
        except InputError:
            return ()
        explained = explain(self._wanted.detector, text, self._wanted.min_score, misses=0)
        wanted = result.start, result.end, result.pattern_id
        for each in explained.counts:
            if (each.finding.start, each.finding.end, each.finding.pattern_id) == wanted:
                return each.steps
        return ()

    def _text_of(self, result: Result) -> str:
        """Return the text of a file whose values have lines; raises `InputError`."""
        if result.inner:
            raise InputError(f"{result.path} is not plain text: 'dlpctl mask' writes a masked copy")
        with os_errors(InputError, f"{result.path}: cannot be read"):
            data = read_regular(Path(result.path))
        if b"\0" in data:
            raise InputError(f"{result.path} is not plain text in UTF-8")
        return data.decode("utf-8", "surrogateescape")

    def _is_value_of(self, result: Result, value: str) -> bool:
        from dlpctl.values import fingerprint

        name = fingerprint(self._baseline.keys[0], result.type, value, Category(result.category))
        return name in result.fingerprint.split()

    def _mask(self, result: Result, value: str) -> str:
        from dlpctl.masking.masker import Masker
        from dlpctl.operators import DEFAULT_OPERATOR

        operator = self._session.config.operator or DEFAULT_OPERATOR
        masker = Masker(self._session.key())
        return masker.replacement(operator, result.type, Category(result.category), value)

    def _entries_of_others(self, result: Result) -> list[Entry]:
        concerned = self.acceptance().concerned(result)
        return [entry for entry in self._baseline.entries if entry not in concerned]


def _rewrite(file: Path, text: str) -> None:
    """Replace the content of a file, and keep its mode."""
    from dlpctl.system.newfiles import write_whole

    with os_errors(OutputError, f"{file}: cannot be written"):
        target, data = file.resolve(), text.encode("utf-8", "surrogateescape")
        write_whole(target, data, mode=target.stat().st_mode & 0o777)
