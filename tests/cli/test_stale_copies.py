"""An earlier masked copy is removed by a run that writes none, since it would pass for a new
one.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from dlpctl.detect.validators.secrets_examples import pem_key

BLOCKED = "password: hunter2\n" + pem_key(Random(1))
UNREADABLE = b"\x7fELF\0\0\0 nothing \0\0"


@pytest.mark.parametrize("name", ["a.txt", "a.csv"])
def test_a_blocked_check_removes_the_earlier_copy(dlpctl, name):
    Path(name).write_text(BLOCKED)
    Path("copy").write_text("of something else")
    result = dlpctl("check", name, "-d", "VENDOR", "-o", "copy", "--force")
    assert result.status == 20
    assert not Path("copy").exists()
    assert "removed copy: a copy of earlier" in result.err


def test_a_blocked_check_removes_the_earlier_copy_beside_the_file(dlpctl):
    Path("a.csv").write_text("name,ssn\nn,536904399\n")
    assert dlpctl("check", "a.csv", "-d", "VENDOR").status == 10
    Path("a.csv").write_text(BLOCKED)
    assert dlpctl("check", "a.csv", "-d", "VENDOR", "--force").status == 20
    assert not Path("a.masked.csv").exists()


def test_without_force_an_earlier_copy_stays(dlpctl):
    Path("a.csv").write_text(BLOCKED)
    Path("a.masked.csv").write_text("mine")
    assert dlpctl("check", "a.csv", "-d", "VENDOR").status == 20
    assert Path("a.masked.csv").read_text() == "mine"


def test_content_that_cannot_be_masked_removes_the_earlier_copy(dlpctl):
    Path("a.bin").write_bytes(UNREADABLE)
    Path("copy").write_text("of something else")
    result = dlpctl("mask", "a.bin", "-o", "copy", "--force")
    assert result.status == 20
    assert not Path("copy").exists()


def test_the_input_itself_stays(dlpctl):
    for name, content in (("a.txt", BLOCKED.encode()), ("a.bin", UNREADABLE)):
        Path(name).write_bytes(content)
        assert dlpctl("check", name, "-d", "VENDOR", "-o", name, "--force").status == 20
        assert Path(name).read_bytes() == content
    assert dlpctl("mask", "a.bin", "-o", "a.bin", "--force").status == 20
    assert Path("a.bin").read_bytes() == UNREADABLE
