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
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from dlpctl.config.settings import FileLimits
from dlpctl.control.prepared import PreparedDetectors
from dlpctl.errors import DlpctlError
from dlpctl.types import Destination
from dlpctl_daemon.messages import Message, read, write

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.preflight import Checker, Report

_NICE = 10
_KEPT_CHECKERS = 64
_LARGE_MEMORY = 512 << 20
"""A process that has grown beyond is replaced, since it gives little of it back."""


def main(make_detector: Callable[[], Detector]) -> None:
    """Answer requests on the standard streams until they end."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("r+b") as nothing:
        for descriptor in (0, 1):
            os.dup2(nothing.fileno(), descriptor)
    _yield_to_others()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the service ends this process
    signal.signal(signal.SIGTERM, _end)
    inspector = _Inspector(make_detector())
    gc.freeze()
    write(replies, Message({"ready": True}))
    while True:
        try:
            request = read(requests)
        except EOFError:
            return
        answer = inspector.answer(request)
        del request
        write(replies, answer._replace(head=answer.head | {"last": _has_grown()}))


class _Inspector:
    def __init__(self, detector: Detector) -> None:
        self._detectors = PreparedDetectors(lambda: detector)
        self._checkers: OrderedDict[tuple[str, ...], Checker] = OrderedDict()

    def answer(self, request: Message) -> Message:
        try:
            if request.head["operation"] == "file":
                return self._file(request)
            return self._text(request)
        except DlpctlError as error:
            return Message({"error": type(error).__name__, "message": error.message})
        except MemoryError:
            return Message({"error": "MemoryError", "message": ""})

    def _text(self, request: Message) -> Message:
        policy, text = request.blobs
        report = self._checker(request.head, policy).check(text.decode("utf-8", "surrogatepass"))
        masked = report.masked_content
        blobs = () if masked is None else (masked.encode("utf-8", "surrogatepass"),)
        return Message(_described(report), blobs)

    def _file(self, request: Message) -> Message:
        from dlpctl.control.filecheck import check_file

        policy, data = request.blobs
        given = request.head["limits"]
        limits = None if given is None else FileLimits(**given)
        report, masked = check_file(
            self._checker(request.head, policy), data, request.head["name"], limits
        )
        return Message(_described(report), () if masked is None else (masked,))

    def _checker(self, head: Mapping[str, Any], body: bytes) -> Checker:
        key = (head["policy_id"], head["version"], head["destination"], head["day"])
        checker = self._checkers.get(key)
        if checker is None:
            from dlpctl.policy.model import Policy

            policy = Policy.from_dict(json.loads(body))
            destination = Destination(head["destination"])
            own_key = bytes.fromhex(head["key"])
            day = date.fromisoformat(head["day"])
            checker = self._detectors.checker(policy, destination, head["policy_id"], own_key, day)
            self._checkers[key] = checker
            if len(self._checkers) > _KEPT_CHECKERS:
                self._checkers.popitem(last=False)
        self._checkers.move_to_end(key)
        return checker


def _described(report: Report) -> dict[str, Any]:
    return {
        "decision": report.decision.value,
        "summary": report.summary,
        "detected": [list(one) for one in report.detected],
    }


def _yield_to_others() -> None:
    """Run when nobody else wants the processor."""
    from dlpctl.processes.confinement import apply_priority_to_session

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
    return (sys.executable, "-P", "-m", "dlpctl_daemon.inspector", given)


def _library_detector(given: str) -> Detector:
    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.engine import Detector

    source = json.loads(given)
    return Detector(
        files=[Path(file) for file in source["files"]], cache=Cache(Path(source["cache"]))
    )


if __name__ == "__main__":
    main(lambda: _library_detector(sys.argv[1]))
