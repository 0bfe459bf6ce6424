"""Scripts without a suffix are source code, in which names are symbols; data without a suffix are
not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.scan.content import Examiner
from dlpctl.scan.results import Result
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection
from dlpctl.scan.source_code import is_source

CODE = {
    "a script": b"#!/usr/bin/env run\nanything\n",
    "one import": b"import sys\n",
    "Python": b'"""Run."""\n\nimport sys\nfrom grace import lee\n\n\ndef main(grace):\n    value = grace\n    run(value)\n',
    "C": b"/* Grace Lee */\n#include <stdio.h>\n#define N 3\nint n = N;\n",
    "shell": b'set -e\nif [ -z "$1" ]; then\n  run\nfi\nfor name in a b; do\n  run $name\ndone\n',
    "Go": b'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println(1)\n}\n',
    "PHP": b"<?php\n$grace = 1;\n",
}
DATA = {
    "a letter": b"Dear Grace Lee,\n\nplease import the goods from Peter Miller.\nIf you can:\n\nJohn Doe\n",
    "settings": b"NAME=Grace Lee\nPATIENT=John Doe\n",
    "JSON": b'{"name": "Grace Lee",\n "class": "a"}\n',
    "a log": b"2026-01-01 login of Grace Lee (admin)\n2026-01-02 return of John Doe\n" * 9,
    "a table": b"name;city\nGrace Lee;Berlin\n",
    "nothing": b"",
    "a list": b"for example:\nGrace Lee\nJohn Doe\nuse it;\n",
    "notes with code": b"Grace Lee wrote this.\nIt is started as follows.\nAsk John Doe.\nThen go on.\nimport sys\n",
}


@pytest.mark.parametrize("what", CODE)
def test_code_is_known_by_how_it_starts(what: str) -> None:
    for name in ("run", "bin/run", "stdin", "a.b/run", ".profile"):
        assert is_source(name, CODE[what])


@pytest.mark.parametrize("start", ["#!/bin/sh\n", "import sys\n"])
def test_names_in_a_script_are_no_persons(
    library: Detector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run").write_text(f"{start}# Dear Mr. Peter Miller, this is for you\n")
    Path("letter").write_text("Dear Mr. Peter Miller, this is for you\n")
    found = Scan(Examiner(library, 0.5, AllowList()), Selection()).files(["."])
    assert {one.path for one in found if isinstance(one, Result)} == {"letter"}


@pytest.mark.parametrize("what", DATA)
def test_data_are_no_code(what: str) -> None:
    assert not is_source("notes", DATA[what])
    assert not is_source(".env", DATA[what])


def test_a_suffix_decides() -> None:
    assert is_source("a.py", DATA["a letter"])
    assert is_source("a/B.GO", b"")
    assert not is_source("a.txt", CODE["a script"])
