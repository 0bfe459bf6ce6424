"""The working memory that each thread needs for each Hyperscan database that it scans with."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import hyperscan


class Scratches:
    """Working memory, allocated when a thread uses a database first."""

    def __init__(self) -> None:
        self._local = threading.local()

    def of(self, database: hyperscan.Database) -> hyperscan.Scratch:
        """Return this thread's memory for a database."""
        scratches: dict[hyperscan.Database, hyperscan.Scratch]
        scratches = self._local.__dict__.setdefault("scratches", {})
        if database not in scratches:
            import hyperscan

            scratches[database] = hyperscan.Scratch(database)
        return scratches[database]
