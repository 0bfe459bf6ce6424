"""The help of every command: complete at every width, consistent, and discovered automatically."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from dlpctl.cli.outline import Node, describe

PROGRAM = describe()
NODES = {" ".join(node.path): node for node in PROGRAM.walk()}
BARE_TYPES = {
    "TEXT",
    "INTEGER",
    "FLOAT",
    "BOOLEAN",
    "UUID",
    "DATETIME",
    "FILENAME",
    "DIRECTORY",
    "RANGE",
}
TOY = '''"""Greet a name.

Examples:
    dlpctl toy --name Jane
    dlpctl toy
"""

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App

SECTION = ("Toys", 99)

app = App()


@app.command(help=__doc__)
def toy(
    name: Annotated[str, typer.Option(metavar="NAME", help="Greet NAME.")] = "you",
    destination: options.Destination = None,
) -> None:
    print(f"hello {name}")
'''


@pytest.mark.parametrize("width", [40, 80, 400])
@pytest.mark.parametrize("path", NODES)
def test_help_is_complete_at_every_width(dlpctl, monkeypatch, path: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    help_text = dlpctl(*path.split(), "--help").out
    body, _, examples = help_text.partition("\nExamples:\n")
    assert max(len(line) for line in body.splitlines()) <= max(width, 40)
    assert "…" not in help_text
    joined = " ".join(body.split())
    for option in NODES[path].options:
        assert all(re.search(rf"(?<!\S){re.escape(name)}\b", joined) for name in option.names)
        assert " ".join(option.help.split()) in joined
    for child in NODES[path].children:
        assert f"{child.path[-1]} {child.help}" in joined or is_folded(child, joined)
    lines = examples.splitlines()
    assert [line.strip() for line in lines if line.strip()] == list(NODES[path].examples)
    assert len(NODES[path].examples) == 2
    usage, _, _ = joined.partition(". ")
    assert not BARE_TYPES & set(re.findall(r"\w+", usage)), "an argument has a name"


@pytest.mark.parametrize("path", NODES)
def test_examples_are_calls_of_the_command(path: str) -> None:
    node = NODES[path]
    known = {name for option in node.options for name in option.names}
    for example in node.examples:
        assert f"dlpctl {path}".rstrip() in example
        call = re.split(r"[|<>]|&&|\)\"", example.partition(f"dlpctl {path}")[2])[0]
        used = [word for word in shlex.split(call, posix=False) if re.match(r"-+[a-z]", word)]
        if node.children:
            names = [name for name in NODES if f"dlpctl {name} " in f"{example} "]
            known = {each for name in names for one in NODES[name].options for each in one.names}
        assert set(used) <= known, example


def is_folded(child: Node, joined: str) -> bool:
    """Return whether only a command's name is listed, as for the control plane."""
    return bool(re.search(rf"Control plane: [a-z, ]*\b{child.path[-1]}\b", joined))


def test_options_have_one_meaning_and_consistent_metavars() -> None:
    meanings: dict[str, set[str]] = {}
    values: dict[str, set[str]] = {}
    for path, node in NODES.items():
        for option in node.options:
            assert re.fullmatch(r"|[A-Z]+([_=][A-Z]+)*", option.metavar), (path, option)
            assert option.metavar not in BARE_TYPES | {"PATH"}, (path, option)
            assert option.help.endswith("."), (path, option)
            assert len(option.help) <= 100 or option.names[-1] == "--format", (path, option)
            for name in option.names:
                values.setdefault(name, set()).add(option.metavar)
                if name in ("-f", "--format", "-p", "--policy", "--types", "-d", "-q", "--server"):
                    meanings.setdefault(name, set()).add(" ".join(option.names))
                    assert option.help.startswith(("Output format: ",)) == (
                        name in ("-f", "--format")
                    )
    assert {name: len(found) for name, found in meanings.items()} == dict.fromkeys(meanings, 1)
    assert [name for name, metavars in values.items() if len(metavars) > 1] == []


def test_a_command_is_one_file(dlpctl, add_command) -> None:
    add_command("toy", TOY)
    listed = dlpctl("--help").out
    assert listed.index("\nControl plane:\n") < listed.index("\nToys:\n  toy  Greet a name\n")
    assert dlpctl("toy", "--name", "Jane").out == "hello Jane\n"
    assert "dlpctl toy --name Jane" in dlpctl("toy", "--help").out
    assert "Greet NAME." in dlpctl("help", "toy").out
    assert "did you mean 'toy'?" in dlpctl("tyo").err
    from dlpctl.cli.completion.answers import answer

    assert "toy\tGreet a name." in answer([], "to")
    assert answer(["toy", "-d"], "V") == ["VENDOR"]


HELPS = """
import json, os, sys
from dlpctl.cli.main import run
for path in json.loads(sys.argv[1]):
    read, write = os.pipe()
    if not (child := os.fork()):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        run([*path, "--help"])
        os.write(write, " ".join(sys.modules).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        print(*path, answer.read(), sep="\\t")
    os.waitpid(child, 0)
"""
HEAVY = {"asyncio", "cryptography", "flask", "hyperscan", "lxml", "pikepdf", "pydantic", "re2"}
HEAVY |= {"rich", "sqlite3", "sqlite_utils", "ssl", "textual", "yaml", "jwt", "PIL"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_help_imports_few_modules() -> None:
    """Subcommands import the same modules; a tenth of a second is about 200 modules."""
    paths = json.dumps([[], *(node.path for node in PROGRAM.children)])
    done = subprocess.run(
        [sys.executable, "-c", HELPS, paths],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.count("\n") == 1 + len(PROGRAM.children)
    for line in done.stdout.splitlines():
        *path, modules = line.split("\t")
        imported = modules.split()
        assert not HEAVY & {name.partition(".")[0] for name in imported}, path
        assert 100 < len(imported) < 200, path
