"""Threads that each answer one request at a time, for lanes whose requests take long or wait for
something else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus

from dlpctl_daemon.lanes import Connection, FairQueue, LaneRules, QueueEntry, Share

_END_SECONDS = 5.0
_PAUSE_SECONDS = 0.001
_MOST_PAUSES = 5


class Crew:
    def __init__(
        self,
        rules: LaneRules,
        failed: Callable[[BaseException], None],
        gives_way: Callable[[], bool],
    ) -> None:
        """`failed` gets exceptions that no connection should raise; while `gives_way()`, a request
        waits for some milliseconds.
        """
        self.rules = rules
        self._failed = failed
        self._gives_way = gives_way
        self._queue: FairQueue[Connection] = FairQueue(rules)
        self._changed = threading.Condition()
        self._is_ending = False
        self._threads = [
            threading.Thread(target=self._serve, name=rules.name, daemon=True)
            for _ in range(rules.threads)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, share: Share, connection: Connection) -> HTTPStatus | None:
        with self._changed:
            refused = self._queue.refusal(share)
            if refused is None:
                self._queue.add(share, connection)
                self._changed.notify()
        return refused

    def expired(self) -> list[Connection]:
        with self._changed:
            return self._queue.expired() if self._queue else []

    def shutdown(self) -> None:
        with self._changed:
            self._is_ending = True
            self._changed.notify_all()
        until = time.monotonic() + _END_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._queue.is_ready:
                    if self._is_ending:
                        return
                    self._changed.wait()
                taken = self._queue.pop()
                connection = taken.item
            if not taken.share.is_known:
                connection.identified = partial(self._move, taken)
            self._pause()
            try:
                connection.start()
                connection.service()
            except BaseException as problem:
                self._failed(problem)
            with self._changed:
                self._queue.done(taken)
                if self._queue.is_ready:
                    self._changed.notify()

    def _move(self, taken: QueueEntry[Connection], share: Share) -> None:
        with self._changed:
            self._queue.move(taken, share)
            if self._queue.is_ready:
                self._changed.notify()

    def _pause(self) -> None:
        """Let others finish first: two threads that compute at once take twice the time each."""
        for _ in range(_MOST_PAUSES):
            if not self._gives_way():
                break
            time.sleep(_PAUSE_SECONDS)
