"""A gate is open wherever its reading finds anything, in this process and from the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.automaton.database import compile_gate
from dlpctl.detect.automaton.gates import Gate, Gates, all_open
from dlpctl.detect.derived.texts import GATES, derived_texts
from dlpctl.detect.engine import Detector, valid_utf8
from tests.bench.leak_kinds import Values, kinds
from tests.detect.test_tables import TABLES

CHUNKS = b"Transfer-Encoding: chunked\n\n8\njohn@exa\n9\nmple.com\n0\n"
BIRTH = b'{"birth": {"year": 1985, "month": 7, "day": 6}}\n'
COMPOUND = b'{"memberTaxId1": "912-70-4418"}\n'
MISREAD = b"Bank Acc0unt N0: 447ll82\n"
QUERY = b"GET /?name=Laura+Kowalski HTTP/1.1\n"
LOGGED = b"2026-10-02 08:14:11 INFO a\n2026-10-02 08:14:12 WARN b\n2026-10-02 08:14:13 INFO c\n"
CHAT = b'{"role": "bot", "content": "Your PIN?"}, {"role": "user", "content": "8306"}\n'
CLEAN = b"def compare(first: str, second: str) -> bool:\n    return first < second\n"


@pytest.fixture(scope="module")
def gates(library: Detector) -> Gates:
    library.search.gates.compile()
    return library.search.gates


def test_gates_change_no_derived_text(gates: Gates) -> None:
    opened: set[tuple[Gate, int]] = set()
    tables = map(str.encode, TABLES.values())
    for data in (
        CHUNKS,
        BIRTH,
        COMPOUND,
        MISREAD,
        QUERY,
        LOGGED,
        CHAT,
        *tables,
        *(valid_utf8(kind.make(Values(0))) for kind in kinds()),
    ):
        found = derived_texts(data, may_match=gates.may_match)
        assert [text.data for text in found] == [text.data for text in derived_texts(data)]
        opened.update((gate, number) for gate in GATES for number in gates.may_match(gate, data))
    assert opened == {(gate, number) for gate in GATES for number in all_open(gate, data)}


def test_gates_are_closed_to_plain_text(gates: Gates) -> None:
    assert not any(gates.may_match(gate, CLEAN) for gate in GATES)


def test_gates_are_small() -> None:
    """A gate of four megabytes took half a minute to compile."""
    assert max(len(compile_gate(gate)) for gate in GATES) < 1 << 20


def test_gates_come_from_the_cache(tmp_path: Path) -> None:
    gates = ("a+b", ("[0-9]{4}", "x", "11"))
    Gates(gates, Cache(tmp_path)).compile()
    kept = Gates(gates, Cache(tmp_path))  # which would be open if they were not compiled
    answers = [sorted(kept.may_match(gate, data)) for gate in gates for data in (b"aab", b"4111")]
    assert answers == [[0], [], [], [0, 2]]


def test_a_detector_of_few_patterns_shares_the_gates_of_the_library(
    compiled_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiling them takes much longer than compiling its patterns."""
    monkeypatch.delenv("DLPCTL_HOME", raising=False)
    gates = Detector([]).search.gates
    assert not any(gates.may_match(gate, CLEAN) for gate in GATES)


def test_gates_that_are_not_compiled_are_open(tmp_path: Path) -> None:
    assert Gates(("a+b",), Cache(tmp_path)).may_match("a+b", b"c")


def test_a_gate_has_no_second_automaton_for_short_texts() -> None:
    assert len(compile_gate("Duplicate entry '[^']*-[^'-]{1,40}' for key")) < 20_000
