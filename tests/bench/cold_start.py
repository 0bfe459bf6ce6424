"""Time `echo ... | dlpctl mask` as a complete process, in turns with `python -c pass`.

    python tests/bench/cold_start.py [--json] [--short] [--python PYTHON] [--home DIR]

PYTHON is the interpreter of an environment in which dlpctl is installed; a plain `pip install .` is
what users have, and is a little faster than an editable install. The first run has an empty cache
and is measured too; then all patterns are compiled. Byte code has to be written for this to mean
anything, so that PYTHONDONTWRITEBYTECODE is taken out of the environment.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

PROMPT = "Write to john.doe@example.com about card 4111 1111 1111 1111.\n"


def seconds(command: list[str], environment: Mapping[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(
        command, input=PROMPT, capture_output=True, text=True, check=True, env=environment
    )
    return time.perf_counter() - began


def measure(python: str, *, runs: int, home: Path | None = None) -> dict[str, float]:
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    mask, nothing = [python, "-m", "dlpctl", "mask"], [python, "-c", "pass"]
    with tempfile.TemporaryDirectory() as folder:
        environment["DLPCTL_HOME"] = str(home or folder)
        first = seconds(mask, environment)
        seconds([python, "-m", "dlpctl", "cache", "build"], environment)
        pairs = [(seconds(mask, environment), seconds(nothing, environment)) for _ in range(runs)]
    ours, bare = (statistics.median(durations) for durations in zip(*pairs, strict=True))
    return {
        "first run s": round(first, 3),
        "mask ms": round(ours * 1e3, 1),
        "python -c pass ms": round(bare * 1e3, 1),
        "ratio": round(ours / bare, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("--short", action="store_true", help="two runs: only to see that it runs")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has dlpctl")
    parser.add_argument(
        "--home", type=Path, help="a folder with compiled patterns, instead of none"
    )
    arguments = parser.parse_args()
    figures = measure(arguments.python, runs=2 if arguments.short else 20, home=arguments.home)
    if arguments.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, figure in figures.items():
            print(f"{name:20} {figure}")


if __name__ == "__main__":
    main()
