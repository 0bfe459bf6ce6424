from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import timedelta

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.sqlite import SqliteDatabase
from dlpctl.control.store import Store
from dlpctl.errors import ConflictError, NotFoundError, QuotaError, StoreError

EMAIL = "write to jane.doe@corp.example.net"


@pytest.fixture
def store(tmp_path):
    with closing(Store(SqliteDatabase(tmp_path / "some.db"))) as opened:
        yield opened


@pytest.fixture
def commits(store):
    """Return the number of transactions of other processes that changed the database."""
    with closing(sqlite3.connect(store.database.file)) as watcher:
        seen = [watcher.execute("PRAGMA data_version").fetchone()[0]]

        def count():
            version = watcher.execute("PRAGMA data_version").fetchone()[0]
            if version != seen[-1]:
                seen.append(version)
            return len(seen) - 1

        yield count


def _put(name, calls=None):
    def job(batch):
        if calls is not None:
            calls.append(name)
        batch.execute("INSERT INTO state VALUES (?, x'00')", (name,))
        return name

    return job


def _failing(calls, *, writes):
    def job(batch):
        calls.append("failing")
        if writes:
            batch.execute("INSERT INTO state VALUES ('half', x'00')")
        raise NotFoundError("there is no such thing")

    return job


def _names(store):
    with store.reading() as connection:
        return {row[0] for row in connection.execute("SELECT name FROM state")} - {"generation"}


def test_jobs_wait_until_one_is_asked_for_and_are_done_together(store, commits):
    tickets = [store.submit(_put(str(number))) for number in range(5)]
    assert _names(store) == set()
    assert commits() == 0
    assert tickets[3].result() == "3"
    assert _names(store) == {"0", "1", "2", "3", "4"}
    assert commits() == 1
    assert [ticket.result() for ticket in tickets] == ["0", "1", "2", "3", "4"]
    assert commits() == 1


def test_a_job_that_fails_before_it_writes_costs_the_others_nothing(store):
    calls = []
    tickets = [
        store.submit(_put("a", calls)),
        store.submit(_failing(calls, writes=False)),
        store.submit(_put("b", calls)),
    ]
    assert tickets[2].result() == "b"
    with pytest.raises(NotFoundError):
        tickets[1].result()
    assert calls == ["a", "failing", "b"]
    assert _names(store) == {"a", "b"}


def test_a_job_that_fails_in_the_middle_changes_nothing_and_fails_alone(store):
    calls = []
    tickets = [
        store.submit(_put("a", calls)),
        store.submit(_failing(calls, writes=True)),
        store.submit(_put("a", calls)),
        store.submit(_put("b", calls)),
    ]
    assert tickets[0].result() == "a"
    with pytest.raises(NotFoundError):
        tickets[1].result()
    with pytest.raises(ConflictError):
        tickets[2].result()
    assert tickets[3].result() == "b"
    assert _names(store) == {"a", "b"}


class _Unwritable:
    """A tally that cannot be written down."""

    def __init__(self, connection):
        self._connection = connection

    def flush(self):
        self._connection.execute("INSERT INTO state VALUES (?, x'00')", (2**70,))


def _poison(sql, *values):
    return lambda batch: batch.execute(sql, values)


_POISONS = {
    "a number beyond 64 bits": (
        _poison("INSERT INTO state VALUES (?, x'00')", 2**63),
        OverflowError,
    ),
    "half a character": (
        _poison("INSERT INTO state VALUES (?, x'00')", "\ud800"),
        UnicodeEncodeError,
    ),
    "a blob beyond SQLite's limit": (
        _poison("INSERT INTO state VALUES ('big', zeroblob(2000000000))"),
        StoreError,
    ),
    "a value of the wrong type": (
        _poison("INSERT INTO state VALUES ('x', 1.5)"),
        ConflictError,
    ),
    "a missing row": (
        _poison("INSERT INTO group_policies VALUES ('grp_x', 'pol_x')"),
        ConflictError,
    ),
    "a NUL in a statement": (_poison("SELECT '\0'"), StoreError),
    "an error of our own": (lambda batch: {}["missing"], KeyError),
    "a tally that cannot be written": (
        lambda batch: batch.tally(_Unwritable, _Unwritable),
        OverflowError,
    ),
    "a write, then an error": (
        lambda batch: (batch.execute("INSERT INTO state VALUES ('y', x'')"), 1 / 0),
        ZeroDivisionError,
    ),
}


@pytest.mark.parametrize(("poison", "error"), _POISONS.values(), ids=_POISONS)
def test_whatever_a_job_does_it_fails_alone(store, commits, poison, error):
    tickets = [store.submit(_put(str(number))) for number in range(9)]
    tickets.insert(5, store.submit(poison))
    for number, ticket in enumerate(tickets):
        if number == 5:
            with pytest.raises(error):
                ticket.result()
        else:
            assert ticket.result() == str(number - (number > 5))
    assert _names(store) == {str(number) for number in range(9)}
    assert commits() <= 4, "the others are not committed one by one"


def test_jobs_keep_their_order_when_one_of_them_fails(store):
    seen = []

    def put(number):
        def job(batch):
            batch.execute("INSERT INTO state VALUES (?, x'00')", (str(number),))
            count = batch.execute("SELECT count(*) FROM state").fetchone()[0]
            seen.append((number, count - 1))

        return job

    tickets = [store.submit(put(number)) for number in (1, 2, 3)]
    tickets.append(store.submit(_poison("SELECT zeroblob(2000000000)")))
    tickets += [store.submit(put(number)) for number in (4, 5)]
    tickets[0].result()
    assert [number for number, before in seen[-5:] if number == before] == [1, 2, 3, 4, 5]


def test_an_unwritable_tally_is_never_blamed_on_the_job_after_it(store):
    """The next job writes down what those before have summed up; the failure is still theirs."""
    guilty = store.submit(lambda batch: batch.tally(_Unwritable, _Unwritable))
    innocent = store.submit(_put("a"))
    assert innocent.result() == "a"
    with pytest.raises(OverflowError):
        guilty.result()


def test_a_locked_database_is_waited_for_once_whatever_the_number_of_jobs(tmp_path, limit):
    limit("dlpctl.control.sqlite.BUSY_SECONDS", 0.2)
    with (
        closing(Store(SqliteDatabase(tmp_path / "some.db"))) as store,
        closing(sqlite3.connect(store.database.file)) as other,
    ):
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        statements = []
        with store.alone() as connection:
            connection.set_trace_callback(statements.append)
        tickets = [store.submit(_put(str(number))) for number in range(8)]
        for ticket in tickets:
            with pytest.raises(StoreError, match="another process"):
                ticket.result()
        assert len(statements) == 1


def test_tickets_of_many_threads(store):
    answers = []

    def work(number):
        tickets = [store.submit(_put(f"{number}-{turn}")) for turn in range(20)]
        answers.extend(ticket.result() for ticket in tickets)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    assert len(answers) == 160
    assert set(answers) == _names(store)


def test_a_check_is_recorded_with_its_ticket_and_not_before(control, acme, key):
    submitted = [control.checks.submit_text(key, EMAIL, "VENDOR") for _ in range(3)]
    assert control.audit.search(LOCAL).total == 0
    assert submitted[0].recorded().decision == "ALLOWED_WITH_MASKING"
    items = control.audit.search(LOCAL).items
    assert {one.preflight_id for one in items} == {one.result.preflight_id for one in submitted}
    assert control.audit.verify(LOCAL).intact


def test_of_checks_under_way_only_those_that_the_license_has_left_are_recorded(control, acme, key):
    license_id = control.licenses.list(LOCAL, acme)[0].license_id
    control.licenses.extend(LOCAL, acme, license_id, {"max_checks_per_month": 2})
    submitted = [control.checks.submit_text(key, EMAIL, "VENDOR") for _ in range(3)]
    submitted[0].recorded()
    submitted[1].recorded()
    with pytest.raises(QuotaError):
        submitted[2].recorded()
    with pytest.raises(QuotaError):
        control.checks.submit_text(key, EMAIL, "VENDOR")
    assert control.licenses.list(LOCAL, acme)[0].checks_this_month == 2
    control.licenses.extend(LOCAL, acme, license_id, {"max_checks_per_month": 3})
    control.checks.check_text(key, EMAIL, "VENDOR")


def test_a_quota_that_begins_anew_is_no_longer_remembered(control, acme, key, clock):
    license_id = control.licenses.list(LOCAL, acme)[0].license_id
    control.licenses.extend(
        LOCAL, acme, license_id, {"max_checks_per_month": 1, "expires_at": "2027-01-01T00:00:00Z"}
    )
    control.checks.check_text(key, EMAIL, "VENDOR")
    with pytest.raises(QuotaError):
        control.checks.check_text(key, EMAIL, "VENDOR")
    clock.forward(days=31)
    control.checks.check_text(key, EMAIL, "VENDOR")


@pytest.mark.of_a_file
def test_a_restored_backup_is_the_current_state(control, acme, key, tmp_path):
    license_id = control.licenses.list(LOCAL, acme)[0].license_id
    control.licenses.extend(LOCAL, acme, license_id, {"max_checks_per_month": 1})
    control.maintenance.backup(tmp_path / "copy.db")
    control.checks.check_text(key, EMAIL, "VENDOR")
    control.maintenance.restore(tmp_path / "copy.db")
    control.checks.check_text(key, EMAIL, "VENDOR")
    assert control.audit.verify(LOCAL).checked == 1


def test_jobs_beside_checks_see_them(control, acme, key, clock):
    """The checks of a transaction are written at its end, or before a job of another kind."""
    control.checks.check_text(key, EMAIL, "VENDOR")
    clock.pass_with(control, hours=72)
    submitted = [control.checks.submit_text(key, EMAIL, "VENDOR") for _ in range(2)]
    assert control.maintenance.prune(timedelta(days=1)) == 1
    submitted += [control.checks.submit_text(key, "hello", "VENDOR") for _ in range(2)]
    license_id = control.licenses.list(LOCAL, acme)[0].license_id
    extended = control.licenses.extend(LOCAL, acme, license_id, {"max_checks_per_month": 500})
    assert extended.checks_this_month == 5
    for one in submitted:
        one.recorded()
    report = control.audit.verify(LOCAL)
    assert (report.intact, report.checked) == (True, 4)


def test_an_organization_that_is_deleted_beside_its_checks(control, acme, key):
    submitted = [control.checks.submit_text(key, EMAIL, "VENDOR")]
    other = control.organizations.create(LOCAL, {"name": "Other"}).org_id
    control.organizations.delete(LOCAL, acme)
    submitted[0].recorded()
    assert control.audit.verify(LOCAL).checked == 1
    assert [one.org_id for one in control.organizations.list(LOCAL)] == [other]
