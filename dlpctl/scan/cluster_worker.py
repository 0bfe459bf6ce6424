"""The worker's side of a cluster: run tasks of scans in threads and return their outcomes."""

from __future__ import annotations

import gc
import json
import os
import pickle
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dlpctl.errors import DlpctlError, EngineError, fault
from dlpctl.scan.executor import ReadBatch
from dlpctl.scan.reader import Task
from dlpctl.scan.units import encoded, outcomes_of
from dlpctl.version import __version__

_NEW_OBJECTS = 50_000
"""The number of new objects after which the garbage collector of a local worker runs."""
_MOST_SCANS = 8
"""The number of scans whose state is kept: more than run at a time, since a killed scan does not
report its end.
"""


class Root(NamedTuple):
    """A file or folder that the worker must see as the client does."""

    path: str
    inode: int
    modified: int

    @classmethod
    def of(cls, path: str) -> Root:
        status = Path(path).stat()
        return cls(os.path.abspath(path), status.st_ino, status.st_mtime_ns)  # noqa: PTH100

    def is_same(self) -> bool:
        """Return whether the worker sees the same file or folder. A copy has another inode but the
        same time; a folder that was written to has another time but the same inode.
        """
        try:
            seen = Root.of(self.path)
        except OSError:
            return False
        return self.inode == seen.inode or self.modified == seen.modified


class _Scan:
    """The state of one scan, which all threads share, with a reader for each thread."""

    def __init__(self, setup: bytes) -> None:
        roots: Sequence[Root]
        make_reader: Callable[[], ReadBatch]
        prepare: Callable[[], object]
        roots, make_reader, prepare = pickle.loads(setup)  # noqa: S301  # as all tasks of Dask are
        for root in roots:
            if not root.is_same():
                raise EngineError(
                    f"does not see the same {root.path}; share it by a file system of the network,"
                    " or scan a bucket"
                )
        prepare()
        self._make_reader = make_reader
        self._local = threading.local()
        self._readers: list[ReadBatch] = []

    def reader(self) -> ReadBatch:
        """Return the reader of this thread."""
        reader: ReadBatch | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = self._make_reader()
            self._readers.append(reader)
        return reader

    def close(self) -> None:
        for reader in self._readers:
            reader.close()


def prepare_own(prepare: Callable[[], object]) -> None:
    """Prepare a worker that only serves this scan: its patterns are never garbage."""
    prepare()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


_scans: dict[str, _Scan] = {}
_lock = threading.Lock()


def answer(version: str, scan: str, setup: bytes, message: bytes) -> bytes:
    """Return the outcomes of a task, one line per unit, or an error."""
    try:
        if version != __version__:
            raise EngineError(
                f"has dlpctl {__version__}, and this is {version}; install the same version there"
            )
        task = Task(*json.loads(message))
        outcome = _scan(scan, setup).reader()(task)
        return "\n".join(map(encoded, outcomes_of(task, outcome))).encode()
    except DlpctlError as error:
        reason = error.message
    except Exception as problem:
        reason = f"failed: {fault(problem)}"
    return json.dumps({"error": f"worker {_address()}: {reason}"}).encode()


def end(scan: str) -> None:
    """Close everything that was opened for a scan."""
    with _lock:
        ended = _scans.pop(scan, None)
    if ended is not None:
        ended.close()


def _scan(name: str, setup: bytes) -> _Scan:
    with _lock:  # the first thread compiles the patterns while the others wait
        if name not in _scans:
            while len(_scans) >= _MOST_SCANS:
                _scans.pop(next(iter(_scans))).close()
            _scans[name] = _Scan(setup)
        return _scans[name]


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)
