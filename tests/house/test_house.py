"""The code keeps to its vocabulary, to the sizes of its parts and to imports without cycles."""

from __future__ import annotations

import re

import house
import pytest


@pytest.mark.no_cover
@pytest.mark.parametrize("rule", house.RULES)
def test_no_module_or_page_breaks_a_rule_of_the_house(rule: str) -> None:
    violations = [str(each) for each in house.RULES[rule]()]
    assert not violations, "\n".join(violations)


def test_no_file_has_conflict_markers_of_a_merge() -> None:
    files = [*house.ROOT.glob("*.md"), *house.ROOT.glob("dlpctl/cli/topics/*.md")]
    markers = re.compile(r"^(<{7} |={7}$|>{7} )", re.MULTILINE)
    assert not [file.name for file in files if markers.search(file.read_text("utf-8"))]
