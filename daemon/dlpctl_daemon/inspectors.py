"""The inspectors, as the service sees them: started when needed, ended when they take too long,
replaced when they die.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dlpctl import errors
from dlpctl.control.inspection import StoredPolicy, blocked
from dlpctl.errors import BusyError, DlpctlError
from dlpctl.types import Decision, Detection
from dlpctl_daemon import messages
from dlpctl_daemon.lanes import SMALL_BYTES
from dlpctl_daemon.messages import InvalidMessageError, Message

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.preflight import Report

_START_SECONDS = 120.0
"""An inspector compiles the patterns if nobody has."""
_TEXT_SECONDS = 60.0
_TEXT_BYTES_A_SECOND = 16 << 10
_FILE_SECONDS = 300.0
_END_SECONDS = 5.0
_UNTRUSTED = "the process that inspected it gave an answer that cannot be trusted"
_LONGEST_SUMMARY = 1 << 16


class InspectionError(Exception):
    """Why nothing is known of the content."""


class Inspectors:
    """Processes for large texts and for files. As many as there are threads that ask are started,
    and kept.
    """

    text_bytes = SMALL_BYTES

    def __init__(
        self,
        command: Sequence[str],
        failed: Callable[[str], None],
        text_seconds: float = _TEXT_SECONDS,
    ) -> None:
        """`command` starts an inspector; `failed` is told why one could not do its work.

        A text may take `text_seconds`, and more where it is large.
        """
        self._command = tuple(command)
        self._failed = failed
        self._text_seconds = text_seconds
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def check_text(self, policy: StoredPolicy, text: str) -> Report:
        data = text.encode("utf-8", "surrogatepass")
        request = Message({"operation": "text"} | _head(policy), (policy.body.encode(), data))
        seconds = self._text_seconds + len(data) / _TEXT_BYTES_A_SECOND
        try:
            answer = self._ask(request, seconds)
            report = _report(policy, answer)
            if report.decision is Decision.BLOCKED:
                return report
            (masked,) = answer.blobs
            return report._replace(masked_content=masked.decode("utf-8", "surrogatepass"))
        except (InspectionError, ValueError) as problem:
            return self._blocked(policy, problem)

    def check_file(
        self, policy: StoredPolicy, data: bytes, name: str, limits: FileLimits | None
    ) -> tuple[Report, bytes | None]:
        named = {
            "operation": "file",
            "name": name,
            "limits": None if limits is None else limits._asdict(),
        }
        request = Message(named | _head(policy), (policy.body.encode(), data))
        try:
            answer = self._ask(request, _FILE_SECONDS)
            report = _report(policy, answer)
            if report.decision is Decision.BLOCKED:
                return report, None
            (masked,) = answer.blobs
            return report, masked
        except (InspectionError, ValueError) as problem:
            return self._blocked(policy, problem), None

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            self._is_closed = True
            processes, self._idle = list(self._all), []
        for process in processes:
            process.terminate()
        for process in processes:
            process.end()

    def _blocked(self, policy: StoredPolicy, problem: Exception) -> Report:
        reason = str(problem) if isinstance(problem, InspectionError) else _UNTRUSTED
        self._failed(reason)
        return blocked(policy, reason)

    def _ask(self, request: Message, seconds: float) -> Message:
        with self._borrowed() as process:
            answer = process.ask(request, seconds)
        if "error" in answer.head:
            raise _error(answer.head)
        return answer

    @contextmanager
    def _borrowed(self) -> Iterator[_Process]:
        with self._lock:
            process = self._idle.pop() if self._idle else None
        if process is None:
            process = self._started()
        try:
            yield process
        except BaseException:
            self._end(process)
            raise
        if process.is_last:
            self._end(process)
            return
        with self._lock:
            if not self._is_closed:
                self._idle.append(process)

    def _started(self) -> _Process:
        try:
            process = _Process(self._command)
        except OSError as problem:
            raise BusyError(
                f"no process can be started: {problem.strerror}; nothing was done"
            ) from None
        with self._lock:
            self._all.add(process)
        try:
            process.receive(_START_SECONDS)
        except InspectionError:
            self._end(process)
            raise BusyError(
                "the process that inspects large content does not start; nothing was done"
            ) from None
        return process

    def _end(self, process: _Process) -> None:
        process.terminate()
        process.end()
        with self._lock:
            self._all.discard(process)


class _Process:
    def __init__(self, command: Sequence[str]) -> None:
        environ = {
            name: text for name, text in os.environ.items() if not name.startswith("DLPCTL_")
        }
        environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            start_new_session=True,
        )
        self.is_last = False
        """Whether the process has given its last answer."""

    def ask(self, request: Message, seconds: float) -> Message:
        assert self._process.stdin is not None
        with self._limited(seconds):
            messages.write(self._process.stdin, request)
            answer = self._read()
        self.is_last = answer.head.pop("last", False) is not False
        return answer

    def receive(self, seconds: float) -> Message:
        with self._limited(seconds):
            return self._read()

    def terminate(self) -> None:
        with contextlib.suppress(OSError):
            self._process.terminate()

    def end(self) -> None:
        """Wait for the end, and force it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self._kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _read(self) -> Message:
        assert self._process.stdout is not None
        return messages.read(self._process.stdout)

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        """End the process when the time is over, which ends the reading and writing too."""
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            self.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
            self._kill()

        watchdog = threading.Timer(seconds, expire)
        watchdog.daemon = True
        watchdog.start()
        try:
            yield
        except (EOFError, OSError):
            if expired.is_set():
                raise InspectionError(f"the inspection took longer than {seconds:.0f} s") from None
            raise InspectionError(
                "the process that inspected it ended before it was done"
            ) from None
        except InvalidMessageError:
            raise InspectionError(_UNTRUSTED) from None
        finally:
            watchdog.cancel()

    def _kill(self) -> None:
        """With all of its group, which no longer exists where the process has ended."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()


def _head(policy: StoredPolicy) -> dict[str, Any]:
    return {
        "policy_id": policy.policy_id,
        "version": policy.version,
        "destination": policy.destination.value,
        "day": policy.day,
        "key": policy.key.hex(),
    }


def _report(policy: StoredPolicy, answer: Message) -> Report:
    """The report, as far as an answer can be trusted; raises `ValueError` where it is of another
    form.
    """
    head = answer.head
    decision = Decision(str(head.get("decision")))
    summary, detected = head.get("summary"), head.get("detected")
    if not isinstance(summary, str) or len(summary) > _LONGEST_SUMMARY:
        raise ValueError("summary")
    if not isinstance(detected, list) or len(answer.blobs) > 1:
        raise ValueError("detected")
    return blocked(policy, "")._replace(
        decision=decision, summary=summary, detected=tuple(_detection(one) for one in detected)
    )


def _detection(given: object) -> Detection:
    match given:
        case [str(name), int(occurrences), str() | None as sample] if occurrences > 0:
            return Detection(name, occurrences, sample)
    raise ValueError("detected")


def _error(head: dict[str, Any]) -> Exception:
    known = getattr(errors, str(head.get("error")), None)
    if (
        isinstance(known, type)
        and issubclass(known, DlpctlError)
        and known.__init__ is DlpctlError.__init__
    ):
        return known(str(head.get("message")))
    return InspectionError("the inspection failed for lack of memory")
