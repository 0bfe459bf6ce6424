"""Excel: numbers and texts, formulas and their results, and names that occur in many places."""

from __future__ import annotations

import datetime
import io
import re
import tracemalloc
from collections.abc import Callable
from typing import TYPE_CHECKING

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Files, Node
from dlpctl.formats.interface import Limits
from dlpctl.formats.office import second
from dlpctl.formats.residues import StrictMatcher
from dlpctl.formats.spans import ViewEdit

if TYPE_CHECKING:
    from limits import Limiter

Mask = Callable[[bytes, str], bytes]
Package = Callable[..., bytes]
Parts = Callable[[bytes], dict[str, bytes]]
Read = Callable[[bytes, str], Node]
SSN, CARD, MAIL = "123-45-6789", "4111111111111111", "jane.roe@acme.example"
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def saved(workbook: openpyxl.Workbook) -> bytes:
    output = io.BytesIO()
    workbook.save(output)
    return output.getvalue()


def made_by_openpyxl() -> bytes:
    workbook = openpyxl.Workbook()
    people = workbook.active
    people.title = "People"
    people.append(["Name", "SSN", "Born", "Card", MAIL, "calc"])
    people.append(
        ["kept text", 123456789, datetime.date(1980, 1, 2), int(CARD), "x", f'="no "&"{SSN}"']
    )
    people["B2"].number_format = "000-00-0000"
    people.append(["a", SSN, None, "4111 1111 1111 1111", MAIL, "=B3"])
    people.add_table(Table(displayName="T1", ref="A1:F3"))
    people["H1"] = f"=SUM(T1[[{MAIL}]])"
    people["G9"] = f"='{MAIL}'!A1+'{MAIL}'!A2"
    hidden = workbook.create_sheet(MAIL)
    hidden["A1"] = SSN
    hidden.sheet_state = "hidden"
    workbook.defined_names["who"] = DefinedName("who", attr_text=f"'{MAIL}'!$A$1")
    workbook.defined_names["c"] = DefinedName("c", attr_text=f'"{CARD}"')
    validation = DataValidation(type="list", formula1=f'"{SSN},b"', promptTitle="x", prompt=MAIL)
    people.add_data_validation(validation)
    validation.add("J1")
    people["A3"].comment = Comment(f"see {SSN}", MAIL)
    people["A3"].hyperlink = f"mailto:{MAIL}"
    people["K1"] = "go"
    people.oddHeader.center.text = CARD
    chart = BarChart()
    chart.add_data(Reference(hidden, min_col=1, min_row=1, max_row=1))
    people.add_chart(chart, "L2")
    return saved(workbook)


def test_everything_that_openpyxl_writes(masked: Mask, parts_of: Parts) -> None:
    before = made_by_openpyxl()
    data = masked(before, "a.xlsx")
    copy = openpyxl.load_workbook(io.BytesIO(data))
    assert copy.sheetnames == ["People", "(E-MAIL)"]
    assert copy["(E-MAIL)"].sheet_state == "hidden"
    rows = list(copy["People"].iter_rows(max_row=3, max_col=6, values_only=True))
    assert rows[0] == ("Name", "SSN", "Born", "Card", "(E-MAIL)", "calc")
    assert rows[1] == (
        "kept text",
        "[SSN 1]",
        datetime.datetime.fromisoformat("1980-01-02"),
        "[CARD]",
        "x",
        '="no "&"[SSN 1]"',
    )
    assert rows[2] == ("a", "[SSN 1]", None, "[CARD]", "[E-MAIL]", "=B3")
    (table,) = copy["People"].tables.values()
    assert [column.name for column in table.tableColumns] == list(rows[0])
    assert copy["People"]["H1"].value == "=SUM(T1[[(E-MAIL)]])"
    assert copy["People"]["G9"].value == "='(E-MAIL)'!A1+'(E-MAIL)'!A2"
    assert copy.defined_names["who"].attr_text == "'(E-MAIL)'!$A$1"
    assert copy.defined_names["c"].attr_text == '"[CARD]"'
    (validation,) = copy["People"].data_validations.dataValidation
    assert (validation.formula1, validation.prompt) == ('"[SSN 1],b"', "[E-MAIL]")
    assert copy["People"]["A3"].comment.text == "see [SSN 1]"
    assert b"'(E-MAIL)'!" in parts_of(data)["xl/charts/chart1.xml"]
    assert parts_of(data)["xl/styles.xml"] == parts_of(before)["xl/styles.xml"]


def test_headers_label_the_cells_below_them(read: Read) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.append(["Report of the year"])
    sheet.append(["Account number", "Born", "Amount", None, "Amount", "a@b.example"])
    sheet.append([100200300, datetime.date(1980, 1, 2), 1.5])
    sheet.append([100200301, datetime.date(1981, 1, 2), 2])
    document = read(saved(workbook), "a.xlsx").document
    labelled = {view.context: view.text.split() for view in document.views if view.context}
    assert labelled["Account number"] == ["100200300", "100200301"]
    assert labelled["Born"] == ["1980-01-02", "1981-01-02"]
    (column,) = (view for view in document.views if view.context == "Account number")
    (piece,) = column.pieces_of(11, 12)
    assert document.place_of(piece.segment, piece.start) == "Sheet!A4"


def test_a_number_becomes_a_text_with_its_style(masked: Mask, parts_of: Parts) -> None:
    workbook = openpyxl.Workbook()
    workbook.active["B2"] = int(CARD)
    workbook.active["B2"].font = openpyxl.styles.Font(bold=True)
    data = masked(saved(workbook), "a.xlsx")
    cell = openpyxl.load_workbook(io.BytesIO(data)).active["B2"]
    assert (cell.value, cell.font.bold) == ("[CARD]", True)


def workbook_of(
    package: Package, sheet: str, parts: dict[str, str] | None = None, relations: str = ""
) -> bytes:
    main = f'<workbook {S} {R}><sheets><sheet name="Sheet1" sheetId="1" r:id="s1"/></sheets></workbook>'
    return package(
        "xlsx",
        main,
        {
            "xl/worksheets/sheet1.xml": f"<worksheet {S}><sheetData>{sheet}</sheetData></worksheet>",
            **(parts or {}),
        },
        {"xl/worksheets/sheet1.xml": f"{TYPE}.worksheet+xml"},
        f'<Relationship Id="s1" Type="{KIND}/worksheet" Target="worksheets/sheet1.xml"/>{relations}',
    )


def test_a_prompt_labels_the_cells_for_which_it_asks(read: Read) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row, value in enumerate(("x1", "x2", "x3", "x4"), 1):
        sheet.cell(row, 2, value)
    prompts = ("B2", "Tel", "enter"), ("B1:B3 C4", "born on", None), ("B4", "4" * 9, "id")
    for cells, title, words in prompts:
        sheet.add_data_validation(DataValidation(sqref=cells, promptTitle=title, prompt=words))
    document = read(saved(workbook), "a.xlsx").document
    labelled = {view.context: view.text.split() for view in document.views if view.context}
    assert (labelled["born on"], labelled["id"]) == (["x1", "x2", "x3"], ["x4"])
    assert "Tel enter" not in labelled


CELLS = {
    "plain text": f'<c r="A1" t="str"><v>x {SSN} kept</v></c>',
    "rich inline": '<c r="A1" t="inlineStr"><is><r><t>x 123-</t></r><r><t>45-6789 kept</t></r></is></c>',
    "escapes of spreadsheets": '<c r="A1" t="str"><v>x _x0031_23-45-6789 kept</v></c>',
    "entities": '<c r="A1" t="str"><v>x &#49;23-45-6789 kept</v></c>',
    "no references": f'<c><v>1</v></c><c t="str"><v>x {SSN} kept</v></c>',
    "attributes in another order": f'<c t="str" s="0" r="A1"><v>x {SSN} kept</v></c>',
    "an attribute that holds a bracket": f'<c r="A1" t="str" x="a>b"><v>x {SSN} kept</v></c>',
    "error": f'<c r="A1" t="e"><v>{SSN} kept</v></c>',
    "exponent": '<c r="A1"><v>4.111111111111111E15</v></c><c r="B1" t="str"><v>kept</v></c>',
    "spaces": f'<c r="A1" t="inlineStr"><is><t xml:space="preserve">  {SSN} kept</t></is></c>',
}


@pytest.mark.parametrize("shape", CELLS)
@pytest.mark.parametrize("prefix", ["", "x:"])
def test_cells_of_every_shape(
    shape: str, prefix: str, masked: Mask, package: Package, parts_of: Parts
) -> None:
    rows = f"<row>{CELLS[shape]}</row>"
    if prefix:
        rows = re.sub(r"<(/?)(\w)", rf"<\1{prefix}\2", rows)
        data = workbook_of(package, "")
        sheet = f"<x:worksheet {S.replace('xmlns', 'xmlns:x')}><x:sheetData>{rows}</x:sheetData></x:worksheet>"
        data = workbook_of(package, "", {"xl/worksheets/sheet1.xml": sheet})
    else:
        data = workbook_of(package, rows)
    assert b"kept" in parts_of(masked(data, "a.xlsx"))["xl/worksheets/sheet1.xml"]


def test_a_long_sheet_is_masked_in_a_few_times_its_size(
    package: Package, files: Files, limit: Limiter
) -> None:
    limit("dlpctl.formats.office.xmltext._PIECE", 1 << 14)
    row = '<row><c t="inlineStr"><is><t>Jo</t></is></c><c t="inlineStr"><is><t>%09d</t></is></c></row>'
    rows = "".join(row % number for number in range(4_000))
    node = files.open(workbook_of(package, rows), "a.xlsx")
    texts = [view.text for view in node.document.views]
    found = [
        ViewEdit(number, match.start(), match.end(), "x" * 7 + match[0][-2:])
        for number, text in enumerate(texts)
        for match in re.finditer("[0-9]{9}", text)
    ]
    tracemalloc.start()
    try:
        files.masked(node, lambda _: found)
        assert tracemalloc.get_traced_memory()[1] < 7 * len(rows)
    finally:
        tracemalloc.stop()


def test_a_cell_loses_the_formula_that_would_make_the_value_again(
    masked: Mask, package: Package, parts_of: Parts
) -> None:
    rows = (
        '<row r="1"><c r="A1" t="str"><f>"123-45"&amp;"-6789"</f><v>123-45-6789</v></c>'
        '<c r="B1"><f t="shared" ref="B1:B2" si="0">4111111111111110+1</f><v>4111111111111111</v></c>'
        '<c r="C1"><f>1+1</f><v>2</v></c></row>'
        '<row r="2"><c r="B2"><f t="shared" si="0"/><v>7</v></c></row>'
    )
    chain = {"xl/calcChain.xml": f'<calcChain {S}><c r="A1"/></calcChain>'}
    relation = f'<Relationship Id="c" Type="{KIND}/calcChain" Target="calcChain.xml"/>'
    copy = parts_of(masked(workbook_of(package, rows, chain, relation), "a.xlsx"))
    sheet = copy["xl/worksheets/sheet1.xml"].decode()
    assert re.findall(r"<f[^>]*>[^<]*", sheet) == ["<f>1+1"]
    assert '<c r="B2"><v>7</v></c>' in sheet
    assert "xl/calcChain.xml" not in copy
    assert b"calcChain" not in copy["xl/_rels/workbook.xml.rels"]


def test_shared_strings_shown_hidden_and_spoken(
    masked: Mask, package: Package, parts_of: Parts
) -> None:
    strings = (
        f"<sst {S}><si><t>kept</t></si><si><r><rPr><b/></rPr><t>123-</t></r><r><t>45-6789 kept</t></r></si>"
        f"<si><t>nobody shows {MAIL}</t></si><si><t>kept</t><rPh sb='0' eb='1'><t>{CARD}</t></rPh></si></sst>"
    )
    rows = '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>1</v></c><c t="s"><v>3</v></c></row>'
    relation = f'<Relationship Id="t" Type="{KIND}/sharedStrings" Target="sharedStrings.xml"/>'
    before = workbook_of(package, rows, {"xl/sharedStrings.xml": strings}, relation)
    after = parts_of(masked(before, "a.xlsx"))
    assert after["xl/worksheets/sheet1.xml"] == parts_of(before)["xl/worksheets/sheet1.xml"]
    text = after["xl/sharedStrings.xml"].decode()
    assert '<r><rPr><b/></rPr><t>[SSN 1]</t></r><r><t xml:space="preserve"> kept</t></r>' in text
    assert "nobody shows [E-MAIL]" in text


def test_pivot_caches(masked: Mask, package: Package, parts_of: Parts) -> None:
    definition = (
        f'<pivotCacheDefinition {S}><cacheFields><cacheField name="card"><sharedItems containsSemiMixedTypes="0" '
        f'containsString="0" containsNumber="1" containsInteger="1" minValue="{CARD}" maxValue="{CARD}">'
        f'<n v="{CARD}"/></sharedItems></cacheField></cacheFields></pivotCacheDefinition>'
    )
    records = f'<pivotCacheRecords {S}><r><x v="0"/><s v="{MAIL}"/><n v="{CARD}"/></r></pivotCacheRecords>'
    parts = {
        "xl/pivotCache/pivotCacheDefinition1.xml": definition,
        "xl/pivotCache/pivotCacheRecords1.xml": records,
    }
    copy = parts_of(masked(workbook_of(package, "", parts), "a.xlsx"))
    assert b'<s v="[E-MAIL]"/><s v="[CARD]"/>' in copy["xl/pivotCache/pivotCacheRecords1.xml"]
    assert b'<s v="[CARD]"/>' in copy["xl/pivotCache/pivotCacheDefinition1.xml"]
    assert b'containsString="0"' not in copy["xl/pivotCache/pivotCacheDefinition1.xml"]


EVERYWHERE = {
    "xl/persons/person.xml": f'<personList><person displayName="{MAIL}" id="{{1}}"/></personList>',
    "xl/threadedComments/threadedComment1.xml": f"<ThreadedComments><threadedComment><text>{SSN}</text></threadedComment></ThreadedComments>",
    "xl/externalLinks/externalLink1.xml": f"<externalLink><cell r='A1' t='str'><v>{MAIL}</v></cell></externalLink>",
    "xl/connections.xml": f'<connections><connection name="c" connection="Server=x;User={MAIL};Password=p"/></connections>',
    "xl/drawings/drawing1.xml": f'<wsDr><cNvPr id="2" name="Picture" descr="{SSN}"/></wsDr>',
    "xl/charts/chart1.xml": f"<c:numCache xmlns:c='u'><c:pt><c:v>{CARD}</c:v></c:pt></c:numCache>",
    "xl/externalLinks/externalLink2.xml": f"<externalLink><definedName name='N_{CARD}' refersTo='=A!$A$1'/></externalLink>",
    "xl/pivotCache/pivotCacheDefinition1.xml": f'<x {S}><cacheField name="{MAIL}"><s v="kept"/></cacheField></x>',
    "xl/charts/chart3.xml": f"<c:numFmt xmlns:c='u' formatCode='0 &quot;{CARD}&quot;'/>",
    "xl/drawings/vmlDrawing1.vml": f"<xml xmlns:v='u'><v:shape id='of {MAIL}'/></xml>",
    "xl/charts/chart2.xml": f"<c:f xmlns:c='u'>[{MAIL}.xlsx]Sheet1!$B$2</c:f>",
}  # fmt: skip


@pytest.mark.parametrize("part", EVERYWHERE)
def test_every_part_is_read(part: str, masked: Mask, package: Package) -> None:
    masked(workbook_of(package, "", {part: EVERYWHERE[part]}), "a.xlsx")


def test_masked_headers_of_a_table_stay_different(masked: Mask) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append([MAIL, f"x{MAIL}", "kept"])
    workbook.active.append([1, 2, 3])
    workbook.active.add_table(Table(displayName="T1", ref="A1:C2"))
    copy = openpyxl.load_workbook(io.BytesIO(masked(saved(workbook), "a.xlsx"))).active
    (table,) = copy.tables.values()
    headers = [cell.value for cell in copy[1]]
    assert (
        headers
        == ["(E-MAIL)", "(E-MAIL) (2)", "kept"]
        == [column.name for column in table.tableColumns]
    )


def test_sheets_with_masked_names_stay_different(masked: Mask) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.title = f"{MAIL} 1"
    workbook.create_sheet(f"a{MAIL} 1")
    copy = openpyxl.load_workbook(io.BytesIO(masked(saved(workbook), "a.xlsx")))
    assert copy.sheetnames == ["(E-MAIL) 1", "(E-MAIL) 1 (2)"]


def test_comments_among_cells_are_refused(read: Read, package: Package) -> None:
    with pytest.raises(FormatError, match="comments are among the cells"):
        read(workbook_of(package, f"<row><c><v>1</v><!-- {SSN} --></c></row>"), "a.xlsx")


@pytest.mark.slow
def test_libreoffice_calculates_what_is_left(
    masked: Mask, converted: Callable[[bytes, str, str], bytes]
) -> None:
    text = converted(masked(made_by_openpyxl(), "a.xlsx"), "a.xlsx", "csv").decode()
    assert [line.split(",")[:6] for line in text.splitlines()[:3]] == [
        ["Name", "SSN", "Born", "Card", "(E-MAIL)", "calc"],
        ["kept text", "[SSN 1]", "1980-01-02", "[CARD]", "x", "no [SSN 1]"],
        ["a", "[SSN 1]", "", "[CARD]", "[E-MAIL]", "[SSN 1]"],
    ]


def test_a_formula_is_located_at_its_cell(read: Read) -> None:
    workbook = openpyxl.Workbook()
    workbook.active["B7"] = f'="no "&"{SSN}"'
    document = read(saved(workbook), "a.xlsx").document
    (at,) = (n for n, one in enumerate(document.segments) if SSN in one.text)
    assert document.place_of(at, 5) == "Sheet!B7"


def test_a_shared_string_is_found_however_its_cell_spells_its_number(
    package: Package, masked: Mask, parts_of: Parts
) -> None:
    cell = '<c t="s" r="A1"><v xml:space="preserve">0</v></c>'
    strings = f"<sst {S}><si><t>{SSN}</t></si></sst>"
    data = workbook_of(
        package,
        f"<row>{cell}</row>",
        {"xl/sharedStrings.xml": strings},
        f'<Relationship Id="s2" Type="{KIND}/sharedStrings" Target="sharedStrings.xml"/>',
    )
    after = parts_of(masked(data, "a.xlsx"))
    assert cell.encode() in after["xl/worksheets/sheet1.xml"]
    assert b"<t>[SSN 1]</t>" in after["xl/sharedStrings.xml"]


def test_sizes_and_shades_are_not_taken_for_values(parts_of: Parts) -> None:
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = SSN
    data = saved(workbook)
    assert b'"50000"' in parts_of(data)["xl/theme/theme1.xml"]
    texts = "\n".join(second.texts(data, Limits()))
    assert not StrictMatcher(["50000"]).in_text(texts)
    assert StrictMatcher([SSN]).in_text(texts)


def test_the_texts_of_all_cells_are_bounded_by_their_sources(package: Package) -> None:
    """A string may be in any number of cells: 43 KB of parts show 10 MB here."""
    strings = f"<sst {S}><si><t>{'a ' * 5_000}</t></si></sst>"
    relation = f'<Relationship Id="t" Type="{KIND}/sharedStrings" Target="sharedStrings.xml"/>'
    rows = '<row><c t="s"><v>0</v></c></row>' * 1_000
    data = workbook_of(package, rows, {"xl/sharedStrings.xml": strings}, relation)
    with pytest.raises(FormatError, match="its cells show more than 200 times its size"):
        format_named("xlsx").extract(data, Limits())
