"""A header far above its values is their context; prose with commas is not a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from definitions import cells_one_by_one
from hypothesis import given, settings
from hypothesis import strategies as st
from streaming import in_pieces
from synthetic import custom
from timing import assert_linear

from dlpctl.detect.derived.columns import Columns
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.detect.derived.texts import derived_texts, openings, texts_and_cells
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.model import Pattern
from dlpctl.types import Sensitivity
from tests.detect.builtin_patterns import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Callable

    from limits import Limiter

ROWS = [("1", "Ada Byron", "12345678"), ("2", "Jo Li", "23456789")]
TABLES = {
    "CSV": "id,name,Patient ID\n" + "".join(",".join(row) + "\n" for row in ROWS),
    "CSV without an end": "id,name,Patient ID\n" + "\n".join(",".join(row) for row in ROWS),
    "CSV of Windows": "id,name,Patient ID\r\n" + "".join(",".join(row) + "\r\n" for row in ROWS),
    "quoted CSV": '"id","name","Patient ID"\n' + "".join(f'"{a}","{b}, x","{c}"\n' for a, b, c in ROWS),
    "semicolons": "id;name;Patient ID\n" + "".join(";".join(row) + "\n" for row in ROWS),
    "tabs": "id\tname\tPatient ID\n" + "".join("\t".join(row) + "\n" for row in ROWS),
    "Markdown": "| id | name | Patient ID |\n|---|:---|---:|\n" + "".join(f"| {a} | {b} | {c} |\n" for a, b, c in ROWS),
    "Markdown of one column": "| Patient ID |\n|---|\n" + "".join(f"| {c} |\n" for _, _, c in ROWS),
    "Markdown without outer bars": "id | name | Patient ID\n---|---|---\n" + "".join(" | ".join(row) + "\n" for row in ROWS),
    "columns of blanks": "id   name        Patient ID\n" + "".join(f"{a:5}{b:12}{c}\n" for a, b, c in ROWS),
    "columns in a frame": "┌──────────┐\n│id   name        Patient ID│\n" + "".join(f"│{a:5}{b:12}{c:10}│\n" for a, b, c in ROWS) + "└──────────┘\n",
    "single blanks": "Nr Status MRN\n1 new 12345678\n2 old 23456789\n\n",
    "names and values": json.dumps([{"name": "Patient ID", "value": c} for *_, c in ROWS], indent=1),
    "ArcSight": "cs1Label=Role cs1=Nurse cs2Label=Patient ID cs2=12345678 msg=a\ncs3=23456789 cs3Label=Patient ID cs4=a\n",
    "indented columns with a remark": "  id   name (last, first)   Patient ID\n" + "".join(f"  {a:5}{b:21}{c}\n" for a, b, c in ROWS),
    "headers below a row": "Patient ID   Phone\n12345678     +44 1632 960118\nPassport     Patient ID\nNone         23456789\n",
    "numbered list": "## Patient IDs\n1. 12345678\n2. 23456789 (old)\n",
    "values in one line": "her patient IDs are: Patient ID 12345678 (old), 23456789\n",
    "two columns of values": "Patient ID    12345678      23456789\n",
    "values below the first": "Patient ID: 12345678 Ana\n            23456789 Ivo\n",
    "heads with colons": "Name:       Patient ID:\n" + "".join(f"{b:12}{c}\n" for _, b, c in ROWS),
    "Markdown of pandas": "|    |   id | name      |   Patient ID |\n|---:|-----:|:----------|-------------:|\n" + "".join(f"|  {n} | {a:>4} | {b:9} | {c:>12} |\n" for n, (a, b, c) in enumerate(ROWS)),
    "polars": "┌─────┬───────────┬────────────┐\n│ id  ┆ name      ┆ Patient ID │\n│ --- ┆ ---       ┆ ---        │\n│ i64 ┆ str       ┆ i64        │\n╞═════╪═══════════╪════════════╡\n" + "".join(f"│ {a:3} ┆ {b:9} ┆ {c:10} │\n" for a, b, c in ROWS) + "└─────┴───────────┴────────────┘\n",
    "pandas": "  id       name patient_id\n" + "".join(f"{n} {a:>2} {b:>10} {c:>10}\n" for n, (a, b, c) in enumerate(ROWS)),
    "pandas without an index": "       town      name patient_id\n" + "".join(f"Puerto Rico {b:>9} {c:>10}\n" for _, b, c in ROWS),
    "pandas, turned": "                    0         1\nid                  1         2\nname        Ada Byron     Jo Li\npatient_id   12345678  23456789\n",
    "pandas, a column": "0    12345678\n1    23456789\nName: patient_id, dtype: int64\n",
    "pandas, split": '{"columns":["id","name","patient_id"],"index":[0,1],"data":' + json.dumps(ROWS) + "}",
    "array of rows": json.dumps([["id", "name", "patient_id"], *ROWS]),
    "columns of numbered values": json.dumps({name: dict(enumerate(column)) for name, column in zip(("id", "name", "patient_id"), zip(*ROWS, strict=True), strict=True)}),
    "columns and tuples": "columns = ['id', 'name', 'patient_id']\nrows = " + repr(ROWS),
    "columns as objects": '{"columns":[{"name":"id","type":"int"},{"name":"name"},{"name":"patient_id"}],"data":' + json.dumps(ROWS) + "}",
    "BigQuery": '{"schema":{"fields":[{"name":"id"},{"name":"patient_id"}]},"rows":[' + ",".join(f'{{"f":[{{"v":"{a}"}},{{"v":"{c}"}}]}}' for a, _, c in ROWS) + "]}",
    "Redis": "".join(f'1) "patient_id"\n2) "{c}"\n' for _, _, c in ROWS),
    "numbered values": "{'id': {0: '1', 1: '2'}, 'patient_id': {0: 12345678, 1: 23456789}}",
    "PHP": "".join(f'array(1) {{\n  ["patient_id"]=>\n  string(8) "{c}"\n}}\n' for _, _, c in ROWS),
    "property list": "".join(f"<key>Patient ID</key>\n<string>{c}</string>\n" for _, _, c in ROWS),
    "psql": "   id   | name | patient_id \n        |      |\n--------+------+-----------\n" + "".join(f"  {a} | {b} | {c}\n" for a, b, c in ROWS),
    "HTML": "<table>" + "".join(f"<tr><th scope=row>Patient ID</th><td>{c}</td></tr>\n" for _, _, c in ROWS) + "</table>",
    "definitions": "<dl>" + "".join(f"<dt><b>Patient ID:</b></dt>\n <dd>{c}</dd>" for _, _, c in ROWS) + "</dl>",
    "INSERT": "INSERT INTO people (id, name, patient_id) VALUES " + ", ".join(f"({a}, '{b}', '{c}')" for a, b, c in ROWS) + ";",
    "INSERT after CREATE TABLE": "CREATE TABLE IF NOT EXISTS `people` (\n  id int NOT NULL,\n  name varchar(9), patient_id char(8) DEFAULT NULL,\n  PRIMARY KEY (id, name)\n);\nINSERT INTO `people` VALUES " + ", ".join(f"({a}, '{b}', '{c}')" for a, b, c in ROWS) + ";",
    "COPY": "COPY public.people (id, name, patient_id) FROM stdin;\n" + "".join("\t".join(row) + "\n" for row in ROWS) + "\\.\n",
    "INSERT in lines": "insert into `people` (`id`, `name`, `patient_id`)\nvalues\n" + ",\n".join(f"  ({a}, '{b}', {c})" for a, b, c in ROWS),
    "INSERT of SQL Server": "".join(f"INSERT [dbo].[people] ([id], [name], [patient_id]) VALUES ({a}, N'{b}', N'{c}')\nGO\n" for a, b, c in ROWS),
    "submitted form": "".join(f'Content-Disposition: form-data; name="patient_id"\r\n\r\n{c}\r\n--x\r\n' for *_, c in ROWS),
    "padded tabs": "id\tname     \tPatient ID\n" + "".join(f"{a}\t{b:9}\t{c}\n" for a, b, c in ROWS),
    "Oracle": "ID NAME      PATIENT_ID\n-- --------- ----------\n" + "".join(f"{a:2} {b:9} {c}\n" for a, b, c in ROWS),
    "pandas, in parts": "  id patient_id  \\\n" + "".join(f"{n} {a:>2} {c:>10}   \n" for n, (a, _, c) in enumerate(ROWS)) + "\n        name  \n0  Ada Byron  \n",
    "LaTeX": "id & name & patient\\_id \\\\\n\\midrule\n" + "".join(f"{a} & {b} & {c} \\\\\n" for a, b, c in ROWS) + "\\end{tabular}\n",
    "Jira": "||id||name||Patient ID||\n" + "".join(f"| {a} | {b} | {c} |\n" for a, b, c in ROWS),
    "MediaWiki": "! id !! name !! Patient ID\n" + "".join(f"|-\n| {a} || {b}\n| {c}\n" for a, b, c in ROWS) + "|}\n",
    "Textile": "|_. id |_. name |_. Patient ID |\n" + "".join(f"|<. {a} |<. {b} |<. {c} |\n" for a, b, c in ROWS),
    "Tcl": '"id" "name" "Patient ID"\n' + "".join(f'"{a}" "{b}" "{c}"\n' for a, b, c in ROWS),
    "list": json.dumps({"patient_id": [c for *_, c in ROWS]}),
    "Arrow": 'id: [["1","2"]]\npatient_id: [["12345678","23456789"]]\n',
    "R": 'structure(list(id = c("1", "2"), patient_id = c("12345678", "23456789")))',
    "R, described": ' $ id        : chr  "1" "2"\n $ patient_id: chr  "12345678" "23456789"\n',
    "Polars, described": "$ id         <str> '1', '2'\n$ patient_id <str> '12345678', '23456789'\n",
    "lines of a list": "Patient IDs:\n- 12345678\n- 23456789\n",
    "what changed": '{"patient_id": {"old": "12345678", "new": "23456789"}}',
    "a field that changed": '[{"field": "patient_id", "type": 1, "from": "12345678", "to": "23456789"}]',
    "what changed in lines": "patient_id:\n  from: 12345678\n  to: 23456789\n",
    "words that changed": "patient_id: [-12345678-]{+23456789+}\n",
    "words that changed, in colours": "patient_id: \x1b[31m12345678\x1b[m\x1b[32m23456789\x1b[m\n",
    "arrow": "patient_id: 12345678 -> 23456789\n",
    "sentence about a change": "The patient_id was changed from 12345678 to 23456789.\n",
    "PHP, hidden": "".join(f'object(A)#1 (1) {{\n  ["patient_id":protected]=>\n  string(8) "{c}"\n}}\n' for *_, c in ROWS),
    "PHP, serialized": "".join(f'O:1:"A":1:{{s:10:"patient_id";s:8:"{c}";}}\n' for *_, c in ROWS),
    "Go": "".join(f' patient_id: (string) (len=8) "{c}",\n' for *_, c in ROWS),
    "SQLAlchemy": "INSERT INTO t (id, name, patient_id) VALUES (?, ?, ?)\nINFO [generated in 0.1s] [('1', 'Ada', '12345678'), ('2', 'Jo', '23456789')]\n",
    "SQLAlchemy, one value": "".join(f"SELECT 1 FROM t WHERE t.patient_id = ?\n[cached since 1s ago] ('{c}',)\n" for *_, c in ROWS),
    "PostgreSQL": "".join(f"LOG: execute: UPDATE t SET name = $2, patient_id = $1\nDETAIL: Parameters: $1 = '{c}', $2 = '{b}'\n" for _, b, c in ROWS),
    "MyBatis": "".join(f"==>  Preparing: insert into t (name, patient_id) values (?, ?)\n==> Parameters: {b}(String), {c}(String)\n" for _, b, c in ROWS),
    "Hibernate": "".join(f"insert into t (name, patient_id) values (?, ?)\nTRACE binding parameter [1] as [VARCHAR] - [{b}]\nTRACE binding parameter [2] as [VARCHAR] - [{c}]\n" for _, b, c in ROWS),
    "Entity Framework": "".join(f"[Parameters=[@p0='{b}' (Nullable = false), @p1='{c}'], Timeout='30']\nINSERT INTO [t] ([name], [patient_id])\nVALUES (@p0, @p1);\n" for _, b, c in ROWS),
    "columns with full cells": "".join(f"{a:4}{b:10}{c:12}{d}\n" for a, b, c, d in (("id", "name", "Patient ID", "town"), *((*row, "X") for row in ROWS))),
    "indented columns with full cells": "".join(f"   {a:4}{b:10}{c:12}{d}\n" for a, b, c, d in (("id", "name", "Patient ID", "town"), *((*row, "X") for row in ROWS))),
    "blank lines between rows": "name        Patient ID\n\n" + "".join(f"{b:12}{c}\n\n" for _, b, c in ROWS),
    "cells in lines": "Members\nid\nname\nPatient ID\n" + "".join("\n".join(row) + "\n" for row in ROWS),
    "cells in blocks of troff": "T{\nname\nT}\tT{\nPatient ID\nT}\n_\n" + "".join(f"T{{\n{b}\nT}}\tT{{\n{c}\nT}}\n" for _, b, c in ROWS),
    "cells in lines, apart": "name\n\nPatient ID\n\n" + "".join(f"{b}\n\n{c}\n\n" for _, b, c in ROWS),
    "abbreviated headers of cells in lines": "Name\nPatient nr.\n" + "".join(f"{b}\n{c}\n" for _, b, c in ROWS),
    "wrapped cells in lines below numbers": "No.\n\nname\n\nPatient\nid\n\n" + "".join(f"{a}\n\n" + b.replace(" ", "\n") + f"\n\n{c}\n\n" for a, b, c in ROWS),
    "labels before all values": "".join(f"name\n\nemail\n\nPatient ID\n\n{b}\n\nnone\n\n{c}\n\nEnd.\n\n" for _, b, c in ROWS),
    "AsciiDoc": "|===\n|id |name\n|Patient ID\n\n" + "".join(f"|{a}\n|{b} |{c}\n\n" for a, b, c in ROWS) + "|===\n",
    "OpenAPI": "".join(f"patient_id:\n  type: string\n  example: '{c}'\n" for *_, c in ROWS),
    "elements of a page": "".join(f"<div class=a><h3>Patient ID</h3>\n<p>{c}</p></div>\n" for *_, c in ROWS),
    "elements without ends": "<table>" + "".join(f"<tr><th>Patient ID<td>{c}\n" for *_, c in ROWS) + "</table>",
    "flat OpenDocument": "".join(f'<text:p a="b"><text:span>Patient ID</text:span></text:p>\n<text:p><text:span>{c}</text:span></text:p>\n' for *_, c in ROWS),
    "key of PostgreSQL": "".join(f"Key (name, patient_id)=({b}, {c}) already exists.\n" for _, b, c in ROWS),
    "labels on the left": "name,Ada,Jo\nPatient ID,12345678,23456789\nphone,x1,y2\n",
    "quoted labels on the left": ';"name";"Ada";"Jo"\n;"Patient ID";"12345678";"23456789"\n',
    "labels on the left in a frame": "+--+--+--+\n| name | Ada | Jo |\n| Patient ID | 12345678 | 23456789 |\n+--+--+--+\n",
    "two rows of headers": "Person\t\tAccount\npassword\tid\tPatient ID\n" + "".join(f"{b}\t{a}\t{c}\n" for a, b, c in ROWS),
    "no first header": '"","name","Patient ID"\n' + "".join(f'"{a}","{b}","{c}"\n' for a, b, c in ROWS),
    "centered headers": "    id        name         Patient ID\n" + "".join(f" {a:5}    {b:12}   {c}\n" for a, b, c in ROWS),
    "LaTeX without blanks": "id&name&Patient ID\\\\\n\\hline\n" + "".join(f"{a}&{b}&{c}\\\\\n" for a, b, c in ROWS) + "\\end{tabular}\n",
    "MediaWiki in lines": '! style="a"| name\n! Patient ID\n' + "".join(f'|-\n| style="a"| {b}\n| {c}\n' for _, b, c in ROWS) + "|}\n",
    "DokuWiki": "^ id ^ name ^ Patient ID ^\n" + "".join(f"| {a} | {b} | {c} |\n" for a, b, c in ROWS),
    "Creole": "|=id |=name |=Patient ID\n" + "".join(f"|{a} |{b} |{c}\n" for a, b, c in ROWS),
    "DocBook": "".join(f"<term>\n Patient ID\n</term><listitem><para>\n {c}\n</para></listitem>\n" for *_, c in ROWS),
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("before", ["", "The export, as promised:\n\n"])
def test_a_header_is_context(library: Detector, table: str, before: str) -> None:
    text = before + table
    found = [
        text[one.start : one.end]
        for one in library.scan(text)
        if one.type == "MEDICAL_RECORD_NUMBER"
    ]
    assert found == ["12345678", "23456789"]


def test_a_header_is_context_however_far_above(library: Detector) -> None:
    text = "id,name,passport number\n" + "".join(
        f"{row},x,C{10000000 + row}\n" for row in range(3000)
    )
    assert sum(one.type == "PASSPORT" for one in library.scan(text)) == 3000


def test_a_stream_remembers_the_header(limit: Limiter) -> None:
    limit("dlpctl.detect.stream.CHUNK", 64)
    number = custom("number", r"\bpassport number: (?P<value>[A-Z][0-9]{8})\b")
    rows = "".join(f"{row},x,C{10000000 + row}\n" for row in range(500))
    data = f"some words\nid,name,passport number\n{rows}\nC10000000\n".encode()
    detector = Detector([number])
    given_out, found = in_pieces(detector, [data])
    assert given_out == data
    assert len(found) == 500
    assert found == detector.scan_bytes(data)


HEADERS = [
    "fecha de nacimiento",
    "date de naissance",
    "Geburtsdatum",
    "data de nascimento",
    "data di nascita",
    "date_of_birth",
    "dateOfBirth",
]


@pytest.mark.parametrize("header", HEADERS)
def test_headers_in_six_languages(library: Detector, header: str) -> None:
    found = library.scan(f"id;{header};x\n7;1984-03-12;y\n")
    assert [one.type for one in found] == ["DATE_OF_BIRTH"]


@pytest.mark.parametrize(
    ("header", "cell", "found"),
    [
        ("Religion", "Sikh", "RELIGION"),
        ("race", "Native American", "ETHNICITY"),
        ("dob", "31234", "DATE_OF_BIRTH"),
        ("birth_date", "489456000", "DATE_OF_BIRTH"),
        ("ssn", "78051120", "SSN"),
        ("skype", "live:ada.roe", "USERNAME"),
        ("geohash", "u33dc0cpke", "GPS_COORDINATES"),
    ],
)
def test_cells_that_only_their_header_tells(
    library: Detector, header: str, cell: str, found: str
) -> None:
    assert [one.type for one in library.scan(f"id,{header},x\n7,{cell},y\n")] == [found]


@pytest.mark.parametrize(
    "text",
    [
        "Dear John, thank you\nfor the phone, and for all\n",
        "id,count,size\n1,12345678,3\n",
        "def pay(account, card):\n    return account, card\n",
        "",
        ",,,\n,,,\n",
        "INSERT INTO t VALUES (1, '12345678')",
    ],
)
def test_columns_without_sensitive_headers_are_not_derived(text: str) -> None:
    assert all(b"12345678" not in other.data for other in derived_texts(text.encode()))


@given(st.text(alphabet="ssn ,;|\t\n\"'(1x-", max_size=120), st.sampled_from(list(TABLES.values())))
def test_places_are_those_of_the_original(noise: str, table: str) -> None:
    data = f"{noise}\n{table}{noise}".encode()
    columns = next((other for other in derived_texts(data) if isinstance(other, Columns)), None)
    for at in range(0, len(columns.data) if columns else 0, 3):
        place = columns.original_span(at, at + 2) if columns else None
        if columns and place:
            shown = data[place[0] : place[1]].replace(b"\n", b" ")  # of a wrapped cell
            assert shown == columns.data[at : at + 2].replace(b"\n", b" ")


def test_cells_of_a_range_are_those_of_the_complete_columns() -> None:
    headers = [f"ssn {number}" for number in range(300)]
    data = f"{','.join(headers)}\n{','.join(map(str, range(300)))}\n".encode()
    data += TABLES["CSV"].encode() * 2
    words = HeaderWords()
    _, cells = texts_and_cells(data, words, joins_lines=False)
    complete = Columns.of(data, openings(data)[1], None, words)
    assert cells
    assert complete
    assert cells.columns(0, len(data), 0).data == complete.data
    for first in range(0, len(data), 17):
        low, high, start = complete.cells_in(first, first + 40)
        expected = complete.data[low:high]
        assert cells.columns(first, first + 40, 0).data == expected
        wider = cells.columns(first, first + 40, 50)
        assert wider.data in complete.data
        own_low, own_high, own_start = wider.cells_in(first, first + 40)
        assert (wider.data[own_low:own_high], own_start) == (expected, start)
        assert own_low >= min(50, low) or low == high


WORDS = [
    "ssn",
    "id",
    " ",
    "  ",
    ",",
    ";",
    "|",
    "\t",
    "\n",
    '"',
    "'",
    "(",
    ")",
    "<th>",
    "</th>",
    "<td>",
    "</td>",
    "insert into t ",
    "\nInsert  Name",
    " values ",
]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("Insert  SSN\n1  536-22-8145\n", b"\nSSN: 536-22-8145\n"),
        ("insert into ssn, name\n1, 2\n", b"\ninsert into ssn: 1\n"),
        ("insert | ssn\n1 | 2\n", b"\nssn: 2\n"),
    ],
)
def test_a_header_that_begins_with_insert_is_no_statement(text: str, cell: bytes) -> None:
    assert any(cell in other.data for other in derived_texts(text.encode()))


@given(st.lists(st.sampled_from([*WORDS, "7"]), max_size=40).map("".join))
def test_any_text_may_look_like_a_table(text: str) -> None:
    data = text.encode()
    for other in derived_texts(data):
        spans = [other.original_span(at, at + 1) for at in range(len(other.data))]
        assert all(0 <= span[0] < span[1] <= len(data) for span in spans if span)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_empty_and_odd_quoted_cells_do_not_move_the_others(
    library: Detector, delimiter: str
) -> None:
    rows = [["id", "note", "Patient ID", "x"], ['""', '"a ""b"""', '"12345678"', '""']]
    rows += [['"1"', '"odd" one', '"23456789"', "7"], ["3", '""', '"34567890"', '"' * 4]]
    text = "\n".join(delimiter.join(row) for row in rows)
    found = [one for one in library.scan(text) if one.type == "MEDICAL_RECORD_NUMBER"]
    values = [text[one.start : one.end] for one in found]
    assert values == ["12345678", "23456789", "34567890"]


BADGES = {
    "context": custom(
        "badge",
        r"\b[A-Z]{2}[0-9]{4}\b",
        score=0.3,
        context={"words": ["frobnicator id"], "score": 0.8},
    ),
    "keyword": custom("badge", r"\b[A-Z]{2}[0-9]{4}\b", score=0.8, keywords=["frobnicator"]),
    "label": custom("badge", r"\bfrobnicator[ _]id: (?P<value>[A-Z]{2}[0-9]{4})\b", score=0.8),
}


@pytest.mark.parametrize("pattern", BADGES.values(), ids=BADGES)
@pytest.mark.parametrize("header", ["frobnicator id", "frobnicator_id", "FROBNICATOR ID"])
def test_a_custom_label_is_a_header_too(library: Detector, pattern: Pattern, header: str) -> None:
    if pattern is BADGES["label"]:
        header = header.lower()
    rows = "".join(f"{row},size,AB{1000 + row}\n" for row in range(30))
    text = f"position,what,{header}\n{rows}"
    for detector in (Detector([pattern]), library.extended([pattern])):
        assert [one.type for one in detector.scan(text)].count("BADGE") == 30
    assert not any(one.type == "BADGE" for one in library.scan(text))


JUDGED = [
    custom(
        "card",
        r"\b[0-9]{8}\b",
        score=0.6,
        context={"words": ["card"], "score": 0.9, "against": ["order"], "against_score": 0.3},
    ),
    custom("serial", r"\b[A-Z]?[0-9]{8}[A-Z]?\b", score=0.7),
    custom("labelled", r"\bpin: (?P<value>[0-9]{4,8})\b", score=0.8),
    custom("part", r"[0-9]{4}", score=0.72),
    custom("asked-for", r"\b[0-9]{6,8}\b", score=0.9, keywords=["iban"]),
]
CELLS = st.sampled_from(["12345678", "A12345678", "1234", "x 12345678", "12345678 card", "", "no"])
COLUMN_NAMES = st.sampled_from(["card", "order no", "card order", "pin", "iban", "name", "serial"])


@pytest.fixture(scope="module")
def judged() -> Detector:
    return Detector(JUDGED)


@settings(deadline=None, max_examples=150)
@given(st.data(), st.integers(1, 4), st.sampled_from([0.0, 0.5, 0.75]))
def test_cells_are_judged_as_if_each_was_confirmed_after_its_header(
    judged: Detector, data: st.DataObject, width: int, min_score: float
) -> None:
    rows = [data.draw(st.lists(COLUMN_NAMES, min_size=width, max_size=width))]
    rows += data.draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=5))
    text = "".join(",".join(row) + "\n" for row in rows)
    wanted = data.draw(st.sampled_from([None, {"CARD"}, {"PART", "LABELLED"}]))
    detector = judged.for_types(wanted) if wanted else judged
    found = detector.scan(text, min_score)
    with cells_one_by_one():
        assert detector.scan(text, min_score) == found


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "filling",
    [
        *("ssn,x\n", "ssn,", "| ssn ", "ssn  ", '"', "insert into t (ssn) values (1),", "(1, '"),
        *("       0   1\nssn    1   2\n", "    ssn   x\n0         x\n", "Name: ssn, dtype: str\n"),
        *('"cols": ["ssn", "x"], [[[', "'ssn': {'0': 1, ", '["ssn"]=>\n string(9) "', '1) "ssn"\n'),
        *("ssn & x \\\\\n", "ssn x\n--- --\n1   2\n", "||ssn||x||\n|1|2|\n", "|_. ssn|_. x|\n"),
        *(
            '"ssn": ["1", "2", ',
            "ssn:\n- 1\n",
            '"ssn": {"old": 1, ',
            "ssn: a -> b -> ",
            "ssn: [-1-]{+",
        ),
        *('["ssn":protected]=>\n string(9) "', 's:3:"ssn";s:9:"', 'ssn: (string) (len=9) "'),
        *(
            "ssn = ?\n[no key 1s] (1, ",
            "Parameters: $1 = 'a', ssn = $1 ",
            "==> Parameters: 1(Int), ",
        ),
        *("binding parameter [1] ssn = ?\n", "Key (ssn)=(1) is ", "'field': 'ssn', 'old': 1, "),
        *("birth: {day: 1, year: 2, ", "birth: [{date: {day: "),
    ],
)
def test_four_times_as_much_takes_four_times_as_long(filling: str) -> None:
    def derive(size: int) -> Callable[[], object]:
        data = b"ssn,name\n" + filling.encode() * (size // len(filling))
        return lambda: derived_texts(data)

    assert_linear(derive, 1 << 15)


def test_every_label_of_the_library_names_a_column() -> None:
    likely = [pattern for pattern in PATTERNS if pattern.score >= Sensitivity.BALANCED.min_score]
    words = HeaderWords()

    def names_a_column(label: str) -> bool:
        # Some labels are parts of usual words, such as `case`.
        return any(words.are_in(each.encode()) for each in (label, f"{label} number"))

    assert not [label for each in likely for label in each.labels if not names_a_column(label)]


def test_a_table_within_a_json_string_is_read(library: Detector) -> None:
    table = "Logins\n\n| service | user | password |\n| --- | --- | --- |\n| wiki | ann | sunny-meadow-17 |\n"
    text = json.dumps({"answer": json.dumps({"text": table})})
    found = [text[one.start : one.end] for one in library.scan(text) if one.type == "PASSWORD"]
    assert found == ["sunny-meadow-17"]


@pytest.mark.parametrize(
    "text",
    [
        "Password\n    {}\n",
        "_Password_::\n  {}\n",
        "- Password :: {}\n",
        "@item Password\n\n{}\n",
        "[Password]\n{}\n",
        "<dt><em>Password</em></dt>\n<dd>{}</dd>",
        '{{"full_name":"Ann Roe","password":"{}","mrn":"33884422"}}',
    ],
)
def test_a_password_with_a_percent_sign_is_found_after_its_label(
    library: Detector, text: str
) -> None:
    password = "CDfbfmm885%trv"
    text = text.format(password)
    found = [text[one.start : one.end] for one in library.scan(text) if one.type == "PASSWORD"]
    assert found == [password]


@pytest.mark.parametrize("header", ["source", "stopped", "brand"])
def test_a_brief_word_within_another_names_no_column(header: str) -> None:
    assert not HeaderWords().are_in(header.encode())


DRAWN = {
    "light": "┌────┬────────┐\n│ id │ tax id │\n├────┼────────┤\n│ 1  │ {0} │\n│ 2  │ {1} │\n└────┴────────┘\n",
    "heavy": "┏━━━━┳━━━━━━━━┓\n┃ id ┃ tax id ┃\n┡━━━━╇━━━━━━━━┩\n│ 1  │ {0} │\n│ 2  │ {1} │\n└────┴────────┘\n",
    "double": "╔════╦════════╗\n║ id ║ tax id ║\n╠════╬════════╣\n║ 1  ║ {0} ║\n║ 2  ║ {1} ║\n╚════╩════════╝\n",
    "numbered boxes": "(1) Name    (2) Tax ID\nA. Roe      {0}\nB. Doe      {1}\n",
    "comma in a header": "Surname, first name   Tax ID\nRoe, Ada              {0}\nDoe, Bo               {1}\n",
    "HTML": "<table><tr><th>Id</th><th>Tax ID</th></tr><tr><td>1</td><td>{0}</td></tr><tr><td>2</td><td>{1}</td></tr></table>",
    "HTML in lines": "<thead>\n<tr>\n <th>Id</th>\n <th><b>Tax ID</b></th>\n</tr>\n</thead>\n<tbody>\n<tr>\n <td>1</td>\n <td> <b>{0}</b></td>\n</tr>\n<tr><td>2</td><td>{1}</td></tr></tbody>",
    "indented": " | id | tax id |\n |--|--|\n | 1 | {0} |\n | 2 | {1} |\n",
    "a difference": "+++ b\n@@ -0,0 +1,3 @@\n+id,tax id\n+1,{0}\n+2,{1}\n",
    "a difference with context": "+++ b\n  @@ -1,2 +1,3 @@\n   id,tax id\n  -1,{0}\n  +2,{1}\n",
    "a difference of words": "@@ -1,2 +1,2 @@\nid,tax id\n[-1,{0}-]{{+2,{1}+}}\n",
    "pieces of a difference": "@@ -1 +1,2 @@\n id,tax id\n~\n-1,{0}\n+2,{1}\n~\n",
    "commits": "".join(f"^a52a89e{n} (Zoe 2026-11-28 15:23:34 +0000 {n}) {line}\n" for n, line in enumerate(("id,tax id", "1,{0}", "2,{1}"))),
    "places": "".join(f"b/u.csv:{n}:{line}\n" for n, line in enumerate(("id,tax id", "1,{0}", "2,{1}"))),
    "colours": "\x1b[1mid\x1b[0m | \x1b[1mtax id\x1b[0m\n1 | {0}\n2 | {1}\n",
    "a colon of its own": "<dt>Tax ID<span class='colon'>:</span></dt>\n<dd><p>{0}</p></dd><dt>Tax ID<span>:</span></dt><dd>{1}</dd>",
    "named elements": "<field_name>Tax ID</field_name><field_body><paragraph class='NOTE'>{0}</paragraph></field_body><label>Tax ID</label><textarea class='NOTE'>{1}</textarea>".replace("NOTE", "x" * 120),
}  # fmt: skip


@pytest.mark.parametrize("table", DRAWN.values(), ids=DRAWN)
def test_cells_of_drawn_tables_are_below_their_headers(library: Detector, table: str) -> None:
    numbers = "987654321", "876543219"
    text = table.format(*numbers)
    found = [text[one.start : one.end] for one in library.for_types(["TAX_ID"]).scan(text)]
    assert found == list(numbers)


@pytest.mark.parametrize(
    "chat",
    [
        "ann\n  and your tax id?\nbob\n  sure, {0}\n",
        "Ann  9:11 AM\nWhat is your tax id?\nBob  9:12 AM\n{0}\n",
        "[09:11] ann: your tax id?\n[09:12] bob: {0}\n",
    ],
)
def test_an_answer_is_below_its_question(library: Detector, chat: str) -> None:
    text = chat.format("987654321")
    assert any("987654321" in text[one.start : one.end] for one in library.scan(text))
