"""What the first pass looks for must stand in everything that a pattern matches."""

from __future__ import annotations

import re

import pytest
import re2
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dlpctl.detect.library import builtin_files, load_patterns
from dlpctl.detect.pattern import Pattern

TRIGGERED = [pattern for pattern in load_patterns(builtin_files()) if pattern.trigger]


def texts(pattern: Pattern) -> st.SearchStrategy[str]:
    """Texts with a match, as Python's engine understands the regex."""
    regex = re.sub(r"\\x\{([0-9A-Fa-f]+)\}", lambda found: f"\\U{int(found[1], 16):08x}", pattern.regex)
    return st.from_regex(re.compile(regex, re.ASCII if regex.isascii() else 0))


@pytest.mark.slow
@pytest.mark.parametrize("pattern", TRIGGERED, ids=[pattern.id for pattern in TRIGGERED])
def test_whatever_matches_holds_the_trigger(pattern: Pattern) -> None:
    assert pattern.trigger
    matches, triggered = re2.compile(pattern.regex).search, re2.compile(pattern.trigger).search

    @settings(
        max_examples=10, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(texts(pattern))
    def check(text: str) -> None:
        text = text.encode("utf-8", "replace").decode()
        assert not matches(text) or triggered(text)

    check()
