"""Pictures of the pages of a PDF, before and after masking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dlpctl.formats.interface import Limits
from dlpctl.formats.worker import Method, Worker


def before_and_after(
    data: bytes,
    masked: bytes,
    pages: Iterable[int],
    password: str | None = None,
    *,
    limits: Limits | None = None,
    method: Method = "adaptive",
) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number of each page, from 1, and its pictures before and after, as PNG."""
    limits = limits or Limits()
    with Worker(limits, method) as worker:
        for page in pages:
            before, after = (
                worker.picture("pdf", each, page, limits, password, limits.seconds)
                for each in (data, masked)
            )
            yield page, before, after
