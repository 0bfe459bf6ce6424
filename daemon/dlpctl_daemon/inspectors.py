"""The inspectors, as the service sees them: processes that are started when needed, ended when they
take too long, and replaced when they die.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dlpctl import errors
from dlpctl.control.inspection import StoredPolicy, blocked
from dlpctl.errors import BusyError, DlpctlError
from dlpctl.processes.child import Child, EndedError, spawn
from dlpctl.processes.pipes import DeadlineError
from dlpctl.processes.schema import InvalidMessageError
from dlpctl.types import Decision
from dlpctl_daemon import messages
from dlpctl_daemon.lanes import SMALL_BYTES

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.preflight import Report

_START_SECONDS = 120.0
"""An inspector compiles the patterns if nobody has."""
_TEXT_SECONDS = 60.0
_TEXT_BYTES_A_SECOND = 16 << 10
_FILE_SECONDS = 300.0
_END_SECONDS = 5.0
_LARGEST_REPLY = 1 << 30
_LONGEST_SUMMARY = 1 << 16
_UNTRUSTED = "the process that inspected it gave an answer that cannot be trusted"


class InspectionError(Exception):
    """The content could not be inspected; the message is the reason."""


class Inspectors:
    """Processes that inspect large texts and files. One is started for each thread that needs it,
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
        self._idle: list[Child[messages.Request]] = []
        self._all: set[Child[messages.Request]] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def check_text(self, policy: StoredPolicy, text: str) -> Report:
        seconds = self._text_seconds + len(text) / _TEXT_BYTES_A_SECOND
        report, masked = self._inspect(policy, messages.CheckText(policy, text), seconds)
        if masked is None:
            return report
        try:
            return report._replace(masked_content=masked.decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            return self._blocked(policy, _UNTRUSTED)

    def check_file(
        self, policy: StoredPolicy, data: bytes, name: str, limits: FileLimits | None
    ) -> tuple[Report, bytes | None]:
        request = messages.CheckFile(policy, name, data, limits)
        return self._inspect(policy, request, _FILE_SECONDS)

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            self._is_closed = True
            children, self._idle = list(self._all), []
        for child in children:
            child.terminate()
        for child in children:
            child.end(_END_SECONDS)

    def _inspect(
        self, policy: StoredPolicy, request: messages.Request, seconds: float
    ) -> tuple[Report, bytes | None]:
        """Return the report and the masked content; the content is blocked if nothing is known."""
        try:
            return _report(policy, self._ask(request, seconds))
        except InspectionError as problem:
            return self._blocked(policy, str(problem)), None

    def _blocked(self, policy: StoredPolicy, reason: str) -> Report:
        self._failed(reason)
        return blocked(policy, reason)

    def _ask(self, request: messages.Request, seconds: float) -> messages.Inspected:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        if child is None:
            child = self._started()
        try:
            answer = _received(lambda: child.ask(request, seconds), seconds)
        except BaseException:
            self._end(child)
            raise
        if isinstance(answer, messages.Failed):
            self._keep(child)
            raise _error(answer)
        if not isinstance(answer, messages.Inspected) or answer.is_last:
            self._end(child)
        else:
            self._keep(child)
        if not isinstance(answer, messages.Inspected):
            raise InspectionError(_UNTRUSTED)
        return answer

    def _started(self) -> Child[messages.Request]:
        try:
            child = spawn(self._command, messages.REQUEST, messages.REPLY, _LARGEST_REPLY)
        except OSError as problem:
            raise BusyError(
                f"no process can be started: {problem.strerror}; nothing was done"
            ) from None
        with self._lock:
            self._all.add(child)
        deadline = time.monotonic() + _START_SECONDS
        with suppress(InspectionError):
            if _received(lambda: child.receive(deadline), _START_SECONDS) == messages.Ready():
                return child
        self._end(child)
        raise BusyError("the process that inspects large content does not start; nothing was done")

    def _keep(self, child: Child[messages.Request]) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle.append(child)

    def _end(self, child: Child[messages.Request]) -> None:
        child.end(_END_SECONDS)
        with self._lock:
            self._all.discard(child)


def _received(receive: Callable[[], Any], seconds: float) -> Any:
    """Return what is received; raise `InspectionError` with the reason where nothing is."""
    try:
        return receive()
    except DeadlineError:
        reason = f"the inspection took longer than {seconds:.0f} s"
    except EndedError:
        reason = "the process that inspected it ended before it was done"
    except InvalidMessageError:
        reason = _UNTRUSTED
    raise InspectionError(reason)


def _report(policy: StoredPolicy, answer: messages.Inspected) -> tuple[Report, bytes | None]:
    """Return the report and the masked content, as far as an answer can be trusted."""
    try:
        decision = Decision(answer.decision)
    except ValueError:
        raise InspectionError(_UNTRUSTED) from None
    if (
        len(answer.summary) > _LONGEST_SUMMARY
        or any(detection.occurrences < 1 for detection in answer.detected)
        or (decision is Decision.BLOCKED) != (answer.masked is None)
    ):
        raise InspectionError(_UNTRUSTED)
    report = blocked(policy, "")._replace(
        decision=decision, summary=answer.summary, detected=tuple(answer.detected)
    )
    return report, answer.masked


def _error(answer: messages.Failed) -> Exception:
    known = getattr(errors, answer.error, None)
    if (
        isinstance(known, type)
        and issubclass(known, DlpctlError)
        and known.__init__ is DlpctlError.__init__
    ):
        return known(answer.message)
    return InspectionError("the inspection failed for lack of memory")
