"""Files for `leaks.py`: made by many programs and by hand, with values planted
wherever possible.
"""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORDS = [
    "quarterly",
    "numbers",
    "office",
    "fluffy",
    "affairs",
    "customers",
    "review",
    "statement",
    "straße",
    "naïve",
    "engineers",
    "first",
    "flight",
    "account",
    "balance",
    "letter",
    "contract",
    "table",
    "figure",
    "delivery",
    "invoice",
    "holiday",
    "summary",
    "meeting",
    "budget",
    "window",
    "garden",
    "silver",
    "mountain",
    "river",
    "colour",
    "harbour",
    "notebook",
]
HTML_STYLES = [
    "text-align:justify",
    "letter-spacing:3px",
    "columns:3",
    "transform:rotate(20deg)",
    "font-variant:small-caps",
    "font-family:monospace;font-size:7px",
]


class Planter:
    """Values that occur once each, and plain words around them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.values: list[str] = []

    def _digits(self, count: int) -> str:
        return "".join(self.chance.choice("0123456789") for _ in range(count))

    def ssn(self) -> str:
        chance = self.chance
        return self._planted(
            f"{chance.randrange(101, 665)}-{chance.randrange(10, 99)}-{chance.randrange(1000, 9999)}"
        )

    def card(self) -> str:
        return self._planted(
            " ".join(("4" + self._digits(3), *(self._digits(4) for _ in range(3))))
        )

    def mail(self) -> str:
        return self._planted(
            f"{self.chance.choice(['jane', 'bob', 'ann'])}.{self._digits(6)}@acme-corp.example"
        )

    def iban(self) -> str:
        return self._planted(f"DE{self._digits(20)}")

    def number(self) -> int:
        """A number of nine digits, which only its header tells from any other."""
        return int(self._planted(str(self.chance.randrange(101_000_000, 665_000_000))))

    def value(self) -> str:
        return self.chance.choice((self.ssn, self.card, self.mail, self.iban))()

    def _planted(self, value: str) -> str:
        self.values.append(value)
        return value

    def words(self, count: int) -> str:
        return " ".join(self.chance.choice(WORDS) for _ in range(count))

    def sentence(self) -> str:
        return f"{self.words(self.chance.randrange(3, 14))} {self.value()} {self.words(self.chance.randrange(3, 9))}."


@dataclass
class Planted:
    name: str
    producer: str
    data: bytes
    values: list[str]


Maker = Callable[[Planter, int], bytes]


# ---- reportlab


def canvas_pdf(planter: Planter, number: int) -> bytes:
    import reportlab
    from reportlab.lib.pagesizes import A4, landscape, letter
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    chance = planter.chance
    pdfmetrics.registerFont(
        TTFont("Vera", str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"))
    )
    buffer = io.BytesIO()
    canvas = Canvas(
        buffer, pagesize=chance.choice([A4, letter, landscape(A4)]), pageCompression=number % 2
    )
    for page in range(2):
        canvas.saveState()
        if number % 4 == 1:
            canvas.translate(300, 100)
            canvas.rotate(chance.randrange(5, 40))
        text = canvas.beginText(50, 500)
        text.setFont(
            ["Helvetica", "Times-Italic", "Courier-Bold", "Vera"][number % 4],
            chance.choice([6, 9, 11, 14]),
        )
        text.setHorizScale(chance.choice([70, 100, 130]))
        text.setWordSpace(chance.choice([0, 3]))
        text.setCharSpace(2 if number % 5 == 2 else 0)
        for _ in range(12):
            text.textLine(planter.sentence())
        canvas.drawText(text)
        canvas.restoreState()
        canvas.bookmarkPage(f"at {page}")
        canvas.addOutlineEntry(planter.sentence(), f"at {page}")
        canvas.showPage()
    canvas.setTitle(planter.sentence())
    canvas.setAuthor(planter.mail())
    canvas.save()
    return buffer.getvalue()


def platypus_pdf(planter: Planter, _number: int) -> bytes:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

    buffer = io.BytesIO()
    style = getSampleStyleSheet()["Normal"]
    style.alignment = planter.chance.choice([0, 1, 2, 4])
    rows = [[planter.words(1), planter.value(), planter.words(2)] for _ in range(12)]
    paragraphs = [
        Paragraph(" ".join(planter.sentence() for _ in range(3)), style) for _ in range(6)
    ]
    SimpleDocTemplate(buffer).build([*paragraphs, Table(rows)])
    return buffer.getvalue()


def form_pdf(planter: Planter, _number: int) -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for line in range(12):
        canvas.drawString(50, 780 - line * 40, planter.sentence())
        canvas.acroForm.textfield(
            name=f"f{line}",
            tooltip=planter.value(),
            value=planter.value(),
            x=50,
            y=750 - line * 40,
            width=300,
            height=20,
        )
        canvas.linkURL(f"mailto:{planter.mail()}", (50, 780 - line * 40, 200, 790 - line * 40))
    canvas.save()
    return buffer.getvalue()


# ---- pikepdf, by hand


def _blank(pages: int = 1) -> Any:
    import pikepdf
    from pikepdf import Dictionary, Name

    pdf = pikepdf.new()
    font = pdf.make_indirect(
        Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
    )
    for _ in range(pages):
        page = pdf.add_blank_page(page_size=(612, 792))
        page.obj.Resources = Dictionary(Font=Dictionary(F1=font))
    return pdf


def _saved(pdf: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pdf.save(buffer, fix_metadata_version=False, **options)
    return buffer.getvalue()


def _lines(planter: Planter, count: int, show: Callable[[str], str]) -> bytes:
    shown = (f"1 0 0 1 50 {750 - 24 * n} Tm {show(planter.sentence())}" for n in range(count))
    return ("BT /F1 10 Tf " + " ".join(shown) + " ET").encode("cp1252")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


SHOWS: dict[str, Callable[[str], str]] = {
    "kerned": lambda text: "[" + " 20 ".join(f"({_escaped(char)})" for char in text) + "] TJ",
    "letter by letter": lambda text: " ".join(f"({_escaped(char)}) Tj" for char in text),
    "hexadecimal": lambda text: f"<{text.encode('cp1252').hex()}> Tj",
    "octal": lambda text: "(" + "".join(f"\\{byte:03o}" for byte in text.encode("cp1252")) + ") Tj",
    "bold drawn twice": lambda text: f"({_escaped(text)}) Tj 0.3 0 Td ({_escaped(text)}) Tj",
    "invisible": lambda text: f"3 Tr ({_escaped(text)}) Tj 0 Tr",
    "white": lambda text: f"1 g ({_escaped(text)}) Tj 0 g",
    "spaced by Tc": lambda text: f"4 Tc 60 Tz ({_escaped(text)}) Tj 0 Tc 100 Tz",
    "quotes": lambda text: f"12 TL ({_escaped(text)}) '",
}


def shown_pdf(planter: Planter, number: int) -> bytes:
    pdf = _blank()
    show = list(SHOWS.values())[number % len(SHOWS)]
    pdf.pages[0].obj.Contents = pdf.make_stream(_lines(planter, 26, show))
    return _saved(pdf)


def turned_pdf(planter: Planter, _number: int) -> bytes:
    from pikepdf import Array

    pdf = _blank(5)
    turns = [
        "",
        "-1 0 0 1 612 0 cm",
        "-1 0 0 -1 612 792 cm",
        "0.5 0 0 0.5 100 300 cm",
        "1 0.2 0.1 1 0 0 cm",
    ]
    for page, turn, angle in zip(pdf.pages, turns, (90, 0, 180, 270, 0), strict=True):
        page.obj.Contents = pdf.make_stream(
            f"q {turn} ".encode()
            + _lines(planter, 8, lambda text: f"({_escaped(text)}) Tj")
            + b" Q"
        )
        page.obj.Rotate = angle
        page.obj.CropBox = Array([20, 20, 600, 780])
    return _saved(pdf)


def stored_pdf(planter: Planter, _number: int) -> bytes:
    """Values everywhere but on the page."""
    from pikepdf import Array, Dictionary, Name, String

    pdf = _blank()
    page = pdf.pages[0].obj
    plain: Callable[[str], str] = lambda text: f"({_escaped(text)}) Tj"  # noqa: E731
    words = planter.value().encode("utf-16-be").hex()
    page.Contents = pdf.make_stream(
        _lines(planter, 3, plain)
        + f" /Span <</ActualText <FEFF{words}> /Alt ({planter.value()})>> BDC BT /F1 9 Tf 50 90 Td (x) Tj ET EMC".encode()
    )

    def stream(content: bytes, **entries: Any) -> Any:
        return pdf.make_stream(
            content, Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 600, 800]), **entries
        )

    fonts = Dictionary(Font=page.Resources.Font)
    page.Resources.XObject = Dictionary(Unused=stream(_lines(planter, 2, plain), Resources=fonts))
    page.Annots = Array(
        [
            Dictionary(
                Type=Name.Annot,
                Subtype=Name.FreeText,
                Rect=Array([50, 50, 400, 90]),
                Contents=String(planter.sentence()),
                T=String(planter.mail()),
                Subj=String(planter.value()),
                RC=String(f"<p>{planter.value()}</p>"),
                DA=String("/F1 9 Tf 0 g"),
                AP=Dictionary(N=stream(_lines(planter, 1, plain), Resources=fonts)),
            ),
            Dictionary(
                Type=Name.Annot,
                Subtype=Name.Link,
                Rect=Array([50, 10, 90, 20]),
                A=Dictionary(S=Name.URI, URI=String(f"https://x.example/?q={planter.ssn()}")),
            ),
            Dictionary(
                Type=Name.Annot,
                Subtype=Name.FileAttachment,
                Rect=Array([5, 5, 9, 9]),
                FS=_file_of(pdf, "a.txt", planter.sentence().encode(), planter.value()),
            ),
        ]
    )
    pdf.trailer.Info = pdf.make_indirect(
        Dictionary(
            Title=String(planter.sentence()),
            Keywords=String(planter.value()),
            Custom=String(planter.value()),
        )
    )
    xmp = f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><d xmlns='u' v='{planter.value()}'>{planter.sentence()}</d></x:xmpmeta>"
    pdf.Root.Metadata = pdf.make_stream(xmp.encode(), Type=Name.Metadata, Subtype=Name.XML)
    item = pdf.make_indirect(
        Dictionary(Title=String(planter.sentence()), Dest=Array([page, Name.Fit]))
    )
    pdf.Root.Outlines = pdf.make_indirect(Dictionary(First=item, Last=item, Count=1))
    pdf.Root.OCProperties = Dictionary(
        OCGs=Array([pdf.make_indirect(Dictionary(Type=Name.OCG, Name=String(planter.value())))]),
        D=Dictionary(),
    )
    script = Dictionary(S=Name.JavaScript, JS=String(f"app.alert('{planter.value()}')"))
    files = Array(
        [
            String(planter.value()),
            _file_of(pdf, "b.csv", f"a,b\n1,{planter.value()}\n".encode(), ""),
        ]
    )
    pdf.Root.Names = Dictionary(
        JavaScript=Dictionary(Names=Array([String(planter.value()), script])),
        Dests=Dictionary(Names=Array([String(planter.value()), Array([page, Name.Fit])])),
        EmbeddedFiles=Dictionary(Names=files),
    )
    pdf.Root.PageLabels = Dictionary(Nums=Array([0, Dictionary(P=String(planter.value()))]))
    pdf.Root.StructTreeRoot = pdf.make_indirect(
        Dictionary(
            Type=Name.StructTreeRoot,
            K=Dictionary(S=Name.P, Alt=String(planter.value()), T=String(planter.value())),
        )
    )
    pdf.Root.AcroForm = Dictionary(
        Fields=Array(
            [
                pdf.make_indirect(
                    Dictionary(
                        FT=Name.Tx,
                        T=String("n"),
                        V=String(planter.value()),
                        DV=String(planter.value()),
                    )
                )
            ]
        ),
        XFA=pdf.make_stream(f"<xdp:xdp xmlns:xdp='u'><v>{planter.value()}</v></xdp:xdp>".encode()),
    )
    page.PieceInfo = Dictionary(App=Dictionary(Private=String(planter.value())))
    return _saved(pdf)


def _file_of(pdf: Any, name: str, data: bytes, description: str) -> Any:
    from pikepdf import Dictionary, Name, String

    return pdf.make_indirect(
        Dictionary(
            Type=Name.Filespec,
            F=String(name),
            UF=String(name),
            Desc=String(description),
            EF=Dictionary(F=pdf.make_stream(data, Type=Name.EmbeddedFile)),
        )
    )


def shared_pdf(planter: Planter, _number: int) -> bytes:
    """One form and one pattern on three pages, a font of drawn glyphs, and text in a soft mask."""
    from pikepdf import Array, Dictionary, Name

    pdf = _blank(3)
    plain: Callable[[str], str] = lambda text: f"({_escaped(text)}) Tj"  # noqa: E731
    fonts = Dictionary(Font=pdf.pages[0].obj.Resources.Font)
    box = Array([0, 0, 612, 792])
    form = pdf.make_stream(
        _lines(planter, 8, plain), Type=Name.XObject, Subtype=Name.Form, BBox=box, Resources=fonts
    )
    pattern = pdf.make_stream(
        _lines(planter, 2, plain), Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1, BBox=box, XStep=612,
        YStep=792, Resources=fonts,
    )  # fmt: skip
    mask = pdf.make_stream(
        _lines(planter, 2, plain), Type=Name.XObject, Subtype=Name.Form, BBox=box, Resources=fonts,
        Group=Dictionary(S=Name.Transparency, CS=Name.DeviceGray),
    )  # fmt: skip
    for number, page in enumerate(pdf.pages):
        page.obj.Resources.XObject = Dictionary(Fm=form)
        page.obj.Resources.Pattern = Dictionary(P=pattern)
        page.obj.Resources.ExtGState = Dictionary(
            G=Dictionary(SMask=Dictionary(S=Name.Luminosity, G=mask))
        )
        page.obj.Contents = pdf.make_stream(
            b"q 0.9 0 0 0.9 0 -220 cm /Fm Do Q q /Pattern cs /P scn 0 0 1 1 re f Q q /G gs 0 g 0 0 9 9 re f Q "
            + (b"1 0 0 1 0 %d cm " % (-100 * number))
            + _lines(planter, 4, plain)
        )
    return _saved(pdf)


def revised_pdf(planter: Planter, _number: int) -> bytes:
    """Earlier states of the file remain before the bytes that an editor appended."""
    import pypdf

    data = canvas_pdf(planter, 0)
    for _ in range(2):
        writer = pypdf.PdfWriter(pypdf.PdfReader(io.BytesIO(data)), incremental=True)
        writer.add_metadata({"/Title": planter.sentence()})
        buffer = io.BytesIO()
        writer.write(buffer)
        data = buffer.getvalue()
    return data


def encrypted_pdf(planter: Planter, _number: int) -> bytes:
    import pikepdf

    pdf = pikepdf.open(io.BytesIO(platypus_pdf(planter, 0)))
    return _saved(pdf, encryption=pikepdf.Encryption(owner="o", user=""), linearize=True)


# ---- python-docx, openpyxl, python-pptx


def word(planter: Planter, number: int) -> bytes:
    import docx

    chance = planter.chance
    document = docx.Document()
    document.add_heading(planter.sentence(), 1)
    for _ in range(8):
        paragraph = document.add_paragraph()
        text = planter.sentence()
        cuts = sorted(chance.sample(range(1, len(text)), 6 if number % 2 else 1))
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            paragraph.add_run(text[start:end]).bold = chance.random() < 0.3
    table = document.add_table(rows=5, cols=3)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Name", "SSN"
    for row in table.rows[1:]:
        row.cells[0].text, row.cells[1].text, row.cells[2].text = (
            planter.words(2),
            planter.ssn(),
            planter.mail(),
        )
    section = document.sections[0]
    section.header.paragraphs[0].text = planter.sentence()
    section.footer.paragraphs[0].text = planter.sentence()
    document.core_properties.author = planter.mail()
    document.core_properties.comments = planter.sentence()
    document.core_properties.keywords = planter.value()
    if hasattr(document, "add_comment"):
        document.add_comment(
            document.paragraphs[1].runs, text=planter.sentence(), author=planter.mail()
        )
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def excel(planter: Planter, number: int) -> bytes:
    import openpyxl
    from openpyxl.comments import Comment
    from openpyxl.workbook.defined_name import DefinedName
    from openpyxl.worksheet.datavalidation import DataValidation
    from openpyxl.worksheet.table import Table

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = planter.words(1).title()
    sheet.append(["Name", "SSN", "Mail", "Card number", "Account"])
    for row in range(6):
        card: object = planter.card()
        if row % 2:
            planter.values[-1] = planter.values[-1].replace(" ", "")
            card = int(planter.values[-1])
        ssn = planter.number() if number % 2 else planter.ssn()
        sheet.append([planter.words(2), ssn, planter.mail(), card, planter.iban()])
    sheet.add_table(Table(displayName="T1", ref="A1:E7"))
    sheet["G1"] = f'="{planter.ssn()} "&A2'
    sheet["G2"].comment = Comment(planter.sentence(), planter.mail())
    sheet["G3"] = planter.words(1)
    sheet["G3"].hyperlink = f"mailto:{planter.mail()}"
    validation = DataValidation(
        type="list", formula1=f'"{planter.ssn()},b"', prompt=planter.sentence()[:200]
    )
    sheet.add_data_validation(validation)
    validation.add("H1")
    sheet.oddFooter.center.text = planter.mail()
    hidden = book.create_sheet(planter.mail()[:31])
    planter.values[-1] = planter.values[-1][:31]
    hidden.sheet_state = ("hidden", "veryHidden")[number % 2]
    hidden["A1"] = planter.sentence()
    book.defined_names["kept"] = DefinedName("kept", attr_text=f'"{planter.card()}"')
    book.properties.creator = planter.mail()
    book.properties.description = planter.sentence()
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def powerpoint(planter: Planter, _number: int) -> bytes:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    show = Presentation()
    for _ in range(3):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = planter.sentence()
        frame = slide.placeholders[1].text_frame
        for _ in range(3):
            paragraph = frame.add_paragraph()
            text = planter.sentence()
            for start in range(0, len(text), 7):
                paragraph.add_run().text = text[start : start + 7]
        slide.notes_slide.notes_text_frame.text = planter.sentence()
        table = slide.shapes.add_table(2, 2, Inches(1), Inches(5), Inches(4), Inches(1)).table
        table.cell(0, 0).text, table.cell(1, 1).text = planter.words(1), planter.value()
        slide.shapes[-1].name = planter.mail()
    data = CategoryChartData()
    data.categories = [planter.mail(), planter.words(1)]
    data.add_series(planter.ssn(), (1, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, Inches(1), Inches(1), Inches(2), Inches(2), data)
    show.core_properties.subject = planter.sentence()
    buffer = io.BytesIO()
    show.save(buffer)
    return buffer.getvalue()


# ---- Office files by hand

_MAIN = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_TYPE = "application/vnd.openxmlformats-officedocument."


def _with_parts(
    data: bytes, changed: dict[str, Callable[[str], str]], added: dict[str, str | bytes]
) -> bytes:
    output = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            contents = old.read(name)
            new.writestr(
                name, changed[name](contents.decode()).encode() if name in changed else contents
            )
        for name, more in added.items():
            new.writestr(name, more)
    return output.getvalue()


def _apart(text: str, run: str) -> str:
    return "".join(run.format(text[at : at + 3]) for at in range(0, len(text), 3))


def nasty_word(planter: Planter, _number: int) -> bytes:
    run = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>"
    gone = "<w:r><w:delText xml:space='preserve'>{}</w:delText></w:r>"
    ssn = planter.ssn().split("-")
    second = planter.ssn()
    third = planter.ssn()
    fourth = planter.ssn()
    body = "".join(
        (
            f"<w:p>{_apart(planter.sentence(), run)}</w:p>",
            f"<w:p><w:del w:id='1' w:author='{planter.mail()}'>{_apart(planter.sentence(), gone)}</w:del>{run.format('kept')}</w:p>",
            f"<w:p><w:ins w:id='2' w:author='x'>{_apart(planter.sentence(), run)}</w:ins></w:p>",
            # A change in the midst of a value: one with it, another without.
            f"<w:p>{run.format(second[:5])}<w:del w:id='3' w:author='x'>{gone.format('zzz')}</w:del>{run.format(second[5:])}</w:p>",
            f"<w:p>{run.format(ssn[0])}<w:r><w:noBreakHyphen/></w:r>{run.format(ssn[1])}<w:r><w:noBreakHyphen/></w:r>{run.format(ssn[2])}</w:p>",
            (
                f"<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>HYPERLINK \"mailto:{planter.mail()}\"</w:instrText></w:r>"
                f"<w:r><w:fldChar w:fldCharType='separate'/></w:r>{run.format(planter.mail())}<w:r><w:fldChar w:fldCharType='end'/></w:r></w:p>"
            ),
            f"<w:p><w:fldSimple w:instr=' QUOTE \"{planter.value()}\" '>{run.format(planter.value())}</w:fldSimple></w:p>",
            (
                f"<w:p><w:sdt><w:sdtPr><w:alias w:val='{planter.value()}'/><w:tag w:val='{planter.value()}'/></w:sdtPr>"
                f"<w:sdtContent>{run.format(planter.value())}</w:sdtContent></w:sdt></w:p>"
            ),
            f"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>{planter.value()}</w:t></w:r></w:p>",
            f"<w:p>{run.format(third[:4])}<w:bookmarkStart w:id='9' w:name='b_{planter.iban()}'/>{run.format(third[4:])}<w:bookmarkEnd w:id='9'/></w:p>",
            f"<w:p>{run.format('&#' + str(ord(fourth[0])) + ';' + fourth[1:])}</w:p>",
            (
                f"<w:p><w:r><w:pict><v:shape xmlns:v='urn:schemas-microsoft-com:vml' alt='{planter.value()}'><v:textbox><w:txbxContent>"
                f"<w:p>{_apart(planter.sentence(), run)}</w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
            ),
            f"<!-- {planter.value()} -->",
        )
    )
    return _with_parts(
        word(planter, 1),
        {
            "word/document.xml": lambda text: text.replace("<w:sectPr", body + "<w:sectPr", 1),
            "word/settings.xml": lambda text: text.replace(
                "</w:settings>",
                f"<w:docVars><w:docVar w:name='a' w:val='{planter.value()}'/></w:docVars></w:settings>",
            ),
            "[Content_Types].xml": lambda text: text.replace(
                "</Types>",
                f'<Override PartName="/word/footnotes.xml" ContentType="{_TYPE}wordprocessingml.footnotes+xml"/>'
                f'<Default Extension="bin" ContentType="application/octet-stream"/><Default Extension="xlsx" ContentType="{_TYPE}spreadsheetml.sheet"/></Types>',
            ),
            "word/_rels/document.xml.rels": lambda text: text.replace(
                "</Relationships>",
                f'<Relationship Id="n1" Type="{_MAIN}/footnotes" Target="footnotes.xml"/>'
                f'<Relationship Id="n2" Type="{_MAIN}/package" Target="embeddings/book.xlsx"/>'
                f'<Relationship Id="n3" Type="{_MAIN}/hyperlink" Target="mailto:{planter.mail()}" TargetMode="External"/></Relationships>',
            ),
        },
        {
            "word/footnotes.xml": f"<w:footnotes {_W}><w:footnote w:id='1'><w:p>{_apart(planter.sentence(), run)}</w:p></w:footnote></w:footnotes>",
            "word/embeddings/book.xlsx": excel(planter, 0),
            "customXml/item9.xml": f"<a b='{planter.value()}'><ssn>{planter.ssn()}</ssn><!-- {planter.value()} --></a>",
            "docProps/custom.xml": "<Properties xmlns='http://schemas.openxmlformats.org/officeDocument/2006/custom-properties' "
            "xmlns:vt='http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes'>"
            f"<property fmtid='{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}' pid='2' name='c'><vt:lpwstr>{planter.value()}</vt:lpwstr></property></Properties>",
        },
    )


def nasty_excel(planter: Planter, _number: int) -> bytes:
    strings = "".join(
        (
            f"<si><t>{planter.sentence()}</t></si>",
            f"<si>{_apart(planter.sentence(), '<r><rPr><b/></rPr><t xml:space=' + chr(39) + 'preserve' + chr(39) + '>{}</t></r>')}</si>",
            f"<si><t>nobody shows {planter.value()}</t></si>",
            f"<si><t>{planter.words(2)}</t><rPh sb='0' eb='1'><t>{planter.value()}</t></rPh></si>",
            "<si><t>Social security number</t></si><si><t>Amount</t></si>",
        )
    )
    cached = planter.ssn()
    rows = "".join(
        (
            "<row r='1'><c r='A1' t='s'><v>4</v></c><c r='B1' t='s'><v>5</v></c></row>",
            f"<row r='2'><c r='A2'><v>{planter.number()}</v></c><c r='B2'><v>123456</v></c></row>",
            f"<row r='3'><c r='A3'><v>{planter.number()}</v></c><c r='B3'><v>4.5</v></c></row>",
            "<row r='4'><c r='C4' t='s'><v>0</v></c><c r='D4' t='s'><v>1</v></c><c r='E4' t='s'><v>3</v></c></row>",
            f"<row r='5'><c r='C5' t='inlineStr'><is><r><t>{planter.mail()[:5]}</t></r><r><t>{planter.values[-1][5:]} kept</t></r></is></c>",
            f"<c r='D5' t='str'><f>\"{cached[:6]}\"&amp;\"{cached[6:]}\"</f><v>{cached}</v></c>",
            f"<c r='E5' t='str'><f>CONCATENATE(\"{planter.mail()}\",C5)</f><v>{planter.value()}</v></c></row>",
        )
    )
    pivot = f"<sharedItems containsNumber='1' containsString='0'><n v='{planter.card().replace(' ', '')}'/></sharedItems>"
    planter.values[-1] = planter.values[-1].replace(" ", "")
    sheet = (
        f"<worksheet {_S}><sheetData>{rows}</sheetData><dataValidations count='1'><dataValidation type='list' sqref='A9' "
        f"promptTitle='x' prompt='{planter.value()}' error='{planter.value()}'><formula1>\"{planter.ssn()},kept\"</formula1></dataValidation></dataValidations>"
        f"<hyperlinks><hyperlink ref='A1' location='Sheet1!A1' tooltip='{planter.value()}' display='{planter.value()}'/></hyperlinks>"
        f"<headerFooter><oddHeader>{planter.value()}</oddHeader></headerFooter></worksheet>"
    )
    parts: dict[str, str | bytes] = {
        "xl/workbook.xml": f"<workbook {_S} xmlns:r='{_MAIN}'><sheets><sheet name='Sheet1' sheetId='1' r:id='s1'/>"
        f"<sheet name='{planter.ssn()}' sheetId='2' state='veryHidden' r:id='s2'/></sheets><definedNames><definedName name='k' comment='{planter.value()}'>"
        f"'{planter.values[-2]}'!$A$1</definedName><definedName name='c'>\"{planter.value()}\"</definedName></definedNames></workbook>",
        "xl/worksheets/sheet1.xml": sheet,
        "xl/worksheets/sheet2.xml": f"<worksheet {_S}><sheetData><row r='1'><c r='A1' t='inlineStr'><is><t>{planter.sentence()}</t></is></c></row></sheetData></worksheet>",
        "xl/sharedStrings.xml": f"<sst {_S}>{strings}</sst>",
        "xl/pivotCache/pivotCacheDefinition1.xml": f"<pivotCacheDefinition {_S}><cacheFields><cacheField name='{planter.value()}'>{pivot}</cacheField></cacheFields></pivotCacheDefinition>",
        "xl/pivotCache/pivotCacheRecords1.xml": f"<pivotCacheRecords {_S}><r><x v='0'/><s v='{planter.value()}'/></r></pivotCacheRecords>",
        "xl/threadedComments/threadedComment1.xml": f"<ThreadedComments><threadedComment><text>{planter.sentence()}</text></threadedComment></ThreadedComments>",
        "xl/persons/person.xml": f"<personList><person displayName='{planter.mail()}' id='{{1}}'/></personList>",
        "xl/externalLinks/externalLink1.xml": f"<externalLink {_S}><externalBook><sheetNames><sheetName val='{planter.value()}'/></sheetNames><sheetDataSet>"
        f"<sheetData sheetId='0'><row r='1'><cell r='A1' t='str'><v>{planter.value()}</v></cell></row></sheetData></sheetDataSet></externalBook></externalLink>",
        "xl/externalLinks/_rels/externalLink1.xml.rels": "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>"
        f"<Relationship Id='r' Type='{_MAIN}/externalLinkPath' Target='file:///C:/{planter.mail()}/a.xlsx' TargetMode='External'/></Relationships>",
        "xl/connections.xml": f"<connections {_S}><connection id='1' name='c' description='{planter.value()}'><dbPr connection='User={planter.mail()}' command='select {planter.value()}'/></connection></connections>",
        "xl/charts/chart1.xml": "<c:chartSpace xmlns:c='http://schemas.openxmlformats.org/drawingml/2006/chart'><c:strCache><c:pt idx='0'>"
        f"<c:v>{planter.value()}</c:v></c:pt></c:strCache></c:chartSpace>",
        "xl/drawings/drawing1.xml": f"<wsDr><cNvPr id='2' name='{planter.value()}' descr='{planter.value()}' title='{planter.value()}'/></wsDr>",
        "docProps/core.xml": "<cp:coreProperties xmlns:cp='http://schemas.openxmlformats.org/package/2006/metadata/core-properties' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
        f"<dc:creator>{planter.mail()}</dc:creator><dc:description>{planter.sentence()}</dc:description></cp:coreProperties>",
        "xl/embeddings/note.txt": planter.sentence(),
    }  # fmt: skip
    types = {
        "xl/workbook.xml": "sheet.main+xml",
        "xl/worksheets/sheet1.xml": "worksheet+xml",
        "xl/worksheets/sheet2.xml": "worksheet+xml",
        "xl/sharedStrings.xml": "sharedStrings+xml",
    }
    overrides = "".join(
        f"<Override PartName='/{name}' ContentType='{_TYPE}spreadsheetml.{kind}'/>"
        for name, kind in types.items()
    )
    relation = "<Relationship Id='{}' Type='{}/{}' Target='{}'/>"
    head = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>"
    parts["[Content_Types].xml"] = (
        "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'><Default Extension='rels' "
        f"ContentType='application/vnd.openxmlformats-package.relationships+xml'/><Default Extension='xml' ContentType='application/xml'/>{overrides}</Types>"
    )
    parts["_rels/.rels"] = (
        head + relation.format("m", _MAIN, "officeDocument", "xl/workbook.xml") + "</Relationships>"
    )
    parts["xl/_rels/workbook.xml.rels"] = (
        head
        + relation.format("s1", _MAIN, "worksheet", "worksheets/sheet1.xml")
        + relation.format("s2", _MAIN, "worksheet", "worksheets/sheet2.xml")
        + relation.format("t", _MAIN, "sharedStrings", "sharedStrings.xml")
        + "</Relationships>"
    )
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in (
            "[Content_Types].xml",
            *(name for name in parts if name != "[Content_Types].xml"),
        ):
            archive.writestr(name, parts[name])
        archive.comment = planter.sentence().encode()
    return output.getvalue()


def nasty_rtf(planter: Planter, _number: int) -> bytes:
    def coded(text: str) -> str:
        return "".join(f"\\'{byte:02x}" for byte in text.encode("cp1252"))

    def unicode(text: str) -> str:
        return "".join(f"\\u{ord(char)}?" for char in text)

    def split(text: str) -> str:
        return "".join(f"{{\\b {text[at : at + 3]}}}" for at in range(0, len(text), 3))

    ways = [str, coded, unicode, split]
    body = "".join(f"{ways[n % 4](planter.value())} {planter.words(3)}\\par\n" for n in range(24))
    body = body.replace("ß", "\\'df").replace("ï", "\\'ef")
    return (
        f"{{\\rtf1\\ansi\\ansicpg1252{{\\fonttbl{{\\f0 Arial;}}}}{{\\info{{\\title {planter.value()}}}{{\\author {planter.mail()}}}}}"
        f'{{\\header {planter.value()}}}{{\\*\\bkmkstart b{planter.iban()}}}{{\\field{{\\*\\fldinst HYPERLINK "mailto:{planter.mail()}"}}'
        f"{{\\fldrslt link}}}}{body}{{\\deleted {planter.value()}}}{{\\v {planter.value()}}}}}"
    ).encode("cp1252")


def nasty_open_document(planter: Planter, number: int) -> bytes:
    """A presentation or a text with values in spans, tracked changes, notes, fields and
    descriptions.
    """
    kind = ("presentation", "text")[number % 2]
    names = ["office", "text", "draw", "svg", "dc", "xlink", "meta", "table", "presentation"]
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names
    )
    span = "<text:span>{}</text:span>"
    second = planter.ssn()
    blocks = "".join(
        (
            *(f"<text:p>{_apart(planter.sentence(), span)}</text:p>" for _ in range(8)),
            f"<text:p>{second[:4]}<text:s/><text:span/>{second[4:]}</text:p>".replace(
                "<text:s/>", ""
            ),
            f"<text:p>kept<office:annotation><dc:creator>{planter.mail()}</dc:creator><text:p>{planter.sentence()}</text:p></office:annotation></text:p>",
            f"<text:p><text:note text:id='n'><text:note-body><text:p>{planter.sentence()}</text:p></text:note-body></text:note></text:p>",
            f"<text:p><text:a xlink:href='mailto:{planter.mail()}'>link</text:a><text:user-defined text:name='x'>{planter.value()}</text:user-defined></text:p>",
            f"<text:p><text:bookmark text:name='{planter.iban()}'/><text:hidden-text text:string-value='{planter.value()}'/></text:p>",
            f"<draw:frame draw:name='{planter.value()}'><svg:title>{planter.value()}</svg:title><svg:desc>{planter.sentence()}</svg:desc></draw:frame>",
            f"<!-- {planter.value()} -->",
        )
    )
    body = f"<text:tracked-changes><text:changed-region><text:deletion><text:p>{planter.sentence()}</text:p></text:deletion></text:changed-region></text:tracked-changes>"
    inner = (
        f"{body}{blocks}"
        if kind == "text"
        else f"<draw:page draw:name='p'><draw:frame><draw:text-box>{blocks}</draw:text-box></draw:frame></draw:page>"
    )
    content = f"<office:document-content {spaces}><office:body><office:{kind}>{inner}</office:{kind}></office:body></office:document-content>"
    meta = (
        f"<office:document-meta {spaces}><office:meta><dc:creator>{planter.mail()}</dc:creator><meta:user-defined meta:name='k'>{planter.value()}"
        f"</meta:user-defined><meta:keyword>{planter.value()}</meta:keyword></office:meta></office:document-meta>"
    )
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        mimetype = zipfile.ZipInfo("mimetype")
        archive.writestr(mimetype, f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr("content.xml", content)
        archive.writestr("meta.xml", meta)
        archive.writestr("Object 1/content.xml", content.replace(planter.values[0], planter.ssn()))
    return output.getvalue()


MADE: list[tuple[str, str, Maker, int]] = [
    ("reportlab canvas", "pdf", canvas_pdf, 8),
    ("reportlab platypus", "pdf", platypus_pdf, 4),
    ("reportlab form", "pdf", form_pdf, 2),
    ("pikepdf shows", "pdf", shown_pdf, 9),
    ("pikepdf turned", "pdf", turned_pdf, 1),
    ("pikepdf stored", "pdf", stored_pdf, 1),
    ("pikepdf shared", "pdf", shared_pdf, 1),
    ("pypdf revisions", "pdf", revised_pdf, 2),
    ("qpdf encrypted", "pdf", encrypted_pdf, 1),
    ("python-docx", "docx", word, 6),
    ("openpyxl", "xlsx", excel, 6),
    ("python-pptx", "pptx", powerpoint, 4),
    ("hand-made Word", "docx", nasty_word, 2),
    ("hand-made Excel", "xlsx", nasty_excel, 2),
    ("hand-made RTF", "rtf", nasty_rtf, 2),
    ("hand-made OpenDocument", "odp", nasty_open_document, 1),
    ("hand-made OpenDocument", "odt", nasty_open_document, 1),
]
CONVERSIONS = [
    (word, "docx", ["odt", "rtf", "pdf", "docx", "html"]),
    (excel, "xlsx", ["ods", "xlsx", "pdf"]),
    (powerpoint, "pptx", ["odp", "pdf"]),
]


def made(short: bool) -> Iterator[Planted]:
    """The files that Python libraries and hands make."""
    for place, (producer, suffix, maker, count) in enumerate(MADE):
        for number in range(1 if short else count):
            planter = Planter(1000 * place + number)
            data = maker(planter, number + (suffix == "odt"))
            yield Planted(
                f"{producer} {number}.{suffix}".replace(" ", "-"), producer, data, planter.values
            )


def converted(folder: Path) -> Iterator[Planted]:
    """The files as LibreOffice converts them, if it is installed."""
    if shutil.which("soffice") is None:
        return
    for place, (maker, suffix, targets) in enumerate(CONVERSIONS):
        for turn, target in enumerate(targets):
            planters = [Planter(50_000 + 1000 * place + 10 * turn + number) for number in range(2)]
            sources = [folder / f"{maker.__name__}{turn}{number}.{suffix}" for number in range(2)]
            for number, (planter, source) in enumerate(zip(planters, sources, strict=True)):
                source.write_bytes(maker(planter, number))
            for planter, data in zip(planters, office(sources, target, folder), strict=True):
                if not data:
                    # The part of LibreOffice that reads this kind of file is not installed.
                    continue
                name = f"LibreOffice-{maker.__name__}-{planters.index(planter)}.{target}"
                yield Planted(name, f"LibreOffice {target}", data, planter.values)


def printed(folder: Path) -> Iterator[Planted]:
    """The pages as a browser prints them, if there is one."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    for number, style in enumerate(HTML_STYLES if browser else ()):
        planter = Planter(90_000 + number)
        blocks = "".join(
            f'<div style="{style};margin:20px">{planter.sentence()} {planter.sentence()}</div>'
            for _ in range(12)
        )
        page = folder / f"page{number}.html"
        page.write_text(f"<html><meta charset=utf-8><body>{blocks}</body></html>", encoding="utf-8")
        target = page.with_suffix(".pdf")
        command = [
            str(browser),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-pdf-header-footer",
        ]
        subprocess.run(
            [*command, f"--print-to-pdf={target}", str(page)],
            capture_output=True,
            timeout=60,
            check=False,
            cwd=folder,
        )
        if target.exists():
            yield Planted(f"Chromium-{number}.pdf", "Chromium", target.read_bytes(), planter.values)


def office(sources: list[Path], target: str, folder: Path) -> list[bytes]:
    """Files converted by LibreOffice, all in one run."""
    out = folder / f"to-{target.partition(':')[0]}"
    shutil.rmtree(out, ignore_errors=True)
    command = ["soffice", "--headless", f"-env:UserInstallation={(folder / 'profile').as_uri()}"]
    subprocess.run(
        [*command, "--convert-to", target, "--outdir", str(out), *map(str, sources)],
        capture_output=True,
        timeout=300,
        check=False,
    )
    ending = target.partition(":")[0]
    # A spreadsheet gives a file for each of its sheets.
    return [
        b"\n".join(
            one.read_bytes()
            for one in sorted(out.glob(f"*.{ending}"))
            if one.stem == source.stem or one.stem.startswith(f"{source.stem}-")
        )
        for source in sources
    ]
