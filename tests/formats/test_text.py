"""Text formats in detail: encodings, escapes, quoting, and the labels of columns."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import tracemalloc
import zlib
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.encoding import Edit, decode, splice
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Document, Limits, View
from dlpctl.formats.interface import Edit as SegmentEdit
from dlpctl.formats.source import Readable, Resolved
from dlpctl.formats.spans import ViewEdit, edits_of

LIMITS = Limits()


def view(document: Document, name: str) -> View:
    return next(found for found in document.views if found.name == name)


def masked(name: str, source: str, value: str, replacement: str) -> str:
    chosen = format_named(name)
    document = chosen.extract(source.encode(), LIMITS)
    hits = [
        ViewEdit(number, at, at + len(value), replacement)
        for number, one in enumerate(document.views)
        if (at := one.text.find(value)) >= 0
    ]
    assert hits
    return chosen.mask(source.encode(), document, edits_of(document, hits), {}).decode()


WRITING = {
    "cp1252": "café Müller naïve señor",
    "cp1251": "Иванов Пётр Сергеевич, телефон",
    "koi8-r": "Иванов Пётр Сергеевич, телефон",
    "cp932": "山田太郎さんの電話番号は",
    "euc_jp": "山田太郎さんの電話番号は",
    "gb18030": "张伟的电话号码是中国北京",
    "big5": "張偉的電話號碼是台灣台北",
    "cp949": "김철수의 전화번호는",
    "cp1250": "Łukasz Żółć Święto",
    "iso2022_jp": "山田太郎さん",
    "utf-16-le": "hello wörld",
    "utf-32-be": "hello wörld",
}


@pytest.mark.parametrize("encoding", WRITING)
def test_encodings_are_known_by_their_writing(encoding: str) -> None:
    decoded = decode(WRITING[encoding].encode(encoding))
    assert decoded is not None
    assert decoded.text == WRITING[encoding]


@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_wide_text_before_text_in_single_bytes_is_not_read_as_wide(bom: str) -> None:
    data = f"{bom}{'started ' * 40}".encode("utf-16-le") + b"written by another program\r\n" * 4
    assert decode(data) is None


SEPARATED = {
    b"8=FIX.4.4\x0158=value\x0110=1\x01": "8=FIX.4.4\t58=value\t10=1\t",
    b"id\x1fname\x1e1\x1fvalue\x1e": "id\tname\n1\tvalue\n",
    b"\x0bMSH|value\r\x1c\r": "\nMSH|value\r\n\r",
    b"first line\x0bvalue\x07\x1a\x1a": "first line\nvalue\x07\x1a\x1a",
    b"USER=value\0HOME=/root\0": "USER=value\nHOME=/root\n",
    b"value".ljust(16, b"\0"): "value".ljust(16, "\n"),
}


@pytest.mark.parametrize("data", SEPARATED)
def test_separators_of_exports_are_white_space(data: bytes) -> None:
    with Files() as files:
        node = files.open(data, "export")
    assert (node.document.format, node.document.segments[0].text) == ("text", SEPARATED[data])
    at = SEPARATED[data].index("value")
    copy = format_named("text").mask(data, node.document, [SegmentEdit(0, at, at + 5, "*")], {})
    assert copy == data.replace(b"value", b"*")


@pytest.mark.parametrize(
    "data",
    [
        b"\0\0value of a counter",
        b"value A\0\0\0B\0\0C\0D\0",
        b"value\0\x1a\x02A\0\0\0B\0\0\0",
        b"caf\xe9\x1fvalue\x1f\x1f",
        b"value\x02\x03\x04\x05\x06",
    ],
)
def test_numbers_and_pixels_are_no_separated_text(data: bytes) -> None:
    assert decode(data) is None


def test_a_control_character_delimits_columns() -> None:
    document = format_named("csv").extract(b"id\x01ssn\n1\x01value\n", LIMITS)
    assert view(document, "column ssn").text.split() == ["value"]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 100), st.integers(0, 30))
def test_bytes_outside_an_edit_stay(data: bytes, start: int, length: int) -> None:
    decoded = decode(data)
    if decoded is None or start + length > len(decoded.text):
        return
    assert splice(data, decoded, []) == data
    assert (
        splice(data, decoded, [Edit(start, start + length, decoded.text[start : start + length])])
        == data
    )


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab\\", max_size=30), st.data())
def test_offsets_go_back_to_the_source(source: str, data: st.DataObject) -> None:
    resolved = [Resolved(at, at + 1, "<>") for at, char in enumerate(source) if char == "\\"]
    readable = Readable(source, resolved)
    assert readable.text == source.replace("\\", "<>")
    start = data.draw(st.integers(0, len(readable.text)))
    end = data.draw(st.integers(start, len(readable.text)))
    if start < end:
        piece = source[readable.source_start(start) : readable.source_end(end)]
        assert readable.text[start:end] in piece.replace("\\", "<>")


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.text(max_size=5) | st.integers() | st.booleans() | st.none(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
    ),
    st.data(),
)
def test_masked_json_stays_json(value: object, data: st.DataObject) -> None:
    source = json.dumps([value, 0], ensure_ascii=data.draw(st.booleans()))
    chosen = format_named("json")
    document = chosen.extract(source.encode(), LIMITS)
    text = document.segments[0].text
    at = data.draw(st.sampled_from([index for index, char in enumerate(text) if char.isalnum()]))
    replacement = data.draw(st.text(max_size=5))
    json.loads(
        chosen.mask(source.encode("utf-8"), document, [SegmentEdit(0, at, at + 1, replacement)], {})
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(alphabet='ab",;\n\r ', min_size=1, max_size=6), min_size=2, max_size=4),
    st.text(alphabet='x",\n;', max_size=4),
)
def test_masked_csv_keeps_its_cells(row: list[str], replacement: str) -> None:
    output = io.StringIO(newline="")
    csv.writer(output).writerows([["head"] * len(row), ["VALUE", *row[1:]]])
    result = masked("csv", output.getvalue(), "VALUE", replacement)
    rows = list(csv.reader(io.StringIO(result, newline="")))
    assert len(rows[1]) == len(row)
    assert rows[1][0] == replacement


@pytest.mark.parametrize(
    ("name", "source", "value", "result"),
    [
        ("json", '{"a": 1234}', "1234", '{"a": "[a: #b]"}'),
        ("json", '{"a": "x\\n1234\\u00e9"}', "1234\u00e9", '{"a": "x\\n[a: #b]"}'),
        ("json", '{"a": "\\ud83d\\ude00 1234"}', "\U0001f600 1234", '{"a": "[a: #b]"}'),
        ("yaml", "a: 1234\n", "1234", "a: '[a: #b]'\n"),
        ("yaml", "a: b 1234 # c\n", "1234", "a: 'b [a: #b]' # c\n"),
        ("yaml", "a: |\n  1234\n", "1234", "a: |\n  [a: #b]\n"),
        ("yaml", 'a: !!int "1234" # c\n', "1234", 'a: "[a: #b]" # c\n'),
        ("yaml", "a: &x !!int 1234\nb: *x\n", "1234", "a: &x '[a: #b]'\nb: *x\n"),
        ("yaml", "a: '1234'\n", "'1234'", "a: '[a: #b]'\n"),
        ("yaml", "1234: {1: 2}\n", "1234", "'[a: #b]': {1: 2}\n"),
        ("toml", "a = 1234\n", "1234", 'a = "[a: #b]"\n'),
        ("toml", "1234 = 1\n", "1234", '"[a: #b]" = 1\n'),
        ("toml", "a = 1979-05-27\n", "1979-05-27", 'a = "[a: #b]"\n'),
        ("csv", "a,b\n1,1234\n", "1234", "a,b\n1,[a: #b]\n"),
        ("dotenv", "A=1234\n", "1234", "A='[a: #b]'\n"),
        ("xml", "<a>1234</a>", "1234", "<a>[a: #b]</a>"),
        ("html", "<a b=1234>", "1234", '<a b="[a: #b]">'),
        (
            "sql",
            "INSERT INTO t VALUES (1234, 'x');",
            "1234",
            "INSERT INTO t VALUES ('[a: #b]', 'x');",
        ),
    ],
)
def test_a_replacement_is_written_as_the_syntax_wants(
    name: str, source: str, value: str, result: str
) -> None:
    assert masked(name, source, value, "[a: #b]") == result


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("csv", "id;ssn;mail\n1;value;x\n2;other;y\n"),
        (
            "sql",
            "CREATE TABLE t (id int, ssn text, mail text);\nINSERT INTO t VALUES (1, value, 2), (1, other, 3);\n".replace(
                "value", "'value'"
            ).replace("other", "'other'"),
        ),
        (
            "sql",
            "INSERT INTO t (id, ssn) VALUES (1, 'value');\nINSERT INTO t (ssn) VALUES ('other');",
        ),
        ("sql", "COPY public.t (id, ssn) FROM stdin;\n1\tvalue\n2\tother\n\\.\n"),
    ],
)
def test_a_column_is_labelled_by_its_header(name: str, source: str) -> None:
    document = format_named(name).extract(source.encode(), LIMITS)
    column = view(document, "column ssn")
    assert column.context == "ssn"
    assert [cell.strip("'") for cell in column.text.split()] == ["value", "other"]


def test_a_row_of_values_is_no_header() -> None:
    assert len(format_named("csv").extract(b"jane@acme.example,1\nx,2\n", LIMITS).views) == 1


def test_a_header_may_be_below_a_title_and_have_gaps() -> None:
    source = b"Members in 2026;;;\n;;;\nid;;;ssn\n1;;;value\n"
    document = format_named("csv").extract(source, LIMITS)
    assert {each.context: each.text.strip() for each in document.views[1:]} == {
        "id": "1",
        "ssn": "value",
    }


def test_text_across_tags_reads_as_one() -> None:
    html = format_named("html").extract(b"<p>one <b>t</b>wo</p><p>three</p>", LIMITS)
    assert view(html, "across tags").text.split("\n\n")[0] == "one two"
    glued = format_named("html").extract(b"<!-- SSN 1Dial 2GoToHTML -->", LIMITS)
    assert view(glued, "paragraphs of comments").text == " SSN 1\nDial 2\nGo\nToHTML \n"
    xml = format_named("xml").extract(b"<r><a>1</a><b>2</b><c>x<i>y</i>z</c></r>", LIMITS)
    assert view(xml, "across tags").text.split("\n\n")[0] == "xyz"
    runs = "<字:句><字:文本串>x</字:文本串></字:句><字:句><字:文本串>y</字:文本串></字:句>"
    uniform = f"<r xmlns:字='u'><字:段落>{runs}</字:段落><字:段落>{runs}</字:段落></r>"
    xml = format_named("xml").extract(uniform.encode(), LIMITS)
    assert view(xml, "across tags").text.split() == ["xy", "xy"]
    older = "<w:p><w:r>x</w:r><aml:annotation/><w:r>y</w:r></w:p>"
    xml = format_named("xml").extract(f"<r>{older}</r>".encode(), LIMITS)
    assert view(xml, "across tags").text.split() == ["xy"]
    cells = "<Row><Cell>x<i>1</i></Cell><Cell>y</Cell></Row>"
    xml = format_named("xml").extract(f"<a>z<b>{cells}</b></a>".encode(), LIMITS)
    assert view(xml, "across tags").text.split() == ["x1"]


def test_short_blocks_read_as_lines() -> None:
    long = "x" * 101
    source = f"<div>a<b>b</b></div>\n<p>c 1</p>{long}<p>d</p><p>e</p><td>f</td><td>2</td>"
    html = format_named("html").extract(source.encode(), LIMITS)
    assert view(html, "lines of blocks").text.split() == ["ab", "c", "1"]


def test_lines_that_a_narrow_column_breaks_are_joined() -> None:
    lines = "Write to Ann Lee or to Bob at<br/>ann.lee@acme-cor<br/>p.example soon"
    html = format_named("html").extract(f"<p>{lines}<br/><br/> </p>".encode(), LIMITS)
    assert "\nann.lee@acme-corp.example soon" in view(html, "across tags, lines joined").text


LONG = 'style="orphans: 0; border: none; padding: 0in"'


@pytest.mark.parametrize(
    ("name", "cell", "row", "table"),
    [
        ("html", f"\n\t<td {LONG}><p {LONG}>\n\t\t{{}}</p></td>", f"<tr {LONG}>{{}}</tr>", "<table>{}</table>"),
        ("html", f"<td {LONG}><b>{{}}</b>", "<TR>{}", "<table><tr><td><table><tr><td>in it</table><td>1</table><table>{}"),
        ("xml", f"<b:table-cell {LONG}><p>{{}}</p></b:table-cell>", "<b:table-row>{}</b:table-row>", '<b:table b:name="a">{}</b:table>'),
        ("xml", f"<w:tc><w:tcPr {LONG}/><w:p><w:r><w:t>{{}}</w:t></w:r></w:p></w:tc>", "<w:tr>{}</w:tr>", "<w:tbl>{}</w:tbl>"),
        ("xml", f"<Cell {LONG}><Data>{{}}</Data></Cell>", "<Row>{}</Row>", "<Table>{}</Table>"),
    ],
)  # fmt: skip
def test_the_cells_of_a_table_are_read_without_the_tags_between_them(
    name: str, cell: str, row: str, table: str
) -> None:
    rows = ("A report",), ("id", "born on"), ("x1", "1985-07-06")
    lines = "".join(row.format("".join(map(cell.format, cells))) for cells in rows)
    document = format_named(name).extract(table.format(lines).encode(), LIMITS)
    assert "id\t\nborn on\t\n" in view(document, "cells of tables").text
    columns = {each.context: each.text for each in document.views if each.name == "column"}
    assert columns == {"id": "x1", "born on": "1985-07-06"}


def test_records_of_cells_are_read_as_a_table() -> None:
    sylk = 'ID;PX;N\nB;X2;Y2\nC;Y1;X1;K"id"\nC;X2;K"born on"\nC;Y2;X1;K"x""1"\nF;X2\nC;K31234\nE\n'
    dif = 'TABLE\n0,1\n""\nDATA\n0,0\n""\n-1,0\nBOT\n1,0\nid\n1,0\n"born on"\n-1,0\nBOT\n1,0\n"x""1"\n0,31234\nV\n-1,0\nEOD\n'
    for name, source, written in (
        ("sylk", sylk, 'C;K"a;;b"\n'),
        ("dif", dif, '1,0\n"a;b"\n'),
    ):
        document = format_named(name).extract(source.encode(), LIMITS)
        columns = {each.context: each.text for each in document.views if each.name == "column"}
        assert columns == {"id": 'x""1' if name == "sylk" else 'x"1', "born on": "31234"}
        assert written in masked(name, source, "31234", "a;b")


def test_rows_of_words_are_read_by_their_place() -> None:
    place = "page_num\tleft\ttop\twidth\theight\ttext\n"
    rows = (
        (9, 20, "###LINE###"), (9, 20, "born"), (32, 23, "on"), (90, 20, "PIN"),
        (9, 40, " "), (9, 42, "1985"), (90, 41, "12"), (9, 60, ""), (9, 60, "end"),
    )  # fmt: skip
    source = place + "".join(f"1\t{left}\t{top}\t20\t9\t{word}\n" for left, top, word in rows)
    document = format_named("csv").extract(source.encode(), LIMITS)
    assert view(document, "texts by place").text == "born on PIN\n1985 12\nend\n"
    assert {each.context: each.text for each in document.views if each.name == "column"} == {
        "born on": "1985",
        "PIN": "12",
    }


@pytest.mark.parametrize(
    "place",
    ['"x0": {x}.5, "top": {y}', '"bbox": {{"x": {x}, "y": {y}}}', '"bbox": [{x}, {y}, 3, 4]'],
)
def test_texts_of_json_are_read_by_their_place(place: str) -> None:
    texts = ((9, 20, "SSN"), (90, 20, "{PIN\\n}"), (9, 40, "to"), (90, 40, "123"))
    members = ", ".join(
        f'{{{place.format(x=x, y=y)}, "text": "{text}", "font": {{}}}}' for x, y, text in texts
    )
    document = format_named("json").extract(f'{{"a": [{members}]}}'.encode(), LIMITS)
    assert view(document, "texts by place").text == "SSN {PIN\n}\nto 123\n"


@pytest.mark.parametrize(
    ("character", "hidden"),
    [
        ('<char x="1" flag="0" c="{}"/>', '<char x="1" flag="0" c=""/>'),
        ('<g t="{}"><other t="--"/></g>', '<g t=""><other t="--"/></g>'),
        ("<charParams l='7'>{}</charParams>", "<charParams l='7'></charParams>"),
    ],
)
def test_elements_with_a_character_each_are_read_as_lines(character: str, hidden: str) -> None:
    lines = [
        "".join(character.format(char) for char in line.replace("<", "\0")).replace("\0", "&lt;")
        for line in ("PIN <a1", "born on")
    ]
    source = f"<r><l>{lines[0]}</l>\n<l>{lines[1]}</l></r>"
    document = format_named("xml").extract(source.encode(), LIMITS)
    shown = view(document, "lines of characters")
    assert shown.text == "PIN <a1\nborn on\n"
    edits = [
        SegmentEdit(*piece, "" if number else "***")
        for number, piece in enumerate(shown.pieces_of(*re.search("<a1", shown.text).span()))
    ]
    written = format_named("xml").mask(source.encode(), document, edits, {}).decode()
    first = character.format("&lt;") + character.format("a") + character.format("1")
    assert written == source.replace(first, character.format("***") + 2 * hidden)


def test_a_family_tree_reads_like_a_form() -> None:
    source = "0 HEAD\n0 @I1@ INDI\n1 NAME Ann /Lee/\n1 BIRT\n2 DATE ABT 6 JUL 1985\n1 NOTE a\n2 CONC b\n2 CONT c\n"
    document = format_named("gedcom").extract(source.encode(), LIMITS)
    read = "Name: Ann Lee\nBIRT: \nDate of birth: 6 JUL 1985\nNOTE: ab\nc\n"
    assert document.segments[0].text.endswith(read)
    assert "1 NAME A. L.//\n" in masked("gedcom", source, "Ann Lee", "A. L.")


def test_a_record_of_a_practice_reads_like_a_form_and_keeps_its_lengths() -> None:
    source = "01380006310\r\n0123101Lee\r\n017310316031969\r\n"
    document = format_named("xdt").extract(source.encode(), LIMITS)
    assert document.segments[0].text.endswith("\r\nLast name: Lee\r\nDate of birth: 16031969\r\n")
    assert "\r\n0113101L.\r\n017" in masked("xdt", source, "Lee", "L.")


def test_a_payment_reads_like_a_form() -> None:
    source = "!Type:Bank\nT-1.00\nPKenji Lee\nA1 Elm Drive\nAEly\nMto her\n^\n"
    document = format_named("qif").extract(source.encode(), LIMITS)
    read = "T: -1.00\nPayee name: Kenji Lee\nAddress: 1 Elm Drive\nEly\nMemo: to her\n^\n"
    assert document.segments[0].text.endswith(read)
    assert "\nPK. L.\nA1 " in masked("qif", source, "Kenji Lee", "K. L.")


def test_the_tables_that_a_notebook_shows_are_read() -> None:
    rows = "".join(f"<tr>\n<td>{text}</td>\n</tr>\n" for text in ("born on", "1985"))
    lines = f"<table>\n{rows}</table>".splitlines(keepends=True)
    source = json.dumps({"cells": [{"outputs": [{"data": {"text/html": lines}}]}]})
    document = format_named("notebook").extract(source.encode(), LIMITS)
    column = view(document, "column")
    assert (column.context, column.text) == ("born on", "1985")
    source = json.dumps({"cells": [{"source": ["| a | b |\n", "|--|--|\n", "| c | d |"]}]})
    document = format_named("notebook").extract(source.encode(), LIMITS)
    assert "\n| a | b |\n|--|--|\n| c | d |\n" in view(document, "cells").text


def test_a_small_object_within_another_is_a_file() -> None:
    inner = b"\xa1\x63ssn\x6b536-90-4399"
    outer = b"\xa1\x61a\xd8\x18" + bytes((0x40 + len(inner),)) + inner
    (child,) = format_named("cbor").extract(outer, LIMITS).children
    assert child.data == inner


def test_lists_of_one_length_are_rows() -> None:
    rows = b"\x93\xa4name\xa3ssn\xa1a\x93\xa3Roe\xa11\xc4\x02\xff\x01"
    data = b"\x95" + rows + b"\xa3end\x81\xa1b\xa1c\x92\xa1d\xa1e"
    document = format_named("msgpack").extract(data, LIMITS)
    assert view(document, "rows").text.split("\n")[:3] == ["name\tssn\ta", "Roe\t1\t\xff\x01", ""]
    copy = format_named("msgpack").mask(data, document, [SegmentEdit(3, 0, 3, "*")], {})
    assert copy == data.replace(b"\xa3Roe", b"\xd9\x01*")


def test_cells_are_in_the_columns_that_they_span() -> None:
    source = (
        "<table><tr><th colspan='2'>name</th><th>born on</th></tr>"
        "<tr><td>a</td><td>b</td><td>1985</td></tr></table>"
        "<Table><Row><Cell>id</Cell><Cell>tel</Cell></Row><Row><Cell ss:Index='2'>55</Cell></Row>"
        f"<Row><Cell/><Cell>{'prose ' * 9}</Cell></Row></Table>"
        f"<table><tr><td>note</td></tr><tr><td><annotation>{'prose ' * 9}</annotation><p>7</p></td>"
        "</tr></table>"
    )
    document = format_named("xml").extract(source.encode(), LIMITS)
    columns = {each.context: each.text for each in document.views if each.name == "column"}
    assert view(document, "labelled rows").text == "a: b\n\na: 1985\n\n"
    assert columns == {"name": "a", "born on": "1985", "tel": "55", "note": "7"}


@pytest.mark.parametrize(
    "place",
    ['style="position:absolute;left:{}px;top:{}px"', 'left="{}" top="{}"', 'xMin="{}" yMin="{}"'],
)
def test_texts_with_places_of_their_own_are_read_by_line(place: str) -> None:
    texts = "".join(
        f"<text {place.format(x, y)}><b>{text}</b></text>\n"
        for x, y, text in (
            (-9, 306, "SSN"),
            (99, 306, "PIN"),
            (-9, 320, "to ann@acme.ex"),
            (99, 320, "123"),
            (-9, 330, "ample"),
        )
    )
    for name in ("html", "xml"):
        document = format_named(name).extract(f"<a>{texts}</a>".encode(), LIMITS)
        assert view(document, "texts by place").text == "SSN PIN\nto ann@acme.ex 123\nample\n"
        columns = {each.context: each.text for each in document.views if each.name == "column"}
        assert columns == {"SSN": "to ann@acme.ex", "PIN": "123"}


def test_words_of_a_line_are_one_text_up_to_the_next_column() -> None:
    words = "".join(
        f'<word xMin="{x}" yMin="{y}" xMax="{x + 9}" yMax="{y + 9}">{word}</word>'
        for x, y, word in (
            (5, 9, "PIN"),
            (16, 9, "code"),
            (90, 9, "id"),
            (5, 19, "1234"),
            (90, 19, "567"),
        )
    )
    document = format_named("html").extract(f"<p>{words}</p>".encode(), LIMITS)
    columns = {each.context: each.text for each in document.views if each.name == "column"}
    assert columns == {"PIN code": "1234", "id": "567"}


@pytest.mark.parametrize(
    ("name", "source", "shown"),
    [
        ("subtitles", "WEBVTT\n\n00:01.0 --> 00:02.0\na <c.b>1</c><00:01.5>2\n", "WEBVTT\na 12\n"),
        ("subtitles", "a 1\n\n2\n0:1,0 --> 0:2,0\n{\\i1}2\\N3\r\n\r\n", "a 1\n2\n3\r\n\r\n"),
        ("latex", "a~\\textbf{1}{-}2\\,3--4 % x\n  \\\\[2pt]b\\_c", "a 1-2 3-4 \nb_c"),
        ("dxf", "0\nSECTION\n 1\na {\\fB|b0;1}\\P2\n 3\nx\\U+0040\n 1\ny%%d\n 0\nEOF\n", "\n\na 1\n2\n\nx@y\n"),
    ],
)  # fmt: skip
def test_marks_are_read_as_they_are_shown(name: str, source: str, shown: str) -> None:
    document = format_named(name).extract(source.encode(), LIMITS)
    assert view(document, "as shown").text == shown


def test_marks_stay_where_a_value_is_masked() -> None:
    source = "a <c.b>one</c> two\n"
    assert masked("subtitles", source, "one two", "[A]") == "a <c.b>[A]</c>\n"
    drawing = "0\nSECTION\n  3\none\n  1\ntwo\n"
    assert masked("dxf", drawing, "onetwo", "a\nb") == "0\nSECTION\n  3\na b\n  1\n\n"


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("csv", '1,"one","two"\n'),
        ("json", '["one", "two"]'),
        ("html", '<p>one</p>\n<p style="font-family:Arial">two</p>'),
    ],
)
def test_each_item_gets_its_part_of_a_replacement_of_the_same_shape(name: str, source: str) -> None:
    value = source[source.index("one") : source.index("two") + 3].replace("Arial", "     ")
    replacement = value.replace("one", "***").replace("wo", "**")
    result = source.replace("one", "***").replace("two", "t**")
    assert masked(name, source, value, replacement) == result


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("json", '[{"t": "one"}, {"b": {"c": "d", "e": true}, "t": "two"}]'),
        ("json", '[{"t": "a one"}, {"t": "two"}]'),
        ("xml", '<r><a b="1">one</a><a b="1">two</a></r>'),
        ("html", '<p>one</p><p class="2">two'),
    ],
)
def test_what_is_between_the_parts_of_a_value_stays(name: str, source: str) -> None:
    value = source[source.index("one") : source.index("two") + 3]
    result = source.replace("one", "[A]").replace("two", "")
    assert masked(name, source, value, "[A]") == result


@pytest.mark.parametrize(
    ("name", "source", "written"),
    [
        ("html", "<p>one<b>@</b>two</p>", "<p>o*@two<b></b></p>"),
        ("xml", '<r><c a="one"/><c a="two"/></r>', '<r><c a="*"/><c a=""/></r>'),
        ("json", '[{"t": "one@"}, {"t": "two"}]', '[{"t": "o*@"}, {"t": ""}]'),
    ],
)
def test_a_replacement_keeps_no_syntax_of_a_value(name: str, source: str, written: str) -> None:
    value = source[source.index("one") : source.index("two") + 3]
    assert masked(name, source, value, value.replace("ne", "*")) == written


def test_what_fails_to_inflate_counts_toward_the_limit() -> None:
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = packer.compress(bytes(9 << 20)) + packer.flush(zlib.Z_FULL_FLUSH) + b"\xff"
    run = base64.b64encode(packed).decode()
    format_named("text").extract(run.encode(), LIMITS)
    with pytest.raises(FormatError, match="deflated texts expand"):
        format_named("text").extract(" ".join([run] * 9).encode(), LIMITS)


def test_folded_yaml_reads_as_one() -> None:
    document = format_named("yaml").extract(b"a: >\n  one\n  two\nb: x\n", LIMITS)
    assert "one two" in view(document, "folded").text


def test_lines_are_counted_in_the_source() -> None:
    document = format_named("json").extract(b'{"a": "\\n\\n",\n"b": "value"}', LIMITS)
    assert document.place_of(0, document.segments[0].text.index("value")) == "line 2"


def test_overlapping_findings_become_one_edit() -> None:
    document = format_named("text").extract(b"0123456789", LIMITS)
    edits = edits_of(
        document, [ViewEdit(0, 2, 5, "[A]"), ViewEdit(0, 4, 9, "[B]"), ViewEdit(0, 2, 5, "[A]")]
    )
    assert list(edits) == [SegmentEdit(0, 2, 9, "[B]")]


@pytest.mark.parametrize("line_end", ["\n  ", "\\n", "\\r\\n", " ", "\\\n"])
def test_an_embedded_picture_is_read_across_the_line_ends_of_its_text(line_end: str) -> None:
    contents = b"\x89PNG\r\n\x1a\n" + Random(3).randbytes(400)
    lines = re.findall(".{1,76}", base64.b64encode(contents).decode())
    source = f'<a href="data:image/png;base64,{line_end.join(lines)}" name="b">'
    document = format_named("html").extract(source.encode(), LIMITS)
    assert [child.data for child in document.children] == [contents]
    assert 'name="b"' in document.segments[0].text


def test_a_picture_of_starview_in_a_flat_document_is_a_file() -> None:
    lines = re.findall(".{1,72}", base64.b64encode(b"VCLMTF\x01\0\x31" * 20).decode())
    document = format_named("xml").extract(
        "<d>\n  {}</d>".format("\n  ".join(lines)).encode(), LIMITS
    )
    assert [child.name.rpartition(".")[2] for child in document.children] == ["svm"]


def test_a_value_in_base64_with_a_letter_beyond_ascii_is_read_as_it_is_written() -> None:
    run = "amFuZS5yb2VAYWNtZS5l\u00aaGFtcGxl"
    data = f"BEGIN:VCARD\r\nX;ENCODING=b:{run}\r\nEND:VCARD\r\n".encode()
    document = format_named("vcard").extract(data, Limits(), None)
    assert any(run in segment.text for segment in document.segments)


@pytest.mark.parametrize(
    ("source", "cells"),
    [
        ("a,b\n1,2\n", "a\tb\t1\t2"),
        ('a,b\r\n"x\r\ny, ""z""",2\r\n\r\n3', 'a\tb\tx y, "z"\t2\t3'),
        ("a,b\r1,2\r", "a\tb\t1\t2"),
        ('a,b\n1,"2', "a\tb\t1\t2"),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_cells_are_read_again_by_the_standard_library(source: str, cells: str) -> None:
    assert next(iter(format_named("csv").read_again(source.encode(), LIMITS))) == cells


def test_a_long_table_is_read_again_in_a_few_times_its_size() -> None:
    data = b"given,family,number\n" + b"Maria,Lopez,123456789\n" * 40_000
    list(format_named("csv").read_again(data[:100], LIMITS))  # modules take memory too
    tracemalloc.start()
    try:
        texts = format_named("csv").read_again(data, LIMITS)
        sizes = [len(text) for text in texts]
        assert tracemalloc.get_traced_memory()[1] < 4 * len(data)
    finally:
        tracemalloc.stop()
    assert len(sizes) == 2


def test_the_text_of_a_column_is_made_when_it_is_read() -> None:
    data = b"name,mail\nMaria,m@b.com\nJo,\nPaul,p@b.com\n"
    _, names, mails = format_named("csv").extract(data, LIMITS).views
    before = mails.text, mails.columns, mails.pieces_of(9, 12)
    assert before[0] == "m@b.com\n\np@b.com\n\n"
    assert before[2] == [(0, data.index(b"p@b"), data.index(b"p@b") + 3)]
    mails.release()
    assert (mails.text, mails.columns, mails.pieces_of(9, 12)) == before
    assert names.count == 3
