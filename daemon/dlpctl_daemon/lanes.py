"""Lanes: requests of one kind wait for threads of their own, and organizations take turns within
each.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Generic, NamedTuple, Protocol, TypeVar

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


ANYONE = Share("", "")


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


class _Waiting(NamedTuple, Generic[_Item]):
    share: Share
    item: _Item
    since: float


class FairQueue(Generic[_Item]):
    """A queue in which organizations take turns, within their limits. It needs a lock around it."""

    def __init__(self, rules: LaneRules, clock: Callable[[], float] = time.monotonic) -> None:
        self._rules = rules
        self._clock = clock
        self._waiting: dict[str, deque[_Waiting[_Item]]] = {}
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
        rules, (org, key) = self._rules, share
        if self._size >= rules.waiting:
            return HTTPStatus.SERVICE_UNAVAILABLE
        queue = self._waiting.get(org)
        if queue is None or (
            len(queue) < rules.waiting_of_org and self._of_key[key] < rules.waiting_of_key
        ):
            return None
        return HTTPStatus.TOO_MANY_REQUESTS

    def add(self, share: Share, item: _Item) -> None:
        org, key = share
        queue = self._waiting.get(org)
        if queue is None:
            queue = self._waiting[org] = deque()
        queue.append(_Waiting(share, item, self._clock()))
        self._of_key[key] += 1
        self._size += 1
        if self._running[org] < self._rules.at_once:
            self._turns[org] = None

    def pop(self) -> tuple[str, _Item]:
        """Take the next item, with the organization to name when it is done."""
        org, _ = self._turns.popitem(last=False)
        queue = self._waiting[org]
        taken = queue.popleft()
        self._running[org] += 1
        self._forget(taken)
        if not queue:
            del self._waiting[org]
        elif self._running[org] < self._rules.at_once:
            self._turns[org] = None
        return org, taken.item

    def done(self, org: str) -> None:
        self._running[org] -= 1
        if not self._running[org]:
            del self._running[org]
        if org in self._waiting:
            self._turns[org] = None

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

    def _forget(self, taken: _Waiting[_Item]) -> None:
        self._size -= 1
        key = taken.share.key
        self._of_key[key] -= 1
        if not self._of_key[key]:
            del self._of_key[key]
