"""Views of a document yield one finding for each value, at its location."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from dlpctl.files.finding import PlacedValue, ValueList, place_all, repeats_of, scan_document
from dlpctl.files.names import PlaceNames
from dlpctl.formats.contents import FileBytes
from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Node
from dlpctl.formats.interface import Document, Limits, Piece, Segment, View
from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from limits import Limiter

FINDERS = {
    "SSN": re.compile(r"(?<=ssn: )\d{9}|\d{3}-\d\d-\d{4}"),
    "EMAIL": re.compile(r"[\w.]+@[\w.]+\.(?:com|comsecond|org)\b"),
}


def scan(text: str) -> list[Finding]:
    return [
        Finding(name, Category.PII, *found.span(), 0.9, name.lower())
        for name, finder in FINDERS.items()
        for found in finder.finditer(text)
    ]


def test_names_in_a_schema_are_labels_of_its_literals_and_comments() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE rosa(rosa, other DEFAULT 'rosa', \"rosa m\") -- rosa")
        document = format_named("sqlite").extract(database.serialize(), Limits())

    def scan(text: str) -> list[Finding]:
        spans = (each.span() for each in re.finditer("rosa", text))
        return [Finding("PERSON_NAME", Category.PII, *span, 0.9, "person-name") for span in spans]

    assert len(scan_document(document, scan)) == 2


def node(document: Document, trail: str = "") -> Node:
    return Node("a", trail, "", FileBytes(b""), document)


def found(document: Document, trail: str = "") -> list[PlacedValue]:
    return place_all(node(document, trail), lambda one: scan_document(one, scan))


def table(cells: str) -> Document:
    segments = [Segment(cells, "column")]
    return Document("t", segments, [View("v", [Piece(0, 0, len(cells))], segments, "SSN".lower())])


@pytest.mark.parametrize("block", [8 << 20, 12, 1])
@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ("123456789", ["123456789"]),
        ("123456789\n\n987654321\n\n", ["123456789", "987654321"]),
        ("\n\nx\n\n987654321 y", ["987654321"]),
        ("123456789\n\nx\n\n123456789\n\nx 123456789\n\n123456789", ["123456789"] * 3),
        ("a\n\n\n123456789\n\n987654321", ["987654321"]),
        ("x 123456789", []),
        ("", []),
    ],
)
def test_a_label_is_context_for_each_of_its_cells(
    monkeypatch: pytest.MonkeyPatch, limit: Limiter, cells: str, values: list[str], block: int
) -> None:
    for size in ("_BLOCK", "_STRETCH"):
        limit(f"dlpctl.files.finding.{size}", block)
    assert [one.value for one in found(table(cells))] == values
    for one in found(table(cells)):
        assert cells[one.start : one.start + len(one.value)] == one.value


def test_nothing_is_found_in_the_label_itself() -> None:
    segments = [Segment("x", "p")]
    assert not found(Document("t", segments, [View("v", [Piece(0, 0, 1)], segments, "a@b.com")]))


def test_views_of_the_same_characters_show_one_value() -> None:
    segments = [Segment("123-45-6789 and a@b.com", "page 1")]
    whole = Piece(0, 0, len(segments[0].text))
    document = Document(
        "t", segments, [View("a", [whole], segments), View("b", [whole, " "], segments)]
    )
    assert [one.finding.type for one in found(document)] == ["SSN", "EMAIL"]


def test_a_line_that_is_joined_without_a_space_adds_nothing_to_a_whole_value() -> None:
    segments = [Segment("to a@b.com", "page 1"), Segment("second page", "page 2")]
    first, second = (Piece(number, 0, len(one.text)) for number, one in enumerate(segments))
    views = [
        View("pages", [first, "\n", second], segments),
        View("joined", [first, second], segments),
    ]
    assert [one.value for one in found(Document("t", segments, views))] == ["a@b.com"]


def test_a_value_in_several_elements_of_a_line_may_start_with_another_value() -> None:
    document = format_named("html").extract(b"<b>ann@acme.com</b>second", Limits())
    seen = scan_document(document, scan)
    assert [document.views[each.view].name for each in seen] == ["text", "across tags"]
    document = format_named("html").extract(b"x<b>.</b>ann@acme.com", Limits())
    assert len(scan_document(document, scan)) == 1


def test_a_value_over_two_pages_is_found_where_they_are_joined() -> None:
    segments = [Segment("number 123-45", "page 1"), Segment("-6789 it is", "page 2")]
    first, second = (Piece(number, 0, len(one.text)) for number, one in enumerate(segments))
    (one,) = found(Document("t", segments, [View("joined", [first, second], segments)]))
    assert (one.value, one.location) == ("123-45-6789", "page 1")


def test_a_cell_in_its_row_and_in_its_column_is_one_place() -> None:
    segments = [
        Segment("a@b.com", "Sheet1!B7"),
        Segment("a@b.com", "Sheet1!B7"),
        Segment("a@b.com", "Sheet1!C7"),
    ]
    views = [View(str(number), [Piece(number, 0, 7)], segments) for number in range(3)]
    assert [one.location for one in found(Document("t", segments, views))] == [
        "Sheet1!B7",
        "Sheet1!C7",
    ]


def test_another_reading_adds_only_what_is_new() -> None:
    segments = [Segment("a@b.com", "line 1")]
    others = [Segment("a@b.com c@d.org", "strings")]
    both = node(Document("t", segments, [View("v", [Piece(0, 0, 7)], segments)]))
    both.others.append(Document("u", others, [View("v", [Piece(0, 0, 15)], others)]))
    placed = place_all(both, lambda one: scan_document(one, scan))
    assert [one.value for one in placed] == ["a@b.com", "c@d.org"]


def test_a_value_list_is_a_text_of_the_values() -> None:
    placed = found(table("123456789\n\n987654321"))
    value_list = ValueList(placed, ["x", "y"])
    assert [value_list.text[one.start : one.end] for one in value_list.findings] == [
        one.value for one in placed
    ]
    assert [one.locator for one in value_list.findings] == ["x", "y"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("page 3", "page 3"),
        ("mail.zip > a@b.com.pdf > page 1", "mail.zip > [EMAIL].pdf > page 1"),
        ("a@b.com", "[EMAIL]"),
        ("123-45-6789/notes.txt", "[SSN]/notes.txt"),
        ("", ""),
    ],
)
def test_names_are_shown_without_the_values_in_them(name: str, shown: str) -> None:
    assert PlaceNames(scan).shown([name, "other", name]) == [shown, "other", shown]


def test_a_value_of_the_file_is_found_in_a_name_without_its_label() -> None:
    names = PlaceNames(scan)
    names.know(lambda: repeats_of(found(table("123456789"))))
    assert names.shown(["of 123456789.pdf"]) == ["of [SSN].pdf"]
