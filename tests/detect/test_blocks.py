"""A long text that several processes search has the findings of a single scan."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dlpctl.detect.automaton.cache import Cache

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")

# A process of its own, since only one with a single thread forks.
_SCRIPT = """
import base64, json, os, random, sys
from dlpctl.detect import blocks
from dlpctl.detect.entities import taggers
from dlpctl.system.forked import LeaveToFork
from dlpctl.detect.engine import Detector

chance = random.Random(int(sys.argv[1]))
GIVEN = "Maria James Anna Peter Jörg Amara Ingrid Zoë".split()
FAMILY = "Lopez Miller Schmidt Okafor Nowak Håkansson Brown".split()

def name():
    return f"{chance.choice(GIVEN)} {chance.choice(FAMILY)}"

def mail():
    return f"{chance.choice(GIVEN).lower()}{chance.randint(0, 99)}@{chance.choice(['acme.com', 'exämple.org'])}"

def card():
    return "4111 1111 1111 1111" if chance.random() < 0.3 else "".join(chance.choices("0123456789", k=16))

def phone():
    return f"({chance.randint(201, 989)}) {chance.randint(200, 999)}-{chance.randint(0, 9999):04}"

def values():
    return chance.choice([name, mail, card, phone])()

def table():
    columns = chance.sample(["name", "email", "phone", "card", "city", "ssn"], k=chance.randint(2, 6))
    ends = chance.choice(["\\n", "\\r\\n"])
    rows = [",".join(columns)]
    for _ in range(chance.randint(5, 120)):
        cell = {"name": name, "email": mail, "phone": phone, "card": card,
                "city": lambda: chance.choice(["Paris", "Springfield", '"a\\nb"']),
                "ssn": lambda: f"{chance.randint(100, 600)}-{chance.randint(10, 99)}-{chance.randint(1000, 9999)}"}
        rows.append(",".join(cell[each]() for each in columns))
    return ends.join([*rows, ""])

def prose():
    said = ["Please ask {} about it, or write to {}.", "{} lives at 742 Evergreen Terrace, Springfield, IL 62704. {}",
            "As {} said to {}", "Nothing is in this line. {0:.0} {1:.0}", "call {} {}"]
    lines = [chance.choice(said).format(name(), values()) for _ in range(chance.randint(1, 60))]
    return chance.choice(["\\n", " ", "\\n\\n"]).join([*lines, chance.choice(FAMILY), ""])

def log():
    return "".join(
        f"2024-01-{chance.randint(10, 28)} INFO user={mail()} ip=10.{chance.randint(0, 255)}.2.3 {values()} "
        f"{chance.choice(['', card() + chr(10) + card()])} {base64.b64encode(mail().encode()).decode()}\\n"
        for _ in range(chance.randint(1, 60)))

def digits():
    return chance.choice(["", " ", "\\n", "-"]).join(card() for _ in range(chance.randint(1, 40))) + "\\n"

os.sched_getaffinity = lambda _: {0, 1, 2}
blocks.LEAST_BYTES = 1
detector = Detector()
forks, fork = [], os.fork

def counted():
    forks.append(fork())
    return forks[-1]

os.fork = counted
different, refused = [], 0
for number in range(int(sys.argv[2])):
    taggers._WINDOW = chance.choice([1 << 11, 1 << 12, 1 << 13])
    text = "".join(chance.choice([table, prose, log, digits])() for _ in range(chance.randint(1, 6)))
    detector.leave = None
    alone = detector.scan(text)
    alone_bytes = detector.scan_bytes(text.encode("utf-8"))
    detector.leave = LeaveToFork()
    together = blocks.scan(detector, text, 0.5)
    refused += isinstance(together, list)
    if list(together) != alone or list(blocks.scan_bytes(detector, text.encode("utf-8"), 0.5)) != alone_bytes:
        different.append(number)
print(json.dumps({"different": different, "forks": len(forks), "refused": refused}))
"""


def compared(seed: int, texts: int) -> dict[str, object]:
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(seed), str(texts)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parent,
    )
    assert not ran.stderr, ran.stderr
    seen: dict[str, object] = json.loads(ran.stdout)
    return seen


def test_blocks_find_what_one_scan_finds() -> None:
    seen = compared(0, 14)
    assert seen["different"] == []
    assert seen["forks"]
    assert seen["refused"] <= 1, "most texts need no scan of the complete text"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_blocks_find_what_one_scan_finds_in_many_texts(seed: int) -> None:
    assert compared(seed, 60)["different"] == []


_COMPILING = """
import os, sys
from pathlib import Path
from dlpctl.detect import blocks
from dlpctl.system.forked import LeaveToFork
from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.library import builtin_files

os.sched_getaffinity = lambda _: {0, 1}
few = [file for file in builtin_files() if file.name == "crypto.toml"]
detector = Detector(cache=Cache(Path(sys.argv[1])), library=few).without_names()
detector.leave = LeaveToFork()
list(blocks.scan(detector, "nothing is in this line " * (blocks.LEAST_BYTES // 20), 0.5))
assert detector.is_compiled
"""


def test_the_library_is_compiled_before_it_is_shared(cache_of_gates: Cache) -> None:
    """Each child would compile it, and keep nothing for the others."""
    subprocess.run(
        [sys.executable, "-c", _COMPILING, str(cache_of_gates.folder)],
        check=True,
        timeout=300,
        cwd=Path(__file__).parent,
    )
