"""The command `dlpctl gateway` up to the point where it serves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, compiled_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("DLPCTL_")]:
        monkeypatch.delenv(name)
    for name in ("CONFIG", "DATA"):
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    return tmp_path


SERVED = """
import gc, json, sys, uvicorn
from dlpctl.cli.main import run
from dlpctl.detect.engine import Detector

def serve(self, sockets):
    frozen, threshold = gc.get_freeze_count(), gc.get_threshold()[0]
    gc.unfreeze()
    detectors = [each for each in gc.get_objects() if isinstance(each, Detector)]
    opened = []
    sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
    found = [each.type for each in detectors[0].scan("Dear Anna Meyer,")]
    print(json.dumps([frozen, threshold, opened, found]))

uvicorn.Server.run = serve
sys.exit(run(["gateway", "--port", "0", *sys.argv[1:]]))
"""


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("options", [[], ["--with-keys"]])
def test_a_listening_gateway_has_loaded_everything(options: list[str]) -> None:
    command = [sys.executable, "-c", SERVED, *options]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300)
    frozen, threshold, opened, found = json.loads(done.stdout.splitlines()[-1])
    assert "PERSON_NAME" in found
    kept = "tagger.bin", "gates-", "patterns-"
    assert not [file for file in opened if Path(file).name.startswith(kept)]
    assert frozen > 10_000
    assert threshold <= 2_000
