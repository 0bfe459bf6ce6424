from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.service import ControlPlane
from dlpctl.errors import ConflictError, ForbiddenError, StoreError

_WORKER = Path(__file__).with_name("worker.py")
EMAIL = "write to jane.doe@corp.example.net"


@pytest.fixture
def home(tmp_path, detector, database):
    """A folder with an organization, and its key; by the real clock, as the workers have it."""
    with ControlPlane.open(tmp_path / "data", lambda: detector, database=database) as control:
        control.organizations.create(LOCAL, {"name": "Acme"})
        control.licenses.create(LOCAL, "acme", {"license_type": "standard"})
        yield control, control.policies.list(LOCAL, "acme")[0].api_key


@pytest.fixture
def start(home, database):
    """Starts a worker on the same database."""
    control, key = home
    command = [sys.executable, str(_WORKER), str(control.folder), database or "", key]

    def started(threads, each):
        return subprocess.Popen(
            [*command, str(threads), str(each)], stdout=subprocess.PIPE, text=True, bufsize=1
        )

    return started


def _assert_all_there(control, acknowledged):
    stored = {item.preflight_id for item in control.audit.export(LOCAL)}
    assert acknowledged <= stored
    assert control.maintenance.check() == ()
    report = control.audit.verify(LOCAL)
    assert (report.intact, report.checked) == (True, len(stored))
    assert sum(one.checks_this_month for one in control.licenses.list(LOCAL, "acme")) == len(stored)
    assert control.analytics.organization(LOCAL, "acme").total_checks == len(stored)
    assert control.audit.search(LOCAL, search="acme").total == len(stored)


def _kill(start, after):
    """Kills a worker under load; what it had answered by then."""
    with start(8, 100_000) as process:
        lines = [process.stdout.readline().strip() for _ in range(after)]
        process.kill()
        lines += process.stdout.read().split("\n")
    # The last line may have been cut off.
    return {line for line in lines if line.startswith("pf_") and len(line) == 27}


@pytest.mark.parametrize("times", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_every_answered_check_survives_a_kill(home, start, times):
    control, _ = home
    acknowledged = set()
    for number in range(times):
        acknowledged |= _kill(start, 20 + 37 * number % 150)
    assert len(acknowledged) >= 20 * times
    _assert_all_there(control, acknowledged)


def test_never_one_check_too_many_over_processes_and_threads(home, start):
    control, _ = home
    for one in control.licenses.list(LOCAL, "acme"):
        control.licenses.extend(LOCAL, "acme", one.license_id, {"max_checks_per_month": 150})
    workers = [start(6, 100) for _ in range(2)]
    lines = [line for worker in workers for line in worker.communicate(timeout=300)[0].split()]
    answered = {line for line in lines if line.startswith("pf_")}
    assert len(answered) == 300
    assert lines.count("quota") == 12
    _assert_all_there(control, answered)


def test_revoking_in_another_process_stops_the_next_check(home, detector, database):
    control, key = home
    with ControlPlane.open(control.folder, lambda: detector, database=database) as other:
        other.checks.check_text(key, EMAIL, "VENDOR")
        for one in control.licenses.list(LOCAL, "acme"):
            control.licenses.revoke(LOCAL, "acme", one.license_id)
        with pytest.raises(ForbiddenError, match="not active"):
            other.checks.check_text(key, EMAIL, "VENDOR")


@pytest.mark.of_a_file
def test_a_database_that_is_locked_for_three_seconds_delays(home):
    control, key = home
    with closing(sqlite3.connect(control.folder / "control.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answers = []
        waiting = threading.Thread(
            target=lambda: answers.append(control.checks.check_text(key, EMAIL, "VENDOR"))
        )
        waiting.start()
        time.sleep(3)
        assert not answers
        other.execute("ROLLBACK")
        waiting.join(timeout=300)
    assert answers
    assert control.audit.search(LOCAL).total == 1


@pytest.mark.of_a_file
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on file sizes")
def test_a_full_disk_refuses_and_recovers(home):
    import resource
    import signal

    control, key = home
    control.checks.check_text(key, EMAIL, "VENDOR")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        with pytest.raises(StoreError, match="room") as caught:
            control.checks.check_text(key, EMAIL, "VENDOR")
        with pytest.raises(StoreError):
            control.maintenance.ready()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.http_status == 503
    control.maintenance.ready()
    made = control.checks.check_text(key, EMAIL, "VENDOR")
    assert control.audit.search(LOCAL).items[0].preflight_id == made.preflight_id
    assert control.audit.verify(LOCAL).checked == 2
    assert control.licenses.list(LOCAL, "acme")[1].checks_this_month == 2


def test_a_failing_job_fails_alone(home):
    control, key = home
    stop = threading.Event()
    errors = []

    def collide():
        while not stop.is_set():
            try:
                control.organizations.create(LOCAL, {"name": "Acme"})
            except ConflictError as error:
                errors.append(error.http_status)

    rival = threading.Thread(target=collide)
    rival.start()
    for _ in range(50):
        control.checks.check_text(key, EMAIL, "VENDOR")
    stop.set()
    rival.join()
    assert set(errors) == {409}
    assert control.audit.verify(LOCAL).checked == 50


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_key_file_that_others_may_read_is_refused_with_the_way_out(home, detector, database):
    control, _ = home
    file = control.folder / "control.key"
    file.chmod(0o644)
    with pytest.raises(StoreError, match=f"chmod 600 {file}"):
        ControlPlane.open(control.folder, lambda: detector, database=database)


def test_a_missing_or_wrong_key_file_is_refused(home, detector, database):
    control, _ = home
    file = control.folder / "control.key"
    file.unlink()
    with pytest.raises(StoreError, match=r"control\.key"):
        ControlPlane.open(control.folder, lambda: detector, database=database)
    file.touch(0o600)
    file.write_text("00" * 32)
    with pytest.raises(StoreError, match="not the key"):
        ControlPlane.open(control.folder, lambda: detector, database=database)


@pytest.mark.of_a_file
def test_a_damaged_database_is_not_ready_until_it_is_restored(home, detector, tmp_path):
    control, key = home
    control.maintenance.ready()
    control.maintenance.backup(tmp_path / "b.db")
    with closing(sqlite3.connect(control.folder / "control.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'usage'")
        start = (page.fetchone()[0] - 1) * 4096
    with (control.folder / "control.db").open("r+b") as file:
        file.seek(start)
        file.write(b"A" * 4096)
    with pytest.raises(StoreError):
        control.checks.check_text(key, EMAIL, "VENDOR")
    with ControlPlane.open(control.folder, lambda: detector) as another:
        for maintenance in (control.maintenance, control.maintenance, another.maintenance):
            with pytest.raises(StoreError, match=r"is damaged: .*dlpctl db restore"):
                maintenance.ready()
    control.maintenance.restore(tmp_path / "b.db")
    control.maintenance.ready()
    control.checks.check_text(key, EMAIL, "VENDOR")
