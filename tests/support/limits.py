"""Constants of the product that tests set, so that a small input reaches them.

No user has a setting for them.
"""

from __future__ import annotations

import importlib
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from dlpctl.detect.patterns.measure import clean, recall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dlpctl.detect.engine import Detector

_SECTIONS = "dlpctl.formats.columnar"
LIMITS = {
    "dlpctl.agents.mcp_wrap.LARGEST": "bytes of the longest message",
    "dlpctl.agents.sessions.SessionVault.patience": "seconds to wait for a locked vault",
    "dlpctl.control.signing._KEY_BITS": "bits of a signing key: few are made fast",
    "dlpctl.control.sqlite.BUSY_SECONDS": "seconds to wait for a locked database",
    "dlpctl.detect.automaton.first_pass.PART": "bytes that are searched together",
    "dlpctl.detect.entities.taggers._WINDOW": "characters that are tagged together",
    "dlpctl.detect.stream.CHUNK": "bytes of a stream that are searched together",
    "dlpctl.detect.stream._PATIENCE": "bytes for which a stream waits for the end of a record",
    "dlpctl.files.finding._BLOCK": "characters of a block of cells",
    "dlpctl.files.finding._STRETCH": "characters of a stretch of blocks",
    "dlpctl.files.hidden._CHUNK": "values of a chunk",
    f"{_SECTIONS}.arrow_sections.SECTION_BYTES": "bytes of a section",
    f"{_SECTIONS}.arrow_sections._LARGEST_BATCH": "bytes from which a batch is divided",
    f"{_SECTIONS}.arrow_sections._LARGEST_DICTIONARIES": "bytes of all dictionaries",
    f"{_SECTIONS}.arrow_sections._LARGEST_ROWS": "rows of a section",
    f"{_SECTIONS}.arrow_sections._SMALL_BATCH": "bytes up to which a batch is whole",
    f"{_SECTIONS}.arrow_sections._SMALL_BUFFER": "bytes up to which a buffer is whole",
    "dlpctl.formats.avro.PART": "bytes of a part",
    f"{_SECTIONS}.avro_sections.SECTION_BYTES": "bytes of a section",
    f"{_SECTIONS}.avro_sections._LARGEST_BLOCK": "bytes of a block",
    f"{_SECTIONS}.avro_sections._STEP": "bytes that are read at a time",
    "dlpctl.formats.columns.PART": "bytes of a part",
    f"{_SECTIONS}.orc_sections._MEMORY": "bytes of a stripe in memory",
    f"{_SECTIONS}.parquet_pages.SECTION_BYTES": "bytes of a section",
    f"{_SECTIONS}.parquet_sections.SECTION_BYTES": "bytes of a section",
    f"{_SECTIONS}.parquet_sections._LARGEST_GROUP": "bytes from which a row group is divided",
    f"{_SECTIONS}.reading.ROWS": "rows that are read at a time",
    f"{_SECTIONS}.reading._SMALL_STRIPES": "bytes up to which stripes are read together",
    "dlpctl.formats.contents._PIECE": "bytes that are decoded at a time",
    "dlpctl.formats.ocr.passes._MOST_BOXES": "lines that are compared with each other",
    "dlpctl.formats.ocr.scans._LARGE": "pixels of a scan that may be read at half its size",
    "dlpctl.formats.ocr._SECONDS": "seconds of tesseract for a page",
    "dlpctl.formats.office.xmltext._PIECE": "bytes that are parsed at a time",
    "dlpctl.formats.sections._LARGEST_READ": "bytes that are read at a time",
    "dlpctl.formats.containers.zip_sections.SECTION_BYTES": "bytes of a section",
    "dlpctl.scan.dask_pool._CONNECT_SECONDS": "seconds to connect to a scheduler",
    "dlpctl.scan.dask_pool._THREADS_EVERY": "seconds between counts of the workers' threads",
    "dlpctl.scan.dask_pool._WORKERLESS_SECONDS": "seconds without a worker",
    "dlpctl.scan.executor.FORKS": "whether workers are forked, as on Linux, or are threads",
    "dlpctl.scan.objects._DELAYS": "seconds before each attempt to connect again",
    "dlpctl.scan.objects._RANGE": "bytes of a range of an object",
    "dlpctl.scan.packing._LARGEST_CHUNK": "bytes of a chunk",
    "dlpctl.scan.reader.LARGE": "bytes from which a content is read in parts",
    "dlpctl.scan.reader.PART_SIZE": "bytes of a part",
    "dlpctl.scan.scanner.LARGE": "bytes from which a content is read in parts",
    "dlpctl.scan.scanner.PART_SIZE": "bytes of a part",
    "dlpctl.scan.scanner._BATCH_FILES": "files of a batch",
    "dlpctl.scan.state._KEPT_EVERY": "seconds after which results are written",
    "dlpctl_daemon.housekeeping._SWEEP_SECONDS": "seconds between two rounds",
    "dlpctl_daemon.memory._NUMBERS": "numbers of all series together",
    "dlpctl_daemon.memory._SETS": "sets of buckets",
}
"""Each constant, and what it limits."""


@contextmanager
def limited(name: str, value: Any) -> Iterator[None]:
    """Set a limit within a block."""
    assert name in LIMITS, f"say in LIMITS what {name} limits"
    owner, last = _owner_of(name)
    old = getattr(owner, last)
    assert all(isinstance(each, int | float | tuple) for each in (old, value)), "only numbers"
    setattr(owner, last, value)
    try:
        yield
    finally:
        setattr(owner, last, old)


def _owner_of(name: str) -> tuple[Any, str]:
    """Return the module or class of a constant, and its name in it."""
    module, _, last = name.rpartition(".")
    try:
        return importlib.import_module(module), last
    except ModuleNotFoundError:
        module, _, of_class = module.rpartition(".")
        return getattr(importlib.import_module(module), of_class), last


class Limiter:
    """Sets limits until the test ends."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __call__(self, name: str, value: Any) -> None:
        self._stack.enter_context(limited(name, value))


@pytest.fixture
def limit() -> Iterator[Limiter]:
    """Set a constant that limits something."""
    with ExitStack() as stack:
        yield Limiter(stack)


@contextmanager
def limited_width(detector: Detector, width: int) -> Iterator[None]:
    """Let parts of a text overlap by less than the widest pattern, one without a bound, asks for."""
    first_pass = detector.search.first_pass
    old, first_pass.widest = first_pass.widest, width
    try:
        yield
    finally:
        first_pass.widest = old


@pytest.fixture
def little_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns are measured on one clean text and one planted value: on all, it takes minutes."""
    one = recall.Planted("EMAIL", "", "prose", "to ada@acme.io", "ada@acme.io")
    monkeypatch.setattr(clean, "texts", lambda _: [("prose", "a word " * 1000)])
    monkeypatch.setattr(recall, "planted", lambda _: [one])
