"""The supervisor of a service of several processes: forks them, replaces those that die, and ends
them.

It has one thread, no database and no request of its own, so that it can fork at any time. All that
the processes have in common is in `memory`, except sessions of the console, which it keeps.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from dlpctl.errors import DlpctlError
from dlpctl_daemon.console.sessions import Sessions
from dlpctl_daemon.desk import ANSWER, END, READY, answer, message
from dlpctl_daemon.metrics import Metrics

if TYPE_CHECKING:
    from dlpctl_daemon.logs import Log
    from dlpctl_daemon.memory import Memory

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
_PAUSE_SECONDS = 1.0
"""The time between two starts of a process that dies again and again."""
_SENDING_SECONDS = 5.0
_TURN_SECONDS = 1.0
Main = Callable[[int, socket.socket], None]
"""Answers requests as the process of a number, until the socket says that it is to end."""


class Supervisor:
    def __init__(self, main: Main, processes: int, memory: Memory, log: Log) -> None:
        self._main = main
        self._memory = memory
        self._metrics = Metrics(memory)
        self._log = log
        self._sessions = Sessions()
        self._processes: dict[int, _Process] = {}
        """The processes that run, by their numbers."""
        self._starts = dict.fromkeys(range(processes), 0.0)
        """When each process may be started again."""
        self._is_ready = False
        self._has_failed = False
        """A process ended before any was ready."""
        self._is_ending = False
        self._asked_to_end = False
        self._selector = selectors.DefaultSelector()
        self._woken, self._waker = socket.socketpair()

    def run(self, ready: Callable[[], None], ending: Callable[[], None]) -> None:
        """Answer until SIGTERM or SIGINT; call `ready` once a process answers, and `ending` when
        all are told to end.
        """
        self._listen_to_signals()
        while self._processes or not self._is_ending:
            if not self._is_ending:
                self._start_missing()
            was_ready = self._is_ready
            for key, _ in self._selector.select(_TURN_SECONDS):
                if key.data is None:
                    self._woken.recv(1 << 12)
                else:
                    self._hear(key.data)
            if self._is_ready and not was_ready and not self._is_ending:
                ready()
            self._reap()
            if self._asked_to_end or (self._has_failed and not self._is_ending):
                self._asked_to_end = False
                self._end()
                ending()
        self._selector.close()
        if self._has_failed:
            raise DlpctlError("no process of the service has started; its log tells why")

    def _listen_to_signals(self) -> None:
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_end)

    def _ask_to_end(self, *_: object) -> None:
        self._asked_to_end = True

    def _end(self) -> None:
        """Let all processes end; kill them if they were told before."""
        for process in list(self._processes.values()):
            if self._is_ending:
                process.kill()
            else:
                process.tell(message(END))
        self._is_ending = True

    def _start_missing(self) -> None:
        for number, earliest in self._starts.items():
            if number not in self._processes and earliest <= time.monotonic():
                self._starts[number] = time.monotonic() + _PAUSE_SECONDS
                try:
                    self._start(number)
                except OSError as problem:
                    self._log.error("process not started", problem=problem.strerror)

    def _start(self, number: int) -> None:
        own, its = socket.socketpair()
        with its:
            try:
                pid = self._fork(number, own, its)
            except OSError:
                own.close()
                raise
        own.settimeout(_SENDING_SECONDS)
        process = self._processes[number] = _Process(number, pid, own)
        self._selector.register(own, selectors.EVENT_READ, process)

    def _fork(self, number: int, own: socket.socket, its: socket.socket) -> int:
        gc.freeze()  # a collection would copy pages that the processes share
        # A signal must not reach the new process while it has the handlers of this one.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            pid = os.fork()
            if not pid:
                own.close()
                self._be(number, its)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        return pid

    def _be(self, number: int, connection: socket.socket) -> NoReturn:
        """Be the process of a number."""
        status = 1
        try:
            self._forget_supervising()
            self._memory.enter(number)
            self._main(number, connection)
            status = 0
        except DlpctlError as error:
            self._log.error("process failed", problem=error.message)
        except BaseException as problem:
            self._log.failure(problem)
        finally:
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os._exit(status)

    def _forget_supervising(self) -> None:
        """Close what a process must not hold: the others would not notice that this one is dead."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the supervisor has it too
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        self._selector.close()
        self._woken.close()
        self._waker.close()
        for process in self._processes.values():
            process.connection.close()

    def _hear(self, process: _Process) -> None:
        """Answer what a process asks."""
        try:
            for line in process.lines():
                name, *given = json.loads(line)
                if name == READY:
                    self._is_ready = True
                else:
                    process.tell(message(ANSWER, answer(self._sessions, name, *given)))
        except (ValueError, TypeError, LookupError) as problem:  # no message of this program
            self._log.failure(problem)
            process.is_silent = True
        if process.is_silent:
            self._hang_up(process)

    def _hang_up(self, process: _Process) -> None:
        """Close the connection to a process, which ends it."""
        if process.connection.fileno() >= 0:
            self._selector.unregister(process.connection)
            process.connection.close()

    def _reap(self) -> None:
        for number, process in list(self._processes.items()):
            pid, status = os.waitpid(process.pid, os.WNOHANG)
            if not pid:
                continue
            del self._processes[number]
            self._memory.roster.remove(number)
            self._hang_up(process)
            code = os.waitstatus_to_exitcode(status)
            if code or not self._is_ending:
                self._log.error("process ended", number=number, pid=pid, status=code)
            if self._is_ending:
                continue
            if self._is_ready:
                self._metrics.process_replaced()
            else:
                self._has_failed = True


class _Process:
    """A process of the service, as its supervisor sees it."""

    def __init__(self, number: int, pid: int, connection: socket.socket) -> None:
        self.number = number
        self.pid = pid
        self.connection = connection
        self.is_silent = False
        """True once the process has closed its end, or does not listen."""
        self._received = b""

    def lines(self) -> list[bytes]:
        """Return the messages that have arrived."""
        try:
            received = self.connection.recv(1 << 16)
        except OSError:
            received = b""
        self.is_silent = self.is_silent or not received
        *lines, self._received = (self._received + received).split(b"\n")
        return lines

    def tell(self, content: bytes) -> None:
        try:
            self.connection.sendall(content)
        except OSError:
            self.is_silent = True

    def kill(self) -> None:
        with suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
