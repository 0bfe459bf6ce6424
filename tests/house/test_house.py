"""The code keeps to its vocabulary, to the sizes of its parts and to imports without cycles."""

from __future__ import annotations

import re

import house
import pytest


@pytest.mark.no_cover
@pytest.mark.parametrize("rule", house.COUNTED)
def test_every_module_has_as_many_violations_as_it_is_allowed(rule: str) -> None:
    violations = list(house.COUNTED[rule]())
    allowed, counted = house.allowances()[rule], house.count(violations)
    worse = [str(each) for each in violations if counted[each.path] > allowed.get(each.path, 0)]
    assert not worse, "\n".join(worse)
    better = [path for path, number in allowed.items() if counted.get(path, 0) < number]
    assert not better, "run python tests/house/house.py: " + ", ".join(better)


def test_a_long_module_has_a_reason() -> None:
    long = {violation.path for violation in house.long_modules()}
    reasons = house.allowances()["long_modules"]
    assert long == reasons.keys()
    assert all(reasons.values())


def test_imports_have_no_cycles() -> None:
    assert house.import_cycles() == house.allowances()["cycles"], "see tests/house/house.py"


def test_no_file_has_conflict_markers_of_a_merge() -> None:
    files = [*house.ROOT.glob("*.md"), *house.ROOT.glob("dlpctl/cli/topics/*.md")]
    markers = re.compile(r"^(<{7} |={7}$|>{7} )", re.MULTILINE)
    assert not [file.name for file in files if markers.search(file.read_text("utf-8"))]
