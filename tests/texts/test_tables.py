"""Rows of tables: reading many together has the result of reading line by line."""

from __future__ import annotations

import random

import pytest

from dlpctl.texts.tables import Line, regular_rows, rows_from, split_row

_CELLS = ["", "a", " b ", "Ann Lee", "4111", "x@y.example", "é"]


def _source(chance: random.Random, ending: str, delimiter: str) -> str:
    odd = chance.choice(
        [[], ['"q"'], [f'"a{delimiter}b"'], [f"a{delimiter}b"], ["c\r"], ["d\n"], ["e" * 3000]]
    )
    lines = (
        delimiter.join(
            chance.choice(odd if odd and chance.random() < 0.01 else _CELLS) for _ in "abc"
        )
        for _ in range(chance.randrange(600))
    )
    return ending.join(lines) + chance.choice(["", ending, ending * 2])


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_rows_read_in_bulk_are_those_read_line_by_line(ending: str, delimiter: str) -> None:
    in_bulk = 0
    for seed in range(40):
        source = _source(random.Random(f"{seed}{ending}{delimiter}"), ending, delimiter)
        place = 0
        for rows in rows_from(source, 0, delimiter, 3, lambda _: True):
            if isinstance(rows, Line):
                assert rows.start == place
                assert "\n" not in source[rows.start : rows.end]
            else:
                in_bulk += len(rows.cells)
                assert rows.starts[0] == place
                lines = source[place : rows.end].split("\n")
                expected = [split_row(line.removesuffix("\r"), delimiter) for line in lines]
                assert all(len(cells) == 3 for cells in expected)
                assert rows.cells == [cell for cells in expected for cell in cells]
                for start, cell in zip(rows.starts, rows.cells, strict=True):
                    assert source.startswith(cell, start)
            place = rows.end + 1
        assert place in (len(source), len(source) + 1)
    assert (in_bulk > 5_000) == (ending != "\r")


def test_bytes_are_read_as_text_is() -> None:
    source = "a,b\n" * 100
    rows, encoded = (regular_rows(source, 0, ",", 2), regular_rows(source.encode(), 0, b",", 2))
    assert rows is not None
    assert encoded is not None
    assert [cell.decode() for cell in encoded.cells] == rows.cells
    assert encoded[1:] == rows[1:]


@pytest.mark.parametrize("source", ["a,b\nc", "a,b\nc,d,e", 'a,b\n"c",d', "a,b\r\nc,d\n", ""])
def test_rows_that_differ_are_not_regular(source: str) -> None:
    assert regular_rows(source, 0, ",", 2) is None
