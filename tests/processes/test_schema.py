"""The encoding of messages: values survive a round trip, and other bytes are cheaply rejected."""

from __future__ import annotations

import struct
import tracemalloc
from array import array
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.processes import schema
from dlpctl.processes.schema import (
    BLOB,
    FLAG,
    LINE,
    NUMBER,
    NUMBERS,
    REAL,
    TEXT,
    InvalidMessageError,
    ListOf,
    OneOf,
    Optional,
    Record,
    Schema,
)


class Row(NamedTuple):
    number: int
    text: str
    flag: bool
    more: list[str]


class Other(NamedTuple):
    value: float | None


ROW = Record(Row)
EITHER = OneOf(r=ROW, o=Record(Other, value=Optional(REAL)))
numbers = st.integers(-(1 << 63), (1 << 63) - 1)
texts = st.text(st.characters(), max_size=20)
rows = st.builds(Row, numbers, texts, st.booleans(), st.lists(texts, max_size=3))
KINDS: list[tuple[Schema[Any], st.SearchStrategy[Any]]] = [
    (NUMBER, numbers),
    (REAL, st.floats(allow_nan=False, allow_infinity=False)),
    (FLAG, st.booleans()),
    (BLOB, st.binary(max_size=50)),
    (TEXT, texts),
    (NUMBERS, st.lists(st.integers(0, 9)).map(lambda found: array("q", found))),
    (Optional(BLOB), st.none() | st.binary(max_size=5)),
    (ListOf(ROW), st.lists(rows)),
    (EITHER, rows | st.builds(Other, st.none() | st.floats(0, 1))),
]


@given(st.data())
def test_a_value_survives_a_round_trip(data: st.DataObject) -> None:
    kind, values = data.draw(st.sampled_from(KINDS))
    value = data.draw(values)
    assert schema.decode(kind, schema.encode(kind, value)) == value


@given(st.sampled_from(KINDS), st.binary(max_size=200))
def test_other_bytes_are_refused_or_are_the_only_way_to_write_the_value(
    kind: tuple[Schema[Any], object], data: bytes
) -> None:
    try:
        value = schema.decode(kind[0], data)
    except InvalidMessageError:
        return
    assert schema.encode(kind[0], value) == data


def test_equal_texts_of_a_list_are_one_object() -> None:
    for word in ("plain", "größer"):
        first, second = schema.decode(ListOf(TEXT), schema.encode(ListOf(TEXT), [word, word]))
        assert first is second


def test_lone_surrogates_are_data() -> None:
    assert schema.decode(TEXT, schema.encode(TEXT, "a\ud800\udc00b")) == "a\ud800\udc00b"


LENGTHS = [1, 1 << 20, 1 << 31, (1 << 63) - 1, (1 << 64) - 1]


@pytest.mark.parametrize(
    "kind", [kind for kind, _ in KINDS[3:8]] + [ListOf(ListOf(TEXT)), ListOf(NUMBER)]
)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_false_length_allocates_nothing(kind: Schema[Any], length: int) -> None:
    for before in (b"", b"q", b"\1"):
        tracemalloc.start()
        try:
            with pytest.raises(InvalidMessageError):
                schema.decode(kind, before + struct.pack("<Q", length))
            assert tracemalloc.get_traced_memory()[1] < 1 << 16
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (FLAG, b"\2"),
        (Optional(FLAG), b"\2\1"),
        (REAL, struct.pack("<d", float("nan"))),
        (REAL, struct.pack("<d", float("inf"))),
        (TEXT, struct.pack("<Q", 2) + b"\xff\xfe"),
        (TEXT, struct.pack("<Q", 1) + b"ab"),
        (NUMBERS, b"q" + struct.pack("<Qq", 8, -1)),
        (NUMBERS, b"u" + struct.pack("<Q", 0)),
        (NUMBERS, b"q" + struct.pack("<Q", 7) + bytes(7)),
        (EITHER, b"z"),
        (EITHER, b""),
        (LINE, schema.encode(TEXT, "two\nlines")),
        (LINE, schema.encode(TEXT, "\x1b[2J")),
        (LINE, schema.encode(TEXT, "\ud800")),
        (LINE, schema.encode(TEXT, "x" * 100_000)),
    ],
)
def test_is_refused(kind: Schema[Any], message: bytes) -> None:
    with pytest.raises(InvalidMessageError):
        schema.decode(kind, message)


def test_any_text_becomes_a_line() -> None:
    assert schema.decode(LINE, schema.encode(LINE, "two\nlines\x1b")) == "two lines "


@settings(max_examples=20)
@given(st.lists(rows, min_size=1))
def test_a_truncated_message_is_refused(found: list[Row]) -> None:
    message = schema.encode(ListOf(ROW), found)
    for end in range(len(message)):
        with pytest.raises(InvalidMessageError):
            schema.decode(ListOf(ROW), message[:end])
