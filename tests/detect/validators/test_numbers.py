"""Numbers declared as tables."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import dlpctl_patterns

PATTERNS = Path(dlpctl_patterns.__path__[0])
DECLARED = """
[xx_badge]
lengths = [8]
varied = ":"
date = { year = "0:2", month = "2:4", day = "4:6" }
checks = [{ weights = [2, 3, 4, 5, 6, 7, 8], modulus = 11, digits = "0-987654321", at = 7 }]
"""
CHECK = """
from dlpctl.detect.validators import find, names
badge = find("xx_badge")
assert "xx_badge" in names() and badge.proves
print([n for n in ("85 03 17-1 1", "85031712", "85131726", "11111111") if badge.accepts(n)])
"""


def test_a_table_is_all_that_a_number_takes(tmp_path: Path) -> None:
    shutil.copytree(PATTERNS, tmp_path / "dlpctl_patterns")
    (tmp_path / "dlpctl_patterns/numbers/made_up.toml").write_text(DECLARED, encoding="utf-8")
    total = sum(int(d) * w for d, w in zip("8503171", (2, 3, 4, 5, 6, 7, 8), strict=True))
    assert -total % 11 == 1
    ran = subprocess.run(
        [sys.executable, "-c", CHECK],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "['85 03 17-1 1']\n", ran.stderr
