"""The threads that answer, with fake connections; and answers that wait for the disk."""

from __future__ import annotations

import io
import json
import threading
import time

import pytest

from dlpctl.control.access import LOCAL
from dlpctl_daemon.crew import Crew
from dlpctl_daemon.lanes import LaneRules, Share
from dlpctl_daemon.workers import Workers
from tests.daemon.conftest import lose_checks

ANYONE = Share("", "")

EMAIL = "write to jane.doe@corp.example.net"


class Noted:
    def __init__(self, name, happened, *, slow=None, fails=False):
        self.name = name
        self.happened = happened
        self.slow = slow
        self.fails = fails
        self.done = threading.Event()

    def start(self):
        self.happened.append(f"start {self.name}")
        if self.slow is not None:
            self.slow.wait(timeout=300)

    def service(self):
        self.happened.append(f"end {self.name}")
        self.done.set()
        if self.fails:
            raise ValueError("no connection should")


@pytest.fixture
def crew():
    started = []

    def start(count):
        failures = []
        rules = LaneRules("small", count, count, 100, 100, 100, 60.0)
        started.append(Workers(rules, failures.append))
        return started[-1], failures

    yield start
    for workers in started:
        workers.shutdown()


def _until(workers, *connections):
    """As the loop does it."""
    while not all(one.done.is_set() for one in connections):
        time.sleep(workers.hand_over() or 0.001)


@pytest.mark.parametrize("busy", [[True, True, False], [True] * 100])
def test_small_texts_go_first_but_other_lanes_get_turns(busy):
    happened, asked = [], iter(busy)
    crew = Crew(LaneRules("files", 1, 1, 100, 100, 100, 60.0), happened.append, lambda: next(asked))
    connection = Noted("file", happened)
    assert crew.put(ANYONE, connection) is None
    assert connection.done.wait(timeout=300)
    crew.shutdown()
    assert happened == ["start file", "end file"]
    assert 0 < len(busy) - len(list(asked)) < 10


def test_arrived_requests_start_before_any_of_them_ends(crew):
    workers, _ = crew(4)
    happened = []
    some = [Noted(str(number), happened) for number in range(3)]
    for one in some:
        workers.put(ANYONE, one)
    _until(workers, *some)
    assert happened == ["start 0", "start 1", "start 2", "end 0", "end 1", "end 2"]
    assert workers.hand_over() is None


def test_slow_requests_delay_no_other(crew):
    workers, _ = crew(2)
    happened, slow = [], threading.Event()
    before, long, behind, later = (
        Noted(name, happened, slow=slow if name == "long" else None)
        for name in ("before", "long", "behind", "later")
    )
    for one in (before, long, behind):
        workers.put(ANYONE, one)
    _until(workers, before, behind)
    workers.put(ANYONE, later)
    _until(workers, later)
    assert not long.done.is_set()
    slow.set()
    assert long.done.wait(timeout=300)
    assert happened[-1] == "end long"


def test_with_all_at_work_the_rest_waits(crew):
    workers, _ = crew(2)
    happened, slow = [], threading.Event()
    long = [Noted(str(number), happened, slow=slow) for number in range(2)]
    for one in long:
        workers.put(ANYONE, one)
        while f"start {one.name}" not in happened:
            time.sleep(workers.hand_over() or 0.001)
    waiting = Noted("waiting", happened)
    workers.put(ANYONE, waiting)
    workers.hand_over()
    time.sleep(0.05)
    workers.hand_over()
    assert "start waiting" not in happened
    slow.set()
    for one in (*long, waiting):
        assert one.done.wait(timeout=300)


def test_a_failure_is_reported_and_the_worker_continues(crew):
    workers, failures = crew(1)
    happened = []
    for name in ("one", "two"):
        connection = Noted(name, happened, fails=True)
        workers.put(ANYONE, connection)
        _until(workers, connection)
    workers.shutdown()
    assert [type(one) for one in failures] == [ValueError, ValueError]


class Unfinished:
    """A request to the application, up to the answer that waits."""

    def __init__(self, caller, text=EMAIL):
        body = json.dumps({"text": text, "destination": "VENDOR"}).encode()
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/api/preflight/text",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": "localhost",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_X_SERVICE_API_KEY": caller.key,
            "wsgi.input": io.BytesIO(body),
            "wsgi.url_scheme": "http",
            "wsgi.errors": io.StringIO(),
        }
        self.heads = []
        self.answer = caller.client.application(
            environ, lambda status, headers, _=None: self.heads.append((status, dict(headers)))
        )

    def finish(self):
        said = json.loads(b"".join(self.answer))
        self.answer.close()
        ((status, headers),) = self.heads
        return int(status[:3]), headers, said


def test_an_answer_begins_when_its_check_is_recorded(caller, control):
    some = [Unfinished(caller) for _ in range(3)]
    assert [one.heads for one in some] == [[], [], []]
    assert control.audit.search(LOCAL).total == 0
    assert "/api/preflight/text" not in caller.log.getvalue()
    status, headers, said = some[0].finish()
    assert (status, said["decision"]) == (200, "ALLOWED_WITH_MASKING")
    assert int(headers["Content-Length"]) > 100
    assert headers["RateLimit-Limit"] == "60000"
    assert control.audit.search(LOCAL).total == 3
    assert caller.log.getvalue().count("/api/preflight/text") == 1
    assert [one.finish()[0] for one in some[1:]] == [200, 200]


def test_a_check_that_the_quota_does_not_reach_any_more_is_refused_after_all(caller, control):
    license_id = control.licenses.list(LOCAL, "acme")[0].license_id
    control.licenses.extend(LOCAL, "acme", license_id, {"max_checks_per_month": 1})
    some = [Unfinished(caller) for _ in range(2)]
    assert some[0].finish()[0] == 200
    status, headers, said = some[1].finish()
    assert status == 429
    assert "monthly quota" in said["detail"]
    assert int(headers["Retry-After"]) > 0
    assert headers["X-Frame-Options"] == "DENY"
    numbers = caller("GET", "/metrics").text
    assert 'dlpctl_checks_total{kind="text",decision="ALLOWED_WITH_MASKING"} 1' in numbers
    assert 'route="/api/preflight/text",status="429"} 1' in numbers


@pytest.mark.of_a_file
def test_a_check_that_cannot_be_recorded_is_not_answered(caller, control):
    lose_checks(control)
    status, headers, said = Unfinished(caller).finish()
    assert (status, headers["Retry-After"]) == (503, "5")
    assert "nothing was done" in said["detail"]
    assert "masked_content" not in said
    assert '"status": 503' in caller.log.getvalue()
    assert '"decision"' not in caller.log.getvalue()


def test_a_check_is_recorded_even_if_its_client_has_gone(caller, control):
    Unfinished(caller).answer.close()
    assert control.audit.search(LOCAL).total == 1


def test_a_slow_check_and_those_beside_it(start, wait_for):
    with start(threads=2) as service:
        key = service.key()
        service.check(key)
        slow = threading.Thread(target=service.check, args=(key, "held"))
        slow.start()
        wait_for(lambda: service.held() == 1)
        for _ in range(5):
            assert service.check(key).status == 200
        assert slow.is_alive()
        service.release()
        slow.join()
