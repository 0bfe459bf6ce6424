"""Log lines about requests and about the service, for people or for programs. None holds content, a key or a query."""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dlpctl_daemon.notes import Note


class Log:
    """Writes a line an event."""

    def __init__(self, stream: IO[str], form: str = "human") -> None:
        self._stream = stream
        self._write = self._json if form == "json" else self._human
        self._lock = threading.Lock()

    def info(self, event: str, **fields: Any) -> None:
        self._line("info", event, fields)

    def request(self, method: str, route: str, note: Note, seconds: float) -> None:
        """A request that was answered."""
        fields: dict[str, Any] = {
            "method": method,
            "route": route,
            "status": note.status,
            "ms": round(seconds * 1000, 1),
            "request_id": note.request_id,
        }
        if note.caller is not None:
            fields["caller"] = note.caller
        if note.decision is not None:
            fields["decision"] = note.decision
        self._line("info", "request", fields)

    def error(self, event: str, **fields: Any) -> None:
        self._line("error", event, fields)

    def _line(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        line = self._write(_now(), level, event, fields)
        with self._lock:
            self._stream.write(line)

    @staticmethod
    def _json(moment: str, level: str, event: str, fields: Mapping[str, Any]) -> str:
        return json.dumps({"time": moment, "level": level, "event": event, **fields}, default=str) + "\n"

    @staticmethod
    def _human(moment: str, level: str, event: str, fields: Mapping[str, Any]) -> str:
        said = "".join(f" {name}={_plain(value)}" for name, value in fields.items())
        mark = "" if level == "info" else f"{level.upper()} "
        return f"{moment} {mark}{event}{said}\n"


def places(error: BaseException) -> list[str]:
    """Where an error came from. Not what it says: that may hold what was checked."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: object) -> str:
    """On one line, whatever it is."""
    text = str(value)
    return text if text.isprintable() and text and " " not in text else json.dumps(text)
