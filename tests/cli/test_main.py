from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dlpctl as package
from dlpctl.cli.catalogue import command_entries


def test_version(dlpctl):
    for option in ("--version", "-V"):
        assert dlpctl(option).out == f"dlpctl {package.__version__}\n"


def test_a_group_without_a_command_prints_its_help(dlpctl):
    result = dlpctl("cache")
    assert (result.status, result.out) == (2, dlpctl("cache", "--help").out)


def test_an_unknown_command_names_the_nearest(dlpctl):
    result = dlpctl("chekc")
    assert result.status == 2
    assert "did you mean 'check'?" in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--polcy", "x"], "'--polcy' is not an option; did you mean '--policy'?"),
        (["check", "--dest", "x"], "'--dest' is not an option; did you mean '--destination'?"),
        (["scan", "--git", "x"], "'--git' is not an option (see 'dlpctl scan --help')"),
        (["license", "list", "--org", "x"], "'--org' is not an option; give ORG without it"),
        (["scan", "ftp://x"], "ftp://: unknown kind of source; there are s3"),
        (["scan", "postgres://x"], "unknown kind of source; did you mean 'postgresql'?"),
        (["policy", "lst"], "'lst' is not a command; did you mean 'list'?"),
        (["in.txt"], "'dlpctl check in.txt' decides on a file"),
        (["scan", "--format", "jsn"], "'jsn' is not one of 'human', 'json'"),
        (["check", "-d"], "option '-d' requires an argument"),
        (["nonsense"], "(see 'dlpctl --help')"),
    ],
)
def test_misuse_is_a_one_line_error_with_advice(dlpctl, arguments, said):
    Path("in.txt").write_text("a@example.com")
    result = dlpctl(*arguments)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith("dlpctl: ")
    assert said in result.err


FAILING = '''"""Fail.

Examples:
    dlpctl failing in.txt
    dlpctl failing out.txt
"""

from pathlib import Path

from dlpctl.cli.app import App

SECTION = ("Toys", 99)

app = App()


@app.command(help=__doc__)
def failing(file: str) -> None:
    raise ValueError(Path(file).read_text())
'''


def test_an_internal_error_is_one_line_without_scanned_content(dlpctl, add_command):
    Path("in.txt").write_text("4111 1111 1111 1111")
    add_command("failing", FAILING)
    result = dlpctl("failing", "in.txt")
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)
    assert "ValueError in " in result.err
    assert "1111" not in result.err


def test_the_help_has_every_command_in_a_group(dlpctl):
    out = dlpctl("--help").out
    entries = command_entries()
    assert [one for one in entries if f"\n{one.section}:\n" not in out] == []
    folded = out[out.index("\nControl plane:\n") :].partition("\n    ")[0]
    assert [
        one.name
        for one in entries
        if f"\n  {one.name} " not in out and not (one.name in folded and one.position >= 40)
    ] == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize(
    "command", [["--help"], ["help", "files"], ["check", "d\u00e9j\u00e0.txt"]]
)
def test_any_terminal_encoding_works(encoding, command):
    Path("d\u00e9j\u00e0.txt").write_text("a@example.com")
    environ = {**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "40"}
    done = subprocess.run(
        [sys.executable, "-m", "dlpctl", *command],
        env=environ,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scan", "--nonsense"], "'--nonsense' is not an option"),
        (["policy"], ""),
        (["mask", "--operator"], "option '--operator' requires an argument"),
        (["frobnicate"], "'frobnicate' is not a command"),
        (
            ["scan", ".", "--fail-on", "high"],
            "invalid value for '--fail-on': 'high' is not a number",
        ),
        (["serve", "--port", "http"], "invalid value for '--port': 'http' is not a whole number"),
        (["serve", "--port", "99999"], "99999 is not between 0 and 65535"),
        (["scan", ".", "--jobs", "99999"], "99999 is not between 0 and 256"),
        (["explain", ".", "--misses", "-1"], "-1 is less than 0"),
        (["baseline", "import", "gone"], "gone: cannot be read: No such file"),
        (["clip", "in.txt", "b.txt"], "unexpected argument"),
        (["check", "-", "--policy", "defualt"], "a .toml file; did you mean 'default'?"),
        (["scan", ".", "--types", "EMIAL"], "or pattern; did you mean 'EMAIL'?"),
    ],
)
def test_misuse_is_status_2_and_one_line(dlpctl, arguments, said):
    result = dlpctl(*arguments)
    assert result.status == 2
    assert said in result.err
    assert not said or result.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "a.txt", "--policy="],
        ["check", "a.txt", "--destination", ""],
        ["scan", "a.txt", "--types", ""],
        ["gateway", "--policy", ""],
        ["mask", ""],
        ["scan", "a.txt", ""],
    ],
    ids=" ".join,
)
def test_an_empty_value_is_not_taken_for_none(dlpctl, arguments):
    """Such as of a variable that is not set."""
    Path("a.txt").write_text("plain")
    result = dlpctl(*arguments)
    assert (result.status, result.out) == (2, "")
    assert "must not be empty" in result.err


def test_a_command_of_commands_alone_shows_its_help(dlpctl):
    result = dlpctl("org")
    assert (result.status, result.err) == (2, "")
    assert result.out.startswith("Usage: dlpctl org ")


def test_an_argument_of_any_length_is_named_in_a_short_line(dlpctl):
    result = dlpctl("check", "x" * 100_000)
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert result.err.endswith("File name too long\n")
    assert len(result.err) < 3_000


def test_errors_are_json_where_output_is(dlpctl):
    result = dlpctl("check", "missing.txt", "--format", "json")
    error = json.loads(result.err)
    assert error["error"] == "input"
    assert "missing.txt" in error["detail"]


def test_colours_are_used_only_if_wanted(dlpctl, monkeypatch):
    Path("in.txt").write_text("a@example.com")
    assert "\x1b" not in dlpctl("check", "in.txt").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[33" in dlpctl("check", "in.txt").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in dlpctl("check", "in.txt").out


def test_importing_the_package_costs_nothing():
    code = "import sys; before = set(sys.modules); import dlpctl; print(*sorted(set(sys.modules) - before - {'typing'}))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    ).stdout
    heavy = {"hyperscan", "re2", "json", "dataclasses", "typer", "platformdirs"}
    assert not heavy & set(out.split())


@pytest.mark.parametrize("command", [["mask", "in.txt"], ["check", "in.txt"], ["scan", "in.txt"]])
def test_a_start_imports_only_what_the_command_needs(command):
    Path("in.txt").write_text("a@example.com\n")
    code = (
        "import sys; before = {*sys.modules}; from dlpctl.cli.main import run; run(sys.argv[1:]);"
        "sys.stderr.write(' '.join(name.partition('.')[0] for name in {*sys.modules} - before))"
    )
    arguments = [sys.executable, "-c", code, *command]
    subprocess.run(
        arguments, capture_output=True, check=True, timeout=300
    )  # a cold cache needs more
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=300)
    imported = {name for name in done.stderr.split() if not name.startswith("_")}
    ours = {"dlpctl", "dlpctl_patterns"}
    needed = {"typer", "click", "annotated_doc", "shellingham", "hyperscan", "re2"}
    assert imported - sys.stdlib_module_names <= ours | needed
    assert not imported & {"sqlite3", "asyncio", "tempfile", "dataclasses"}


def test_the_public_api():
    from dlpctl import Decision, Detector, Policy, check, mask, unmask

    report = check(
        "write to john.doe@example.com", destination="VENDOR", policy=Policy.builtin("default")
    )
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert mask("write to john.doe@example.com", operator="redact") == "write to [EMAIL]"
    assert [found.type for found in Detector().scan("write to john.doe@example.com")] == ["EMAIL"]
    assert callable(unmask)
    with pytest.raises(AttributeError):
        _ = package.nonsense


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "command", [["check", "in.txt"], ["mask", "in.txt"], ["scan", "in.txt"], ["--help"]]
)
def test_a_full_disk_is_one_line(command):
    Path("in.txt").write_text("a@example.com")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dlpctl", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=300,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, b"dlpctl: stdout: No space left on device\n")


INTERRUPTED_IMPORT = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from dlpctl.__main__ import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_at_the_start_ends_quietly():
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, "--version"]
    ended = subprocess.run(
        command,
        capture_output=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, b"")
