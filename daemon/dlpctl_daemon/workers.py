"""The threads that answer small texts.

One of them, the taker, takes the requests in their order and does for each what does not wait for
the disk. When none is left it finishes them all: the first that needs the disk syncs it for all.
Meanwhile another thread becomes the taker. So the interpreter, which runs one thread at a time,
switches threads a few times for many requests, and not a few times for each.

A request that takes long delays no other: requests that arrive after it get another taker.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from http import HTTPStatus

from dlpctl_daemon.lanes import Connection, FairQueue, LaneRules, QueueEntry, Share

_MOST = 16
"""The most requests that are started before the first of them is finished."""
_STALLED_SECONDS = 0.01
"""The longest that a request may keep the taker from the next one."""
_END_SECONDS = 5.0


class Workers:
    def __init__(self, rules: LaneRules, failed: Callable[[BaseException], None]) -> None:
        """`failed` gets exceptions that no connection should raise."""
        self.rules = rules
        self._failed = failed
        self._lock = threading.Lock()
        self._new: deque[tuple[Share, Connection]] = deque()
        """Requests that are not in the queue yet, so that adding one needs no lock."""
        self._arrived: FairQueue[Connection] = FairQueue(rules)
        self._started: list[Connection] = []
        self._idle: list[_Worker] = []
        """The last to become idle is called first: its data is still in the caches of its
        processor.
        """
        self._taker: _Worker | None = None
        self._taken_at = 0.0
        self._is_ending = False
        self._threads = [_Worker(self._serve) for _ in range(rules.threads)]
        for thread in self._threads:
            thread.start()

    def put(self, share: Share, connection: Connection) -> HTTPStatus | None:
        """Let a connection wait for the next `hand_over`, or for an idle worker."""
        refused = self._arrived.refusal(share)
        if refused is None:
            self._new.append((share, connection))
        return refused

    def expired(self) -> list[Connection]:
        with self._lock:
            return self._arrived.expired() if self._arrived else []

    def hand_over(self) -> float | None:
        """Let a worker take the requests. Return the seconds after which to call again, so that
        none waits for a stalled one.
        """
        if not self._new and not self._arrived.is_ready and not self._started:
            return None
        with self._lock:
            self._take_in()
            if not self._arrived.is_ready and not self._started:
                return None
            now = time.monotonic()
            if self._taker is None or now - self._taken_at > _STALLED_SECONDS:
                self._call(now)
            return None if self._taker is None else _STALLED_SECONDS

    @property
    def is_busy(self) -> bool:
        """Return true while a request is answered."""
        return len(self._idle) < len(self._threads)

    def thread_ids(self) -> list[int]:
        """Return the numbers that the system knows the threads by."""
        return [thread.native_id for thread in self._threads if thread.native_id is not None]

    def shutdown(self) -> None:
        with self._lock:
            self._is_ending = True
            for worker in self._idle:
                worker.called.release()
        until = time.monotonic() + _END_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _take_in(self) -> None:
        while self._new:
            self._arrived.add(*self._new.popleft())

    def _call(self, now: float) -> None:
        if self._idle:
            self._taker = self._idle.pop()
            self._taken_at = now
            self._taker.called.release()

    def _serve(self, worker: _Worker) -> None:
        while True:
            with self._lock:
                self._take_in()
                if self._taker is None and (self._arrived.is_ready or self._started):
                    self._taker = worker
                is_called = self._taker is worker
                if not is_called:
                    if self._is_ending:
                        return
                    self._idle.append(worker)
            if is_called:
                for connection in self._start(worker):
                    self._finish(connection)
            else:
                worker.called.acquire()

    def _start(self, worker: _Worker) -> list[Connection]:
        """Start requests as the taker; return those that this worker is to finish."""
        taken: QueueEntry[Connection] | None = None
        while True:
            with self._lock:
                if taken is not None:
                    self._arrived.done(taken)
                self._take_in()
                if self._taker is not worker:
                    return [] if taken is None else [taken.item]
                if taken is not None:
                    self._started.append(taken.item)
                now = time.monotonic()
                if not self._arrived.is_ready or len(self._started) >= _MOST:
                    ready, self._started, self._taker = self._started, [], None
                    if self._arrived.is_ready:
                        self._call(now)
                    return ready
                taken, self._taken_at = self._arrived.pop(), now
            if not taken.share.is_known:
                taken.item.identified = partial(self._move, taken)
            taken.item.start()

    def _move(self, taken: QueueEntry[Connection], share: Share) -> None:
        with self._lock:
            self._arrived.move(taken, share)

    def _finish(self, connection: Connection) -> None:
        try:
            connection.service()
        except BaseException as problem:
            self._failed(problem)


class _Worker(threading.Thread):
    def __init__(self, serve: Callable[[_Worker], None]) -> None:
        super().__init__(name="worker", daemon=True)
        self._serve = serve
        self.called = threading.Lock()
        self.called.acquire()

    def run(self) -> None:
        self._serve(self)
