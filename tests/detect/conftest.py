"""The modules beside the tests are imported by their names, and the library is compiled once for all of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dlpctl.detect.cache import Cache
from dlpctl.detect.engine import Detector

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Detector:
    """A detector with every built-in pattern; parallel workers share what the first of them compiled."""
    run = tmp_path_factory.getbasetemp()
    shared = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    return Detector(cache=Cache(shared / "compiled"))
