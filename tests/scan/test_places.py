"""Many findings of one content become results in parts, in several processes where they may fork."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dlpctl.scan.places import TextPlaces
from dlpctl.types import Category, Finding

_SCRIPT = r"""
import json, os
from dlpctl.detect.allow import AllowList
from dlpctl.system.forked import LeaveToFork
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.model import Pattern
from dlpctl.scan import content
from dlpctl.types import Category

os.sched_getaffinity = lambda _: {0, 1, 2}
content._MANY = 50
detector = Detector(
    [Pattern("badge", "BADGE", Category.CUSTOM, "Badge", r"\bAC-(?P<value>[0-9]{8})\b", 0.8)]
)
text = "".join(
    f"ü row {number % 7}: AC-{10**7 + number} {'AC-12345678' if number % 3 else ''}\n"
    for number in range(300)
)
outcomes = []
for aside, allow in ((None, AllowList()), (LeaveToFork(), AllowList()), (LeaveToFork(), AllowList(["12345678"]))):
    detector.leave = aside
    results, accepted, _ = content.Examiner(detector, 0.5, allow).text("a.txt", text.encode())
    outcomes.append([[*map(list, results)], accepted])
print(json.dumps(outcomes))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")
def test_several_processes_make_the_same_results(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    assert not ran.stderr, ran.stderr
    alone, together, allowed = json.loads(ran.stdout)
    assert alone == together
    assert len(alone[0]) == 500
    assert len({result[13] for result in alone[0]}) == 500  # each has a name of its own
    assert allowed[1] == 200
    assert len(allowed[0]) == 300


def test_an_outline_holds_no_value() -> None:
    text = "first\nkey AC-1 and AC-2, end\nlast AC-3"
    findings = [
        Finding("BADGE", Category.CUSTOM, at, at + 4, 0.8, "badge")
        for at in (text.index("AC-1"), text.index("AC-2"), text.index("AC-3"))
    ]
    places = TextPlaces(text, findings)
    assert [places.outline(one) for one in findings] == [
        "key \0 and \0, end",
        "key \0 and \0, end",
        "last \0",
    ]
    assert [places.position(*one)[:2] for one in enumerate(findings)] == [(2, 5), (2, 14), (3, 6)]
