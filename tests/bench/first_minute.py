"""Time the way from `git clone` to the first masked prompt, the network aside.

    python tests/bench/first_minute.py [--with pip|uv] [--repository DIR]

The packages come from a cache that an installation before fills, which is not counted. Each step is
timed in wall and processor time; the home and the environment are new. The target is 15 s in all,
and 1 s for the first start of dlpctl, which compiles the patterns that the prompt needs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TARGET, FIRST_START = 15.0, 1.0
PROMPT = "Mail jane.doe@example.com, card 4111 1111 1111 1111\n"
MASKED = "Mail j***@example.com, card **** **** **** 1111\n"
FIRST = "first masked prompt"


class Step(NamedTuple):
    name: str
    wall: float
    processor: float


def programs() -> str:
    """Return a search path that starts with the programs of this environment."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def measure(repository: Path, folder: Path, installer: str = "pip") -> list[Step]:
    """Clone, install and mask in an empty folder; the packages are in the cache of the installer."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("DLPCTL_")}
    environ |= {"DLPCTL_HOME": str(folder / "home"), "PATH": programs()}
    environ.pop("VIRTUAL_ENV", None)
    cache = folder / "packages"
    bin_folder = folder / "clone/.venv/bin"

    def install() -> list[tuple[str, list[str]]]:
        if installer == "uv":
            to = ["--python", str(bin_folder / "python")]
            return [
                ("environment", ["uv", "venv", "--quiet", "--python", sys.executable, ".venv"]),
                ("installation", ["uv", "pip", "install", "--quiet", *offline, *to, "."]),
            ]
        found = [str(bin_folder / "pip"), "install", "--quiet", *offline, "."]
        return [("environment", [sys.executable, "-m", "venv", ".venv"]), ("installation", found)]

    def run(name: str, command: list[str], given: str = "") -> Step:
        where = folder / "clone" if name != "clone" else folder
        wall, before = time.perf_counter(), os.times()
        done = subprocess.run(
            command,
            cwd=where,
            env=environ,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        wall, after = time.perf_counter() - wall, os.times()
        if done.returncode != 0 or (given and done.stdout != MASKED):
            raise RuntimeError(f"{name}: status {done.returncode}: {done.stderr[-500:]}")
        used = after.children_user + after.children_system
        return Step(name, wall, used - before.children_user - before.children_system)

    clone = ["git", "clone", "--quiet", repository.as_uri(), "clone"]
    offline: list[str] = []
    if installer == "pip":
        wheels = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(cache)]
        wheels += [str(repository), "hatchling"]
        subprocess.run(wheels, check=True, env=environ, capture_output=True)
        offline = ["--no-index", "--find-links", str(cache)]
    else:
        run("clone", clone)
        for name, command in install():
            run(name, command)
        shutil.rmtree(folder / "clone")
        offline = ["--offline"]
    mask = [str(bin_folder / "dlpctl"), "mask"]
    return [
        run("clone", clone),
        *(run(*each) for each in install()),
        run(FIRST, mask, PROMPT),
        run("second masked prompt", mask, PROMPT),
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--with", dest="installer", choices=("pip", "uv"), default="pip")
    options.add_argument("--repository", type=Path, default=ROOT)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps = measure(given.repository.resolve(), Path(folder), given.installer)
    for step in steps:
        print(f"{step.name:<24} {step.wall:6.2f} s {step.processor:6.2f} s CPU")
    until = steps[:-1]
    wall, processor = (sum(each[place] for each in until) for place in (1, 2))
    verdict = "ok" if wall <= TARGET and until[-1].wall <= FIRST_START else "MISSED"
    print(f"{'to the first prompt':<24} {wall:6.2f} s {processor:6.2f} s CPU  {verdict}")


if __name__ == "__main__":
    sys.exit(main())
