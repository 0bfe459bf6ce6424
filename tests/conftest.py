"""What all tests share: the library, compiled once for the whole run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlpctl.detect.cache import Cache
from dlpctl.detect.engine import Detector


@pytest.fixture(scope="session")
def compiled_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the compiled library; parallel workers share what the first of them compiled."""
    run = tmp_path_factory.getbasetemp()
    shared = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    folder = shared / "cache-home" / "dlpctl"
    Detector(cache=Cache(folder))
    return folder


@pytest.fixture(scope="session")
def library(compiled_cache: Path) -> Detector:
    """A detector with every built-in pattern."""
    return Detector(cache=Cache(compiled_cache))
