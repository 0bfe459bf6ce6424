"""The log of what hooks did: one line of JSON for each event, without values."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import OutputError, os_errors

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 16 << 20
"""The size in bytes at which the log is renamed and a new one is started."""


class AuditLog(NamedTuple):
    """A log file that only its owner can read."""

    path: Path

    def write(self, **entry: object) -> None:
        """Append an entry; raise `OutputError` if that fails."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": time, **entry}, ensure_ascii=True) + "\n"
        with os_errors(OutputError, f"{self.path}: cannot be written"):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(line.encode())
                if file.tell() > _LARGEST:
                    self.path.replace(self.path.with_suffix(".old.jsonl"))


def audit_log(data_folder: Path) -> AuditLog:
    return AuditLog(data_folder / "agents" / "audit.jsonl")
