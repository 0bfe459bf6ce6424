from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import dlpctl as package


def test_version(dlpctl):
    assert dlpctl("--version").out == f"dlpctl {package.__version__}\n"


def test_an_unknown_command_names_the_nearest(dlpctl):
    result = dlpctl("chekc")
    assert result.status == 2
    assert "did you mean 'check'?" in result.err


@pytest.mark.parametrize(
    "arguments", [["scan", "--nonsense"], ["policy"], ["mask", "--operator"], ["frobnicate"]]
)
def test_misuse_is_status_2_and_no_traceback(dlpctl, arguments):
    result = dlpctl(*arguments)
    assert result.status == 2
    assert "Traceback" not in result.err


def test_errors_are_json_where_output_is(dlpctl):
    result = dlpctl("check", "missing.txt", "--format", "json")
    error = json.loads(result.err)
    assert error["error"] == "input"
    assert "missing.txt" in error["detail"]


def test_colours_only_where_they_are_wanted(dlpctl, monkeypatch):
    Path("in.txt").write_text("a@example.com")
    assert "\x1b" not in dlpctl("check", "in.txt").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[33" in dlpctl("check", "in.txt").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in dlpctl("check", "in.txt").out


def test_importing_the_package_costs_nothing():
    code = "import sys; before = set(sys.modules); import dlpctl; print(*sorted(set(sys.modules) - before - {'typing'}))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    heavy = {"hyperscan", "re2", "json", "dataclasses", "typer", "platformdirs"}
    assert not heavy & set(out.split())


@pytest.mark.parametrize("command", [["mask", "in.txt"], ["check", "in.txt"], ["scan", "in.txt"]])
def test_a_start_imports_only_what_the_command_needs(command):
    Path("in.txt").write_text("a@example.com\n")
    code = (
        "import sys; from dlpctl.cli.main import run; run(sys.argv[1:]);"
        "sys.stderr.write(' '.join(name.partition('.')[0] for name in sys.modules))"
    )
    arguments = [sys.executable, "-c", code, *command]
    subprocess.run(arguments, capture_output=True, check=True, timeout=60)  # with a cold cache more is needed
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=60)
    unwanted = {
        "flask", "pydantic", "rich", "sqlite_utils", "sqlite3", "jwt", "cryptography", "yaml", "phonenumbers",
        "stdnum", "pypdfium2", "pikepdf", "pypdf", "lxml", "PIL", "hypothesis", "requests", "asyncio", "tempfile",
        "platformdirs", "dataclasses_json",
    }  # fmt: skip
    assert not unwanted & set(done.stderr.split())


def test_the_library_face():
    from dlpctl import Decision, Detector, Policy, check, mask, unmask

    report = check("write to john.doe@example.com", destination="VENDOR", policy=Policy.builtin("default"))
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert mask("write to john.doe@example.com", operator="redact") == "write to [EMAIL]"
    assert [found.type for found in Detector().scan("write to john.doe@example.com")] == ["EMAIL"]
    assert callable(unmask)
    with pytest.raises(AttributeError):
        _ = package.nonsense
