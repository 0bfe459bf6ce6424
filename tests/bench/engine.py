"""Measure the speed and the memory of the detector.

    python tests/bench/engine.py [--json] [--short] [NAME...]

`throughput` over the standard library's source and over prose with 1, 10 and 100 findings a KB,
beside the raw Hyperscan scan of the same bytes and beside other detectors where they are installed;
`latency` of a prompt of 2 KB; `memory` at its highest; `growth` from 1 to 64 MB. The figures depend
on the machine and on what else it does, so that ratios within one run are what to compare.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.lint import makers
from dlpctl.detect.patterns.prose import plain_prose

Figures = dict[str, Any]
DENSITIES = (1, 10, 100)
FEW = (
    "email us-ssn phone-international ipv4 date-of-birth medical-record-number us-mbi us-npi dea-number gb-nhs credit-card iban swift-bic "
    "aba-routing bitcoin-bech32 github-token aws-access-key-id aws-secret-access-key private-key-pem password-judged "
    "slack-token stripe-secret-key json-web-token npm-access-token us-itin"
)
"""The settings of a project that wants only the usual types."""


def standard_library(size: int) -> str:
    """Source of the Python standard library, the same files in the same order."""
    text: list[str] = []
    left = size
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        content = file.read_text(encoding="utf-8", errors="replace")
        text.append(content[:left])
        left -= len(content)
        if left <= 0:
            break
    return "".join(text)


def prose(size: int, findings_per_kilobyte: int) -> str:
    """Prose with values strewn in, as mails, notes and logs hold them."""
    source = random.Random(findings_per_kilobyte)
    words = plain_prose().split()
    text: list[str] = []
    length, values = 0, 0
    while length < size:
        if values < length * findings_per_kilobyte / 1024:
            text.append(_value(source))
            values += 1
        else:
            text.append(source.choice(words))
        length += len(text[-1]) + 1
    return " ".join(text)


def _value(source: random.Random) -> str:
    def digits(count: int) -> str:
        return "".join(source.choices("0123456789", k=count))

    def letters(count: int) -> str:
        return "".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=count))

    kinds: list[Callable[[], str]] = [
        lambda: f"{letters(5)}.{letters(7)}@example.com",
        lambda: f"SSN 2{digits(2)}-4{digits(1)}-7{digits(3)}",
        lambda: f"card {_card(source)}",
        lambda: f"MRN: {digits(8)}",
        lambda: f"+1 415 555 0{digits(3)}",
        lambda: f"https://{letters(6)}.example.com/{letters(4)}?user={letters(6)}",
        lambda: f"from 81.2.{source.randrange(200)}.{source.randrange(1, 250)}",
        lambda: makers()["github_ghp"](source),
    ]
    return source.choice(kinds)()


def _card(source: random.Random) -> str:
    body = [4, *(source.randrange(10) for _ in range(14))]
    doubled = [
        digit * 2 - 9 * (digit > 4) if place % 2 == 0 else digit for place, digit in enumerate(body)
    ]
    number = "".join(map(str, [*body, -sum(doubled) % 10]))
    return " ".join(number[at : at + 4] for at in range(0, 16, 4))


def least(call: Callable[[], object], times: int) -> float:
    """Seconds of the fastest of some runs: what else the machine does can only add to it."""
    durations = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        durations.append(time.perf_counter() - began)
    return min(durations)


def raw_scan(detector: Detector, text: str) -> Callable[[], object]:
    """Hyperscan alone over the same bytes, of gated sets the anchors: the limit of what the
    detector can reach.
    """
    import hyperscan

    data = text.encode()
    compiled = [each.complete() for each in detector.search.first_pass.sets]
    passes = [each.anchors or each.database for each in compiled if each.database]
    databases = [(database, hyperscan.Scratch(database)) for database in passes]

    def scan() -> None:
        for database, scratch in databases:
            database.scan(data, match_event_handler=lambda *_: None, scratch=scratch)

    return scan


def few(detector: Detector) -> Detector:
    wanted = set(FEW.split())
    return Detector([pattern for pattern in detector.patterns if pattern.id in wanted])


def throughput(detector: Detector, *, short: bool) -> Figures:
    alone, usual = detector.without_names(), few(detector)
    size = 1 << 16 if short else 1 << 22
    texts = {"standard library": standard_library(size)}
    texts |= {
        f"{density} a KB": prose(size if density < 100 else size // 4, density)
        for density in DENSITIES
    }
    figures: Figures = {}
    for name, text in texts.items():
        megabytes = len(text.encode()) / 1e6
        times = 2 if short else 5
        raw = least(raw_scan(detector, text), times)
        own = least(lambda text=text: detector.scan(text), times)
        figures[name] = {
            "MB/s": round(megabytes / own, 2),
            "raw MB/s": round(megabytes / raw, 2),
            "of raw": round(raw / own, 3),
            "patterns alone MB/s": round(
                megabytes / least(lambda text=text: alone.scan(text), times), 2
            ),
            f"{len(usual.patterns)} patterns MB/s": round(
                megabytes / least(lambda text=text: usual.scan(text), times), 2
            ),
            f"{len(usual.patterns)} patterns raw MB/s": round(
                megabytes / least(raw_scan(usual, text), times), 2
            ),
            "findings a KB": round(len(detector.scan(text)) / len(text) * 1024, 2),
        }
        for rival, scan in rivals():
            sample = text[: 1 << 13 if short else 1 << 16]
            taken = least(lambda scan=scan, sample=sample: scan(sample), 1)
            figures[name][f"{rival} MB/s"] = round(len(sample) / 1e6 / taken, 3)
    return figures


def rivals() -> Iterator[tuple[str, Callable[[str], object]]]:
    """Other detectors, as far as they are installed here."""
    try:
        from detect_secrets.core.scan import scan_line
        from detect_secrets.settings import default_settings
    except ImportError:
        pass
    else:

        def scan_lines(text: str) -> None:
            with default_settings():
                for line in text.splitlines():
                    list(scan_line(line))

        yield "detect-secrets", scan_lines
    try:
        from presidio_analyzer import AnalyzerEngine
    except ImportError:
        return
    analyzer = AnalyzerEngine()
    yield "presidio", lambda text: analyzer.analyze(text, language="en")


def latency(detector: Detector, *, short: bool) -> Figures:
    """A prompt of 2 KB with a handful of findings, warm."""
    prompt = prose(2048, 2)[:2048]
    kinds = {
        "all": detector,
        "patterns alone": detector.without_names(),
        "few patterns": few(detector),
    }
    return {name: _latency(one, prompt, 200 if short else 5000) for name, one in kinds.items()}


def _latency(detector: Detector, prompt: str, times: int) -> Figures:
    for _ in range(20):
        detector.scan(prompt)
    durations = sorted(least(lambda: detector.scan(prompt), 1) for _ in range(times))
    return {
        "p50 ms": round(statistics.median(durations) * 1e3, 3),
        "p99 ms": round(durations[len(durations) * 99 // 100] * 1e3, 3),
        "findings": len(detector.scan(prompt)),
    }


def growth(detector: Detector, *, short: bool) -> Figures:
    """Seconds for texts that double; `worst` is the largest step from one to the next."""
    sizes = [1, 2] if short else [1, 2, 4, 8, 16, 32, 64]
    unit = 1 << 16 if short else 1 << 20
    text = prose(unit, 1)
    seconds = {size: least(lambda size=size: detector.scan(text * size), 2) for size in sizes}
    steps = [seconds[2 * size] / seconds[size] for size in sizes[:-1]]
    return {f"{size} MB": round(taken, 4) for size, taken in seconds.items()} | {
        "worst": round(max(steps), 2)
    }


MEASURE = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import engine
detector = engine.cached(Path(sys.argv[2]))
def peak():
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says may be of the process that started this one
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)

loaded = peak()
detector.scan(engine.prose(int(sys.argv[3]), 10))
print(loaded, peak())
"""


def memory(_detector: Detector, *, short: bool) -> Figures:
    """Return the highest resident size of a process, with the patterns loaded, and after a scan of
    10 findings per KB.
    """
    if sys.platform == "win32":
        return {}
    size = 1 << 16 if short else 1 << 24
    command = [
        sys.executable,
        "-c",
        MEASURE,
        str(Path(__file__).parent),
        str(cache_folder()),
        str(size),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded, scanned = (int(kibibytes) / 1024 for kibibytes in ran.stdout.split())
    return {"loaded MB": round(loaded, 1), f"scanned {size >> 20} MB": round(scanned, 1)}


BENCHMARKS: dict[str, Callable[..., Figures]] = {
    "throughput": throughput,
    "latency": latency,
    "memory": memory,
    "growth": growth,
}


def cache_folder() -> Path:
    return Path(tempfile.gettempdir()) / "dlpctl-bench-cache"


def cached(folder: Path) -> Detector:
    detector = Detector(cache=Cache(folder))
    detector.compile()
    return detector


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"which of {', '.join(BENCHMARKS)}; all without any",
    )
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument(
        "--short", action="store_true", help="small inputs: only to see that it runs"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    began = time.perf_counter()
    detector = cached(cache_folder())
    figures: Figures = {
        "load s": round(time.perf_counter() - began, 3),
        "patterns": len(detector.patterns),
    }
    for name in arguments.names or BENCHMARKS:
        figures[name] = BENCHMARKS[name](detector, short=arguments.short)
        if not arguments.json:
            print(f"{name}: {json.dumps(figures[name], indent=2)}")
    if arguments.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
