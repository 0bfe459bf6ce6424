"""Housekeeping of the service: removes masked files that have expired, and checks that are too old.

Each task runs again in the next round, whatever has failed in this one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from dlpctl.errors import DlpctlError, StoreError
from dlpctl.system.tempfiles import sweep
from dlpctl_daemon.metrics import Metrics

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
        metrics: Metrics | None = None,
    ) -> None:
        """Checks are removed after `keep_days` days; 0 keeps all."""
        self._maintenance = maintenance
        self._keep = timedelta(days=keep_days)
        self._log = log
        self._clock = clock
        self._metrics = metrics or Metrics()
        self._prune_at = clock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def tidy(self) -> None:
        """Run each task once."""
        self._attempt(self._sweep)
        if self._keep and self._clock() >= self._prune_at:
            self._attempt(self._prune)

    def _sweep(self) -> None:
        if swept := self._maintenance.sweep():
            self._log.info("swept", masked_files=swept)

    def _prune(self) -> None:
        if pruned := self._maintenance.prune(self._keep):
            self._log.info("pruned", checks=pruned, older_than_days=self._keep.days)
        self._prune_at = self._clock() + _PRUNE_SECONDS

    def _attempt(self, task: Callable[[], None]) -> None:
        """Run a task; log and count a failure, which the next round may not have."""
        try:
            task()
        except StoreError as error:
            self._log.error("store", problem=error.message)
        except (DlpctlError, OSError) as error:
            self._log.failure(error)
        else:
            return
        self._metrics.housekeeping_failed()

    def _run(self) -> None:
        self._attempt(sweep)  # what a killed service left of the files that it read
        while not self._ended.is_set():
            self.tidy()
            self._ended.wait(_SWEEP_SECONDS)
