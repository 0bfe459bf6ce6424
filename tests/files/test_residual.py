"""Values that remain in a copy are never taken for values that cannot."""

from __future__ import annotations

import base64
import random
import tracemalloc
from functools import partial
from typing import NamedTuple
from urllib.parse import quote

import pytest

from dlpctl.files.residual import CopyReading, Pieces, ResidualSearch
from dlpctl.files.sections import Sections
from dlpctl.formats.files import Files
from dlpctl.formats.residues import StrictMatcher, all_as_searched, as_searched
from dlpctl.formats.verify import count_values

PARTS = ["maria", "Lopez", "J.", "Ärzte", "İzmir", "Νικος", "ma_ria", "1234", "567", "89012", "x9"]
APART = [" ", "-", ".", "@", "_", "/", "  ", "\t", ", "]
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


class Chunks(NamedTuple):
    """Values in chunks of one, with one word in each."""

    values: list[str]
    word: str

    @property
    def chunk_count(self) -> int:
        return len(self.values)

    @property
    def longest(self) -> int:
        return max(map(len, self.values))

    def chunk(self, number: int) -> tuple[set[str], set[str]]:
        return {self.values[number]}, {self.word}


def spelled(value: str, chance: random.Random) -> str:
    """Return a value as a copy may still show it."""
    shown = chance.choice([value, value.upper(), value.lower(), value.title(), quote(value)])
    if shown.replace(" ", "").isdigit():
        shown = chance.choice(["", " ", "-", " - "]).join(shown)
    return chance.choice(["", " ", "x", "4"]) + shown + chance.choice(["", " ", ",", "y", "7"])


def test_what_a_matcher_finds_has_all_of_its_pieces_in_the_copy() -> None:
    chance = random.Random(5)
    found = absent = 0
    for _ in range(600):
        pieces = Pieces()
        parts = chance.choices(PARTS, k=chance.randint(1, 4))
        value = "".join(part + chance.choice(APART) for part in parts)[:-1].strip()
        if not value:
            continue
        text = spelled(value, chance) if chance.random() < 0.8 else " ".join(parts[1:])
        data = text.encode(chance.choice(ENCODINGS))
        data = base64.b64encode(data) if chance.random() < 0.2 else data
        matcher = StrictMatcher([value])
        form, written = as_searched(value)
        shown, held = matcher.in_text(text), matcher.in_bytes(data)
        found += shown + held
        pieces.add_text(text)
        pieces.add_bytes(data)
        assert pieces.may_show(form) or not shown, (value, text)
        is_held = pieces.may_hold(written, ENCODINGS)
        assert is_held or not held, (value, data)
        absent += not is_held
    assert found > 200
    assert absent > 200


def test_bytes_in_another_order_are_other_bytes() -> None:
    pieces = Pieces()
    pieces.add_bytes(b"\n".join(b"*%04d" % number for number in range(10_000)))
    held = [pieces.may_hold(f"({number:03}", ["utf-8"]) for number in range(1000)]
    assert sum(held) < 50


def test_characters_with_the_byte_of_a_line_end_may_remain() -> None:
    value = "ਸ" * 6
    pieces = Pieces()
    pieces.add_bytes(base64.b64encode(value.encode("utf-16-be")))
    assert pieces.may_hold(value, ENCODINGS)


def test_pieces_of_blocks_are_those_of_the_copy() -> None:
    pieces = Pieces()
    for part in ("Maria_Lopez 123 456 7890", "ΝΙΚΟΣ"):
        pieces.add_text(part)
        pieces.add_bytes(part.encode())
    assert all(map(pieces.may_show, ["maria_lopez", "maria", "νικοσ", "12345678", "45678901"]))
    assert not any(map(pieces.may_show, ["mario", "maria lopes", "23456789"]))
    assert pieces.may_hold("Maria_Lopez 123", ["utf-8"])
    assert not pieces.may_hold("Maria_Lopes 123", ["utf-8"])


def test_few_values_that_a_copy_lacks_are_searched_for() -> None:
    pieces = Pieces()
    pieces.add_text(" ".join(f"word{number}" for number in range(20_000)))
    assert all(pieces.may_show(f"word{number} word7") for number in range(20_000))
    assert sum(pieces.may_show(f"name{number}") for number in range(20_000)) < 5


@pytest.mark.parametrize(
    ("row", "is_clean"),
    [
        ("M. L.,m***@example.com,************1111", True),
        ("MARIA  LOPEZ,m***@example.com,************1111", False),
        ("M. L.,maria.lopez@example.com,************1111", False),
        ("M. L.,m***@example.com,4111 1111-1111 1111", False),
        ("Sunshine,m***@example.com,************1111", False),
        ("sunshine,m***@example.com,************1111", True),
        (f"{quote('maria.lopez@example.com', safe='')},,", False),
        (f"{base64.b64encode(b'pay 4111111111111111 now').decode()},,", False),
    ],
)
def test_a_value_that_remains_in_a_copy_is_found(row: str, is_clean: bool) -> None:
    values = ["Maria Lopez", "maria.lopez@example.com", "4111111111111111", "Amara Okafor"]
    values += ["maria lopez", "abc"]
    copy = "name,email,card\nA. O.,a***@example.com,************4242\n" * 40 + row + "\n"
    with Files() as files:
        sections = Sections.of(files.open(copy.encode(), "copy.csv"))
    assert sections is not None
    reading = CopyReading(sections, [lambda: [copy]])
    search = ResidualSearch(Chunks(values, "Sunshine"), lambda: reading, 256)
    expected = count_values(StrictMatcher(values, ["Sunshine"])) if is_clean else None
    assert search.run(1, lambda work: work()) == expected


def test_a_copy_is_read_again_without_its_first_text() -> None:
    data = b"given,family,number\n" + b"Maria,Lopez,123456789\n" * 40_000
    again = partial(Files().read_again, "csv", data)
    list(again())  # modules take memory too
    tracemalloc.start()
    try:
        sections = Sections.of(Files().open(data, "a.csv"))
        assert sections is not None
        for _ in CopyReading(sections, [again], once=True).results(lambda _: b"", 16, 1 << 15, 1):
            pass
        assert tracemalloc.get_traced_memory()[1] < 3.3 * len(data)
    finally:
        tracemalloc.stop()


def test_values_are_searched_for_together_as_each_alone() -> None:
    values = ["Maria\n Lopez", "ΝΙΚΟΣ ΣΑΣ", "İzmir", "STRASSE ẞ", "", " 12  34 ", "Νικος"]
    assert all_as_searched(values) == [as_searched(value) for value in values]
    assert all_as_searched([]) == []


def test_the_text_of_json_lines_is_shown_once():
    document = Files().open(b'{"name": "Maria Lopez"}\n{"name": "Peter"}\n', "a.jsonl").document
    assert [view.repeats for view in document.views] == [False]
