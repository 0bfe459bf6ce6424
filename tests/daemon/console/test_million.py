"""Each page over a million checks, in processor time, since the clock depends on the neighbours."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_BENCH = Path(__file__).parents[2] / "bench" / "console.py"


@pytest.mark.slow
@pytest.mark.no_cover
def test_pages_over_a_million_checks_take_300_ms_at_most(tmp_path, detector):
    spec = importlib.util.spec_from_file_location("bench_console", _BENCH)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    timings = bench.run(tmp_path / "data", lambda: detector, 1_000_000, 5)
    slow = [each for each in timings if each.processor > bench.TARGET]
    assert not slow
