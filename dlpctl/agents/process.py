"""The warm process of a user: it keeps compiled patterns and answers hooks over a Unix socket.

A hook that had to work alone becomes this process after its answer. It ends when nobody has asked
for a while, and when another installation of dlpctl has taken its place. Only the same user can
reach it: by the mode of the folder, and by the credentials of each connection.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.agents import client
from dlpctl.agents.hooking import LARGEST
from dlpctl.processes.schema import InvalidMessageError, Record, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dlpctl.agents.events import Reply

    Answer = Callable[[bytes, Path, Mapping[str, str]], Reply]

_IDLE_SECONDS = 15 * 60.0
_CHECK_SECONDS = 30.0
"""The interval in which the process checks that no other one has taken its place."""
_MESSAGE_SECONDS = 10.0
_HEADER = 8
_OVERHEAD = 1 << 20


class AgentRequest(NamedTuple):
    """An event with the working folder and the variables of the hook."""

    folder: bytes
    environ: bytes
    event: bytes


class AgentReply(NamedTuple):
    status: int
    out: bytes
    error: bytes


REQUEST = Record(AgentRequest)
REPLY = Record(AgentReply)


class WarmProcess:
    """Answers requests until it is idle or replaced."""

    def __init__(self, answer: Answer, *, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._answer = answer
        self._idle_seconds = idle_seconds
        self._folder = Path(client.run_folder(os.environ))
        self._path = self._folder / client.socket_name()
        self._used = time.monotonic()
        self._busy = 0

    def serve(self) -> bool:
        """Serve, and return whether this process did: another one may have been first."""
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not client.is_private(str(self._folder)):
            return False
        lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        try:
            self._remove_others()
            os.chdir(self._folder)  # the path of a socket is short
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(self._path.name)
                listener.listen(64)
                listener.settimeout(min(_CHECK_SECONDS, self._idle_seconds))
                self._accept_all(listener)
        finally:
            self._path.unlink(missing_ok=True)
            os.close(lock)
        return True

    def _remove_others(self) -> None:
        """Remove the sockets of earlier installations, whose processes then end."""
        for path in self._folder.glob("agents-*.sock"):
            path.unlink(missing_ok=True)

    def _accept_all(self, listener: socket.socket) -> None:
        identity = self._path.stat().st_ino
        while True:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                idle = time.monotonic() - self._used >= self._idle_seconds and not self._busy
                if idle or not self._is_current(identity):
                    return
                continue
            self._used = time.monotonic()
            threading.Thread(target=self._serve_one, args=(connection,), daemon=True).start()

    def _is_current(self, identity: int) -> bool:
        try:
            return self._path.stat().st_ino == identity
        except OSError:
            return False

    def _serve_one(self, connection: socket.socket) -> None:
        self._busy += 1
        try:
            with connection, suppress(OSError, InvalidMessageError):
                connection.settimeout(_MESSAGE_SECONDS)
                if is_own(connection):
                    request = decode(REQUEST, _receive(connection))
                    reply = encode(REPLY, self._reply(request))
                    connection.sendall(len(reply).to_bytes(_HEADER, "little") + reply)
        finally:
            self._busy -= 1
            self._used = time.monotonic()

    def _reply(self, request: AgentRequest) -> AgentReply:
        variables = (part.partition("=") for part in os.fsdecode(request.environ).split("\0"))
        environ = {name: value for name, equals, value in variables if equals}
        reply = self._answer(request.event, Path(os.fsdecode(request.folder)), environ)
        return AgentReply(reply.status, reply.out.encode(), reply.error.encode())


def is_own(connection: socket.socket) -> bool:
    """Return whether the other side is a process of this user, where the system tells."""
    if sys.platform != "linux":
        return True  # the folder lets nobody else in
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()


def _receive(connection: socket.socket) -> bytes:
    with connection.makefile("rb") as stream:
        size = int.from_bytes(stream.read(_HEADER), "little")
        if size > LARGEST + _OVERHEAD:
            raise InvalidMessageError("the message is too large")
        return stream.read(size)


def become(answer: Answer) -> None:
    """Let a child of this process serve, detached from the agent that started the hook."""
    if not hasattr(os, "fork") or os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        WarmProcess(answer).serve()
    finally:
        os._exit(0)
