"""A scan on a cluster: the workers, and the journal by which it can be resumed."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING

from dlpctl.cli.inputs import STDIN
from dlpctl.cli.scans.coverage import search_of
from dlpctl.errors import UsageError
from dlpctl.scan.results import Skip, Summary
from dlpctl.scan.source import File, Source, is_address
from dlpctl.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from dlpctl.cli.scans.options import ScanRequest
    from dlpctl.cli.search import Search
    from dlpctl.cli.session import Session
    from dlpctl.scan.executor import Executor, ReadBatch

_FOLDER = "scans"


def require_cluster_scan(request: ScanRequest, databases: Sequence[str]) -> None:
    """Raise `UsageError` for what no cluster can do."""
    if request.cluster is None:
        if request.resume:
            raise UsageError("--resume continues a scan with --cluster; --state does so for others")
        return
    if request.of_git or databases or STDIN in (request.paths or ()):
        raise UsageError("--cluster is for files and objects, not for git, databases and stdin")
    if request.show_values:
        raise UsageError("--cluster does not work with --show-values: it keeps no values")
    if request.jobs:
        raise UsageError("--jobs is for the workers of this machine; --cluster local:N starts N")


def cluster_of(
    session: Session, request: ScanRequest, wanted: Search, keys: tuple[bytes, ...]
) -> ClusterRun | None:
    """Return the cluster that a request names, and what an earlier scan left for the same one."""
    if request.cluster is None:
        return None
    names = request.paths or [os.curdir]
    roots = [name if is_address(name) else os.path.abspath(name) for name in names]  # noqa: PTH100
    named = [__version__, search_of(session, request, wanted, keys), roots]
    folder = session.config.data_folder / _FOLDER
    return ClusterRun(request.cluster, folder, named, resumes=request.resume)


class ClusterRun:
    """The part of one scan that is about the cluster; close it after the scan."""

    def __init__(
        self, address: str, folder: Path, named: Sequence[object], *, resumes: bool
    ) -> None:
        """The scan is named by what decides its findings; journals are in the folder."""
        from dlpctl.scan.dask_pool import DaskPool
        from dlpctl.scan.journal import Journal

        digest = sha256(json.dumps(named, default=repr).encode()).hexdigest()
        self._journal = Journal(folder, digest[:32], resumes=resumes)
        try:
            self._pool = DaskPool(address)
        except BaseException:
            self._journal.close()
            raise

    def without_own(self, source: Source, files: Iterable[File | Skip]) -> Iterator[File | Skip]:
        """Yield the files without the journal, which may be in the tree that is scanned."""
        for file in files:
            if isinstance(file, Skip) or not self._journal.is_own(source.key(file)):
                yield file

    def executor(
        self,
        make_reader: Callable[[], ReadBatch],
        prepare: Callable[[], object],
        sources: Sequence[Source],
    ) -> Executor:
        from dlpctl.scan.cluster import OnCluster
        from dlpctl.scan.local import LocalFiles

        names = [name for each in sources if isinstance(each, LocalFiles) for name in each.names]
        self._pool.prepare(names, make_reader, prepare)
        return OnCluster(self._pool, sources, self._journal)

    def finish(self, summary: Summary) -> None:
        """Note what an earlier scan had done, and forget the scan if it is complete."""
        if count := self._journal.resumed:
            summary.remarks.append(f"{count:,} contents were scanned before the scan was stopped.")
        if summary.partial:
            summary.remarks.append("What was scanned is kept; --resume goes on with it.")
        else:
            self._journal.remove()

    def close(self) -> None:
        self._pool.close()
        self._journal.close()
