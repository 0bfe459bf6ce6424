"""A pool of workers on a Dask cluster, which is already running or is started for one scan."""

from __future__ import annotations

import asyncio
import logging
import pickle
import signal
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from dlpctl.errors import DlpctlError, EngineError, ServerError, UsageError
from dlpctl.regex import lazy
from dlpctl.scan import cluster_worker
from dlpctl.scan.cluster import Answer
from dlpctl.scan.cluster_worker import Root
from dlpctl.scan.executor import ReadBatch
from dlpctl.version import __version__

_ADDRESS = lazy(r"(?:tcp|tls)://(?:[^\s:/@\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")
_OWN = lazy(r"local:([1-9][0-9]{0,2})")
_ANY_LOCAL_PORT = "127.0.0.1:0"
CONNECTING = "connect to a cluster"
"""The name of the thread that connects."""
_CONNECT_SECONDS = 10
_START_SECONDS = 60
_END_SECONDS = 3
_NOTICE_SECONDS = 0.5
"""The longest time until a wait notices that the scheduler has gone."""
_THREADS_EVERY = 2.0
"""The number of seconds after which the workers are counted again."""
_WORKERLESS_SECONDS = 60.0
"""The longest time that a scan waits for workers."""
_UNWATCHED = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.worker.profile.enabled": False,
}
"""Settings for local workers, which Dask would otherwise interrupt a hundred times a second."""
_RESUME = "run the scan again with --resume to go on"


class DaskPool:
    """Sends messages as tasks of Dask."""

    def __init__(self, address: str) -> None:
        """Raise `UsageError` for an invalid address or a missing package, and `ServerError` for a
        scheduler that cannot be reached.
        """
        own = _OWN.fullmatch(address)
        self._is_own = own is not None
        if not own and not _ADDRESS.fullmatch(address):
            raise UsageError(
                f"--cluster {address}: write tcp://HOST:PORT or tls://HOST:PORT of a scheduler,"
                " or local:N for N workers on this machine"
            )
        try:
            import distributed
        except ImportError:
            raise UsageError(
                "--cluster needs the package distributed:"
                " install it, or dlpctl with its extra, dlpctl[dask]"
            ) from None
        if address.startswith("tls:") and not _has_certificate(distributed):
            raise UsageError(
                f"--cluster {address}: the configuration of Dask names no certificate;"
                " set distributed.comm.tls there"
            )
        warnings.filterwarnings("ignore", module="distributed")
        self._distributed: Any = distributed
        self._address = address
        self._scan = uuid.uuid4().hex
        self._setup = b""
        self._answers: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self._threads = 0
        self._counted = self._workers_seen = time.monotonic()
        self._stack = ExitStack()
        self._stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable()  # errors are raised by this class instead of being logged by Dask
        try:
            self._client = self._connected(int(own[1]) if own else None)
            self._count_threads()
        except (DlpctlError, KeyboardInterrupt, SystemExit):
            self._stack.close()
            raise
        except Exception as problem:  # errors of Dask and of its transports
            self._stack.close()
            reason = _reason_of(problem)
            raise ServerError(
                f"--cluster {address}: the workers cannot be started: {reason}"
                if own
                else f"--cluster {address}: the scheduler cannot be reached: {reason};"
                " start one with 'dask scheduler'"
            ) from None

    def _connected(self, workers: int | None) -> Any:
        """Return a client; given a number, with that many local workers.

        The client is created in a thread that blocks Ctrl-C for its threads and processes: only the
        main thread ends the scan, even while connecting.
        """
        outcome: SimpleQueue[Any] = SimpleQueue()
        folder = ""
        if workers is not None:
            made = TemporaryDirectory(prefix="dlpctl-", ignore_cleanup_errors=True)
            folder = self._stack.enter_context(made)

        def connect() -> None:
            if hasattr(signal, "pthread_sigmask"):
                resource_tracker.ensure_running()  # else it is started with the first process,
                # which ends the mask
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                cluster = None if workers is None else self._own_cluster(workers, folder)
                client = self._distributed.Client(
                    cluster or self._address, timeout=_CONNECT_SECONDS, set_as_default=False
                )
                self._stack.callback(_close, client)
                outcome.put(client)
            except BaseException as problem:
                outcome.put(problem)

        thread = threading.Thread(target=connect, name=CONNECTING, daemon=True)
        thread.start()
        try:
            limit = _CONNECT_SECONDS if workers is None else _START_SECONDS
            end = time.monotonic() + 2 * limit
            while thread.is_alive():
                thread.join(_NOTICE_SECONDS)
                if time.monotonic() > end:  # the peer is not a scheduler
                    raise TimeoutError("it does not answer as one")
        except KeyboardInterrupt:
            if workers is not None:  # everything that was started is complete, and can be ended
                thread.join(_CONNECT_SECONDS)
            raise
        client = outcome.get()
        if isinstance(client, BaseException):
            raise client
        return client

    def _own_cluster(self, workers: int, folder: str) -> Any:
        """Start workers on this machine. Their ports are on the loopback interface and require a
        certificate that is created for them: a scheduler runs any code that it is sent.
        """
        import dask

        pages: dict[str, list[str]] = {
            f"distributed.{part}.http.routes": [] for part in ("scheduler", "worker")
        }
        settings = {"temporary-directory": folder, **pages, **_UNWATCHED}
        self._stack.enter_context(dask.config.set(settings))
        cluster = self._distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            security=True,
            dashboard_address=_ANY_LOCAL_PORT,
            worker_dashboard_address=_ANY_LOCAL_PORT,
            silence_logs=logging.CRITICAL + 1,
        )
        self._stack.callback(_close, cluster)
        return cluster

    def prepare(
        self,
        names: Sequence[str],
        make_reader: Callable[[], ReadBatch],
        prepare: Callable[[], object],
    ) -> None:
        """Set up the workers; `names` are the local files and folders to scan."""
        if self._is_own:  # otherwise all workers would do this at the same time
            prepare()
            prepare = partial(cluster_worker.prepare_own, prepare)
        roots = []
        for name in names:
            with suppress(OSError):  # the scan lists missing files
                roots.append(Root.of(name))
        self._setup = pickle.dumps((roots, make_reader, prepare))

    @property
    def threads(self) -> int:
        if time.monotonic() - self._counted > _THREADS_EVERY:
            self._count_threads()
        return max(self._threads, 1)

    def _count_threads(self) -> None:
        with suppress(Exception):  # a lost scheduler is detected when a message fails
            self._threads = sum(self._client.nthreads().values())
        self._counted = time.monotonic()
        if self._threads:
            self._workers_seen = self._counted
        elif self._counted - self._workers_seen > _WORKERLESS_SECONDS:
            raise ServerError(
                f"--cluster {self._address}: there are no workers;"
                f" start some with 'dask worker {self._address}', and {_RESUME}"
            )

    def send(self, number: int, message: bytes, /) -> None:
        call = pickle.dumps(_Call(self._scan, self._setup, message))
        try:
            future = self._client.submit(
                pickle.loads, call, key=f"dlpctl-{self._scan}-{number}", pure=False
            )
        except Exception as problem:
            raise self._error_of(problem) from None
        self._client.loop.add_callback(self._deliver, number, future)

    async def _deliver(self, number: int, future: Any) -> None:
        """Put the result or exception of a future into the queue of answers."""
        try:
            (result,) = await self._client.gather([future], asynchronous=True)
        except BaseException as problem:
            result = problem
        self._answers.put((number, result))

    def answers(self, *, wait: bool) -> Iterator[Answer]:
        try:
            number, result = self._answers.get(block=wait, timeout=_NOTICE_SECONDS)
            while True:
                yield number, self._checked(result)
                number, result = self._answers.get(block=False)
        except Empty:
            if self._client.status != "running":
                raise self._lost() from None

    def _checked(self, result: Any) -> bytes | None:
        if isinstance(result, bytes):
            return result
        if isinstance(result, self._distributed.KilledWorker):
            return None
        if isinstance(result, ImportError | AttributeError):
            raise EngineError(
                f"a worker cannot run dlpctl {__version__}: {result}; install this version there"
            )
        raise self._error_of(result)

    def _error_of(self, problem: object) -> ServerError:
        is_lost = type(problem).__name__.endswith("CancelledError")
        if is_lost or self._client.status != "running":
            return self._lost()
        return ServerError(f"--cluster {self._address}: {_reason_of(problem)}; {_RESUME}")

    def _lost(self) -> ServerError:
        return ServerError(f"--cluster {self._address}: the scheduler has gone; {_RESUME}")

    def close(self) -> None:
        """End everything that was started for the scan."""
        with suppress(Exception):  # a lost cluster has nothing to end
            if self._client.status == "running":
                self._client.sync(self._end)
        self._stack.close()

    async def _end(self) -> None:
        ended = self._client.run(cluster_worker.end, self._scan, on_error="ignore")
        await asyncio.wait_for(ended, _END_SECONDS)


class _Call(NamedTuple):
    """A call of a worker's function, made by unpickling it.

    The scheduler sees only a byte string: functions of tasks would have to be installed there, too.
    """

    scan: str
    setup: bytes
    message: bytes

    def __reduce__(self) -> tuple[Callable[..., bytes], tuple[str, str, bytes, bytes]]:
        return cluster_worker.answer, (__version__, *self)


def _close(opened: Any) -> None:
    """Close a client or cluster; a slow end must not replace the outcome of the scan."""
    with suppress(Exception):
        opened.close(timeout=_END_SECONDS)


def _has_certificate(distributed: Any) -> bool:
    try:
        arguments = distributed.Security().get_connection_args("client")
    except OSError:  # the configured file cannot be read
        return False
    return arguments.get("ssl_context") is not None


def _reason_of(problem: object) -> str:
    text = str(problem).strip().splitlines()
    return text[0].rstrip(".:") if text else type(problem).__name__
