"""The warm process of a user: it keeps compiled patterns in memory and answers hooks over a Unix
socket, or over loopback where there are no Unix sockets.

A hook that had to do the work itself becomes this process after its answer, or starts it. The
process ends when it has been idle for a while, or when another installation of dlpctl has taken its
place. Only the same user can reach it: the folder is private, and each connection is checked by its
credentials or by a secret in a file of that folder.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from dlpctl.agents import client
from dlpctl.processes.schema import InvalidMessageError, Record, decode, encode
from dlpctl.system.filelock import lock
from dlpctl.system.newfiles import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dlpctl.agents.events import Reply

    Answer = Callable[[bytes, Path, Mapping[str, str]], Reply]

_IDLE_SECONDS = 15 * 60.0
_CHECK_SECONDS = 30.0
"""The interval at which the process checks that no other one has taken its place."""
_MESSAGE_SECONDS = 10.0
_HEADER = 8
_OVERHEAD = 1 << 20


class AgentRequest(NamedTuple):
    """An event with the working folder and the environment variables of the hook."""

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

    def __init__(
        self,
        answer: Answer,
        *,
        idle_seconds: float = _IDLE_SECONDS,
        over_loopback: bool = not hasattr(socket, "AF_UNIX"),
    ) -> None:
        self._answer = answer
        self._idle_seconds = idle_seconds
        self._folder = Path(client.run_folder(os.environ))
        self._secret = secrets.token_bytes(32) if over_loopback else b""
        name = client.port_name() if over_loopback else client.socket_name()
        self._path = self._folder / name
        self._used = time.monotonic()
        self._busy = 0
        self._lock = threading.Lock()
        """Guards the two counters above."""

    def serve(self) -> bool:
        """Serve; return whether this process did, since another one may have started first."""
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not client.is_private(str(self._folder)):
            return False
        with self._path.with_suffix(".lock").open("ab") as file:
            try:
                lock(file, 0)
            except TimeoutError:
                return False
            try:
                self._remove_others()
                with self._listener() as listener:
                    listener.listen(64)
                    listener.settimeout(min(_CHECK_SECONDS, self._idle_seconds))
                    self._accept_all(listener)
            finally:
                self._path.unlink(missing_ok=True)
        return True

    def _listener(self) -> socket.socket:
        if not self._secret:
            os.chdir(self._folder)  # the path of a socket must be short
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(self._path.name)
            return listener
        listener = socket.socket(socket.AF_INET)
        listener.bind(("127.0.0.1", 0))
        write_whole(self._path, self._secret + listener.getsockname()[1].to_bytes(2, "little"))
        return listener

    def _remove_others(self) -> None:
        """Remove the sockets of earlier installations, whose processes then end."""
        for pattern in ("agents-*.sock", "agents-*.port"):
            for path in self._folder.glob(pattern):
                path.unlink(missing_ok=True)

    def _accept_all(self, listener: socket.socket) -> None:
        identity = self._path.stat().st_ino
        while True:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                if self._is_idle() or not self._is_current(identity):
                    return
                continue
            with self._lock:
                self._busy += 1
                self._used = time.monotonic()
            threading.Thread(target=self._serve_one, args=(connection,), daemon=True).start()

    def _is_idle(self) -> bool:
        with self._lock:
            return not self._busy and time.monotonic() - self._used >= self._idle_seconds

    def _is_current(self, identity: int) -> bool:
        try:
            return self._path.stat().st_ino == identity
        except OSError:
            return False

    def _serve_one(self, connection: socket.socket) -> None:
        try:
            with connection, suppress(OSError, InvalidMessageError):
                connection.settimeout(_MESSAGE_SECONDS)
                with connection.makefile("rb") as stream:
                    if self._is_own(connection, stream):
                        request = decode(REQUEST, _receive(stream))
                        reply = encode(REPLY, self._reply(request))
                        connection.sendall(len(reply).to_bytes(_HEADER, "little") + reply)
        finally:
            with self._lock:
                self._busy -= 1
                self._used = time.monotonic()

    def _is_own(self, connection: socket.socket, stream: IO[bytes]) -> bool:
        """Return whether the other side is a process of this user."""
        if not self._secret:
            return _is_own_user(connection)
        theirs, own = stream.read(client.NONCE), secrets.token_bytes(client.NONCE)
        nonces = theirs + own
        connection.sendall(own + client.proof(self._secret, b"process", nonces))
        expected = client.proof(self._secret, b"client", nonces)
        return secrets.compare_digest(stream.read(client.DIGEST), expected)

    def _reply(self, request: AgentRequest) -> AgentReply:
        variables = (part.partition("=") for part in os.fsdecode(request.environ).split("\0"))
        environ = {name: value for name, equals, value in variables if equals}
        reply = self._answer(request.event, Path(os.fsdecode(request.folder)), environ)
        return AgentReply(reply.status, reply.out.encode(), reply.error.encode())


def _is_own_user(connection: socket.socket) -> bool:
    if sys.platform != "linux":
        return True  # the folder is closed to other users
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()


def _receive(stream: IO[bytes]) -> bytes:
    size = int.from_bytes(stream.read(_HEADER), "little")
    if size > client.LARGEST + _OVERHEAD:
        raise InvalidMessageError("the message is too large")
    return stream.read(size)


def become(answer: Answer) -> None:
    """Serve in a child of this process, detached from the agent that started the hook."""
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        command = [sys.executable, "-P", "-m", "dlpctl", "hook", "agent", "--serve"]
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=flags,
        )
        return
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        WarmProcess(answer).serve()
    finally:
        os._exit(0)
