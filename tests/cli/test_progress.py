from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from dlpctl.cli.progress import Progress
from dlpctl.scan.results import Summary, Why


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that advances when a test says so."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def summary() -> Summary:
    made = Summary()
    made.files, made.bytes = 1234, 5 << 20
    return made


def test_progress_is_shown_on_a_terminal_and_erased(summary: Summary, clock: list[float]) -> None:
    terminal = Terminal()
    shown = Progress(terminal)
    clock[0] += 1
    shown(summary)
    clock[0] += 0.1
    shown(summary)  # too soon
    assert terminal.getvalue() == "\r\x1b[Kdlpctl: 1,234 files, 5.0 MB, 5.0 MB/s: 0 findings ..."
    clock[0] += 0.4
    summary.skipped = {Why.LINK: 1000, Why.UNREADABLE: 7}
    shown(summary)
    assert terminal.getvalue().endswith("5.0 MB, 3.3 MB/s: 0 findings, 1,007 skipped ...")
    shown.erase()
    shown.erase()
    assert terminal.getvalue().endswith("...\r\x1b[K")


def test_objects_are_called_objects(summary: Summary, clock: list[float]) -> None:
    terminal = Terminal()
    shown = Progress(terminal)
    clock[0] += 1
    summary.nouns = {"object"}
    shown(summary)
    assert terminal.getvalue() == "\r\x1b[Kdlpctl: 1,234 objects, 5.0 MB, 5.0 MB/s: 0 findings ..."


def test_short_scans_and_other_streams_show_no_progress(
    summary: Summary, clock: list[float]
) -> None:
    for stream in (Terminal(), StringIO()):
        shown = Progress(stream)
        clock[0] += 0.9
        shown(summary)
        shown.erase()
        assert not stream.getvalue()
    Progress(None)(summary)


@pytest.mark.slow
def test_a_single_slow_file_shows_progress(tmp_path: Path) -> None:
    rows = (f"Maria Lopez,m.lopez{number}@example.com" for number in range(20_000))
    (tmp_path / "people.csv").write_text("\n".join(["name,email", *rows]))
    terminal, theirs = pty.openpty()
    command = [sys.executable, "-m", "dlpctl", "scan", str(tmp_path / "people.csv")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        # Linux reports by an error that the other end of the terminal is closed.
        while part := _read(terminal):
            shown += part
    os.close(terminal)
    assert process.returncode == 20
    assert b"dlpctl: scanning ... 1 s" in shown
    assert shown.endswith(b"\r\x1b[K")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""
