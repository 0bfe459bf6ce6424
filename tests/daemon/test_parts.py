"""The parts of the service: buckets, readiness, housekeeping, options and the socket."""

from __future__ import annotations

import io
import socket
from contextlib import closing
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from dlpctl.config import load_config
from dlpctl.config.settings import Serve
from dlpctl.control.access import LOCAL
from dlpctl.control.rates import Rate, RateLimiter
from dlpctl.errors import ConfigError, RateLimitError, StoreError, UsageError
from dlpctl_daemon.admission import Budget
from dlpctl_daemon.housekeeping import Housekeeping
from dlpctl_daemon.listening import address, listen
from dlpctl_daemon.logs import Log
from dlpctl_daemon.metrics import Metrics
from dlpctl_daemon.options import Options, is_loopback
from dlpctl_daemon.readiness import Readiness

if TYPE_CHECKING:
    pass


class Ticks:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


def test_a_bucket_gives_its_burst_and_then_an_even_flow():
    ticks = Ticks()
    limiter = RateLimiter(Rate(600, 100), ticks)
    assert [limiter.take("a").remaining for _ in range(100)] == list(range(99, -1, -1))
    with pytest.raises(RateLimitError) as caught:
        limiter.take("a")
    assert (caught.value.limit, caught.value.retry_after) == (600, 1)
    assert limiter.take("b").remaining == 99
    given = 0
    for _ in range(600):
        ticks.now += 0.1
        given += limiter.take("a").remaining == 0
    assert given == 600
    ticks.now += 3_600
    allowance = limiter.take("a")
    assert (allowance.limit, allowance.remaining, allowance.reset) == (600, 99, 1)


def test_a_slow_rate_says_how_long_to_wait():
    limiter = RateLimiter(Rate(1, 1), Ticks())
    limiter.take("a")
    with pytest.raises(RateLimitError) as caught:
        limiter.take("a")
    assert caught.value.retry_after == 60


def test_bodies_are_limited_for_each_caller_and_in_all():
    megabyte = 1 << 20
    budget = Budget(5 * megabyte, 2 * megabyte)
    assert budget.reserve("a", 1) is None  # as a megabyte
    assert budget.reserve("a", megabyte) is None
    assert budget.reserve("a", 1) == 429
    budget.release("a", 1)
    assert budget.reserve("a", megabyte + 1) == 429
    assert budget.reserve("a", megabyte) is None
    assert budget.reserve("b", 2 * megabyte) is None
    assert budget.reserve("c", 2 * megabyte) == 503
    assert budget.reserve("c", megabyte) is None


def test_readiness_is_asked_once_a_second():
    ticks, asked = Ticks(), []
    readiness = Readiness(lambda: asked.append(1), ticks)
    for _ in range(5):
        readiness.check()
    assert len(asked) == 1
    ticks.now += 1.1
    readiness.check()
    assert len(asked) == 2


def test_failing_readiness_is_asked_again():
    def fail():
        raise StoreError("full")

    readiness = Readiness(fail, Ticks())
    for _ in range(2):
        with pytest.raises(StoreError):
            readiness.check()


@pytest.mark.of_a_file
def test_housekeeping_removes_old_data(caller, control, clock):
    ticks, log = Ticks(), io.StringIO()
    housekeeping = Housekeeping(control.maintenance, 30, Log(log), ticks)
    control.licenses.create(LOCAL, "acme", {"license_type": "enterprise"})
    caller.check_file(b"hello", "a.txt")
    housekeeping.tidy()
    assert list((control.folder / "masked").iterdir())
    clock.forward(days=31)
    caller.check()
    housekeeping.tidy()
    assert list((control.folder / "masked").iterdir())  # the clock has jumped
    for _ in range(25):
        clock.forward(hours=1)
        housekeeping.tidy()
    assert list((control.folder / "masked").iterdir()) == []
    assert control.audit.search(LOCAL).total == 2  # an hour has not passed
    ticks.now += 3_600
    housekeeping.tidy()
    assert control.audit.search(LOCAL).total == 1
    assert "swept masked_files=1" in log.getvalue()
    assert "pruned checks=1 older_than_days=30" in log.getvalue()


def test_housekeeping_continues_after_a_failure(wait_for):
    def fail():
        raise StoreError("disk is full")

    log = io.StringIO()
    housekeeping = Housekeeping(SimpleNamespace(sweep=fail), 0, Log(log))
    with housekeeping:
        wait_for(lambda: 'ERROR store problem="disk is full"' in log.getvalue())


def test_housekeeping_continues_after_a_disk_failure(wait_for, limit):
    rounds = []

    def sweep():
        rounds.append(1)
        raise OSError(5, "Input/output error", "/secret/place")

    log, metrics = io.StringIO(), Metrics()
    limit("dlpctl_daemon.housekeeping._SWEEP_SECONDS", 0.001)
    housekeeping = Housekeeping(SimpleNamespace(sweep=sweep), 0, Log(log), metrics=metrics)
    with housekeeping:
        wait_for(lambda: len(rounds) >= 3)
    assert "ERROR failed error=OSError" in log.getvalue()
    assert "secret" not in log.getvalue()
    assert f"dlpctl_housekeeping_failures_total {len(rounds)}" in metrics.text()


def test_checks_are_kept_by_default(caller, control, clock):
    caller.check()
    clock.forward(days=10_000)
    Housekeeping(control.maintenance, Serve().keep_days, Log(io.StringIO())).tidy()
    assert control.audit.search(LOCAL).total == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"host": "0.0.0.0"}, "--allow-remote"),
        ({"host": "::"}, "--allow-remote"),
        ({"host": "192.0.2.1"}, "TLS"),
        ({"public_url": "dlp.example.com"}, "public_url"),
        ({"public_url": "https://x.example/?a=b"}, "public_url"),
        ({"trusted_proxy": "*"}, "trusted_proxy"),
        ({"trusted_proxy": "proxy.example.com"}, "trusted_proxy"),
        ({"trusted_proxy": "10.0.0.0/8"}, "trusted_proxy"),
        ({"trusted_proxy": "0::1"}, "trusted_proxy"),
        ({"cors_origins": ("*",)}, "cors_origins"),
        ({"cors_origins": ("https://x.example/",)}, "cors_origins"),
    ],
)
def test_invalid_options(settings, words):
    with pytest.raises(UsageError, match=words):
        Options(Serve(**settings)).checked()


def test_options_that_do():
    Options(Serve(host="0.0.0.0"), allow_remote=True).checked()
    Options(Serve(host="0.0.0.0"), unix_socket="x").checked()
    for proxy in ("10.0.0.1", "::1", "localhost"):
        Options(Serve(trusted_proxy=proxy)).checked()
    assert all(map(is_loopback, ("localhost", "127.9.9.9", "::1", "[::1]")))


def test_settings_of_the_service(tmp_path):
    home = {"DLPCTL_HOME": str(tmp_path)}
    config = load_config(
        {"serve.port": 1}, environ=home | {"DLPCTL_SERVE_RATE": "7"}, working=tmp_path
    )
    assert (config.serve.port, config.serve.rate, config.serve.burst) == (1, 7, 100)
    for name, value in (
        ("SERVE_PORT", "x"),
        ("SERVE_PORT", "70000"),
        ("SERVE_LOG", "xml"),
        ("SERVE_RATE", "1.5"),
    ):
        with pytest.raises(ConfigError, match=name):
            load_config(environ=home | {f"DLPCTL_{name}": value}, working=tmp_path)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_where_it_listens(host):
    try:
        listening = listen(Options(Serve(host=host, port=0)))
    except UsageError:
        pytest.skip(f"this machine has no {host}")
    with closing(listening):
        assert address(listening).startswith("http://")
        with socket.create_connection(listening.getsockname()[:2]):
            pass


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no such sockets here")
def test_a_socket_file_that_is_not_its_own_stays(tmp_path):
    file = tmp_path / "x"
    file.write_text("mine")
    with pytest.raises(UsageError, match="no socket"):
        listen(Options(unix_socket=str(file)))
    assert file.read_text() == "mine"
    other = tmp_path / "s"
    with (
        closing(listen(Options(unix_socket=str(other)))),
        pytest.raises(UsageError, match="another service"),
    ):
        listen(Options(unix_socket=str(other)))


def test_the_clock_of_the_quota_is_the_months(caller, control, clock):
    (one,) = control.licenses.list(LOCAL, "acme")
    control.licenses.extend(
        LOCAL, "acme", one.license_id, {"max_checks_per_month": 1, "expires_at": "2027-01-01"}
    )
    assert [caller.check().status_code for _ in range(2)] == [200, 429]
    clock.now = clock.now.replace(month=4, day=1, hour=0) + timedelta(seconds=1)
    assert caller.check().status_code == 200
