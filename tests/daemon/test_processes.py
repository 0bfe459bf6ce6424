"""The service in several processes: limits that apply to all of them together, and the death of
one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.cookiejar import CookieJar
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dlpctl.config.settings import Serve
from dlpctl.control.access import LOCAL
from dlpctl.control.rates import Rate, RateLimiter
from dlpctl.control.service import ControlPlane
from dlpctl.errors import RateLimitError, UsageError
from dlpctl_daemon.memory import Counters, Lease, Memory, SharedBuckets
from dlpctl_daemon.options import Options

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are forked")


@pytest.fixture
def pair(shared, wait_for):
    """The service of this module, once both of its processes answer."""
    wait_for(lambda: both_run(shared))
    return shared


def children(parent):
    """The numbers of the processes that a process has started."""
    asked = ["ps", "-A", "-o", "pid=,ppid=,stat="]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {
        int(pid) for pid, its, state, *_ in rows if int(its) == parent and not state.startswith("Z")
    }


def is_alive(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def number_of(service, name):
    """A number of the metrics."""
    token = (service.folder / "admin.token").read_text("ascii").strip()
    text = service.ask("GET", "/metrics", Authorization=f"Bearer {token}").body.decode()
    return sum(float(each) for each in re.findall(rf"(?m)^{name}(?:\{{.*\}})? (\S+)$", text))


def both_run(service):
    return number_of(service, "dlpctl_processes") == 2


def hold(service, key, number, pool, wait_for):
    """Send checks until so many are held: which process takes one is for the system to choose."""
    answers = []

    def are_held():
        if service.held() < number:
            answers.append(pool.submit(service.check, key, "held"))
        return service.held() == number

    wait_for(are_held)
    return answers


def stored(folder):
    with closing(sqlite3.connect(folder / "control.db")) as database:
        return {row[0] for row in database.execute("SELECT preflight_id FROM checks")}


def assert_nothing_is_lost(folder, detector, answered):
    with ControlPlane.open(folder, lambda: detector) as control:
        assert control.audit.verify(LOCAL).intact
        assert control.maintenance.check() == ()
        counted = sum(one.checks_this_month for one in control.licenses.list(LOCAL, "acme"))
    recorded = stored(folder)
    assert answered <= recorded
    assert counted == len(recorded)


def test_all_processes_answer_and_end_when_told(start, wait_for):
    with start(processes=2, threads=4) as service:
        key = service.key()
        wait_for(lambda: both_run(service))
        first = json.loads(service.log.read_text("utf-8").partition("\n")[0])
        assert (first["event"], first["processes"]) == ("listening", 2)
        with ThreadPoolExecutor(40) as pool:
            # Two of an organization in each process: no process would answer four at a time.
            answers = hold(service, key, 4, pool, wait_for)
            service.process.terminate()
            wait_for(lambda: _refuses(service.port))
            service.release()
            # A check that was still on its way is refused, and no other.
            statuses = [_status(answer) for answer in answers]
            assert statuses.count(200) >= 4
            assert {*statuses} <= {200, None}
        assert service.process.wait(timeout=300) == 0
        log = service.log.read_text("utf-8")
    assert '"ended"' in log
    assert '"error"' not in log


def _status(answer):
    """Return the status of an answer; None if the connection was refused or not accepted."""
    try:
        return answer.result().status
    except urllib.error.URLError as error:
        if not isinstance(error.reason, ConnectionError):
            raise
        return None


def _refuses(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return True
    return False


def test_signals_for_the_whole_group_end_it_in_order(start, wait_for):
    """systemd and terminals send a signal to all processes at once."""
    with start(processes=2) as service:
        key = service.key()
        wait_for(lambda: both_run(service))
        with ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(service.check, key, "held") for _ in range(4)]
            wait_for(lambda: service.held() == 4)
            for pid in (*children(service.process.pid), service.process.pid):
                os.kill(pid, signal.SIGTERM)
            service.release()
            assert [answer.result().status for answer in answers] == [200] * 4
        assert service.process.wait(timeout=300) == 0


def test_a_second_signal_ends_it_immediately(start, wait_for):
    with start(processes=2) as service, ThreadPoolExecutor(1) as pool:
        key = service.key()
        wait_for(lambda: both_run(service))
        answer = pool.submit(service.check, key, "held")
        wait_for(lambda: service.held() == 1)
        service.process.terminate()
        wait_for(lambda: _refuses(service.port))
        service.process.terminate()
        assert service.process.wait(timeout=300) == 0
        with pytest.raises(OSError, match=r"closed|reset"):
            answer.result()


def test_a_dead_process_is_replaced_and_its_answered_checks_are_recorded(
    start, wait_for, detector, load_of
):
    with start(processes=2) as service:
        key = service.key()
        wait_for(lambda: both_run(service))
        with load_of(service, key) as load:
            for died in (1, 2):
                enough = len(load.answered) + 10
                wait_for(lambda enough=enough: len(load.answered) >= enough)
                victim = children(service.process.pid).pop()
                os.kill(victim, signal.SIGKILL)
                wait_for(lambda died=died: _replaced(service) == died)
                wait_for(lambda: both_run(service))
            answered = len(load.answered)
            wait_for(lambda: len(load.answered) > answered)
        assert "process ended" in service.log.read_text("utf-8")
        service.process.terminate()
        assert service.process.wait(timeout=300) == 0
        assert_nothing_is_lost(service.folder, detector, load.answered)


def _replaced(service):
    try:
        return number_of(service, "dlpctl_replaced_processes_total")
    except OSError:
        return None  # it was the one that died


def test_processes_end_with_their_supervisor(start, wait_for, detector, load_of):
    with start(processes=2) as service:
        key = service.key()
        wait_for(lambda: both_run(service))
        left = children(service.process.pid)
        with load_of(service, key) as load:
            wait_for(lambda: len(load.answered) >= 10)
            service.process.kill()
            service.process.wait()
            wait_for(lambda: not any(map(is_alive, left)))
        assert len(left) == 2
        assert_nothing_is_lost(service.folder, detector, load.answered)


def test_the_rate_of_a_key_holds_over_all_processes(start, wait_for):
    with start(processes=2, rate=1, burst=30) as service:
        key = service.key()
        wait_for(lambda: both_run(service))
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: service.check(key), range(60)))
        allowed = [answer for answer in answers if answer.status == 200]
        assert len(allowed) == 30
        assert {answer.status for answer in answers} == {200, 429}
        left = sorted(int(answer.headers["RateLimit-Remaining"]) for answer in allowed)
        assert left == list(range(30))


def test_the_quota_of_a_license_holds_over_all_processes(pair):
    key = pair.key("quota")
    for place, each in enumerate(pair.administer("GET", "/api/orgs/quota/licenses")):
        path = f"/api/orgs/quota/licenses/{each['license_id']}"
        pair.administer("PATCH", path, {"max_checks_per_month": (10, 15)[place]})
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: pair.check(key).status, range(50)))
    assert sorted(answers) == [200] * 25 + [429] * 25


def test_an_organization_leaves_others_their_part_of_each_process(start, wait_for):
    with start(processes=2, threads=4) as service:
        greedy, other = service.key("greedy"), service.key("other")
        wait_for(lambda: both_run(service))
        with ThreadPoolExecutor(40) as pool:
            held = hold(service, greedy, 4, pool, wait_for)
            held += [pool.submit(service.check, greedy, "held") for _ in range(16)]
            assert [service.check(other).status for _ in range(20)] == [200] * 20
            assert service.held() == 4
            service.release()
            assert {answer.result().status for answer in held} == {200}


def test_counters_are_those_of_all_processes(pair):
    key = pair.key("counted")
    before, seen = number_of(pair, "dlpctl_checks_total"), []
    for _ in range(10):
        assert [pair.check(key).status for _ in range(4)] == [200] * 4
        seen.append(number_of(pair, "dlpctl_checks_total") - before)
    assert seen == list(range(4, 44, 4))
    assert number_of(pair, "process_resident_memory_bytes") > 0


def test_changes_hold_in_all_processes_at_once(pair):
    key = pair.key("changed")
    (policy,) = pair.administer("GET", "/api/orgs/changed/policies")
    assert [pair.check(key).status for _ in range(10)] == [200] * 10
    path = f"/api/orgs/changed/policies/{policy['policy_id']}/regenerate-key"
    renewed = pair.administer("POST", path)["api_key"]
    assert [pair.check(key).status for _ in range(10)] == [401] * 10
    assert [pair.check(renewed).status for _ in range(10)] == [200] * 10


class Person:
    """A browser, which opens a connection for each request."""

    def __init__(self, service):
        self._base = f"http://127.0.0.1:{service.port}"
        handler = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(handler)

    def see(self, path, **form):
        body = urllib.parse.urlencode(form).encode() if form else None
        with self._opener.open(f"{self._base}{path}", body, timeout=300) as answer:
            return answer.url.removeprefix(self._base), answer.read().decode()


def test_people_are_signed_in_at_all_processes(pair):
    code = pair.administer("POST", "/api/console/links")["url"].partition("#")[2]
    person = Person(pair)
    assert person.see("/console/sign-in", token=code)[0] == "/console/"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        Person(pair).see("/console/sign-in", token=code)
    for _ in range(10):
        path, page = person.see("/console/organizations")
        assert path == "/console/organizations"
    csrf = re.search(r'data-csrf="([^"]+)"', page)[1]
    for number in range(4):
        form = {"csrf": csrf, "fields": "name", "name": f"Made {number}"}
        form["next"] = "/console/organizations"
        page = person.see("/console/do/create_organization", **form)[1]
        assert "The organization was created" in page
        assert "The organization was created" not in person.see("/console/organizations")[1]
    assert person.see("/console/organizations?org=made-3")[0] == "/console/organizations?org=made-3"
    assert all("selected" in person.see("/console/organizations")[1] for _ in range(6))
    person.see("/console/sign-out", csrf=csrf)
    assert all(person.see("/console/organizations")[0].startswith("/console/sign-in") for _ in "ab")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="lists sockets of processes")
def test_clients_are_shared_out(pair, wait_for):
    """A process that is kept from running for a moment leaves its part to the other."""
    wait_for(lambda: _difference(pair) <= 4)


def _difference(service):
    """Return how many more of twenty connections one process has than the other."""
    with ExitStack() as opened:
        for _ in range(20):
            client = opened.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
        numbers = [_sockets(pid) for pid in children(service.process.pid)]
    return max(numbers) - min(numbers)


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs two processors that can be chosen",
)
def test_processes_keep_to_their_processors_and_inspectors_do_not(pair):
    usable = os.sched_getaffinity(0)
    pids = children(pair.process.pid)
    first, second = (os.sched_getaffinity(pid) for pid in pids)
    assert first | second == usable
    assert not first & second
    assert pair.check(pair.key("large"), "long " * 4_000).status == 200
    (inspector,) = set().union(*map(children, pids))
    assert os.sched_getaffinity(inspector) == usable


def _sockets(pid):
    files = Path(f"/proc/{pid}/fd").iterdir()
    return sum(str(file.readlink()).startswith("socket:") for file in files)


def test_a_service_that_cannot_start_says_so():
    done = supervised("raise StoreError('no disk')")
    assert done.returncode == 1
    assert 'process failed problem="no disk"' in done.stderr
    assert done.stderr.endswith("no process of the service has started; its log tells why\n")


def test_a_fork_that_fails_is_tried_again():
    done = supervised("wait_for_end(connection)", failing_forks=1)
    assert done.returncode == 0
    assert 'process not started problem="no memory"' in done.stderr
    assert "process ended" not in done.stderr


def supervised(work, failing_forks=0):
    """Let two processes do `work` until one is ready."""
    script = f"""if True:
        import os, signal, sys, threading
        from dlpctl.errors import DlpctlError, StoreError
        from dlpctl_daemon.desk import Desk
        from dlpctl_daemon.logs import Log
        from dlpctl_daemon.memory import Memory
        from dlpctl_daemon.supervision import Supervisor

        def wait_for_end(connection):
            ended = threading.Event()
            Desk(connection).ready(ended.set)
            ended.wait()

        def main(number, connection):
            {work}

        def fork(real=os.fork, failures=[OSError(12, "no memory")] * {failing_forks}):
            if failures:
                raise failures.pop()
            return real()

        os.fork = fork
        supervisor = Supervisor(main, 2, Memory.of(2), Log(sys.stderr))
        try:
            supervisor.run(lambda: os.kill(os.getpid(), signal.SIGTERM), lambda: None)
        except DlpctlError as error:
            sys.exit(error.message)
    """
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.usefixtures("no_fork")
def test_a_system_without_fork_has_one_process():
    Options(Serve()).checked()
    with pytest.raises(UsageError, match="cannot fork"):
        Options(Serve(processes=2)).checked()


# The memory that processes share


def in_children(number, work):
    """Let forked processes work, and return their exit statuses."""
    pids = []
    for child in range(number):
        pid = os.fork()
        if not pid:
            status = 255
            try:
                status = work(child) or 0
            finally:
                os._exit(status)
        pids.append(pid)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def test_processes_take_from_the_same_buckets():
    memory = Memory.of(3)
    limiter = RateLimiter(Rate(1, 100), buckets=memory.buckets)

    def take(_):
        given = 0
        for _ in range(80):
            with suppress(RateLimitError):
                limiter.take("key")
                given += 1
        return given

    assert sum(in_children(3, take)) == 100
    with pytest.raises(RateLimitError):
        limiter.take("key")
    assert limiter.take("another").remaining == 99


def test_buckets_that_have_no_room_forget_those_that_are_full_first(limit):
    limit("dlpctl_daemon.memory._SETS", 1)
    buckets = SharedBuckets(threading.Lock())
    for number in range(8):
        buckets.fill_until(f"key {number}", 100.0 + number)
    buckets.fill_until("key 0", 200.0)
    buckets.fill_until("new", 50.0)
    known = [buckets.full_at(f"key {number}") for number in range(8)]
    assert known == [200.0, float("-inf"), *(100.0 + number for number in range(2, 8))]
    assert buckets.full_at("new") == 50.0


def test_counters_add_up_and_outlive_their_process():
    counters = Counters(3, Lease())

    def count(process):
        counters.use(process)
        for _ in range(100 + process):
            counters.cells(("all",), 1)[0] += 1
            counters.cells((f"of {process}", "x"), 2)[1] += 0.5

    assert in_children(3, count) == [0, 0, 0]
    assert counters.sums() == {
        ("all",): [303.0],
        ("of 0", "x"): [0.0, 50.0],
        ("of 1", "x"): [0.0, 50.5],
        ("of 2", "x"): [0.0, 51.0],
    }


def test_series_without_room_are_lost_and_disturb_nothing(limit):
    limit("dlpctl_daemon.memory._NUMBERS", 3)
    counters = Counters(1, threading.Lock())
    for name in ("a", "b", "a"):
        counters.cells((name,), 2)[0] += 1
    assert counters.sums() == {("a",): [2.0, 0.0]}


def test_a_lock_of_a_killed_process_is_free_again():
    lock = Lease(0.05)

    def die(_):
        lock.__enter__()
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_children(1, die) == [-signal.SIGKILL]
    for _ in range(3):
        with lock:
            pass
    held = Lease(10)
    with held:
        assert not held._semaphore.acquire(False)
