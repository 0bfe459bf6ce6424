"""The working memory that each thread needs for each Hyperscan database that it scans with."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import hyperscan


class _OfThread(threading.local):
    """The working memory of a thread, by database."""

    def __init__(self) -> None:
        self.known: dict[hyperscan.Database, hyperscan.Scratch] = {}


class Scratches:
    """Working memory, allocated when a thread uses a database first."""

    def __init__(self) -> None:
        self._local = _OfThread()

    def of(self, database: hyperscan.Database) -> hyperscan.Scratch:
        """Return this thread's memory for a database."""
        scratches = self._local.known
        if database not in scratches:
            import hyperscan

            scratches[database] = hyperscan.Scratch(database)
        return scratches[database]
