"""Measure the tagger for names and addresses: precision, recall and F2, time per KB, load time,
memory.

python tests/bench/names.py                     a generated set for each language, with names and
templates that training never sees python tests/bench/names.py --jsonl mine.jsonl  sets of {"text":
..., "spans": [[type, start, end], ...]}, types PERSON and ADDRESS python tests/bench/names.py
--plain FOLDER      findings per 100 KB in files that hold no names
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import re
import resource
import sys
import time
from pathlib import Path
from zlib import crc32

import dlpctl_patterns

HERE = Path(__file__).parent
sys.path[0] = str(
    HERE.parent / "training"
)  # in the place of this folder, whose names.py would hide the package of that name

from dlpctl.detect.entities.finder import NameTagger  # noqa: E402
from dlpctl.detect.entities.triggers import PATTERNS  # noqa: E402

Row = dict
_SURROGATES = re.compile("[\ud800-\udfff]")
KINDS = {"PERSON": "PERSON_NAME", "PERSON_NAME": "PERSON_NAME", "ADDRESS": "ADDRESS"}

SYNTHETIC = {"en": 1.0}


class Scanner:
    """The gate's patterns in a database of their own, as the engine has them in the shared one."""

    def __init__(self, tagger: NameTagger) -> None:
        import hyperscan

        self.tagger = tagger
        self.database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        expressions = [pattern.regex.encode() for pattern in PATTERNS]
        self.database.compile(
            expressions=expressions,
            ids=list(range(len(expressions))),
            elements=len(expressions),
            flags=[hyperscan.HS_FLAG_UTF8] * len(expressions),
        )

    def hits(self, text: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        data = _SURROGATES.sub("?", text).encode()

        def on_match(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found.append((index, end))

        self.database.scan(data, match_event_handler=on_match)
        if len(data) != len(text) and found:
            found.sort(key=lambda hit: hit[1])
            characters, at, result = 0, 0, []
            for index, end in found:
                characters += len(data[at:end].decode())
                at = end
                result.append((index, characters))
            return result
        return found

    def find(self, text: str) -> list:
        return self.tagger.tag(text, self.tagger.regions(text, self.hits(text)))


def generated(count: int, seed: int, language: str) -> list[Row]:
    import compose
    import lists

    composer = compose.Composer(
        _lists(lists),
        random.Random(seed),
        lambda name: crc32(name.lower().encode()) % 7 == 0 or len(name) < 3,
    )
    return compose.generate(
        composer,
        compose.templates(HERE / "name_templates"),
        count,
        shares={language: 0.8, "none": 0.2} if language == "en" else {language: 1.0},
    )


_CACHE: list = []


def _lists(module):
    if not _CACHE:
        _CACHE.append(module.load())
    return _CACHE[0]


def measure(
    rows: list[Row], find, floor: float, wrong: list | None = None
) -> dict[str, dict[str, float]]:
    """Exact spans and overlapping ones (half of the longer), by type."""
    counts = {
        kind: [0, 0, 0, 0, 0] for kind in ("PERSON_NAME", "ADDRESS")
    }  # gold, found, exact, found that overlap, gold that overlap
    for row in rows:
        text = row["text"]
        found = [finding for finding in find(text) if finding.score >= floor]
        for kind, tally in counts.items():
            gold = [(start, end) for name, start, end in row["spans"] if KINDS.get(name) == kind]
            ours = [(finding.start, finding.end) for finding in found if finding.type == kind]
            tally[0] += len(gold)
            tally[1] += len(ours)
            tally[2] += len(set(gold) & set(ours))
            tally[3] += sum(any(_alike(a, b) for b in gold) for a in ours)
            tally[4] += sum(any(_alike(a, b) for b in ours) for a in gold)
            if wrong is not None:
                wrong += [
                    ("missed", kind, text[max(0, a - 40) : a], text[a:b], text[b : b + 30])
                    for a, b in gold
                    if not any(_alike((a, b), o) for o in ours)
                ]
                wrong += [
                    ("wrong", kind, text[max(0, a - 40) : a], text[a:b], text[b : b + 30])
                    for a, b in ours
                    if not any(_alike((a, b), o) for o in gold)
                ]
    result = {}
    for kind, (gold, ours, exact, right, hit) in counts.items():
        p, r = (right / ours if ours else 1.0), (hit / gold if gold else 1.0)
        result[kind] = {
            "gold": gold,
            "P": p,
            "R": r,
            "F2": 5 * p * r / (4 * p + r) if p + r else 0.0,
            "exact P": exact / ours if ours else 1.0,
            "exact R": exact / gold if gold else 1.0,
        }
    return result


def _alike(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return 2 * (min(a[1], b[1]) - max(a[0], b[0])) >= max(a[1] - a[0], b[1] - b[0])


def show(name: str, result: dict[str, dict[str, float]]) -> None:
    for kind, values in result.items():
        if values["gold"]:
            print(
                f"{name:28} {kind:12} n={values['gold']:<6} P {values['P']:.3f}  R {values['R']:.3f}  F2 {values['F2']:.3f}   exact {values['exact P']:.3f} / {values['exact R']:.3f}"
            )


def clock(name: str, text: str, scanner: Scanner, rounds: int) -> None:
    scanner.find(text)
    gc.collect()
    gc.freeze()  # the lists that generate the sets are not part of a scan
    times = []
    for _ in range(rounds):
        began = time.process_time()  # of this process alone: others may share the machine
        scanner.find(text)
        times.append(time.process_time() - began)
    middle = sorted(times)[len(times) // 2]
    print(
        f"{name:28} {len(text) / 1024:8.1f} KB  {middle * 1000:8.3f} ms  {middle * 1000 / (len(text) / 1024):7.3f} ms/KB  {len(text) / middle / 1e6:7.2f} MB/s"
    )


def fresh(name: str, scanner: Scanner) -> None:
    """Prompts that were never seen: of a repeated one, the tagger remembers what it found."""
    prompts = []
    for seed in range(60):
        rows = generated(40, 1000 + seed, "en")
        text = "\n".join(
            row["text"] for row in rows if any(span[0] in KINDS for span in row["spans"])
        )
        prompts.append(text[:2048])
    gc.collect()
    gc.freeze()
    times = []
    for prompt in prompts:
        began = time.process_time()
        scanner.find(prompt)
        times.append(time.process_time() - began)
    print(f"{name:28} {2.0:8.1f} KB  {sorted(times[20:])[20] * 1000:8.3f} ms")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--data", type=Path, default=Path(dlpctl_patterns.__file__).parent / "names" / "tagger.bin"
    )
    parser.add_argument("--jsonl", type=Path, action="append", default=[])
    parser.add_argument("--plain", type=Path, action="append", default=[])
    parser.add_argument(
        "--most", type=int, default=1_000_000, help="bytes of each folder of plain files"
    )
    parser.add_argument("--generated", type=int, default=400)
    parser.add_argument("--floor", type=float, default=0.5)
    parser.add_argument("--errors", type=int, default=0, help="show so many mistakes of each set")
    parser.add_argument("--ungated", action="store_true")
    options = parser.parse_args()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    tagger = NameTagger.load(options.data)
    print(
        f"load {(time.perf_counter() - began) * 1000:.2f} ms, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before} KB, file {options.data.stat().st_size} bytes"
    )
    scanner = Scanner(tagger)
    find = (lambda text: tagger.tag(text, [(0, len(text))])) if options.ungated else scanner.find

    def run(name: str, rows: list[Row]) -> None:
        wrong: list = []
        show(name, measure(rows, find, options.floor, wrong))
        random.Random(1).shuffle(wrong)
        for kind, what, left, value, right in wrong[: options.errors]:
            print("   ", kind, what, repr(left), "[[", repr(value), "]]", repr(right))

    if options.generated:
        for language in ("en", "de", "fr", "es", "it", "pt", "nl", "xx"):
            run(
                f"generated {language}",
                generated(
                    options.generated if language == "en" else options.generated // 3, 99, language
                ),
            )
    for path in options.jsonl:
        run(path.stem, [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
    for folder in options.plain:
        files = sorted(
            file
            for file in ([folder] if folder.is_file() else folder.rglob("*"))
            if file.suffix
            in (
                ".py",
                ".js",
                ".c",
                ".h",
                ".go",
                ".rs",
                ".java",
                ".txt",
                ".log",
                ".html",
                ".pm",
                ".json",
            )
        )
        random.Random(3).shuffle(files)
        total, parts, counts = 0, [], {"PERSON_NAME": 0, "ADDRESS": 0}
        shown: list[str] = []
        for file in files:
            text = file.read_text(encoding="utf-8", errors="ignore")[:100_000]
            total += len(text)
            parts.append(text)
            for finding in find(text):
                if finding.score >= options.floor:
                    counts[finding.type] += 1
                    shown.append(
                        f"{finding.type} {text[finding.start : finding.end]!r} in {text[max(0, finding.start - 30) : finding.end + 20]!r}"
                    )
            if total > options.most:
                break
        print(
            f"{folder.name:28} {total} bytes: "
            + ", ".join(
                f"{kind} {count} ({count / total * 102400:.2f} per 100 KB)"
                for kind, count in counts.items()
            )
        )
        random.Random(2).shuffle(shown)
        for line in shown[: options.errors]:
            print("   ", line)
        clock(f"  speed {folder.name}", "\n".join(parts)[:1_000_000], scanner, 3)
    rows = generated(60, 5, "en")
    dense = "\n".join(
        row["text"] for row in rows if any(span[0] in KINDS for span in row["spans"])
    )[:2048]
    sparse = (HERE / "sparse_prompt.txt").read_text(encoding="utf-8")[:2048]
    clock("dense prompt", dense, scanner, 100)
    fresh("dense prompts, new ones", scanner)
    clock("sparse prompt", sparse, scanner, 100)


if __name__ == "__main__":
    main()
