"""The benchmarks run and produce their results; their numbers are not tested."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, compiled_cache: Path) -> Path:
    """A home in which the patterns are compiled already."""
    folder = tmp_path_factory.mktemp("home")
    shutil.copytree(compiled_cache, folder / "cache")
    return folder


@pytest.fixture(scope="session")
def figures(home: Path) -> Callable[..., Any]:
    def run(*command: str) -> Any:
        ran = subprocess.run(
            [sys.executable, *command, "--short", "--json"],
            capture_output=True,
            text=True,
            cwd=FOLDER,
            env=os.environ | {"DLPCTL_HOME": str(home)},
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return run


def test_engine(figures: Callable[..., Any]) -> None:
    measured = figures("engine.py")
    assert set(measured["throughput"]) == {"standard library", "1 a KB", "10 a KB", "100 a KB"}
    assert all(each["MB/s"] > 0 for each in measured["throughput"].values())
    assert measured["latency"]["all"]["p50 ms"] <= measured["latency"]["all"]["p99 ms"]
    assert "worst" in measured["growth"]
    assert "memory" in measured


def test_frames(figures: Callable[..., Any]) -> None:
    measured = figures("frames.py")
    assert measured["repeated"]["distinct"] < measured["distinct"]["distinct"]
    assert measured["repeated"]["ratio"] > measured["distinct"]["ratio"] > 0


def test_cluster(figures: Callable[..., Any]) -> None:
    pytest.importorskip("distributed")
    measured = figures("cluster.py")
    assert 0 < measured["simulated"]["efficiency"] <= 1
    assert measured["local:2"]["ratio"] > 0


def test_hostile(figures: Callable[..., Any]) -> None:
    measured = figures("hostile.py")
    assert len(measured) == 20
    assert all(each["ms a MB"] > 0 for each in measured.values())


def test_cold_start(figures: Callable[..., Any], home: Path) -> None:
    assert figures("cold_start.py", "--home", str(home))["ratio"] > 1


def test_leaks(figures: Callable[..., Any]) -> None:
    judged = figures("leaks.py")
    assert judged["files"] >= 15
    assert judged["seen before"] > 0.9 * judged["planted"]
    assert (
        not judged["leaks"]
        + judged["not clean"]
        + judged["refused"]
        + judged["pixels outside boxes"]
    )
    assert judged["words lost"] == {"PDF": 0, "Office": 0}


def test_tree(figures: Callable[..., Any]) -> None:
    measured = figures("tree.py")
    assert measured["SECRETS"]["s"] > 0
    assert measured["everything"]["MB"] > 0


def test_files(figures: Callable[..., Any], home: Path) -> None:
    measured = figures("files.py", "--home", str(home))
    assert len(measured) == 7
    assert all(each["cpu s"] > 0 for each in measured.values())


def test_customers(figures: Callable[..., Any], home: Path) -> None:
    measured = figures("customers.py", "--home", str(home))
    assert set(measured) == {"scan", "scan to JSON", "check", "mask"}
    assert all(each["cpu s"] > 0 for each in measured.values())


def test_gateway(figures: Callable[..., Any]) -> None:
    measured = figures("gateway.py")
    assert len(measured) == 6
    assert all(each["p50 gateway ms"] > 0 for each in measured.values())


def test_gateway_peers(figures: Callable[..., Any]) -> None:
    measured = figures("gateway_peers.py")
    assert len(measured["direct"]["values that reach the provider"]) == 9
    assert measured["dlpctl gateway"]["values that reach the provider"] == []


def test_gateway_leaks(figures: Callable[..., Any]) -> None:
    found = figures("gateway_leaks.py")
    assert found["requests"] == 70
    assert found["values"] > 300
    assert found["leaks"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the warm process needs Unix sockets")
def test_agents(figures: Callable[..., Any], home: Path) -> None:
    found = figures("agents.py", "--home", str(home))
    assert found["different answers"] == 1
    assert found["values that reach a model"] == found["tokens in written files"] == 0
