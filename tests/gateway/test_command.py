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

def serve(self, sockets):
    taggers = "dlpctl.detect.entities.finder" in sys.modules
    print(json.dumps([gc.get_freeze_count(), gc.get_threshold()[0], taggers]))

uvicorn.Server.run = serve
sys.exit(run(["gateway", "--port", "0", *sys.argv[1:]]))
"""


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("options", [[], ["--with-keys"]])
def test_a_listening_gateway_has_loaded_everything(options: list[str]) -> None:
    command = [sys.executable, "-c", SERVED, *options]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300)
    frozen, threshold, has_taggers = json.loads(done.stdout.splitlines()[-1])
    assert has_taggers
    assert frozen > 10_000
    assert threshold <= 2_000
