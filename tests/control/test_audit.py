from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest
from faults import full_disk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlpctl.control.access import LOCAL, Access, Role
from dlpctl.control.analytics import label, percentages
from dlpctl.control.keys import KeyKind, mint, well_formed
from dlpctl.errors import NotFoundError, RequestError, StoreError, UnauthorizedError

EMAIL = "write to jane.doe@corp.example.net"
SECRET = f"-----BEGIN PRIVATE KEY-----\n{'A1b2' * 16}\n-----END PRIVATE KEY-----"


@pytest.fixture
def some_checks(control, key, clock):
    """One allowed, two masked, one blocked, a day apart."""
    made = []
    for text in ("hello", EMAIL, f"{EMAIL} or a@b.example.org", SECRET):
        made.append(control.checks.check_text(key, text, "VENDOR"))
        clock.forward(days=1)
    return made


def test_items_are_newest_first_and_have_the_fields_of_the_interface(control, acme, some_checks):
    page = control.audit.search(LOCAL).to_dict()
    assert list(page) == ["items", "limit", "offset", "total"]
    assert (page["limit"], page["offset"], page["total"]) == (50, 0, 4)
    assert [item["preflight_id"] for item in page["items"]] == [
        one.preflight_id for one in reversed(some_checks)
    ]
    assert list(page["items"][0]) == [
        "preflight_id",
        "created_at",
        "destination",
        "decision",
        "summary",
        "policy_version",
        "policy_name",
        "org_id",
        "org_name",
    ]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        (None, 4),
        ("", 4),
        ("email", 2),
        ("mail", 2),
        ("MAI", 2),
        ("fault", 4),
        ("ma", 2),
        ("em VENDOR", 2),
        ("ai", 2),
        ("zq", 0),
        ("1 email", 1),
        ("EMAI", 2),
        ("vendor", 4),
        ("AI_TOOL", 0),
        ("acme email", 2),
        ("default", 4),
        ("blocked private", 1),
        ("'; --", 0),
        ('" OR 1=1', None),
        ("summary:email", 0),
        ("NOT email", None),
        ("pf_00", None),
        ("*", 0),
        ("\ud800", 0),
        ("e" * 500, 0),
    ],
)
def test_search(control, acme, some_checks, search, found):
    page = control.audit.search(LOCAL, search=search)
    assert found is None or page.total == found
    assert len(page.items) == page.total == len(list(control.audit.export(LOCAL, search=search)))


def test_an_organization_is_found_by_a_part_of_its_slug(control, acme, some_checks):
    other = control.organizations.create(LOCAL, {"name": "Umbrella", "slug": "raincoat-3"}).org_id
    key = control.policies.list(LOCAL, other)[0].api_key
    control.checks.check_text(key, EMAIL, "VENDOR")
    for search, found in (
        ("raincoat-3", 1),
        ("incoat", 1),
        ("coat-3 mail", 1),
        ("t-3 coat mail", 1),
        ("umbr", 1),
    ):
        assert control.audit.search(LOCAL, search=search).total == found, search
    assert control.audit.search(LOCAL, org_id=acme, search="coat").total == 0
    assert control.audit.search(LOCAL, org_id=other, search="coat").total == 1
    assert control.audit.search(LOCAL, org_id=other, search="3").total == 1


def test_search_by_id_and_organization(control, acme, some_checks):
    wanted = some_checks[1].preflight_id
    for search in (wanted, wanted[:15]):
        assert [item.preflight_id for item in control.audit.search(LOCAL, search=search).items] == [
            wanted
        ]
    for org in (acme, "acme"):
        assert control.audit.search(LOCAL, org_id=org).total == 4
        assert control.audit.search(LOCAL, org_id=org, search="email").total == 2
    assert control.audit.search(LOCAL, org_id="none").total == 0
    other = Access(Role.AUDITOR, "org_other")
    assert control.audit.search(other).total == control.audit.search(other, org_id=acme).total == 0
    assert control.audit.search(other, search=wanted).total == 0


def test_pages_are_stable_and_end(control, acme, some_checks):
    ids = [control.audit.search(LOCAL, limit=1, offset=place).items for place in range(5)]
    assert [len(items) for items in ids] == [1, 1, 1, 1, 0]
    assert len({items[0].preflight_id for items in ids[:4]}) == 4
    assert control.audit.search(LOCAL, offset=10**15, search="email").items == ()
    for wrong in (
        {"limit": 0},
        {"limit": -1},
        {"limit": 10**20},
        {"offset": -1},
        {"offset": 2**53},
    ):
        with pytest.raises(RequestError):
            control.audit.search(LOCAL, **wrong)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE checks SET bytes = 1 WHERE seq = 2", "changed"),
        ("UPDATE checks SET created_at = '2020' WHERE seq = 2", "changed"),
        ("UPDATE phrases SET decision = 'ALLOWED' WHERE decision = 'BLOCKED'", "changed"),
        ("DELETE FROM checks WHERE seq = 2", "missing"),
        ("DELETE FROM checks WHERE seq = 4", "missing"),
        ("DELETE FROM chain", "missing"),
        ("UPDATE chain SET last_seq = 3", "not what was written"),
    ],
)
def test_tampering_is_found(control, acme, some_checks, statement, reason, change):
    assert control.audit.verify(LOCAL).intact
    change(statement)
    report = control.audit.verify(LOCAL)
    assert not report.intact
    assert reason in report.reason
    if "seq = 2" in statement and "DELETE" not in statement:
        assert report.broken_at == some_checks[1].preflight_id


def test_pruning_leaves_an_intact_chain_and_the_analytics(control, acme, key, some_checks, clock):
    clock.pass_with(control, hours=26)
    assert control.maintenance.prune(timedelta(days=3)) == 3
    assert control.maintenance.prune(timedelta(days=3)) == 0
    assert control.audit.search(LOCAL).total == control.audit.search(LOCAL, org_id=acme).total == 1
    assert control.audit.search(LOCAL, search="email").total == 0
    assert control.audit.verify(LOCAL).checked == 1
    assert control.analytics.organization(LOCAL, acme).total_checks == 4
    with pytest.raises(NotFoundError):
        control.checks.get(key, some_checks[0].preflight_id)
    control.checks.check_text(key, EMAIL, "VENDOR")
    assert control.audit.verify(LOCAL).intact


def test_analytics(control, acme, some_checks):
    answer = control.analytics.organization(LOCAL, "acme", "7d").to_dict()
    sizes = [len(text) for text in (EMAIL, f"{EMAIL} or a@b.example.org", SECRET)]
    assert answer == {
        "org_id": acme,
        "org_name": "Acme",
        "total_checks": 4,
        "bytes_protected": sum(sizes),
        "allowed": 1,
        "masked": 2,
        "blocked": 1,
        "safe_share_rate": 75.0,
        "prevented_exposures": 4,
        "from_date": "2026-03-08",
        "to_date": "2026-03-14",
    }
    series = control.analytics.timeseries(LOCAL, acme, "7d").to_dict()
    assert [day["checks_total"] for day in series["data"]] == [0, 0, 1, 1, 1, 1, 0]
    assert list(series["data"][0]) == [
        "date",
        "checks_total",
        "allowed",
        "masked",
        "blocked",
        "bytes_processed",
    ]
    types = control.analytics.detections(LOCAL, acme).to_dict()
    assert types["total_detections"] == 4
    assert types["types"][0] == {"type": "EMAIL", "label": "Email", "count": 3, "percentage": 75.0}


def test_analytics_of_nothing(control, acme):
    answer = control.analytics.organization(LOCAL, acme)
    assert (answer.total_checks, answer.safe_share_rate) == (0, 100.0)
    assert len(control.analytics.timeseries(LOCAL, acme, "90d").data) == 90
    assert control.analytics.detections(LOCAL, acme).types == ()
    for period in ("1d", "", "30"):
        with pytest.raises(RequestError, match="period"):
            control.analytics.organization(LOCAL, acme, period)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=40))
def test_percentages_add_up(counts):
    shares = percentages(counts)
    assert sum(round(share * 10) for share in shares) == 1_000
    assert all(
        abs(share - count * 100 / sum(counts)) < 0.1
        for share, count in zip(shares, counts, strict=True)
    )


def test_labels():
    assert [label(name) for name in ("SSN", "CREDIT_CARD", "API_KEY")] == [
        "SSN",
        "Credit card",
        "API key",
    ]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None
)
@given(st.text(max_size=40))
def test_any_search_is_answered(control, acme, some_checks, search):
    assert control.audit.search(LOCAL, search=search).total <= 4


@given(st.sampled_from(KeyKind), st.integers(0, 55), st.sampled_from("0aZ_"))
def test_a_key_with_a_wrong_character_is_no_key(kind, place, character):
    key = mint(kind)
    assert well_formed(kind, key)
    damaged = key[:place] + character + key[place + 1 :]
    assert well_formed(kind, damaged) is (damaged == key)


def test_tokens(control, acme, clock):
    first = control.tokens.first()
    token = first.read_text().strip()
    assert control.tokens.first().read_text().strip() == token
    assert control.tokens.authenticate(token).role is Role.ADMIN
    made = control.tokens.create(
        LOCAL, {"role": "auditor", "org_id": "acme", "expires_at": "2026-03-11"}
    )
    access = control.tokens.authenticate(made.token)
    assert (access.role, access.org_id) == (Role.AUDITOR, acme)
    assert all(one.token is None for one in control.tokens.list(LOCAL))
    clock.forward(days=1)
    with pytest.raises(UnauthorizedError, match="expired"):
        control.tokens.authenticate(made.token)
    control.tokens.revoke(LOCAL, made.token_id)
    with pytest.raises(NotFoundError):
        control.tokens.revoke(LOCAL, made.token_id)
    for wrong in (
        {},
        {"role": "king"},
        {"role": "admin", "org_id": 5},
        {"role": "admin", "expires_at": "soon"},
    ):
        with pytest.raises(RequestError):
            control.tokens.create(LOCAL, wrong)


@pytest.mark.of_a_file
def test_backup_and_restore(control, acme, key, some_checks, tmp_path):
    copy = tmp_path / "copy.db"
    with full_disk(8192), pytest.raises(StoreError, match="cannot be written"):
        control.maintenance.backup(copy)
    control.maintenance.backup(copy)
    with pytest.raises(StoreError, match="exists"):
        control.maintenance.backup(copy)
    control.checks.check_text(key, EMAIL, "VENDOR")
    control.organizations.delete(LOCAL, acme)
    control.maintenance.restore(copy)
    assert control.audit.search(LOCAL).total == 4
    assert control.audit.verify(LOCAL).intact
    control.checks.check_text(key, EMAIL, "VENDOR")
    control.maintenance.vacuum()
    assert control.maintenance.check() == ()
    (tmp_path / "no.db").write_bytes(b"x" * 5000)
    for wrong in ("no.db", "none.db"):
        with pytest.raises(StoreError):
            control.maintenance.restore(tmp_path / wrong)
    for statement, reason in (
        ("PRAGMA user_version = 9999", "newer dlpctl"),
        ("PRAGMA writable_schema = 1; DELETE FROM sqlite_master WHERE type = 'index'", "damaged"),
    ):
        with closing(sqlite3.connect(copy)) as opened:
            opened.executescript(statement)
        with pytest.raises(StoreError, match=reason):
            control.maintenance.restore(copy)
        control.checks.check_text(key, EMAIL, "VENDOR")
