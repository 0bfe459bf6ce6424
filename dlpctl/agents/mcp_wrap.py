"""Run an MCP server and inspect every message between it and its client, line by line."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING, Any

from dlpctl.errors import InputError, os_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.agents.mcp_messages import Inspector

LARGEST = 64 << 20
"""The size in bytes of the longest message."""
_END_SECONDS = 5.0
_FAILED = 1


class Wrapper:
    """Two threads, one for each direction. Messages without findings are forwarded unchanged."""

    def __init__(self, inspector: Inspector, client_in: IO[bytes], client_out: IO[bytes]) -> None:
        self._inspector = inspector
        self._client_in = client_in
        self._client_out = client_out
        self._lock = threading.Lock()
        self._broken = False

    def run(self, command: Sequence[str]) -> int:
        """Run until the server ends, and return its exit status."""
        with os_errors(InputError, f"{command[0]}: cannot be started"):
            server = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        assert server.stdin is not None
        assert server.stdout is not None
        self._server_in = server.stdin
        reader = threading.Thread(target=self._from_client, daemon=True)
        reader.start()
        try:
            with open(server.stdout.fileno(), "rb", closefd=False) as lines:
                self._pump(lines, to_server=False)
            if self._broken:
                server.kill()
            status = server.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            status = server.wait()
        finally:
            server.stdout.close()
        return _FAILED if self._broken or status < 0 else status

    def _from_client(self) -> None:
        self._pump(self._client_in, to_server=True)
        try:
            self._server_in.close()
        except OSError:
            return

    def _pump(self, lines: IO[bytes], *, to_server: bool) -> None:
        sender = "client" if to_server else "server"
        while line := lines.readline(LARGEST + 1):
            if len(line) > LARGEST:
                _warn(f"a message from the {sender} is larger than {LARGEST:,} bytes; ending")
                self._broken = True
                return
            if not line.endswith(b"\n"):
                _warn(f"the {sender} ended in the middle of a message, which was dropped")
                return
            if line.strip() and not self._pass(line, to_server=to_server):
                return

    def _pass(self, line: bytes, *, to_server: bool) -> bool:
        """Forward a line; return whether the other side is still there."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            _warn("a line that is not JSON was dropped")
            return True
        batch = message if isinstance(message, list) else [message]
        with self._lock:
            results = [self._inspector.forward(each, to_server=to_server) for each in batch]
        onward = [each.onward for each in results if each.onward is not None]
        back = [each.back for each in results if each.back is not None]
        is_batch = isinstance(message, list)
        try:
            if len(onward) == len(batch) and all(
                after is before for after, before in zip(onward, batch, strict=True)
            ):
                self._send(line, to_server=to_server)
            elif onward:
                self._send(_line(onward if is_batch else onward[0]), to_server=to_server)
            for each in back:
                self._send(_line(each), to_server=not to_server)
        except (OSError, ValueError):  # the other side has ended, or its pipe is closed
            return False
        return True

    def _send(self, line: bytes, *, to_server: bool) -> None:
        stream = self._server_in if to_server else self._client_out
        rest = memoryview(line)
        with self._lock:
            while rest:
                rest = rest[stream.write(rest) or 0 :]
            stream.flush()


def _line(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _warn(text: str) -> None:
    sys.stderr.write(f"dlpctl: {text}\n")
