"""Starts the service with its settings, and ends it."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.system.tempfiles import temporary_root
from dlpctl_daemon.listening import address, listen
from dlpctl_daemon.logs import Log
from dlpctl_daemon.options import Options

if TYPE_CHECKING:
    from socket import socket

    from dlpctl.control.inspection import Inspector
    from dlpctl.control.service import ControlPlane
    from dlpctl.detect.engine import Detector
    from dlpctl_daemon.console.sessions import SessionStore
    from dlpctl_daemon.housekeeping import Housekeeping
    from dlpctl_daemon.memory import Memory
    from dlpctl_daemon.server import Server

_WARMING = "jane.doe@example.com"
_TURN_SECONDS = 0.0005
"""The longest that a thread keeps the interpreter while another one waits. A check waits that long
again and again if another tenant's request is busy."""


def serve(
    folder: Path, make_detector: Callable[[], Detector], options: Options, inspector: Sequence[str]
) -> None:
    """Answer until SIGTERM or SIGINT; `inspector` is the command that starts a process for large
    contents.
    """
    log = Log(sys.stderr, options.settings.log)
    options.checked()
    # A socket that listens already lets early clients wait instead of refusing them.
    with closing(listen(options)) as listening:
        from dlpctl_daemon.memory import Memory

        detector = make_detector()
        detector.compile()
        processes = options.settings.processes
        service = _Service(
            folder, detector, options, inspector, log, listening, Memory.of(processes)
        )
        try:
            if processes == 1:
                service.answer_alone()
            else:
                service.supervise(processes)
        finally:
            _remove(options)
    log.info("ended")


class _Opened(NamedTuple):
    """The service in one process."""

    server: Server
    control: ControlPlane
    housekeeping: Housekeeping


class _Service(NamedTuple):
    folder: Path
    detector: Detector
    options: Options
    inspector: Sequence[str]
    log: Log
    listening: socket
    memory: Memory

    def answer_alone(self) -> None:
        with self._opened() as opened:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: opened.server.stop())
            token_file = opened.control.tokens.first()
            self._warm_up()
            with opened.housekeeping:
                self._log_address(token_file)
                opened.server.run()

    def supervise(self, processes: int) -> None:
        """Let processes answer, which share what is loaded here."""
        from dlpctl_daemon.supervision import Supervisor

        with self._control() as control:
            token_file = control.tokens.first()
        for module in ("app", "inspectors", "server"):
            import_module(f"dlpctl_daemon.{module}")
        self._warm_up()
        supervisor = Supervisor(self._answer_as, processes, self.memory, self.log)
        supervisor.run(
            lambda: self._log_address(token_file, processes=processes), self.listening.close
        )

    def _answer_as(self, number: int, supervisor: socket) -> None:
        """Answer as one of several processes; the first of them keeps house."""
        from dlpctl_daemon.desk import Desk, SharedSessions

        desk = Desk(supervisor)
        with self._opened(SharedSessions(desk)) as opened:
            signal.signal(signal.SIGTERM, lambda *_: opened.server.drain())
            self._warm_up()
            opened.server.keep_to(_processors(number, self.options.settings.processes))
            with nullcontext() if number else opened.housekeeping:
                self.memory.roster.enter(number)
                desk.ready(opened.server.drain)
                opened.server.run()

    @contextmanager
    def _opened(self, sessions: SessionStore | None = None) -> Iterator[_Opened]:
        from dlpctl_daemon.app import create_app
        from dlpctl_daemon.console.node_sessions import NodeSessions
        from dlpctl_daemon.housekeeping import Housekeeping
        from dlpctl_daemon.inspectors import Inspectors
        from dlpctl_daemon.server import Server

        log, keep_days = self.log, self.options.settings.keep_days
        with (
            closing(
                Inspectors(self.inspector, lambda problem: log.error("inspection", problem=problem))
            ) as inspectors,
            self._control(inspectors) as control,
        ):
            if control.shared_items is not None:
                sessions = NodeSessions(control.shared_items)
            app = create_app(control, self.options, log, self.memory, sessions)
            metrics = app.service.metrics
            housekeeping = Housekeeping(control.maintenance, keep_days, log, metrics=metrics)
            yield _Opened(Server(app, self.listening), control, housekeeping)

    def _warm_up(self) -> None:
        """Set the interpreter and the detector up for requests."""
        self.detector.scan(_WARMING)
        gc.freeze()  # all objects of now are kept, and need no search for garbage
        sys.setswitchinterval(_TURN_SECONDS)
        # Python would try the folder with a named file before it keeps the first body there.
        tempfile.tempdir = temporary_root()

    def _control(self, inspector: Inspector | None = None) -> ControlPlane:
        from dlpctl.control.service import ControlPlane

        return ControlPlane.open(
            self.folder,
            lambda: self.detector,
            limits=self.options.limits,
            issuer=self.options.settings.issuer,
            inspector=inspector,
            environ=os.environ,
            turn=self.memory.writing,
            database=self.options.settings.database_url,
        )

    def _log_address(self, token_file: Path, **more: object) -> None:
        where = address(self.listening)
        self.log.info(
            "listening",
            address=where,
            docs=f"{where}/docs",
            console=f"{where}/",
            sign_in="dlpctl console",
            folder=str(self.folder),
            admin_token=str(token_file),
            **more,
        )


def _processors(number: int, processes: int) -> set[int]:
    """Return the processors of one of several processes; none if there are too few."""
    if sys.platform != "linux":
        return set()
    usable = sorted(os.sched_getaffinity(0))
    return set(usable[number::processes]) if len(usable) >= processes else set()


def _remove(options: Options) -> None:
    if options.unix_socket is not None:
        Path(options.unix_socket).unlink(missing_ok=True)
