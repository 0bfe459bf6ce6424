"""Two services on one database, killed and starved under load: answered checks are recorded,
counted and chained.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
from collections import Counter
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.service import ControlPlane

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.daemon.conftest import Running

_CLIENTS = 6
_ROOM = 4096


class Load:
    """Clients that check all the time, each at one of the services in turn."""

    def __init__(self, services: list[Running], key: str) -> None:
        self.services = services
        self.answered: set[str] = set()
        self.statuses: Counter[int] = Counter()
        self.stop = threading.Event()
        self._key = key
        self._threads = [threading.Thread(target=self._ask, args=(one,)) for one in range(_CLIENTS)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, number: int) -> None:
        while not self.stop.is_set():
            try:
                answer = self.services[number % len(self.services)].check(self._key)
            except (OSError, ValueError):  # it was killed, perhaps in the middle of its answer
                self.stop.wait(0.01)
                continue
            self.statuses[answer.status] += 1
            if answer.status == 200:
                self.answered.add(answer.json["preflight_id"])
            else:
                self.stop.wait(0.01)
            number += answer.status != 200


class Pair:
    """Two services on one folder."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self._stacks = [ExitStack(), ExitStack()]
        self.services = [stack.enter_context(start()) for stack in self._stacks]

    def restart(self, number: int) -> None:
        """Kill a service without any warning, and start it again."""
        self._stacks[number].close()
        self.services[number] = self._stacks[number].enter_context(self._start())

    def close(self) -> None:
        for stack in self._stacks:
            stack.close()


@pytest.fixture
def pair(start: Callable[[], Any]) -> Iterator[Pair]:
    with closing(Pair(start)) as both:
        yield both


def stored_in(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / "control.db")) as database:
        return {row[0] for row in database.execute("SELECT preflight_id FROM checks")}


def assert_all_there(folder: Path, answered: set[str], detector: Any) -> int:
    stored = stored_in(folder)
    assert answered <= stored
    with ControlPlane.open(folder, lambda: detector) as control:
        assert control.maintenance.check() == ()
        report = control.audit.verify(LOCAL)
        assert (report.intact, report.checked) == (True, len(stored))
        assert sum(one.checks_this_month for one in control.licenses.list(LOCAL, "acme")) == len(
            stored
        )
        assert control.analytics.organization(LOCAL, "acme").total_checks == len(stored)
    return len(stored)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of another process")
def test_no_answered_check_is_lost_by_kills_and_full_disks(
    pair: Pair, wait_for: Callable[[Callable[[], object]], None], detector: Any
) -> None:
    resource = pytest.importorskip("resource")
    chance = random.Random(1)
    folder = pair.services[0].folder
    with Load(pair.services, pair.services[0].key()) as load:
        for round_ in range(50):
            victim = round_ % 2
            if round_ % 5 == 0:
                refused = load.statuses[503]
                pid = pair.services[victim].process.pid
                before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (_ROOM, before[1]))
                wait_for(lambda refused=refused: load.statuses[503] > refused)
                if round_ % 10 == 0:
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
            enough = len(load.answered) + chance.randrange(5, 60)
            wait_for(lambda enough=enough: len(load.answered) >= enough)
            pair.restart(victim)
    pair.close()
    assert set(load.statuses) == {200, 503}
    assert assert_all_there(folder, load.answered, detector) >= 50 * 5


@pytest.mark.slow
def test_a_quota_is_exact_over_two_services_and_kills(
    pair: Pair, wait_for: Callable[[Callable[[], object]], None], detector: Any
) -> None:
    folder, key = pair.services[0].folder, pair.services[0].key()
    first = pair.services[0]
    for license_ in first.administer("GET", "/api/orgs/acme/licenses"):
        path = f"/api/orgs/acme/licenses/{license_['license_id']}"
        first.administer("PATCH", path, {"max_checks_per_month": 300})
    with Load(pair.services, key) as load:
        for round_ in range(4):
            enough = len(load.answered) + 40
            wait_for(lambda enough=enough: len(load.answered) >= enough or load.statuses[429])
            pair.restart(round_ % 2)
        wait_for(lambda: load.statuses[429] > _CLIENTS)
    pair.close()
    assert set(load.statuses) == {200, 429}
    licenses = 2
    assert assert_all_there(folder, load.answered, detector) == 300 * licenses
