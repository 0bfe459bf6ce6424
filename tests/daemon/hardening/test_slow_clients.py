"""Clients that send or read slowly do not use up the connections of others."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from dlpctl_daemon.connections import Connections
from dlpctl_daemon.deadlines import Pace, Progress, Stage, Watch

_DRIPPING = 1_100


def _read_until_closed(connection):
    received = b""
    while piece := connection.recv(65536):
        received += piece
    return received


def test_slow_connections_exclude_no_other(service, victim, connect):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * _DRIPPING:
        pytest.skip("too few descriptors are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * _DRIPPING), hard))
    for number in range(_DRIPPING):
        connect(b"POST /api/preflight/text HTTP/1.1\r\nHost: localhost\r\n")
        if number % 100 == 0:
            assert victim.check().status == 200
    for _ in range(20):
        assert victim.check().status == 200
    assert service.ask("GET", "/healthz").status == 200


def test_a_request_in_work_is_never_dropped(start, wait_for, tmp_path):
    with start(connections=10) as service, ExitStack() as stack:
        key, release = service.key(), tmp_path / "release"
        text = f"hold {release} ".ljust(20_000, ".")
        with ThreadPoolExecutor(1) as pool:
            working = pool.submit(service.check, key, text)
            wait_for(release.with_suffix(".held").exists)
            for _ in range(20):
                stack.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            assert service.check(key).status == 200
            release.touch()
            assert working.result().status == 200


def test_clients_that_do_not_read_hold_no_thread(service, victim, attacker, connect):
    status, body = victim.check_file(b"nothing to see here\n" * 250_000)
    assert status == 200
    path = body.partition(b'masked_file_url":"')[2].partition(b'"')[0].partition(b"/api")[2]
    request = (
        b"GET /api"
        + path
        + b" HTTP/1.1\r\nHost: localhost\r\nX-Service-API-Key: "
        + victim.key.encode()
    )
    for _ in range(12):
        connect(request + b"\r\n\r\n")
    for _ in range(5):
        assert victim.check().status == 200
    assert service.ask("GET", f"/api{path.decode()}", X_Service_API_Key=victim.key).status == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "stage"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost", "headers"),
        (
            b"POST /api/preflight/text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
            "body",
        ),
    ],
)
def test_a_body_that_arrives_too_slowly_is_refused(service, connect, sent, stage):
    connection = connect(sent)
    assert b" 408 Request Timeout\r\n" in _read_until_closed(connection), stage
    assert '"status": 408' in service.log.read_text("utf-8")


def test_a_request_in_single_bytes_is_answered(victim, connect):
    connection = connect(b"")
    for byte in b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":
        connection.sendall(bytes([byte]))
        time.sleep(0.002)
    assert _read_until_closed(connection).startswith(b"HTTP/1.1 200 ")


class TestPace:
    """Return how often a client is read, with a clock that the test moves."""

    def test_a_client_that_drips_is_read_ever_less_often(self):
        pace, now, read = Pace(100.0), 100.0, []
        while now < 164:
            now += 1
            read.append(now - 100)
            now += pace.rest(1, now)
        assert read == [1, 3, 7, 15, 31, 63]

    @pytest.mark.parametrize(("received", "after"), [(10, 0.001), (65_536, 5.0), (1_400, 0.5)])
    def test_a_client_of_usual_speed_is_read_immediately(self, received, after):
        assert Pace(100.0).rest(received, 100.0 + after) == 0


class TestWatch:
    """Deadlines, with a clock that the test moves."""

    @pytest.mark.parametrize(
        ("stage", "seconds"),
        [(Stage.IDLE, 60), (Stage.HEADERS, 10), (Stage.BODY, 10), (Stage.LINGERING, 2)],
    )
    def test_a_stage_without_progress_ends(self, stage, seconds):
        watch, seen = Watch(), Progress(stage, 0, 0, 1_000)
        assert not watch.is_overdue(seen, 100)
        assert not watch.is_overdue(seen, 100 + seconds - 1)
        assert watch.is_overdue(seen, 101 + seconds)

    def test_work_of_the_service_may_take_any_time(self):
        watch = Watch()
        assert not any(
            watch.is_overdue(Progress(Stage.WORK, 0), now) for now in range(0, 10_000, 100)
        )

    def test_a_new_request_has_time_of_its_own(self):
        watch = Watch()
        late = [watch.is_overdue(Progress(Stage.HEADERS, now // 8), now) for now in range(100)]
        assert not any(late)

    @pytest.mark.parametrize(("rate", "is_late"), [(100, True), (2_000, False)])
    def test_a_body_must_arrive_at_a_minimum_rate(self, rate, is_late):
        watch, size = Watch(), 100_000
        late = [
            watch.is_overdue(Progress(Stage.BODY, 0, rate * now, size - rate * now), now)
            for now in range(20)
        ]
        assert any(late) is is_late

    def test_a_body_at_the_slowest_pace_ends_all_the_same(self):
        watch, size = Watch(), 1_000_000
        late = [
            watch.is_overdue(Progress(Stage.BODY, 0, 1_000 * now, size - 1_000 * now), now)
            for now in range(1_000)
        ]
        assert late.index(True) < 60


class Tabled:
    def __init__(self, table, peer, *, expendable=True):
        self.table = table
        self.peer = peer
        self.is_expendable = expendable
        self.is_open = True
        table.add(self)

    def handle_close(self):
        self.is_open = False
        self.table.remove(self)


class TestConnections:
    def test_a_new_client_replaces_the_one_that_waited_longest(self):
        table = Connections(4)
        first, second, third, fourth = (Tabled(table, peer) for peer in ("a", "b", "a", "b"))
        table.waits(first)
        assert table.make_room("c")
        assert [one.is_open for one in (first, second, third, fourth)] == [True, False, True, True]

    def test_a_peer_makes_room_for_itself_once_it_has_half_of_the_places(self):
        table = Connections(4)
        other = Tabled(table, "b")
        own = [Tabled(table, "a") for _ in range(2)]
        assert table.make_room("a")
        assert [one.is_open for one in (other, *own)] == [True, False, True]

    @pytest.mark.parametrize("peer", ["", "10.0.0.1"])
    def test_a_proxy_may_use_all_connections(self, peer):
        table = Connections(4, ["10.0.0.1"])
        own = [Tabled(table, peer) for _ in range(3)]
        assert table.make_room(peer)
        assert all(one.is_open for one in own)

    def test_without_a_waiting_client_there_is_no_room(self):
        table = Connections(2)
        busy = [Tabled(table, peer, expendable=False) for peer in ("a", "b")]
        assert not table.make_room("c")
        assert all(one.is_open for one in busy)
