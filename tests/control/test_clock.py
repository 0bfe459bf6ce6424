from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlpctl.control.access import LOCAL
from dlpctl.control.clock import STEP, WATCH, ClockHistory, written
from dlpctl.control.service import ControlPlane
from dlpctl.errors import ForbiddenError, UnauthorizedError

EMAIL = "write to jane.doe@corp.example.net"
_START = datetime(2026, 3, 10, 12, tzinfo=UTC)
_KEEP = timedelta(days=30)


def test_a_jump_forward_erases_nothing_before_it_was_watched_for_a_day(
    control, acme, key, clock, kept_files
):
    control.checks.check_file(key, EMAIL.encode(), "a.txt", "VENDOR")
    clock.forward(days=400)
    for _ in range(24):
        assert (control.maintenance.prune(_KEEP), control.maintenance.sweep()) == (0, 0)
        clock.forward(hours=1)
    assert kept_files()
    assert (control.maintenance.prune(_KEEP), control.maintenance.sweep()) == (1, 1)
    assert kept_files() == []
    assert control.audit.verify(LOCAL).problems == ()


def test_a_jump_that_is_taken_back_has_done_nothing(control, acme, key, clock, detector, database):
    made = control.checks.check_text(key, EMAIL, "VENDOR")
    clock.forward(days=400)
    with pytest.raises(ForbiddenError, match="expired"):
        control.checks.check_text(key, EMAIL, "VENDOR")
    control.maintenance.observe()
    clock.forward(days=-400)
    for _ in range(30):
        assert control.maintenance.prune(_KEEP) == 0
        clock.forward(hours=1)
    with ControlPlane.open(
        control.folder, lambda: detector, clock=clock, database=database
    ) as again:
        assert again.checks.check_text(key, EMAIL, "VENDOR").created_at < "2026-03-12"
        assert again.checks.get(key, made.preflight_id).decision == made.decision


def test_a_second_jump_is_watched_for_a_day_of_its_own(control, acme, key, clock):
    control.checks.check_text(key, EMAIL, "VENDOR")
    for _ in range(3):
        clock.forward(days=100)
        control.maintenance.observe()
        clock.pass_with(control, hours=23)
    assert control.maintenance.prune(timedelta(days=300)) == 0


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_jump_back_revives_nothing(control, acme, key, clock, detector, is_restarted, database):
    token = control.tokens.create(
        LOCAL, {"role": "admin", "expires_at": "2026-03-11T00:00:00Z"}
    ).token
    (license_,) = control.licenses.list(LOCAL, acme)
    control.licenses.extend(
        LOCAL, acme, license_.license_id, {"expires_at": "2026-03-11T00:00:00Z"}
    )
    control.checks.check_text(key, EMAIL, "VENDOR")
    clock.pass_with(control, hours=13)
    clock.forward(days=-300)
    again = control
    if is_restarted:
        control.close()
        again = ControlPlane.open(control.folder, lambda: detector, clock=clock, database=database)
    for _ in range(2):
        with pytest.raises(ForbiddenError, match="expired"):
            again.checks.check_text(key, EMAIL, "VENDOR")
        with pytest.raises(ForbiddenError, match="expired"):
            again.licenses.validate(license_.license_key)
        with pytest.raises(UnauthorizedError, match="expired"):
            again.tokens.authenticate(token)
        again.maintenance.observe()
    again.close()


def test_times_of_any_zone_are_written_in_utc():
    elsewhere = _START.astimezone(timezone(timedelta(hours=-7)))
    assert written(elsewhere) == written(_START) == "2026-03-10T12:00:00.000Z"


def test_an_exception_of_a_policy_that_has_expired_stays_expired(control, acme, clock):
    rule = {
        "name": "r",
        "dataTypes": ["EMAIL"],
        "destinations": ["VENDOR"],
        "action": "BLOCK",
        "exceptions": [
            {"pattern": "jane.doe@.*", "owner": "o", "reason": "r", "expires": "2026-03-11"}
        ],
    }
    policy = control.policies.create(LOCAL, acme, {"name": "P", "rules": [rule]})
    assert control.checks.check_text(policy.api_key, EMAIL, "VENDOR").decision == "ALLOWED"
    clock.pass_with(control, hours=36)
    assert control.checks.check_text(policy.api_key, EMAIL, "VENDOR").decision == "BLOCKED"
    clock.forward(days=-3)
    assert control.checks.check_text(policy.api_key, EMAIL, "VENDOR").decision == "BLOCKED"


_moves = st.integers(-(10**7), 10**7)
_watching = st.integers(1, 20).map(lambda count: [STEP.seconds // 2] * 10 * count)


@given(st.lists(_moves.map(lambda moved: [moved]) | _watching, max_size=12))
def test_trust_only_grows_by_steps_or_after_a_day(runs):
    history, now, erased_until = ClockHistory(_START, _START), _START, _START
    watched = timedelta()
    for moved in chain.from_iterable(runs):
        before = history
        try:
            now += timedelta(seconds=moved)
        except OverflowError:
            return
        history = ClockHistory.load(history.observe(now).dump())
        assert history.trusted >= before.trusted
        watched += min(max(timedelta(seconds=moved), timedelta()), STEP)
        if history.trusted - before.trusted > STEP:
            assert watched >= WATCH
            watched = timedelta()
        erased_until = max(erased_until, history.trusted)
    assert history.trusted == erased_until


def test_a_clock_that_is_read_once_a_week_is_trusted_in_the_end():
    """As on a machine where no service runs; each command adds what it can vouch for."""
    history, now = ClockHistory(_START, _START), _START
    for _ in range(30):
        now += timedelta(days=7)
        history = history.observe(now)
    assert history.trusted >= _START + timedelta(days=7)
