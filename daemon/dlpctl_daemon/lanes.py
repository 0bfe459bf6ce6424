"""Lanes: requests of one kind wait for threads of their own, and organizations take turns within
each.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from dlpctl.agents.installing import HOOK_PATH

SMALL_BYTES = 8 << 10
"""The largest body that counts as a small text. A dense text of this size holds the interpreter for
100 ms; a larger one goes to a process of its own, which costs it 1 ms."""

PROBES = "probes"
ADMISSION = "admission"
ADMINISTRATION = "administration"
LOOKUPS = "lookups"
SMALL_TEXTS = "small_texts"
LARGE_TEXTS = "large_texts"
FILES = "files"

_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
_TEXT_CHECK = "/api/preflight/text"
_FILE_CHECK = "/api/preflight"
_TEXT_PREVIEW, _FILE_PREVIEW = "/preview/text", "/preview/file"
"""Ends of paths. Inspectors make previews, so they wait where contents for inspectors wait."""


class Share(NamedTuple):
    """The organization and the key that a request counts for."""

    org: str
    key: str
    is_known: bool = True
    """False while the organization of the key is not known: the address counts in its place."""


class LaneRules(NamedTuple):
    """Limits of a lane: the requests that it answers at a time, and those that may wait."""

    name: str
    threads: int
    at_once: int
    """Requests of one organization that are answered at the same time."""
    waiting: int
    waiting_of_org: int
    waiting_of_key: int
    patience: float
    """Seconds after which a waiting request is refused."""


class Connection(Protocol):
    """A connection with a request."""

    identified: Callable[[Share], None] | None
    """Called with the share of a request of which it was not known before."""

    def start(self) -> None:
        """Do all that does not wait for the disk."""

    def service(self) -> None:
        """Do the rest, and answer."""


class Lane(Protocol):
    """A queue with its threads."""

    rules: LaneRules

    def put(self, share: Share, connection: Connection) -> HTTPStatus | None:
        """Let a connection wait for a thread, or return the status of the refusal."""

    def expired(self) -> list[Connection]:
        """Remove the connections that have waited too long."""

    def shutdown(self) -> None:
        """End the threads once the queue is empty."""


def lane_rules(threads: int, inspectors: int) -> Iterator[LaneRules]:
    """`threads` is for small texts; `inspectors` is the number of processes for large texts, and
    for files.
    """
    half = max(1, inspectors // 2)
    yield LaneRules(PROBES, 2, 2, 64, 64, 64, 10.0)
    yield LaneRules(ADMISSION, 2, 1, 256, 64, 64, 10.0)
    yield LaneRules(ADMINISTRATION, 4, 2, 256, 64, 64, 30.0)
    yield LaneRules(LOOKUPS, 2, 1, 256, 64, 64, 10.0)
    yield LaneRules(SMALL_TEXTS, threads, max(2, threads // 4), 1024, 512, 512, 10.0)
    yield LaneRules(LARGE_TEXTS, inspectors, half, 128, 32, 32, 60.0)
    yield LaneRules(FILES, inspectors, half, 64, 32, 32, 120.0)


def lane_of(method: str, path: str, length: int) -> str:
    """Return the lane of a request; `length` is that of its body."""
    if method == "POST":
        if path in (_TEXT_CHECK, HOOK_PATH):
            return SMALL_TEXTS if length <= SMALL_BYTES else LARGE_TEXTS
        if path == _FILE_CHECK or path.endswith(_FILE_PREVIEW):
            return FILES
        if path.endswith(_TEXT_PREVIEW):
            return LARGE_TEXTS
    if path in _PROBES:
        return PROBES
    return LOOKUPS if path.startswith(_FILE_CHECK) else ADMINISTRATION


_Item = TypeVar("_Item")


class QueueEntry(Generic[_Item]):
    """An item in a queue, and after that among those that are answered."""

    __slots__ = ("item", "share", "since")

    def __init__(self, item: _Item, share: Share, since: float) -> None:
        self.item = item
        self.share = share
        self.since = since


class FairQueue(Generic[_Item]):
    """A queue in which organizations take turns, within their limits. It needs a lock around it."""

    def __init__(self, rules: LaneRules, clock: Callable[[], float] = time.monotonic) -> None:
        self._rules = rules
        self._clock = clock
        self._waiting: dict[str, deque[QueueEntry[_Item]]] = {}
        self._turns: OrderedDict[str, None] = OrderedDict()
        """The organizations whose next request may start."""
        self._running: Counter[str] = Counter()
        self._of_key: Counter[str] = Counter()
        self._size = 0

    def __len__(self) -> int:
        """Return how many wait, whether or not they may start."""
        return self._size

    @property
    def is_ready(self) -> bool:
        """Return true if the next request may start."""
        return bool(self._turns)

    def refusal(self, share: Share) -> HTTPStatus | None:
        """Return the status to refuse a request with if too many wait already."""
        rules, (org, key, _) = self._rules, share
        if self._size >= rules.waiting:
            return HTTPStatus.SERVICE_UNAVAILABLE
        queue = self._waiting.get(org)
        if queue is None or (
            len(queue) < rules.waiting_of_org and self._of_key[key] < rules.waiting_of_key
        ):
            return None
        return HTTPStatus.TOO_MANY_REQUESTS

    def add(self, share: Share, item: _Item) -> None:
        self._append(QueueEntry(item, share, self._clock()))
        self._give_turn(share.org)

    def pop(self) -> QueueEntry[_Item]:
        """Take the next item."""
        org, _ = self._turns.popitem(last=False)
        queue = self._waiting[org]
        taken = queue.popleft()
        self._running[org] += 1
        self._forget(taken)
        if not queue:
            del self._waiting[org]
        self._give_turn(org)
        return taken

    def done(self, taken: QueueEntry[_Item]) -> None:
        self._end(taken.share.org)

    def move(self, taken: QueueEntry[_Item], share: Share) -> None:
        """Count an item that was taken for its organization, which is known only now; what waits
        with the same key waits there, too.
        """
        before, taken.share = taken.share, share
        self._running[share.org] += 1
        waiting = self._waiting.pop(before.org, ())
        for entry in sorted([*waiting, *self._waiting.pop(share.org, ())], key=_since):
            self._forget(entry)
            if entry.share.key == before.key:
                entry.share = share
            self._append(entry)
        self._turns.pop(share.org, None)
        self._give_turn(share.org)
        self._end(before.org)

    def _append(self, entry: QueueEntry[_Item]) -> None:
        self._waiting.setdefault(entry.share.org, deque()).append(entry)
        self._of_key[entry.share.key] += 1
        self._size += 1

    def _give_turn(self, org: str) -> None:
        if org in self._waiting and self._running[org] < self._rules.at_once:
            self._turns[org] = None

    def _end(self, org: str) -> None:
        self._running[org] -= 1
        if not self._running[org]:
            del self._running[org]
        if org in self._waiting:
            self._give_turn(org)
        else:
            self._turns.pop(org, None)

    def expired(self) -> list[_Item]:
        """Remove what has waited longer than its patience."""
        before = self._clock() - self._rules.patience
        expired = []
        for org, queue in list(self._waiting.items()):
            while queue and queue[0].since < before:
                late = queue.popleft()
                self._forget(late)
                expired.append(late.item)
            if not queue:
                del self._waiting[org]
                self._turns.pop(org, None)
        return expired

    def _forget(self, entry: QueueEntry[_Item]) -> None:
        self._size -= 1
        key = entry.share.key
        self._of_key[key] -= 1
        if not self._of_key[key]:
            del self._of_key[key]


def _since(entry: QueueEntry[Any]) -> float:
    return entry.since
