"""The outputs of a scan's reports. One that fails does not affect the others."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING, NamedTuple

from dlpctl.cli.outputs import discard_stdout, is_stream, require_place, unwritable, writing
from dlpctl.errors import OutputError, UsageError
from dlpctl.scan.results import Result, Skip, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from dlpctl.scan.reports import Report, Write

    Failure = OSError | OutputError
    MakeReport = Callable[[Write], Report]

_PART = 1 << 20


class Output(NamedTuple):
    """A destination of a report."""

    write: Callable[[str], object]
    complete: Callable[[], object]
    """Called after the last byte of the report."""
    abandon: Callable[[], object]
    """Called if writing failed, or if the report is no longer needed."""
    is_file: bool = False


def stdout_output(*, for_people: bool, at_once: bool = False) -> Output:
    """Return the output for stdout; reports for programs are UTF-8 everywhere."""
    if for_people:
        return Output(sys.stdout.write, sys.stdout.flush, discard_stdout)
    sys.stdout.flush()
    stdout = sys.stdout.buffer

    def write(text: str) -> None:
        stdout.write(_encoded(text))
        if at_once:
            stdout.flush()

    return Output(write, sys.stdout.flush, discard_stdout)


def file_output(file: Path) -> Output:
    """Return the output for a file, which is replaced atomically at the end.

    The report of an earlier run is removed immediately: however this run ends, even by SIGKILL, the
    old report cannot be taken for a new one. The content is collected in an unnamed file in the
    same folder, so that a scan of this folder does not find it and nothing remains of a killed run.
    """
    import tempfile

    require_place(file)
    try:
        folder = None if is_stream(file) else file.parent
        content: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        if folder is not None:
            file.unlink(missing_ok=True)
    except OSError as problem:
        raise unwritable(file, problem) from None

    def write(text: str) -> None:
        try:
            content.write(_encoded(text))
        except OSError as problem:
            raise unwritable(file, problem) from None

    def complete() -> None:
        with writing(file) as write_whole, content:
            content.seek(0)
            while part := content.read(_PART):
                write_whole(part)

    def abandon() -> None:
        with suppress(OSError):  # closing writes what is buffered
            content.close()

    return Output(write, complete, abandon, is_file=True)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def require_distinct(files: Iterable[Path], scanned: Sequence[str]) -> None:
    """Refuse to write two reports to one file, or a report over a file to scan."""
    named: set[str] = {os.path.realpath(path) for path in scanned}
    for file in files:
        real = os.path.realpath(file)
        if real in named and not is_stream(file):
            raise UsageError(f"--report {file}: this file is named twice; name another one")
        named.add(real)


class Delivery:
    """A report and its output; after a failure nothing more is written."""

    def __init__(self, make_report: MakeReport, output: Output) -> None:
        self.output = output
        self.failure: Failure | None = None
        self._report: Report | None = None
        self._attempt(self._start, make_report, output.write)

    def add(self, item: Result | Skip) -> None:
        report = self._report
        if report is not None:
            if isinstance(item, Skip):
                self._attempt(report.skip, item)
            else:
                self._attempt(report.add, item)

    def finish(self, summary: Summary) -> None:
        report = self._report
        if report is not None:
            self._attempt(report.finish, summary)
        if self.failure is None:
            self._attempt(self.output.complete)

    def _start(self, make_report: MakeReport, write: Write) -> None:
        self._report = make_report(write)

    def _attempt(self, action: Callable[..., object], *arguments: object) -> None:
        try:
            action(*arguments)
        except (OSError, OutputError) as problem:
            self.failure = problem
            self._report = None
            self.output.abandon()


def failure_of(deliveries: Sequence[Delivery]) -> Failure | None:
    """Return the failure to report, if any.

    A reader of stdout that stops early, such as `head`, is not a failure if every report file is
    complete.
    """
    failures = [item.failure for item in deliveries if item.failure is not None]
    has_file = any(item.output.is_file for item in deliveries)
    return next(
        (item for item in failures if not (has_file and isinstance(item, BrokenPipeError))), None
    )


def all_failed(deliveries: Sequence[Delivery]) -> bool:
    return bool(deliveries) and all(item.failure is not None for item in deliveries)
