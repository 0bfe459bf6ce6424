"""A process that inspects large texts and files for the service, with the least priority.

It is a fresh interpreter, since one that is forked from threads may hang, and since Python runs one
thread of a process at a time: a large text within the service would slow every other request.

    python -m dlpctl_daemon.inspector '{"files": [], "cache": "/home/jane/.cache/dlpctl"}'
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from dlpctl.control.inspection import StoredPolicy, check_file
from dlpctl.control.prepared import PreparedDetectors
from dlpctl.errors import DlpctlError
from dlpctl.processes.child import python
from dlpctl.processes.confinement import apply_priority_to_session
from dlpctl.processes.parent import Parent
from dlpctl.system.recent import Recent
from dlpctl.types import Destination
from dlpctl_daemon import messages

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.preflight import Checker, Report

_NICE = 10
_KEPT_CHECKERS = 64
_LARGE_MEMORY = 512 << 20
"""A process that has grown beyond is replaced, since it gives little of it back."""


def main(make_detector: Callable[[], Detector]) -> None:
    """Answer the requests of the service until it closes its pipe."""
    parent = Parent(messages.REQUEST, messages.REPLY)
    _yield_to_others()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the service ends this process
    signal.signal(signal.SIGTERM, _end)
    inspector = _Inspector(make_detector())
    gc.freeze()
    parent.send(messages.Ready())
    while True:
        try:
            answer = inspector.answer(parent.receive())
        except EOFError:
            return
        parent.send(answer)


class _Inspector:
    def __init__(self, detector: Detector) -> None:
        self._detectors = PreparedDetectors(lambda: detector)
        self._checkers: Recent[StoredPolicy, Checker] = Recent(_KEPT_CHECKERS)

    def answer(self, request: messages.Request) -> messages.Inspected | messages.Failed:
        try:
            checker = self._checker(request.policy)
            if isinstance(request, messages.CheckFile):
                return self._file(checker, request)
            report = checker.check(request.text)
            masked = report.masked_content
            return _inspected(
                report, None if masked is None else masked.encode("utf-8", "surrogatepass")
            )
        except DlpctlError as error:
            return messages.Failed(type(error).__name__, error.message)
        except MemoryError:
            return messages.Failed("MemoryError", "")

    @staticmethod
    def _file(checker: Checker, request: messages.CheckFile) -> messages.Inspected:
        return _inspected(*check_file(checker, request.data, request.name, request.limits))

    def _checker(self, stored: StoredPolicy) -> Checker:
        checker = self._checkers.get(stored)
        if checker is None:
            from dlpctl.policy.model import Policy

            policy = Policy.from_dict(json.loads(stored.body))
            destination, day = Destination(stored.destination), date.fromisoformat(stored.day)
            checker = self._detectors.checker(
                policy, destination, stored.policy_id, stored.key, day
            )
            self._checkers.put(stored, checker)
        return checker


def _inspected(report: Report, masked: bytes | None) -> messages.Inspected:
    return messages.Inspected(
        report.decision.value, report.summary, [*report.detected], masked, _has_grown()
    )


def _yield_to_others() -> None:
    """Run when nobody else wants the processor."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
        apply_priority_to_session()


def _has_grown() -> bool:
    if sys.platform == "win32":
        return False
    import resource

    unit = 1 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit > _LARGE_MEMORY


def _end(_signal: int, _frame: FrameType | None) -> None:
    """Leave as on any other end, so that processes of formats and their folders go too."""
    raise SystemExit(1)


def command(files: Iterable[Path], cache: Path) -> tuple[str, ...]:
    """Return the command that starts an inspector with the library and these pattern files."""
    given = json.dumps({"files": [str(file) for file in files], "cache": str(cache)})
    return python("dlpctl_daemon.inspector", given)


def _library_detector(given: str) -> Detector:
    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.engine import Detector

    source = json.loads(given)
    detector = Detector(
        files=[Path(file) for file in source["files"]], cache=Cache(Path(source["cache"]))
    )
    detector.compile()
    return detector


if __name__ == "__main__":
    main(lambda: _library_detector(sys.argv[1]))
