"""A long text that several processes search: the same findings, whatever happens to them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")

# A process of its own, since only one with a single thread forks.
_SCRIPT = """
import json, os, signal, sys, threading
from dlpctl.detect import blocks
from dlpctl.detect.engine import Detector
from dlpctl.system.forked import LeaveToFork

rows = "".join(f"Maria Lopez,maria{n}@example.com,(212) 555-{n:04}\\n" for n in range(200))
text = "name,email,phone\\n" + rows
text += "\\nNothing is in the lines that follow.\\n" * ((blocks.LEAST_BYTES - len(text)) // 37 + 1)
os.sched_getaffinity = lambda _: {0, 1}
fork, children = os.fork, []

def forked():
    children.append(fork())
    return children[-1]

def killed():
    child = forked()
    if child:
        os.kill(child, signal.SIGKILL)
    return child

def refused():
    raise BlockingIOError("no more processes")

def found(how, leave):
    os.fork = how
    children.clear()
    detector.leave = leave
    findings = list(blocks.scan(detector, text, 0.5))
    try:
        os.waitpid(-1, os.WNOHANG)
        left = 1
    except ChildProcessError:
        left = 0
    return {"findings": findings, "children": bool(children), "left": left}

detector = Detector()
alone = found(forked, None)
seen = {
    "two": found(forked, LeaveToFork()),
    "killed": found(killed, LeaveToFork()),
    "refused": found(refused, LeaveToFork()),
}
ended = threading.Event()
threading.Thread(target=ended.wait).start()
seen["threads"] = found(forked, LeaveToFork())
ended.set()
other = LeaveToFork()
if not (child := fork()):
    os._exit(other.processes() > 1)
seen["others may"] = {"findings": alone["findings"], "children": os.waitpid(child, 0)[1], "left": 0}
print(json.dumps({
    name: [one["findings"] == alone["findings"], one["children"], one["left"]]
    for name, one in (seen | {"alone": alone}).items()
}))
print(len(alone["findings"]))
"""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    outcomes, count = ran.stdout.splitlines()
    assert int(count) >= 600
    return dict(json.loads(outcomes))


@pytest.mark.parametrize(
    ("case", "children"),
    [("alone", 0), ("two", 1), ("killed", 1), ("refused", 0), ("threads", 0), ("others may", 0)],
)
def test_findings_are_those_of_one_process(seen: dict[str, Any], case: str, children: int) -> None:
    assert seen[case] == [True, children, 0]
