"""The examples of `dlpctl help clusters` run as written, with Airflow and dbt replaced."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dlpctl.cli import topics

pytestmark = pytest.mark.filterwarnings("default")
MAIL = "jane.doe@northwind.org"


def example(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", topics.text("clusters"), re.DOTALL)
    assert found
    return found[1]


class FailError(Exception):
    """Replaces the exception after which Airflow does not retry."""


@pytest.fixture
def airflow_task(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    exceptions, sdk = ModuleType("airflow.exceptions"), ModuleType("airflow.sdk")
    vars(exceptions)["AirflowFailException"] = FailError
    vars(sdk)["task"] = lambda retries: lambda function: function
    for module in (ModuleType("airflow"), exceptions, sdk):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    names: dict[str, Any] = {}
    exec(example("python"), names)
    task: Callable[[str], None] = names["scan"]
    return task


@pytest.mark.parametrize("status", [0, 10, 20, 1, 2])
def test_a_task_is_tried_again_unless_it_found_something(
    airflow_task: Callable[[str], None], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str]) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, status)

    monkeypatch.setattr(subprocess, "run", run)
    if status in (0, 10):
        airflow_task("2026-01-01")
    else:
        with pytest.raises(FailError if status == 20 else RuntimeError):
            airflow_task("2026-01-01")
    assert commands[0][:3] == ["dlpctl", "scan", "s3://landing/2026-01-01"]


def test_a_task_scans_on_a_cluster(
    airflow_task: Callable[[str], None], dlpctl: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    from tests.cli.test_scan_cluster import cluster_here

    Path("landed").mkdir()
    Path("landed/a.txt").write_text(f"ask {MAIL}\n")
    with cluster_here() as running:

        def run(command: list[str]) -> subprocess.CompletedProcess[str]:
            replaced = [
                each.replace("s3://landing/2026-01-01", "landed")
                .replace("tcp://scheduler:8786", running.scheduler_address)
                .replace("/reports/", "")
                for each in command[1:]
            ]
            return subprocess.CompletedProcess(command, dlpctl(*replaced).status)

        monkeypatch.setattr(subprocess, "run", run)
        with pytest.raises(FailError):
            airflow_task("2026-01-01")
        Path("landed/a.txt").write_text("nothing\n")
        airflow_task("2026-01-01")
    assert Path("2026-01-01.html").exists()


@pytest.mark.skipif(os.name != "posix", reason="the example is for a shell of POSIX")
@pytest.mark.parametrize(("schema", "status"), [("main_marts", 20), ("main_staging", 0)])
def test_a_mart_with_sensitive_data_fails_the_step(
    schema: str, status: int, tmp_path: Path
) -> None:
    pytest.importorskip("duckdb_engine")
    folder = tmp_path / "bin"
    folder.mkdir()
    tables = "".join(
        f"CREATE SCHEMA {name}; CREATE TABLE {name}.people (mail VARCHAR);"
        for name in ("main_marts", "main_staging")
    )
    rows = f"INSERT INTO {schema}.people VALUES ('{MAIL}');"
    build = f"import duckdb; duckdb.connect('warehouse.db').execute(\"{tables}{rows}\")"
    python = shlex.quote(sys.executable)
    scripts = {
        "dlpctl": f'exec {python} -m dlpctl "$@"',
        "dbt": f"{python} -c {shlex.quote(build)}",
    }
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    environ = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-e", "-c", example("sh")],
        env={**os.environ, **environ, "WAREHOUSE": "duckdb:///warehouse.db"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert MAIL not in Path("marts.json").read_text()
