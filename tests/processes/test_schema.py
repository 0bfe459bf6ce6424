"""The encoding of messages: what is written comes back, and any other bytes are refused cheaply."""

from __future__ import annotations

import struct
import tracemalloc
from array import array
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.formats.isolation import wire
from dlpctl.formats.isolation.wire import (
    BLOB,
    FLAG,
    LINE,
    NUMBER,
    NUMBERS,
    REAL,
    TEXT,
    Kind,
    Maybe,
    OneOf,
    Record,
    RefusedMessageError,
    Several,
)


class Row(NamedTuple):
    number: int
    text: str
    flag: bool
    more: list[str]


class Other(NamedTuple):
    value: float | None


ROW = Record(Row, NUMBER, TEXT, FLAG, Several(TEXT))
EITHER = OneOf(r=ROW, o=Record(Other, Maybe(REAL)))
numbers = st.integers(-(1 << 63), (1 << 63) - 1)
texts = st.text(st.characters(), max_size=20)
rows = st.builds(Row, numbers, texts, st.booleans(), st.lists(texts, max_size=3))
KINDS: list[tuple[Kind[Any], st.SearchStrategy[Any]]] = [
    (NUMBER, numbers),
    (REAL, st.floats(allow_nan=False, allow_infinity=False)),
    (FLAG, st.booleans()),
    (BLOB, st.binary(max_size=50)),
    (TEXT, texts),
    (NUMBERS, st.lists(st.integers(0, 9)).map(lambda found: array("q", found))),
    (Maybe(BLOB), st.none() | st.binary(max_size=5)),
    (Several(ROW), st.lists(rows)),
    (EITHER, rows | st.builds(Other, st.none() | st.floats(0, 1))),
]


@given(st.data())
def test_a_value_comes_back(data: st.DataObject) -> None:
    kind, values = data.draw(st.sampled_from(KINDS))
    value = data.draw(values)
    assert wire.decoded(kind, wire.encoded(kind, value)) == value


@given(st.sampled_from(KINDS), st.binary(max_size=200))
def test_other_bytes_are_refused_or_are_the_only_way_to_write_the_value(
    kind: tuple[Kind[Any], object], data: bytes
) -> None:
    try:
        value = wire.decoded(kind[0], data)
    except RefusedMessageError:
        return
    assert wire.encoded(kind[0], value) == data


def test_lone_surrogates_are_data() -> None:
    assert wire.decoded(TEXT, wire.encoded(TEXT, "a\ud800\udc00b")) == "a\ud800\udc00b"


LENGTHS = [1, 1 << 20, 1 << 31, (1 << 63) - 1, (1 << 64) - 1]


@pytest.mark.parametrize(
    "kind", [kind for kind, _ in KINDS[3:8]] + [Several(Several(TEXT)), Several(NUMBER)]
)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_length_that_lies_allocates_nothing(kind: Kind[Any], length: int) -> None:
    for before in (b"", b"q", b"\1"):
        tracemalloc.start()
        try:
            with pytest.raises(RefusedMessageError):
                wire.decoded(kind, before + struct.pack("<Q", length))
            assert tracemalloc.get_traced_memory()[1] < 1 << 16
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (FLAG, b"\2"),
        (Maybe(FLAG), b"\2\1"),
        (REAL, struct.pack("<d", float("nan"))),
        (REAL, struct.pack("<d", float("inf"))),
        (TEXT, struct.pack("<Q", 2) + b"\xff\xfe"),
        (TEXT, struct.pack("<Q", 1) + b"ab"),
        (NUMBERS, b"q" + struct.pack("<Qq", 8, -1)),
        (NUMBERS, b"u" + struct.pack("<Q", 0)),
        (NUMBERS, b"q" + struct.pack("<Q", 7) + bytes(7)),
        (EITHER, b"z"),
        (EITHER, b""),
        (LINE, wire.encoded(TEXT, "two\nlines")),
        (LINE, wire.encoded(TEXT, "\x1b[2J")),
        (LINE, wire.encoded(TEXT, "\ud800")),
        (LINE, wire.encoded(TEXT, "x" * 100_000)),
    ],
)
def test_is_refused(kind: Kind[Any], message: bytes) -> None:
    with pytest.raises(RefusedMessageError):
        wire.decoded(kind, message)


def test_a_line_is_made_of_any_text() -> None:
    assert wire.decoded(LINE, wire.encoded(LINE, "two\nlines\x1b")) == "two lines "


@settings(max_examples=20)
@given(st.lists(rows, min_size=1))
def test_a_message_that_is_cut_off_is_refused(found: list[Row]) -> None:
    message = wire.encoded(Several(ROW), found)
    for end in range(len(message)):
        with pytest.raises(RefusedMessageError):
            wire.decoded(Several(ROW), message[:end])
