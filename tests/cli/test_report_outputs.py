"""The reports of an interrupted scan, with real signals and real closed pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tests.support.faults import full_disk

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and pipes are of POSIX")
SCAN = [sys.executable, "-m", "dlpctl", "scan"]
REPORT = Path("report.json")
OLD = "the report of an earlier run"


@pytest.fixture(autouse=True)
def _tree(_own_home):
    """More than a pipe holds, so that a reader that leaves is noticed."""
    Path("src").mkdir()
    for number in range(60):
        mails = (f"user{line}@acme-{number}.com\n" for line in range(60))
        Path("src", f"{number:02}.txt").write_text("".join(mails))
    REPORT.write_text(OLD)


def start(*arguments: str, stdout: int | IO[bytes] = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*SCAN, *arguments], stdout=stdout, stderr=subprocess.PIPE, start_new_session=True
    )


def summary() -> dict[str, object]:
    return json.loads(REPORT.read_text())["summary"]


def test_a_reader_that_leaves_does_not_affect_other_reports():
    with start("src", "--all", "--report", "json=report.json") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(300) == 20
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert (summary()["partial"], summary()["files"], summary()["findings"]) == (False, 60, 3600)


def test_a_reader_that_leaves_ends_a_scan_without_other_reports():
    with start("src", "--all") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(300) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_below_one_output_spares_the_others():
    with (
        Path("/dev/full").open("wb") as full,
        start("src", "--report", "json=report.json", stdout=full) as process,
    ):
        assert process.stderr is not None
        assert process.stderr.read() == b"dlpctl: stdout: No space left on device\n"
        assert process.wait(300) == 1
    assert summary()["partial"] is False
    with start("src", "--report", "sarif=/dev/full", "--report", "json=report.json") as process:
        out, err = process.communicate(timeout=300)
    assert (process.returncode, err.count(b"\n")) == (1, 1)
    assert err.startswith(b"dlpctl: /dev/full: cannot be written: No space left")
    assert b"make room" in err
    assert b"3,600 findings in 60" in out
    assert summary()["findings"] == 3600


def test_a_disk_that_is_full_at_the_end_of_a_report_is_named_with_its_file(dlpctl):
    Path("in.txt").write_text("".join(f"user{number}@acme-corp.com\n" for number in range(10)))
    with full_disk(1 << 10):
        ran = dlpctl("scan", "in.txt", "-q", "--report", "json=report.json")
    assert ran.status == 1
    assert ran.err.startswith("dlpctl: report.json: cannot be written: File too large; make room")


@pytest.fixture
def waiting() -> list[str]:
    """Return the arguments of a scan that finds something and then waits for a pipe without a
    writer.
    """
    os.mkfifo("pipe")
    return ["src", "pipe", "--format", "jsonl", "--report", "json=report.json", "-j", "2"]


@pytest.mark.parametrize(
    ("number", "status", "closed"),
    [
        (signal.SIGINT, 130, False),
        (signal.SIGINT, 130, True),
        (signal.SIGTERM, 143, True),
        (signal.SIGHUP, 129, False),
    ],
)
def test_a_signal_leaves_a_partial_report_even_without_a_reader(waiting, number, status, closed):
    with start(*waiting) as process:
        assert process.stdout is not None
        process.stdout.readline()  # something was found
        if closed:
            process.stdout.close()
        os.killpg(process.pid, number)
        if not closed:
            process.stdout.read()
        assert process.wait(300) == status
    assert summary()["partial"] is True


def test_a_killed_scan_leaves_no_old_report(waiting):
    with start(*waiting) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGKILL)
    assert sorted(file.name for file in Path().iterdir()) == ["pipe", "src"]


def test_an_error_leaves_no_old_report(dlpctl):
    assert dlpctl("scan", "src", "--types", "MAIL", "--report", "json=report.json").status == 2
    assert not REPORT.exists()


def test_the_report_of_a_folder_is_not_scanned_with_it(dlpctl):
    os.chdir("src")
    Path("report.json").write_text("old@example.com")
    result = dlpctl("scan", "--report", "json=report.json", "-f", "json")
    assert json.loads(result.out)["summary"]["files"] == 60


@pytest.mark.parametrize(
    "arguments",
    [
        ["src", "--report", "json=report.json", "--report", "sarif=./report.json"],
        ["src/00.txt", "--report", "json=src/00.txt"],
        ["src", "--report", "json=report.json", "--report", "pdf=b"],
    ],
)
def test_a_call_without_reports_leaves_all_files(dlpctl, arguments):
    before = Path("src/00.txt").read_text()
    result = dlpctl("scan", *arguments)
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert (REPORT.read_text(), Path("src/00.txt").read_text()) == (OLD, before)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_a_link_to_stdout_is_written_to_where_stdout_is_a_file(tmp_path):
    """This also applies to /dev/stdout, which root could replace for all programs of
    the machine.
    """
    with (
        (tmp_path / "out.json").open("wb") as out,
        start("src", "--quiet", "--report", "json=/proc/self/fd/1", stdout=out) as process,
    ):
        assert process.wait(300) == 20
    assert json.loads((tmp_path / "out.json").read_text())["summary"]["files"] == 60
