"""Lexicons: the words of a language that indicate names and addresses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dlpctl_patterns
from dlpctl.detect.entities.lexicon import words

PATTERNS = Path(dlpctl_patterns.__path__[0])
LEXICONS = sorted((PATTERNS / "names/lexicon").glob("*.toml"))
MADE_UP = """
titles = '''zorgu'''
closings = '''vaskit'''
"""
TEXTS = ("de Zorgu. Pramenik is op", "Tam op.\nVaskit, Raj\n")
SCAN = """
import json, sys
from dlpctl.detect.entities.taggers import Taggers
taggers = Taggers(None)
texts = json.load(sys.stdin)
found = ([t[c.start : c.end] for c in taggers.candidates(t.encode(), 0.5)] for t in texts)
print(json.dumps(list(found)))
"""


@pytest.mark.parametrize("file", LEXICONS, ids=lambda file: file.stem)
def test_lexicons_are_toml_with_entries_that_are_read(file: Path) -> None:
    for key, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
        assert {word.replace("_", " ") for word in entry.split()} <= words(key), key


def test_a_language_of_names_is_one_file(tmp_path: Path) -> None:
    shutil.copytree(PATTERNS, tmp_path / "dlpctl_patterns")
    assert _found(tmp_path) == [[], ["Vaskit, Raj"]]
    (tmp_path / "dlpctl_patterns/names/lexicon/zz.toml").write_text(MADE_UP, encoding="utf-8")
    assert _found(tmp_path) == [["Pramenik"], ["Raj"]]


def _found(root: Path) -> list[list[str]]:
    ran = subprocess.run(
        [sys.executable, "-c", SCAN],
        input=json.dumps(TEXTS),
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ran.returncode, ran.stderr
    found: list[list[str]] = json.loads(ran.stdout)
    return found
