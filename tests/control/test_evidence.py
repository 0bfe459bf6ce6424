from __future__ import annotations

import hmac
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest

from dlpctl.control.access import LOCAL, Access, Role
from dlpctl.control.keys import KeyRing
from dlpctl.control.migrations import STEPS, statements
from dlpctl.control.offline import Evidence
from dlpctl.control.seals import SEALED
from dlpctl.control.service import ControlPlane
from dlpctl.errors import StoreError, TamperedError, UsageError

EMAIL = "write to jane.doe@corp.example.net"
_ALLOW = "UPDATE policies SET body = replace(body, '\"MASK\"', '\"ALLOW\"')"
_EVERYTHING = (
    "checks",
    "chain",
    "phrases",
    "phrase_counts",
    "events",
    "seals",
    "usage",
    "daily",
    "daily_types",
)
_NOBODY = 65534
_CHAINED = {"checks", "phrases", "events", "chain"}
_COUNTED = {"usage", "daily", "daily_types", "phrase_counts"}
_HARMLESS = {
    "seals": "is compared with the rows and with the signed head",
    "state": "holds what caches go by, and the check of the key",
    "policy_owners": "says of which organization a report may be, and allows no check",
    "masked_files": "holds when a file expires; its address says so, too, and is signed",
}


@pytest.fixture
def reopen(control, detector, clock, database):
    """Open another control plane on the same folder."""
    opened = []

    def again():
        opened.append(
            ControlPlane.open(control.folder, lambda: detector, clock=clock, database=database)
        )
        return opened[-1]

    yield again
    for one in opened:
        one.close()


def test_a_new_log_starts_with_an_event_and_a_signed_head(control):
    report = control.audit.verify(LOCAL)
    assert (report.intact, report.checked, report.events) == (True, 0, 1)
    assert control.audit.events(LOCAL).items[0].action == "log.started"
    head = control.audit.head(LOCAL).head
    assert (control.folder / "control.head").read_text() == f"{head}\n"
    assert control.audit.verify(LOCAL, head).intact


def test_an_emptied_database_is_detected(control, acme, key, reopen, change):
    control.checks.check_text(key, EMAIL, "VENDOR")
    head = control.audit.head(LOCAL).head
    change(*(f"DELETE FROM {table}" for table in _EVERYTHING))
    for one in (control, reopen()):
        assert not one.audit.verify(LOCAL, head).intact
        with pytest.raises((StoreError, TamperedError)):
            one.checks.check_text(key, EMAIL, "VENDOR")


def test_a_database_that_claims_to_be_new_is_not_believed(control, acme, reopen, change):
    change(
        *(f"DELETE FROM {table}" for table in _EVERYTHING),
        "INSERT INTO seals VALUES ('unsealed', '', randomblob(1))",
    )
    with pytest.raises(StoreError, match=r"control\.head"):
        reopen()


@pytest.mark.of_a_file
def test_a_log_that_was_cut_back_to_an_earlier_end_is_missed(control, acme, key, reopen):
    """With the head that was signed at that time, all links are as they should be."""
    control.checks.check_text(key, EMAIL, "VENDOR")
    control.maintenance.backup(control.folder / "early.db")
    early = control.audit.head(LOCAL).head
    control.checks.check_text(key, "hello", "VENDOR")
    head = control.audit.head(LOCAL).head
    control.close()
    shutil.copy(control.folder / "early.db", control.folder / "control.db")
    for rest in ("-wal", "-shm"):
        control.folder.joinpath(f"control.db{rest}").unlink(missing_ok=True)
    again = reopen()
    report = again.audit.verify(LOCAL)
    assert (report.intact, "control.head: 1 checks" in report.reason) == (False, True)
    with pytest.raises(StoreError, match="older"):
        again.checks.check_text(key, EMAIL, "VENDOR")
    control.folder.joinpath("control.head").unlink()
    with Evidence.open(control.folder / "control.db", control.folder / "control.key") as evidence:
        assert evidence.verify(early).intact
        assert "1 checks and 0 events" in evidence.verify(head).reason


def test_a_head_of_another_log_or_nonsense_is_refused(control, acme, key, tmp_path, detector):
    with ControlPlane.open(tmp_path / "other", lambda: detector) as other:
        foreign = other.audit.head(LOCAL).head
    assert "was not signed" in control.audit.verify(LOCAL, foreign).reason
    forged = control.audit.head(LOCAL).head.replace(":0:", ":1:")
    assert not control.audit.verify(LOCAL, forged).intact
    for wrong in ("", "x", foreign[:-1], f"{foreign}0"):
        with pytest.raises(UsageError, match="one line"):
            control.audit.verify(LOCAL, wrong)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (_ALLOW, "in policies"),
        ("UPDATE policies SET is_active = 1 - is_active", "in policies"),
        ("UPDATE policy_versions SET body = replace(body, 'MASK', 'ALLOW')", "in policy_versions"),
        ("UPDATE organizations SET settings = '{\"a\":1}'", "in organizations"),
        ("UPDATE licenses SET expires_at = '2099-01-01'", "in licenses"),
        ("UPDATE licenses SET max_checks_per_month = 9999", "in licenses"),
        ("UPDATE license_groups SET is_default = 0", "in license_groups"),
        ("UPDATE policy_groups SET name = 'x'", "in policy_groups"),
        ("UPDATE tokens SET role = 'admin', org_id = NULL WHERE role = 'auditor'", "in tokens"),
        ("UPDATE signing_keys SET public_key = 'x'", "in signing_keys"),
        ("UPDATE usage SET checks = 0", "in usage"),
        ("DELETE FROM usage", "in usage"),
        ("DELETE FROM daily", "in daily"),
        ("DELETE FROM daily_types", "in daily_types"),
        ("UPDATE phrase_counts SET checks = 0", "in phrase_counts"),
        ("DELETE FROM tokens", "in tokens"),
        ("DELETE FROM policies", "in policies"),
        ("DELETE FROM policy_versions", "in policy_versions"),
        ("DELETE FROM licenses", "in licenses"),
        ("DELETE FROM group_policies", "in group_policies"),
        ("DELETE FROM seals WHERE tbl = 'policies'", "rows are older, or missing"),
        ("DELETE FROM events WHERE number = 2", "events before it are missing"),
        ("DELETE FROM events WHERE number > 2", "events are missing"),
        ("UPDATE events SET actor = 'nobody' WHERE number = 2", "event 2"),
        ("UPDATE events SET action = 'x' WHERE number = 3", "event 3"),
        ("UPDATE chain SET root = randomblob(32)", "not what was written"),
        ("UPDATE chain SET clock = replace(clock, '2026', '2020')", "not what was written"),
    ],
)
def test_every_change_from_outside_is_named(control, acme, key, statement, named, change):
    control.tokens.create(LOCAL, {"role": "auditor", "org_id": acme})
    control.checks.check_text(key, EMAIL, "VENDOR")
    if "signing_keys" in statement:
        control.licenses.public_key()
    assert control.audit.verify(LOCAL).problems == ()
    change(statement)
    report = control.audit.verify(LOCAL)
    assert not report.intact
    assert any(named in problem for problem in report.problems), report.problems


def test_a_policy_that_was_edited_is_refused_and_others_go_on(control, acme, key, reopen, change):
    other = control.organizations.create(LOCAL, {"name": "Other"}).org_id
    (policy,) = control.policies.list(LOCAL, other)
    change(f"{_ALLOW} WHERE org_id = '{acme}'")
    again = reopen()
    for _ in range(2):
        with pytest.raises(
            TamperedError, match=r"pol_\w+ in policies: was changed .* audit verify"
        ):
            again.checks.check_text(key, EMAIL, "VENDOR")
        answer = again.checks.check_text(policy.api_key, EMAIL, "VENDOR")
        assert answer.decision == "ALLOWED_WITH_MASKING"
    assert again.audit.search(LOCAL).total == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE policy_versions SET body = replace(body, 'MASK', 'ALLOW')",
        "UPDATE licenses SET max_checks_per_month = 9999",
        'UPDATE organizations SET settings = \'{"retention":"METADATA"}\'',
        "UPDATE usage SET checks = 0",
        "DELETE FROM seals",
    ],
)
def test_the_data_of_a_check_are_verified_first(control, acme, key, reopen, statement, change):
    control.checks.check_text(key, EMAIL, "VENDOR")
    change(statement)
    with pytest.raises(TamperedError):
        reopen().checks.check_text(key, EMAIL, "VENDOR")


def test_a_policy_does_not_come_under_a_license_from_outside(control, acme, reopen, change):
    control.groups.create(LOCAL, acme, {"name": "unlicensed"})
    policy = control.policies.create(
        LOCAL, acme, {"name": "P", "rules": [], "groups": ["unlicensed"]}
    )
    (group,) = [one.group_id for one in control.groups.list(LOCAL, acme) if one.is_default]
    change(f"INSERT INTO group_policies VALUES ('{group}', '{policy.policy_id}')")
    with pytest.raises(TamperedError, match="group_policies"):
        reopen().checks.check_text(policy.api_key, "x", "VENDOR")


def test_tokens_and_licenses_are_verified_before_they_open_anything(control, acme, reopen, change):
    token = control.tokens.create(LOCAL, {"role": "auditor", "org_id": acme}).token
    license_key = control.licenses.list(LOCAL, acme)[0].license_key
    control.licenses.public_key()
    change(
        "UPDATE tokens SET role = 'admin', org_id = NULL",
        "UPDATE licenses SET expires_at = '2099-01-01T00:00:00.000Z'",
        "UPDATE signing_keys SET public_key = 'x'",
    )
    again = reopen()
    with pytest.raises(TamperedError, match="tokens"):
        again.tokens.authenticate(token)
    with pytest.raises(TamperedError, match="licenses"):
        again.licenses.validate(license_key)
    with pytest.raises(TamperedError, match="licenses"):
        again.usage.report(license_key, {"checks": [_reported()]})
    with pytest.raises(TamperedError, match="signing_keys"):
        again.licenses.public_key()


def _reported():
    return {
        "preflight_id": f"pf_{0:024x}",
        "created_at": "2026-03-10",
        "destination": "VENDOR",
        "decision": "ALLOWED",
        "policy_id": f"pol_{0:024x}",
        "policy_version": "1.0",
        "bytes": 1,
        "detected": [],
    }


def test_a_change_does_not_seal_foreign_changes(control, acme, key, change):
    (policy,) = control.policies.list(LOCAL, acme)
    change(_ALLOW)
    for body in ({"name": "renamed"}, {"is_active": False}):
        with pytest.raises(TamperedError):
            control.policies.update(LOCAL, acme, policy.policy_id, body)
    with pytest.raises(TamperedError):
        control.maintenance.rotate_key_file()
    assert control.policies.get(LOCAL, acme, policy.policy_id).policy.name == policy.policy.name
    control.policies.delete(LOCAL, acme, policy.policy_id)
    problems = control.audit.verify(LOCAL).problems
    assert not [one for one in problems if "in policies" in one]


def test_a_revoked_token_that_is_put_back_with_its_seal_is_named(control, connected):
    made = control.tokens.create(LOCAL, {"role": "admin"})
    where = f"token_id = '{made.token_id}'"
    with connected() as database:
        row = database.execute(f"SELECT * FROM tokens WHERE {where}").fetchone()
        seal = database.execute("SELECT * FROM seals WHERE key = ?", (made.token_id,)).fetchone()
    control.tokens.revoke(LOCAL, made.token_id)
    with connected() as database:
        database.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)", tuple(row)[:7])
        database.execute("INSERT INTO seals VALUES (?, ?, ?)", tuple(seal))
    problems = control.audit.verify(LOCAL).problems
    assert [
        one for one in problems if f"{made.token_id} in tokens: is not as the last event" in one
    ]


def test_every_change_is_an_event_and_leaves_an_intact_log(control, clock):
    organizations, policies, groups = control.organizations, control.policies, control.groups
    licenses, tokens = control.licenses, control.tokens
    org = organizations.create(LOCAL, {"name": "Acme"}).org_id
    rule = {"name": "r", "dataTypes": ["EMAIL"], "destinations": ["VENDOR"], "action": "BLOCK"}
    steps = {
        "organization.updated": lambda: organizations.update(LOCAL, org, {"name": "New"}),
        "policy.created": lambda: policies.create(LOCAL, org, {"name": "P", "rules": [rule]}),
        "policy.updated": lambda: policies.update(
            LOCAL, org, policies.list(LOCAL, org)[1].policy_id, {"rules": []}
        ),
        "policy.key-regenerated": lambda: policies.regenerate_key(
            LOCAL, org, policies.list(LOCAL, org)[1].policy_id
        ),
        "group.created": lambda: groups.create(LOCAL, org, {"name": "G"}),
        "group.updated": lambda: groups.update(
            LOCAL, org, "G", {"policy_ids": [policies.list(LOCAL, org)[1].policy_id]}
        ),
        "license.created": lambda: licenses.create(
            LOCAL, org, {"license_type": "standard", "policy_groups": ["G"]}
        ),
        "license.updated": lambda: licenses.extend(
            LOCAL, org, licenses.list(LOCAL, org)[1].license_id, {"max_checks_per_month": 5}
        ),
        "group.deleted": lambda: groups.delete(LOCAL, org, "G"),
        "license.revoked": lambda: licenses.revoke(
            LOCAL, org, licenses.list(LOCAL, org)[0].license_id
        ),
        "policy.deleted": lambda: policies.delete(
            LOCAL, org, policies.list(LOCAL, org)[1].policy_id
        ),
        "license.signing-key-rotated": lambda: licenses.rotate_keys(LOCAL),
        "token.created": lambda: tokens.create(LOCAL, {"role": "admin", "org_id": org}),
        "token.revoked": lambda: tokens.revoke(LOCAL, tokens.list(LOCAL)[0].token_id),
        "key-file.rotated": lambda: control.maintenance.rotate_key_file(),
        "organization.deleted": lambda: organizations.delete(LOCAL, org),
    }
    for action, step in steps.items():
        step()
        assert control.audit.events(LOCAL, limit=1).items[0].action == action
        assert control.audit.verify(LOCAL).problems == ()


def test_an_event_names_who_did_it_and_an_access_sees_its_own_organization(control, acme, change):
    token = control.tokens.create(LOCAL, {"role": "admin", "org_id": acme})
    control.organizations.create(LOCAL, {"name": "Other"})
    access = control.tokens.authenticate(token.token)
    control.organizations.update(access, acme, {"name": "New"})
    newest, used = control.audit.events(access).items[:2]
    assert (newest.action, newest.actor, newest.subject) == (
        "organization.updated",
        token.token_id,
        acme,
    )
    assert (used.action, used.actor) == ("key.used", token.token_id)
    assert {one.org_id for one in control.audit.events(access).items} == {acme}
    change("UPDATE policies SET created_at = ''")
    report = control.audit.verify(access)
    assert (report.intact, len(report.problems), "pol_" in report.reason) == (False, 1, False)
    assert control.audit.events(Access(Role.AUDITOR, "org_other")).total == 0


def test_the_use_of_a_key_is_logged_once_a_day(control, acme, key, clock, reopen):
    def uses():
        return [
            one.subject for one in control.audit.events(LOCAL).items if one.action == "key.used"
        ]

    (license_,) = control.licenses.list(LOCAL, acme)
    policy_id = control.policies.list(LOCAL, acme)[0].policy_id
    again = reopen()
    for one in (control, again, control):
        made = one.checks.check_text(key, "x", "VENDOR")
        one.checks.get(key, made.preflight_id)
        one.licenses.validate(license_.license_key)
    assert sorted(uses()) == sorted([policy_id, license_.license_id])
    clock.forward(days=1)
    again.checks.check_text(key, "x", "VENDOR")
    assert uses().count(policy_id) == 2
    assert control.audit.verify(LOCAL).intact


@pytest.mark.of_a_file
def test_no_table_is_trusted_without_evidence(control):
    with closing(sqlite3.connect(control.folder / "control.db")) as database:
        tables = {
            row[0]
            for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not row[0].startswith(("sqlite_", "phrases_search"))
        }
        columns = {
            table: {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            for table in SEALED
        }
    assert tables == {*SEALED, *_CHAINED, *_COUNTED, *_HARMLESS}
    assert columns == {table: set(sealed.columns) for table, sealed in SEALED.items()}


@pytest.mark.of_a_file
def test_a_backup_is_verified_with_the_key_alone(control, acme, key, tmp_path):
    control.checks.check_text(key, EMAIL, "VENDOR")
    head = control.audit.head(LOCAL).head
    backup, key_file = tmp_path / "copy.db", tmp_path / "elsewhere.key"
    control.maintenance.backup(backup)
    shutil.copy(control.folder / "control.key", key_file)
    before = backup.read_bytes()
    with Evidence.open(backup, key_file) as evidence:
        assert evidence.verify(head).to_dict() == control.audit.verify(LOCAL, head).to_dict()
        assert evidence.head().head.split(":")[:4] == head.split(":")[:4]
    assert backup.read_bytes() == before
    key_file.write_text("00" * 32)
    with pytest.raises(StoreError, match="not the key"), Evidence.open(backup, key_file):
        pass
    with (
        pytest.raises(StoreError, match="no such database"),
        Evidence.open(tmp_path / "no.db", key_file),
    ):
        pass


@pytest.mark.of_a_file
@pytest.mark.skipif(sys.platform == "win32", reason="file modes")
@pytest.mark.parametrize("is_open", [False, True])
def test_a_folder_that_cannot_be_written_is_verified(control, acme, key, is_open):
    """By a user who may read it, as a copy for an auditor or a mounted snapshot; even while the
    service runs.
    """
    control.checks.check_text(key, EMAIL, "VENDOR")
    if not is_open:
        control.close()
    folder = control.folder
    places = folder / "control.db", folder / "control.key"
    with Evidence.open(*places) as evidence:
        expected = evidence.verify(None)
    is_root = os.geteuid() == 0
    if is_root:  # whom no mode stops
        for one in (folder, *folder.rglob("*")):
            os.chown(one, _NOBODY, _NOBODY)
        temporary = Path(tempfile.gettempdir())
        for parent in folder.parents:
            if temporary in parent.parents:
                parent.chmod(parent.stat().st_mode | 0o011)
        os.seteuid(_NOBODY)
    try:
        folder.chmod(0o500)
        with pytest.raises(PermissionError):
            (folder / "new").touch()
        with Evidence.open(*places) as evidence:
            found = evidence.verify(None)
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o700)
    assert (found.intact, found.checked) == (True, 1)
    assert found == expected


def test_verifying_beside_a_writer(control, acme, key, database):
    stop = threading.Event()

    def write():
        while not stop.is_set():
            control.checks.check_text(key, "hello", "VENDOR")

    control.licenses.create(LOCAL, acme, {"license_type": "enterprise"})
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(10):
            with Evidence.open(
                database or control.folder / "control.db", control.folder / "control.key"
            ) as evidence:
                assert evidence.verify(None).problems == ()
            assert control.audit.verify(LOCAL).problems == ()
    finally:
        stop.set()
        writer.join()


def test_an_earlier_database_is_sealed_with_what_it_holds(tmp_path, detector):
    """The chain of an older database continues; an event lists the rows that were sealed."""
    ring = KeyRing.load(tmp_path / "control.key", create=True)
    link = hmac.digest(
        ring.key_for("chain"),
        bytes(32)
        + json.dumps(
            [
                1,
                "pf_1",
                "lic_1",
                "2026",
                5,
                0,
                "[]",
                "org_1",
                "Acme",
                "pol_1",
                "p",
                "1.0",
                "VENDOR",
                "ALLOWED",
                "x",
            ],
            separators=(",", ":"),
        ).encode(),
        "sha256",
    )
    ends = f"0:{bytes(32).hex()}:1:{link.hex()}"
    seal = hmac.digest(ring.key_for("chain-seal"), ends.encode(), "sha256")
    with closing(sqlite3.connect(tmp_path / "control.db", isolation_level=None)) as old:
        for number, step in enumerate(STEPS[:7], 1):  # before there was evidence
            for statement in statements(step.sql()):
                old.execute(statement)
            old.execute(f"PRAGMA user_version = {number}")
        old.execute("INSERT INTO state VALUES ('key', ?)", (ring.key_for("check"),))
        old.execute(
            "INSERT INTO organizations VALUES ('org_1', 'Acme', 'acme', '{}', '2026', '2026')"
        )
        old.execute(
            "INSERT INTO phrases VALUES (1, x'00', 'org_1', 'Acme', 'pol_1', 'p', '1.0', 'VENDOR', 'ALLOWED', 'x')"
        )
        old.execute("INSERT INTO phrase_counts VALUES (1, 'org_1', 1, 1)")
        old.execute("INSERT INTO daily VALUES ('org_1', '2026', 1, 0, 0, 5, 0, 0)")
        old.execute(
            "INSERT INTO checks VALUES (1, 'pf_1', 1, 'lic_1', '2026', 5, 0, '[]', ?)", (link,)
        )
        old.execute("INSERT INTO chain VALUES (1, 0, ?, 1, ?, ?)", (bytes(32), link, seal))
    with ControlPlane.open(tmp_path, lambda: detector) as control:
        report = control.audit.verify(LOCAL)
        assert (report.problems, report.checked, report.events) == ((), 1, 1)
        (sealed,) = control.audit.events(LOCAL).items
        assert (sealed.action, sealed.details) == ("log.sealed", {"checks": 1})
    with closing(sqlite3.connect(tmp_path / "control.db", isolation_level=None)) as changed:
        changed.execute("UPDATE organizations SET name = 'Other'")
    with Evidence.open(tmp_path / "control.db", tmp_path / "control.key") as evidence:
        assert "org_1 in organizations" in evidence.verify(None).reason


@pytest.mark.of_a_file
def test_a_restored_backup_is_an_event_and_the_log_continues(control, acme, key, reopen, tmp_path):
    other = reopen()
    control.maintenance.backup(tmp_path / "copy.db")
    for one in (control, other):
        one.checks.check_text(key, EMAIL, "VENDOR")
    replaced = control.audit.head(LOCAL).head
    control.maintenance.restore(tmp_path / "copy.db")
    (restored,) = control.audit.events(LOCAL, limit=1).items
    assert (restored.action, restored.details["replaced_head"].split(":")[1:4]) == (
        "database.restored",
        replaced.split(":")[1:4],
    )
    for one in (other, control):
        one.checks.check_text(key, EMAIL, "VENDOR")
    assert control.audit.verify(LOCAL).intact
    assert not control.audit.verify(LOCAL, replaced).intact
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy, copy:
        copy.execute("UPDATE chain SET last_seq = 7")
    with pytest.raises(StoreError, match="not what was written"):
        control.maintenance.restore(tmp_path / "copy.db")


def test_processes_that_open_a_new_folder_at_once_seal_it_once(tmp_path, detector):
    problems, barrier = [], threading.Barrier(4)

    def start():
        barrier.wait()
        try:
            ControlPlane.open(tmp_path / "new", lambda: detector).close()
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with ControlPlane.open(tmp_path / "new", lambda: detector) as control:
        assert [one.action for one in control.audit.events(LOCAL).items] == ["log.started"]
