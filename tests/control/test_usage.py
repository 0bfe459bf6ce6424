from __future__ import annotations

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.errors import RequestError, UnauthorizedError


def _check(number, **changes):
    return {
        "preflight_id": f"pf_{number:024x}",
        "created_at": "2026-03-10T11:00:00.000Z",
        "destination": "VENDOR",
        "decision": "ALLOWED_WITH_MASKING",
        "policy_version": "1.0",
        "bytes": 100,
        "is_file": False,
        "detected": [{"type": "EMAIL", "count": 2}],
    } | changes


@pytest.fixture
def license_(control, acme):
    return control.licenses.list(LOCAL, acme)[0]


@pytest.fixture
def deleted(control, acme):
    """The id of a policy that the organization had."""
    rule = {"dataTypes": ["EMAIL"], "destinations": ["VENDOR"], "action": "BLOCK"}
    policy_id = control.policies.create(LOCAL, acme, {"name": "Old", "rules": [rule]}).policy_id
    control.policies.delete(LOCAL, acme, policy_id)
    return policy_id


@pytest.fixture
def report(control, license_, deleted):
    """Reports checks by a deleted policy, where they name no other."""

    def call(*checks):
        told = [{"policy_id": deleted} | one if isinstance(one, dict) else one for one in checks]
        return control.usage.report(license_.license_key, {"checks": told}).to_dict()

    return call


def test_a_check_counts_once_however_often_it_is_told(control, acme, license_, report):
    policy = control.policies.list(LOCAL, acme)[0]
    told = [_check(1, policy_id=policy.policy_id), _check(2, decision="BLOCKED"), _check(2)]
    assert report(*told) == {
        "recorded": 2,
        "known": 1,
        "checks_this_month": 2,
        "max_checks_per_month": 1_000,
    }
    assert report(*told, _check(3, decision="ALLOWED", detected=[]))["recorded"] == 1
    assert control.licenses.list(LOCAL, acme)[0].checks_this_month == 3
    sums = control.analytics.organization(LOCAL, acme)
    assert (sums.total_checks, sums.masked, sums.blocked, sums.prevented_exposures) == (3, 1, 1, 4)
    items = control.audit.search(LOCAL).items
    assert [item.policy_name for item in items] == ["(deleted)", "(deleted)", policy.policy.name]
    assert items[0].summary == "Allowed for VENDOR by a client; nothing sensitive found"
    assert items[2].summary == "Allowed with masking for VENDOR by a client; found 2 emails"
    assert control.audit.verify(LOCAL).intact


def test_late_reports_of_a_client_are_recorded(control, acme, clock, license_, report):
    control.licenses.revoke(LOCAL, acme, license_.license_id)
    clock.forward(days=40)
    assert report(_check(1), _check(2))["recorded"] == 2
    assert {item.created_at[:7] for item in control.audit.search(LOCAL).items} == {"2026-03"}
    assert report(_check(3))["checks_this_month"] == 0


def test_a_clock_that_is_fast_does_not_count_in_months_to_come(control, clock, report):
    clock.forward(days=21, hours=11, minutes=30)
    assert report(_check(1, created_at="2026-04-01T08:00:00Z"))["checks_this_month"] == 1
    (item,) = control.audit.search(LOCAL).items
    assert item.created_at == "2026-03-31T23:30:00.000Z"


_TOLD = "2026-03-10T12:00:00Z"
"""When the license was created."""


@pytest.mark.parametrize(
    ("days", "revoked_after", "created_at"),
    [
        (0, None, "2026-03-09T11:59:00Z"),
        (0, None, "2026-03-11T12:01:00Z"),
        (0, None, "2025-03-10"),
        (0, None, "2999-01-01"),
        (90, None, "2026-04-10T12:01:00Z"),
        (20, 5, "2026-03-16T12:01:00Z"),
    ],
    ids=[
        "before",
        "tomorrow",
        "a year before",
        "far away",
        "after it expired",
        "after it was revoked",
    ],
)
def test_a_check_is_of_the_life_of_its_license(
    control, acme, clock, license_, report, days, revoked_after, created_at
):
    if revoked_after is not None:
        clock.forward(days=revoked_after)
        control.licenses.revoke(LOCAL, acme, license_.license_id)
        clock.forward(days=-revoked_after)
    clock.forward(days=days)
    with pytest.raises(
        RequestError, match=r"^checks\[1\]\.created_at: must be between 2026-03-10T12:00:00"
    ) as caught:
        report(_check(1, created_at=_TOLD), _check(2, created_at=created_at))
    assert "24 hours" in caught.value.message
    assert control.audit.search(LOCAL).total == 0


@pytest.mark.parametrize("created_at", ["2026-03-09T12:01:00Z", "2026-03-11T11:59:00+00:00", _TOLD])
def test_clocks_may_differ_by_a_day(report, created_at):
    assert report(_check(1, created_at=created_at))["recorded"] == 1


def test_a_check_is_by_a_policy_of_the_organization(control, acme, report, deleted):
    other = control.organizations.create(LOCAL, {"name": "Other"}).org_id
    foreign = control.policies.list(LOCAL, other)[0].policy_id
    for policy_id in ("pol_" + 24 * "0", foreign):
        with pytest.raises(
            RequestError, match=r"^checks\[1\]\.policy_id: .* has never had such a policy"
        ):
            report(_check(1), _check(2, policy_id=policy_id))
    assert control.audit.search(LOCAL).total == 0


def test_checks_beyond_the_quota_are_recorded_and_use_it_up(control, acme, key, license_, report):
    from dlpctl.errors import QuotaError

    control.licenses.extend(LOCAL, acme, license_.license_id, {"max_checks_per_month": 1})
    assert report(_check(1), _check(2))["checks_this_month"] == 2
    with pytest.raises(QuotaError):
        control.checks.check_text(key, "x", "VENDOR")


def test_pruning_keeps_recent_checks_although_older_ones_were_reported_later(
    control, key, clock, report
):
    from datetime import timedelta

    control.checks.check_text(key, "x", "VENDOR")
    clock.forward(days=19)
    clock.pass_with(control, hours=26)
    control.checks.check_text(key, "x", "VENDOR")
    report(_check(1, created_at="2026-03-10"))
    assert control.maintenance.prune(timedelta(days=10)) == 1
    clock.forward(days=8)
    clock.pass_with(control, hours=26)
    control.checks.check_text(key, "x", "VENDOR")
    assert control.maintenance.prune(timedelta(days=5)) == 2
    assert control.audit.verify(LOCAL).intact


def test_sums_stop_at_their_bound_and_never_refuse_a_check(control, acme, key, report):
    (license_,) = control.licenses.list(LOCAL, acme)
    control.licenses.extend(LOCAL, acme, license_.license_id, {"license_type": "enterprise"})
    large = {"bytes": 2**53 - 1, "detected": [{"type": "EMAIL", "count": 1_000_000_000}]}
    for turn in range(3):
        report(*(_check(500 * turn + number, **large) for number in range(500)))
    control.checks.check_text(key, "x", "VENDOR")
    sums = control.analytics.organization(LOCAL, acme)
    assert (sums.total_checks, sums.bytes_protected) == (1_501, 2**53 - 1)
    assert control.analytics.timeseries(LOCAL, acme).data[-1].bytes_processed == 2**53 - 1
    assert control.analytics.detections(LOCAL, acme).total_detections == 1_500 * 1_000_000_000
    assert control.audit.verify(LOCAL).intact


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"content": "x"}, "'content': is not a field"),
        ({"detected": [{"type": "EMAIL", "count": 1, "sample": "x"}]}, "detected[0].'sample'"),
        ({"detected": [{"type": "a@b.example", "count": 1}]}, "detected[0].type"),
        ({"detected": [{"type": "EMAIL", "count": 0}]}, "detected[0].count"),
        ({"detected": {}}, "detected: must"),
        ({"preflight_id": "pf_'; --"}, "preflight_id"),
        ({"policy_id": "../x"}, "policy_id"),
        ({"policy_version": "new"}, "policy_version"),
        ({"decision": "MAYBE"}, "decision"),
        ({"destination": "HOME"}, "destination"),
        ({"created_at": "soon"}, "created_at"),
        ({"bytes": -1}, "bytes"),
        ({"bytes": 2**53}, "bytes"),
        ({"bytes": 2**63 - 2}, "bytes"),
        ({"is_file": 1}, "is_file"),
    ],
)
def test_only_metadata_are_accepted(control, report, changes, said):
    with pytest.raises(RequestError) as caught:
        report(_check(1), _check(2, **changes))
    assert f"checks[1].{said}" in caught.value.message
    assert control.audit.search(LOCAL).total == 0


def test_a_batch_has_its_limits_and_needs_a_license(control, report, key):
    for checks in ([], [_check(one) for one in range(501)]):
        with pytest.raises(RequestError, match="checks: must be a list"):
            report(*checks)
    with pytest.raises(RequestError):
        report("x")
    for wrong in (None, "", key, "dlp_lk_x"):
        with pytest.raises(UnauthorizedError):
            control.usage.report(wrong, {"checks": [_check(1)]})
