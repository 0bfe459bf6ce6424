"""What must be done now and then: masked files that have expired go, and checks that are too old to
be kept.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from dlpctl.errors import StoreError
from dlpctl.tempfiles import sweep

if TYPE_CHECKING:
    from dlpctl.control.maintenance import Maintenance
    from dlpctl_daemon.logs import Log

_SWEEP_SECONDS = 60.0
_PRUNE_SECONDS = 3_600.0


class Housekeeping:
    def __init__(
        self,
        maintenance: Maintenance,
        keep_days: int,
        log: Log,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`keep_days` is after how many days a check goes; 0 keeps all."""
        self._maintenance = maintenance
        self._keep = timedelta(days=keep_days)
        self._log = log
        self._clock = clock
        self._prune_at = clock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def tidy(self) -> None:
        """One round. What cannot be done now is done in the next one."""
        try:
            if swept := self._maintenance.sweep():
                self._log.info("swept", masked_files=swept)
            if self._keep and self._clock() >= self._prune_at:
                if pruned := self._maintenance.prune(self._keep):
                    self._log.info("pruned", checks=pruned, older_than_days=self._keep.days)
                self._prune_at = self._clock() + _PRUNE_SECONDS
        except StoreError as error:
            self._log.error("store", problem=error.message)

    def _run(self) -> None:
        sweep()  # what a killed service left of the files that it read
        while not self._ended.is_set():
            self.tidy()
            self._ended.wait(_SWEEP_SECONDS)
