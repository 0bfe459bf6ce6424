"""`policy show`, `test` and `diff` of the policy and the cases that the help shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlpctl.cli import topics


@pytest.fixture(autouse=True)
def _example(_own_home):
    for name, text in re.findall(r"```toml\n# (\S+)\n(.*?)```", topics.text("policies"), re.DOTALL):
        Path(name).write_text(text)


def test_the_cases_of_the_help_pass_for_its_policy(dlpctl):
    assert dlpctl("policy", "test", "policy.toml").out.endswith("1 passed, 0 failed\n")
    Path("policy.test.toml").unlink()
    assert "'dlpctl help policies' shows one" in dlpctl("policy", "test", "policy.toml").err


def test_the_limits_of_rules_are_shown(dlpctl):
    with Path("policy.toml").open("a") as policy:
        policy.write('minCount = 3\nmasking = {SSN = "redact", "*" = "hash"}\n')
    shown = dlpctl("policy", "show", "policy.toml").out
    assert "Mask people and money          minCount 3, masking SSN redact, masking hash" in shown


def test_the_files_of_a_corpus_that_are_no_texts_are_named(dlpctl):
    Path("corpus").mkdir()
    Path("corpus/a.bin").write_bytes(bytes(64))
    Path("corpus/b.txt").write_text("SSN 219-09-9999")
    ran = dlpctl("policy", "diff", "secrets-only", "policy.toml", "--corpus", "corpus")
    assert "b.txt  AI_TOOL" in ran.out
    assert ran.err == "dlpctl: a.bin: is no text; not compared\n"
