"""Completion in the shells that are installed."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dlpctl.cli.commands.completions import FILES, SCRIPTS, Shell, script

ROOT = Path(__file__).parents[2]
LINES = [
    ("dlpctl che", {"check"}),
    ("dlpctl policy l", {"lint", "list"}),
    ("dlpctl check --dest", {"--destination"}),
    ("dlpctl check -d ", {"AI_TOOL", "CUSTOMER", "VENDOR"}),
    ("dlpctl check --destination V", {"VENDOR"}),
    ("dlpctl check in.txt --format ", {"human", "json"}),
    ("dlpctl policy show hip", {"hipaa-safe-harbor"}),
    ("dlpctl check -p pci", {"pci-dss"}),
    ("dlpctl patterns list --category F", {"FINANCIAL"}),
    ("dlpctl scan --types CREDIT_C", {"CREDIT_CARD"}),
    ("dlpctl scan --types EMAIL,SS", {"EMAIL,SSN"}),
    ("dlpctl org show ac", {"acme"}),
    ("dlpctl policy create acme gd", {"gdpr"}),
    ("dlpctl mask in", {"in.txt"}),
    ("dlpctl check --format json in", {"in.txt"}),
]
posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(shell), reason=f"needs {shell}")


@pytest.mark.parametrize("shell", Shell)
def test_the_committed_scripts_match_the_package(shell: Shell) -> None:
    file = ROOT / "completions" / FILES[shell]
    again = f"run: cp {SCRIPTS.relative_to(ROOT)}/* completions"
    assert file.read_text(encoding="utf-8") == script(shell), again


def test_printed_and_installed(dlpctl, tmp_path, monkeypatch):
    for shell in Shell:
        assert dlpctl("completions", shell).out == script(shell)
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    result = dlpctl("completions", "install")
    written = tmp_path / "config" / "fish" / "completions" / "dlpctl.fish"
    assert f"written {written}" in result.out
    assert written.read_text(encoding="utf-8") == script(Shell.FISH)
    for shell in Shell:
        assert dlpctl("completions", "install", shell).status == 0
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "name it" in dlpctl("completions", "install").err
    assert dlpctl("completions", "bash", "zsh").status == 2


def answers(*words: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "dlpctl", "__complete", *words[:-1], f"={words[-1]}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stderr == ""
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


def test_values_of_this_machine(dlpctl):
    assert answers("org", "show", "") == answers("group", "list", "--org", "") == []
    dlpctl("init", "--org", "Acme")
    assert answers("org", "show", "") == ["acme"]
    assert len(answers("policy", "regenerate-key", "acme", "")) == 1
    assert {"git", "claude-code"} < set(answers("hook", "install", ""))
    assert answers("check", "-d", "") == ["AI_TOOL", "CUSTOMER", "VENDOR"]
    assert {"EMAIL", "PII", "SECRETS", "API_KEY", ":list"} < set(answers("scan", "--types", ""))
    Path("own.toml").write_text('[[pattern]]\nid = "badge"\ntype = "BADGE"\n')
    Path("dlpctl.toml").write_text('patterns = ["own.toml", "missing.toml"]\n')
    assert "BADGE" in answers("scan", "--types", "B")
    Path("dlpctl.toml").write_text("nonsense\n")
    assert "EMAIL" in answers("scan", "--types", "E")


def test_an_invalid_line_has_no_completions(dlpctl):
    assert answers("nonsense", "") == []
    assert answers("--nonsense") == []


def test_completion_imports_no_detection_or_formats():
    code = (
        "import sys; from dlpctl.cli.completion.answers import answer;"
        " assert answer(['check', '-d'], 'V') == ['VENDOR'];"
        " assert 'SSN' in answer(['scan', '--types'], 'SS');"
        " print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    heavy = {"rich", "hyperscan", "re2", "sqlite3", "cryptography", "flask", "yaml"}
    assert not heavy & set(done.stderr.split())


@pytest.fixture
def shell_environ(dlpctl, tmp_path) -> dict[str, str]:
    dlpctl("init", "--org", "Acme")
    Path("in.txt").write_text("text")
    program = tmp_path / "bin" / "dlpctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dlpctl "$@"\n')
    program.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }


def output(command: list[str], environ: dict[str, str]) -> str:
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stderr == ""
    return done.stdout


@posix
@needs("bash")
def test_bash(shell_environ):
    for line, expected in [*LINES, ("dlpctl check --format=j", {"json"})]:
        words = [part for word in line.split(" ") for part in re.split("(=)", word)]
        quoted = " ".join(f"'{word}'" for word in words)
        code = (
            f"source '{ROOT / 'completions' / 'dlpctl.bash'}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1};"
            ' _dlpctl; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        found = output(["bash", "--norc", "-c", code], shell_environ)
        assert set(found.split()) == expected, line


@posix
@needs("fish")
def test_fish(shell_environ):
    source = f"source '{ROOT / 'completions' / 'dlpctl.fish'}'"
    for line, expected in [*LINES, ("dlpctl check --format=j", {"--format=json"})]:
        found = output(
            ["fish", "--no-config", "-c", f"{source}; complete -C '{line}'"], shell_environ
        )
        assert {word.partition("\t")[0] for word in found.splitlines()} >= expected, line
        assert len(found.splitlines()) <= len(expected) + 1, line


@posix
@needs("zsh")
def test_zsh(shell_environ):
    """Uses a terminal, since zsh completes nowhere else."""
    import pty

    master, slave = pty.openpty()
    setup = f"fpath=('{ROOT / 'completions'}' $fpath); autoload -U compinit; compinit -u -D; unsetopt list_ambiguous"
    with subprocess.Popen(
        ["zsh", "-f", "-i"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=shell_environ | {"TERM": "dumb", "COLUMNS": "300"},
        start_new_session=True,
    ) as process:
        os.close(slave)
        try:
            ask(master, f"{setup}; echo REA''DY\n", {"READY"})
            for line, expected in LINES:
                ask(master, f"{line}\t", expected)
                ask(master, "\x15echo NE''XT\n", {"NEXT"})
        finally:
            process.kill()
            os.close(master)


def ask(terminal: int, typed: str, expected: set[str]) -> None:
    """Types, and waits until the expected output is shown."""
    os.write(terminal, typed.encode())
    shown = ""
    while not all(word in shown for word in expected):
        assert select.select([terminal], [], [], 300)[0], (typed, shown)
        shown += os.read(terminal, 4096).decode(errors="replace")


@needs("pwsh")
def test_powershell(shell_environ):
    source = f". '{ROOT / 'completions' / 'dlpctl.ps1'}'"
    for line, expected in LINES:
        if "," in line or line.endswith("in"):
            continue
        code = f"{source}; (TabExpansion2 '{line}' {len(line)}).CompletionMatches.CompletionText"
        found = output(["pwsh", "-NoProfile", "-Command", code], shell_environ)
        assert set(found.split()) == expected, line
