"""The supervisor, as a process of the service sees it: a socket with a line of JSON for each
message.

The process says when it is ready, and asks for sessions of the console. The supervisor answers, and
says when the process is to end; if the socket is closed, the supervisor is dead.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import SimpleQueue
from typing import Any

from dlpctl.errors import StoreError
from dlpctl_daemon.console.sessions import Session, Sessions

READY = "ready"
END = "end"
ANSWER = "answer"


class Desk:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        """Held by the thread that waits for an answer."""
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._is_gone = False

    def ready(self, told_to_end: Callable[[], None]) -> None:
        """Say that this process answers from now on; `told_to_end` is called in a thread of its
        own.
        """
        threading.Thread(target=self._listen, args=(told_to_end,), name="desk", daemon=True).start()
        with self._lock, suppress(OSError):
            self._connection.sendall(message(READY))

    def ask(self, *question: object) -> Any:
        with self._lock:
            try:
                self._connection.sendall(message(*question))
            except OSError:
                self._is_gone = True
            answer = None if self._is_gone else self._answers.get()
        if self._is_gone:
            raise StoreError("the process that keeps the sessions of the console has ended")
        return answer

    def _listen(self, told_to_end: Callable[[], None]) -> None:
        with self._connection.makefile("rb") as lines, suppress(OSError):
            for line in lines:
                name, *values = json.loads(line)
                if name == END:
                    told_to_end()
                else:
                    self._answers.put(*values)
        self._is_gone = True
        self._answers.put(None)
        told_to_end()


class SharedSessions:
    """The sessions that the supervisor keeps."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def open(self, token_id: str) -> str:
        return str(self._desk.ask("open", token_id))

    @contextmanager
    def using(self, identifier: str) -> Iterator[Session | None]:
        found = self._desk.ask("find", identifier)
        if found is None:
            yield None
            return
        with Session.borrowed(found, partial(self._desk.ask, "change", identifier)) as session:
            yield session

    def close(self, identifier: str) -> None:
        self._desk.ask("close", identifier)

    def link(self, token_id: str) -> str:
        return str(self._desk.ask("link", token_id))

    def redeem(self, code: str) -> str | None:
        found = self._desk.ask("redeem", code)
        return None if found is None else str(found)


def answer(sessions: Sessions, name: str, *given: Any) -> Any:
    """Answer a question about sessions."""
    match name, given:
        case "find", (identifier,):
            found = sessions.find(identifier)
            return found and found.dump()
        case "change", (identifier, content):
            if (session := sessions.find(identifier)) is not None:
                session.change(content)
            return None
        case (("open" | "close" | "link" | "redeem"), (text,)):
            return getattr(sessions, name)(text)
    raise ValueError(f"an unknown question: {name}")


def message(*parts: object) -> bytes:
    return json.dumps(parts).encode() + b"\n"
