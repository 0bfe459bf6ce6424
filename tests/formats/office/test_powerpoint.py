"""PowerPoint: slides, notes, tables, charts, comments and what is embedded."""

from __future__ import annotations

import io
from collections.abc import Callable

import pptx
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from dlpctl.formats.files import Files, Node

Mask = Callable[[bytes, str], bytes]
Parts = Callable[[bytes], dict[str, bytes]]
SSN, CARD, MAIL = "123-45-6789", "4111111111111111", "jane.roe@acme.example"


def made_by_python_pptx() -> bytes:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = f"kept title {SSN}"
    box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1))
    box.name = f"box of {MAIL}"
    one = box.text_frame.paragraphs[0]
    for text in ("kept 4111 1111", " 1111", " 1111 end"):
        one.add_run().text = text
    link = one.add_run()
    link.text = "link"
    link.hyperlink.address = f"mailto:{MAIL}"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for at, text in enumerate(("Name", "Card", "kept cell", CARD)):
        table.cell(*divmod(at, 2)).text = text
    data = CategoryChartData()
    data.categories = [MAIL, "kept category"]
    data.add_series(SSN, (1, 2))
    size = (Inches(1), Inches(3), Inches(4), Inches(3))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *size, data)
    slide.notes_slide.notes_text_frame.text = f"kept note {MAIL}"
    show.core_properties.title = CARD
    output = io.BytesIO()
    show.save(output)
    return output.getvalue()


def texts(data: bytes) -> list[str]:
    slide = pptx.Presentation(io.BytesIO(data)).slides[0]
    return [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]


def test_everything_that_python_pptx_writes(masked: Mask) -> None:
    data = masked(made_by_python_pptx(), "a.pptx")
    assert texts(data) == ["kept title [SSN 1]", "kept [CARD] endlink"]
    show = pptx.Presentation(io.BytesIO(data))
    shapes = list(show.slides[0].shapes)
    assert shapes[1].name == "box of [E-MAIL]"
    assert [cell.text for row in shapes[2].table.rows for cell in row.cells] == [
        "Name",
        "Card",
        "kept cell",
        "[CARD]",
    ]
    plot = shapes[3].chart.plots[0]
    assert list(plot.categories) == ["[E-MAIL]", "kept category"]
    assert plot.series[0].name == "[SSN 1]"
    assert show.slides[0].notes_slide.notes_text_frame.text == "kept note [E-MAIL]"
    assert show.core_properties.title == "[CARD]"


def test_the_workbook_of_a_chart_is_masked(masked: Mask, parts_of: Parts) -> None:
    parts = parts_of(masked(made_by_python_pptx(), "a.pptx"))
    (name,) = (part for part in parts if part.startswith("ppt/embeddings/"))
    strings = "".join(
        contents.decode("utf-8", "replace") for contents in parts_of(parts[name]).values()
    )
    assert "[E-MAIL]" in strings
    assert MAIL not in strings


def test_places_name_the_slide(read: Callable[[bytes, str], Node]) -> None:
    document = read(made_by_python_pptx(), "a.pptx").document
    assert document.place_of(0, 0) == "slide 1, paragraph 1"


def test_parts_without_a_value_stay_byte_for_byte(masked: Mask, parts_of: Parts) -> None:
    before, after = (
        parts_of(made_by_python_pptx()),
        parts_of(masked(made_by_python_pptx(), "a.pptx")),
    )
    same = {name for name in before if before[name] == after.get(name)}
    assert {
        "ppt/presentation.xml",
        "ppt/theme/theme1.xml",
        "ppt/slideMasters/slideMaster1.xml",
    } <= same


def test_fonts_of_the_theme_are_shown_by_neither_reader(
    package: Callable[..., bytes], files: Files
) -> None:
    fonts = "<a:latin typeface='Georgia Bold'/><a:font script='Jpan' typeface='{}'/>"
    theme = f"<a:theme xmlns:a='a' name='Georgia Theme'>{fonts}</a:theme>"
    for value in ("Franklin Gothic", MAIL, SSN):
        parts = {"ppt/theme/theme1.xml": theme.format(value)}
        data = package("pptx", "<p:presentation xmlns:p='p'/>", parts)
        shown = "\n".join(files.read_again("pptx", data))
        views = "\n".join(view.text for view in files.open(data, "a.pptx").document.views)
        assert "Georgia" not in shown + views
        assert (value in shown, value in views) == (
            (False, False) if value[0] == "F" else (True, True)
        )
