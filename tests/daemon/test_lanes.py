"""Turns within a lane, and which lane a request takes."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from dlpctl_daemon import lanes
from dlpctl_daemon.callers import Callers
from dlpctl_daemon.lanes import FairQueue, LaneRules, Share, lane_of


class Ticks:
    now = 0.0

    def __call__(self):
        return self.now


def _queue(*, at_once=1, waiting=100, of_org=100, of_key=100, patience=10.0):
    ticks = Ticks()
    return FairQueue(LaneRules("lane", 4, at_once, waiting, of_org, of_key, patience), ticks), ticks


def _fill(queue, *orgs):
    for number, org in enumerate(orgs):
        queue.add(Share(org, f"key of {org}"), f"{org}{number}")


def test_organizations_take_turns():
    queue, _ = _queue(at_once=10)
    _fill(queue, "a", "a", "a", "b", "b", "c")
    assert [queue.pop().item for _ in range(6)] == ["a0", "b3", "c5", "a1", "b4", "a2"]
    assert not queue.is_ready
    assert len(queue) == 0


def test_an_organization_at_its_limit_waits_and_others_go_on():
    queue, _ = _queue(at_once=1)
    _fill(queue, "a", "a", "b")
    first, second = queue.pop(), queue.pop()
    assert [first.item, second.item] == ["a0", "b2"]
    assert not queue.is_ready
    assert len(queue) == 1
    queue.done(second)
    assert not queue.is_ready
    queue.done(first)
    assert queue.pop().item == "a1"


def test_requests_of_a_new_key_count_for_its_organization_once_known():
    queue, ticks = _queue(at_once=1, patience=10)
    for number, key in enumerate(["one", "two", "one"]):
        queue.add(Share("peer", key, is_known=False), f"{key}{number}")
    ticks.now = 5
    _fill(queue, "acme")
    first = queue.pop()
    assert (first.item, queue.pop().item) == ("one0", "acme0")
    assert not queue.is_ready
    queue.move(first, Share("globex", "key of globex"))
    second = queue.pop()
    assert second.item == "two1"
    queue.move(second, Share("globex", "another key of globex"))
    assert (queue.is_ready, len(queue)) == (False, 1)
    queue.done(first)
    assert not queue.is_ready
    queue.done(second)
    assert queue.pop().item == "one2"


def test_a_request_that_moves_to_its_organization_keeps_its_turn():
    queue, ticks = _queue(at_once=1, patience=10)
    unknown, known = Share("peer", "one", is_known=False), Share("acme", "one")
    queue.add(unknown, "a")
    queue.add(unknown, "b")
    ticks.now = 5
    queue.add(known, "c")
    first = queue.pop()
    taken = queue.pop()
    assert (first.item, taken.item) == ("a", "c")
    queue.done(taken)
    queue.add(known, "d")
    queue.move(first, known)
    ticks.now = 12
    assert queue.expired() == ["b"]
    queue.done(first)
    assert queue.pop().item == "d"


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        ({"waiting": 2}, HTTPStatus.SERVICE_UNAVAILABLE),
        ({"of_org": 2}, HTTPStatus.TOO_MANY_REQUESTS),
        ({"of_key": 2}, HTTPStatus.TOO_MANY_REQUESTS),
        ({}, None),
    ],
)
def test_requests_over_a_limit_are_refused(limits, status):
    queue, _ = _queue(**limits)
    _fill(queue, "a", "a")
    assert queue.refusal(Share("a", "key of a")) == status
    if "waiting" not in limits:
        assert queue.refusal(Share("b", "key of b")) is None
    queue.pop()
    assert queue.refusal(Share("a", "key of a")) is None


def test_requests_that_wait_too_long_leave_the_queue():
    queue, ticks = _queue(patience=10)
    _fill(queue, "a", "b")
    ticks.now = 6
    _fill(queue, "b")
    assert queue.expired() == []
    ticks.now = 11
    assert queue.expired() == ["a0", "b1"]
    assert queue.pop().item == "b0"
    assert (queue.is_ready, len(queue)) == (False, 0)


@pytest.mark.parametrize(
    ("method", "path", "length", "lane"),
    [
        ("GET", "/healthz", 0, lanes.PROBES),
        ("GET", "/metrics", 0, lanes.PROBES),
        ("POST", "/api/preflight/text", 8_192, lanes.SMALL_TEXTS),
        ("POST", "/api/preflight/text", 8_193, lanes.LARGE_TEXTS),
        ("POST", "/api/preflight", 10, lanes.FILES),
        ("GET", "/api/preflight/pf_1/file", 0, lanes.LOOKUPS),
        ("POST", "/api/organizations", 10, lanes.ADMINISTRATION),
        ("POST", "/v1/license/usage", 10, lanes.ADMINISTRATION),
        ("GET", "/nowhere", 0, lanes.ADMINISTRATION),
    ],
)
def test_the_lane_of_a_request(method, path, length, lane):
    assert lane_of(method, path, length) == lane


def test_keys_of_one_organization_share_its_turns_and_unknown_ones_those_of_their_address():
    callers = Callers(lambda key: (f"policy of {key}", "acme"))
    unknown = callers.share("one", None, "10.0.0.1")
    guessed, elsewhere = (
        callers.share(None, "Bearer guessed", "10.0.0.1"),
        callers.share("one", None, "10.0.0.2"),
    )
    assert unknown.org == guessed.org != elsewhere.org
    assert len({unknown.key, elsewhere.key, guessed.key}) == 3
    assert callers.share(None, None, "10.0.0.1").key != callers.share(None, None, "10.0.0.2").key
    assert [unknown.is_known, guessed.is_known] == [False, False]
    for key in ("one", "two"):
        assert callers.of_key(key) == ("acme", f"policy of {key}", True)
    assert {callers.share(key, None, "10.0.0.1").org for key in ("one", "two")} == {"acme"}
    assert callers.share("one", None, "").key != callers.share("two", None, "").key
