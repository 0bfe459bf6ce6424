"""The command `dlpctl gateway` up to the point where it serves."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dlpctl.cli.main import run
from dlpctl.detect.engine import Detector
from dlpctl.gateway.server import Gateway


@pytest.fixture
def home(tmp_path: Path, compiled_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in [name for name in os.environ if name.startswith("DLPCTL_")]:
        monkeypatch.delenv(name)
    for name in ("CONFIG", "DATA"):
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()
    yield tmp_path
    gc.unfreeze()
    gc.set_threshold(*threshold)
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("options", [[], ["--with-keys"]])
def test_a_listening_gateway_has_loaded_everything(
    home: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    compiled: list[Detector] = []
    compile_all = Detector.compile

    def recorded(self: Detector, *arguments: Any, **named: Any) -> None:
        compiled.append(self)
        compile_all(self, *arguments, **named)

    class Served:
        def run(self, sockets: Any) -> None:
            assert compiled
            assert gc.get_freeze_count() > 10_000
            assert gc.get_threshold()[0] <= 2_000
            ran.append(self)

    def server(gateway: Gateway, on_start: Callable[[], None]) -> Served:
        return Served()

    ran: list[Served] = []
    monkeypatch.setattr(Detector, "compile", recorded)
    monkeypatch.setattr("dlpctl.gateway.serving.server", server)
    assert run(["gateway", "--port", "0", *options]) == 0
    assert len(ran) == 1
