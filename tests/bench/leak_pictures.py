"""Masks PDFs, scans, pictures and drawings by the real detector, and counts by kind the values that
other programs still read in a released copy.

    python tests/bench/leak_pictures.py [--kind TEXT] [--copies N] [--keep DIR] [--details]

The readers are pdftotext, mutool, pypdf, pdfminer, and tesseract on pages drawn by pdftoppm and on
the pictures that pdfimages takes out. A reader that is not installed is left out.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import Any, NamedTuple

from leak_files import WORDS
from PIL import Image, ImageDraw, ImageFont

from dlpctl.errors import DlpctlError
from dlpctl.files.checking import FileChecker
from dlpctl.preflight import checker_for

Page = list[str]
_LOOK_ALIKE = str.maketrans("OoQDIl|SsBZz", "000011155822")
_SEPARATORS = re.compile(r"[^0-9A-Za-z]")


class Plan:
    """Random values, valid by their check digits, and plain words around them."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)
        self.values: list[str] = []

    def digits(self, count: int) -> str:
        return "".join(self.chance.choice("0123456789") for _ in range(count))

    def words(self, count: int) -> str:
        return " ".join(self.chance.choice([w for w in WORDS if w.isascii()]) for _ in range(count))

    def card(self) -> str:
        body = "4" + self.digits(14)
        total = sum(sum(divmod(int(digit) * (2 - at % 2), 10)) for at, digit in enumerate(body))
        number = body + str(-total % 10)
        return " ".join(number[at : at + 4] for at in range(0, 16, 4))

    def iban(self) -> str:
        account = self.chance.choice("123456789") + self.digits(17)
        check = 98 - int(account + "131400") % 97
        text = f"DE{check:02}{account}"
        return " ".join(text[at : at + 4] for at in range(0, 22, 4))

    def ssn(self) -> str:
        chance = self.chance
        area = chance.randrange(101, 665)
        return f"{area}-{chance.randrange(10, 99)}-{chance.randrange(1000, 9999)}"

    def phone(self) -> str:
        chance = self.chance
        area = chance.choice([212, 312, 415, 503, 612, 713])
        return f"+1 ({area}) {chance.randrange(220, 554)}-{chance.randrange(2000, 9999)}"

    def mail(self) -> str:
        name = self.chance.choice(["jane", "robert", "anna", "peter"])
        return f"{name}.{self.chance.choice(WORDS[:7])}{self.digits(2)}@northwind-mail.com"

    def pair(self) -> tuple[str, str]:
        """Return a label and its value."""
        label, make = self.chance.choice(
            [("Card number", self.card), ("IBAN", self.iban), ("SSN", self.ssn),
             ("Phone", self.phone), ("Email", self.mail)]
        )  # fmt: skip
        return label, self.planted(make())

    def planted(self, value: str) -> str:
        self.values.append(value)
        return value

    def letter(self, count: int) -> Page:
        """Return lines of a letter with values in them."""
        lines: Page = []
        for _ in range(count):
            label, value = self.pair()
            lines += [self.words(6), f"{label}: {value} {self.words(2)}"]
        return lines


class Kind(NamedTuple):
    name: str
    suffix: str
    make: Callable[[Plan], bytes]
    turns: tuple[int, ...]
    """The rotation that readers should apply to the picture."""


KINDS: list[Kind] = []
Maker = Callable[[Plan], bytes]


def kind(name: str, suffix: str, *turns: int) -> Callable[[Maker], Maker]:
    def add(make: Maker) -> Maker:
        KINDS.append(Kind(name, suffix, make, turns or (0,)))
        return make

    return add


# ---- text of PDFs


def blank(pages: int = 1) -> Any:
    import pikepdf
    from pikepdf import Dictionary, Name

    pdf = pikepdf.new()
    font = pdf.make_indirect(
        Dictionary(
            Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica,
            Encoding=Name.WinAnsiEncoding,
        )
    )  # fmt: skip
    for _ in range(pages):
        page = pdf.add_blank_page(page_size=(595, 842))
        page.obj.Resources = Dictionary(Font=Dictionary(F1=font))
    return pdf


def saved(pdf: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pdf.save(buffer, fix_metadata_version=False, static_id=True, **options)
    return buffer.getvalue()


def literal(text: str) -> str:
    return re.sub(r"([\\()])", r"\\\1", text)


def at(x: float, y: float, text: str, size: int = 10) -> str:
    return f"BT /F1 {size} Tf 1 0 0 1 {x:.2f} {y:.2f} Tm ({literal(text)}) Tj ET\n"


def one_page(content: str) -> Any:
    pdf = blank()
    pdf.pages[0].obj.Contents = pdf.make_stream(content.encode("latin-1"))
    return pdf


def width(text: str, size: int = 10) -> float:
    from reportlab.pdfbase.pdfmetrics import stringWidth

    return float(stringWidth(text, "Helvetica", size))


@kind("pdf: plain letter", ".pdf")
def plain_pdf(plan: Plan) -> bytes:
    lines = plan.letter(10)
    return saved(one_page("".join(at(50, 800 - 16 * n, line) for n, line in enumerate(lines))))


@kind("pdf: cells that abut", ".pdf")
def abutting(plan: Plan) -> bytes:
    content = ""
    for row in range(8):
        x = 30.0
        cells = [plan.words(1), *(plan.planted(each()) for each in
                 (plan.phone, plan.iban, plan.ssn, plan.card))]  # fmt: skip
        for cell in cells:
            content += at(x, 780 - 20 * row, cell, 8)
            x += width(cell, 8) + 0.5
    return saved(one_page(content))


@kind("pdf: clipped cells", ".pdf")
def clipped(plan: Plan) -> bytes:
    content = ""
    for row in range(8):
        cells = [plan.planted(each()) for each in (plan.phone, plan.ssn, plan.card, plan.iban)]
        x = 30.0
        for cell in cells:
            y, wide = 780 - 20 * row, width(cell, 8) + 1
            content += f"q {x:.2f} {y - 4} {wide:.2f} 16 re W n {at(x, y, cell, 8)}Q\n"
            x += wide
    return saved(one_page(content))


@kind("pdf: over two pages", ".pdf")
def over_pages(plan: Plan) -> bytes:
    pdf = blank(6)
    tail = ""
    for number, page in enumerate(pdf.pages):
        lines = [tail] if tail else []
        lines += [plan.words(9) for _ in range(20)]
        label, value = [("Card number", plan.card()), ("IBAN", plan.iban())][number % 2]
        head, _, rest = value.rpartition(" ")
        if number == 5:
            lines.append(plan.words(5))
        else:
            plan.planted(value)
            lines.append(f"{plan.words(4)} {label}: {head}")
        tail = rest
        content = "".join(at(50, 790 - 16 * n, line) for n, line in enumerate(lines))
        page.obj.Contents = pdf.make_stream((content + at(280, 30, str(number + 1))).encode())
    return saved(pdf)


@kind("pdf: narrow column", ".pdf")
def narrow(plan: Plan) -> bytes:
    content = ""
    for column in range(4):
        words = " ".join(f"{plan.words(1)} {label}: {value}" for label, value in
                         (plan.pair() for _ in range(3)))  # fmt: skip
        lines, line = [], ""
        for word in re.findall(r"[^ -]+-?", words):
            for part in [word[at : at + 16] for at in range(0, len(word), 16)]:
                glue = "" if not line or line.endswith("-") else " "
                if len(line + glue + part) > 16:
                    lines.append(line)
                    line = part
                else:
                    line += glue + part
        lines.append(line)
        content += "".join(at(40 + 140 * column, 780 - 13 * n, one) for n, one in enumerate(lines))
    return saved(one_page(content))


def lying_map(shift: int) -> bytes:
    lines = "\n".join(f"<{48 + d:02x}> <{48 + (d + shift) % 10:04x}>" for d in range(10))
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"10 beginbfchar\n{lines}\nendbfchar endcmap end end"
    ).encode()


@kind("pdf: ToUnicode lies", ".pdf")
def lying(plan: Plan) -> bytes:
    lines = [f"{label}: {plan.planted(value())}" for label, value in
             [("Card number", plan.card), ("IBAN", plan.iban), ("SSN", plan.ssn)] * 3]  # fmt: skip
    pdf = one_page("".join(at(50, 800 - 24 * n, line, 12) for n, line in enumerate(lines)))
    font = pdf.pages[0].obj.Resources.Font.F1
    font.ToUnicode = pdf.make_stream(lying_map(3))
    return saved(pdf)


def subset_font(plan: Plan, change: Callable[[Any, Any], None]) -> bytes:
    """A page in an embedded TrueType subset whose font dictionary was changed."""
    import pikepdf
    import reportlab
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    vera = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
    pdfmetrics.registerFont(TTFont("Vera", str(vera)))
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.setFont("Vera", 12)
    for number, line in enumerate(plan.letter(6)):
        canvas.drawString(50, 780 - 24 * number, line)
    canvas.save()
    with pikepdf.open(buffer) as pdf:
        for item in pdf.objects:
            if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/Font":
                change(pdf, item)
        return saved(pdf)


@kind("pdf: font without map", ".pdf")
def without_map(plan: Plan) -> bytes:
    def change(_pdf: Any, font: Any) -> None:
        if "/ToUnicode" in font:
            del font["/ToUnicode"]

    return subset_font(plan, change)


@kind("pdf: embedded font's ToUnicode lies", ".pdf")
def lying_subset(plan: Plan) -> bytes:
    def change(pdf: Any, font: Any) -> None:
        if "/ToUnicode" not in font:
            return
        text = font.ToUnicode.read_bytes().decode()

        def moved(found: re.Match[str]) -> str:
            code = int(found[1], 16)
            return f"<{48 + (code - 45) % 10:04X}>" if 48 <= code < 58 else found[0]

        font.ToUnicode = pdf.make_stream(re.sub(r"<([0-9A-Fa-f]{4})>", moved, text).encode())

    return subset_font(plan, change)


def type3(plan: Plan, lines: Page, *, names: Callable[[int, str], str]) -> bytes:
    """A page in a Type 3 font of bitmaps; codes count from 1, that of the space included."""
    from pikepdf import Array, Dictionary, Name

    del plan
    pdf = blank()
    letters = sorted(set("".join(lines)))
    face = ImageFont.load_default(40)
    drawings, widths, differences = Dictionary(), [], [1]
    for code, letter in enumerate(letters, 1):
        wide = max(int(face.getlength(letter)), 4)
        image = Image.new("1", (wide, 56), 1)
        ImageDraw.Draw(image).text((0, 0), letter, fill=0, font=face)
        data = image.tobytes()
        name = names(code, letter)
        drawings["/" + name] = pdf.make_stream(
            f"{wide} 0 0 -12 {wide} 44 d1 q {wide} 0 0 56 0 -12 cm BI /W {wide} /H 56 /IM true"
            f" /BPC 1 /D [0 1] ID ".encode()
            + data
            + b" EI Q"
        )
        widths.append(wide)
        differences.append(Name("/" + name))
    font = Dictionary(
        Type=Name.Font, Subtype=Name.Type3, FontBBox=Array([0, -12, 60, 44]),
        FontMatrix=Array([0.025, 0, 0, 0.025, 0, 0]), CharProcs=drawings,
        Encoding=Dictionary(Type=Name.Encoding, Differences=Array(differences)),
        FirstChar=1, LastChar=len(letters), Widths=Array(widths), Resources=Dictionary(),
    )  # fmt: skip
    page = pdf.pages[0].obj
    page.Resources.Font.T3 = pdf.make_indirect(font)
    shown = "".join(
        f"BT /T3 12 Tf 1 0 0 1 50 {780 - 24 * n} Tm <"
        + "".join(f"{letters.index(letter) + 1:02x}" for letter in line)
        + "> Tj ET\n"
        for n, line in enumerate(lines)
    )
    page.Contents = pdf.make_stream(shown.encode())
    return saved(pdf)


@kind("pdf: Type 3 without names", ".pdf")
def type3_without_names(plan: Plan) -> bytes:
    return type3(plan, plan.letter(5), names=lambda code, _: f"g{code}")


@kind("pdf: Type 3 with names", ".pdf")
def type3_with_names(plan: Plan) -> bytes:
    return type3(plan, plan.letter(5), names=lambda _, letter: f"uni{ord(letter):04X}")


@kind("pdf: hybrid with its source", ".pdf")
def hybrid(plan: Plan) -> bytes:
    import zipfile

    from pikepdf import Array, Name

    lines = plan.letter(4)
    pdf = one_page("".join(at(50, 800 - 16 * n, line) for n, line in enumerate(lines)))
    more = plan.letter(4)
    text = "".join(f"<text:p>{line}</text:p>" for line in lines + more)
    office = "urn:oasis:names:tc:opendocument:xmlns"
    xml = (
        f"<?xml version='1.0'?><office:document-content xmlns:office='{office}:office:1.0'"
        f" xmlns:text='{office}:text:1.0' office:version='1.3'><office:body><office:text>{text}"
        "</office:text></office:body></office:document-content>"
    )
    manifest = (
        f"<?xml version='1.0'?><m:manifest xmlns:m='{office}:manifest:1.0'>"
        "<m:file-entry m:full-path='/' m:media-type='application/vnd.oasis.opendocument.text'/>"
        "<m:file-entry m:full-path='content.xml' m:media-type='text/xml'/></m:manifest>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text", 0)
        archive.writestr("content.xml", xml)
        archive.writestr("META-INF/manifest.xml", manifest)
    mime = "/application#2Fvnd.oasis.opendocument.text"
    stream = pdf.make_stream(buffer.getvalue())
    pdf.trailer.AdditionalStreams = Array([Name(mime), stream])
    return saved(pdf)


@kind("pdf: encrypted, empty password", ".pdf")
def encrypted(plan: Plan) -> bytes:
    import pikepdf

    with pikepdf.open(io.BytesIO(plain_pdf(plan))) as pdf:
        chosen = plan.chance.choice([2, 3, 4, 6])
        return saved_encrypted(pdf, pikepdf.Encryption(
            owner="o", user="", R=chosen, aes=chosen >= 4, metadata=chosen >= 4))  # fmt: skip


def saved_encrypted(pdf: Any, encryption: Any) -> bytes:
    buffer = io.BytesIO()
    pdf.save(buffer, encryption=encryption)
    return buffer.getvalue()


@kind("pdf: one digit a box", ".pdf")
def boxed_pdf(plan: Plan) -> bytes:
    content = ""
    for row, (label, make) in enumerate(
        [("Card number", plan.card), ("IBAN", plan.iban), ("SSN", plan.ssn)] * 3
    ):
        y = 780 - 50 * row
        content += at(40, y + 18, label)
        value = plan.planted(make())
        for number, letter in enumerate(value.replace(" ", "").replace("-", "")):
            x = 40 + 20 * number
            content += f"{x} {y - 4} 18 18 re S\n" + at(x + 5, y, letter)
    return saved(one_page(content))


# ---- pictures


def sheet(
    lines: Page,
    size: tuple[int, int] = (1654, 1170),
    *,
    letters: int = 30,
    ink: Any = "black",
    paper: Any = "white",
    step: int = 0,
) -> Image.Image:
    image = Image.new("RGB", size, paper)
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype("DejaVuSans.ttf", letters)
    for number, line in enumerate(lines):
        place = (letters * 3, letters * 3 + (step or letters * 2) * number)
        draw.text(place, line, fill=ink, font=font)
    return image


def wrapped(plan: Plan, count: int, columns: int) -> Page:
    """Return a letter wrapped wherever a line is full, within values too."""
    words = " ".join(
        f"{plan.words(plan.chance.randrange(5, 12))} {label}: {value}"
        for label, value in (plan.pair() for _ in range(count))
    ).split(" ")
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) >= columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def encoded(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


@kind("picture: upright", ".png")
def upright(plan: Plan) -> bytes:
    return encoded(sheet(plan.letter(6)))


@kind("picture: jpeg", ".jpg")
def upright_jpeg(plan: Plan) -> bytes:
    return encoded(sheet(plan.letter(8), letters=22, size=(1240, 900)), "JPEG", quality=60)


def _turned(turn: int) -> Maker:
    return lambda plan: encoded(sheet(plan.letter(6)).rotate(turn, expand=True))


for _turn in (90, 180, 270):
    kind(f"picture: turned by {_turn}", ".png", -_turn % 360)(_turned(_turn))


@kind("picture: turned screenshot", ".png", 270)
def turned_screenshot(plan: Plan) -> bytes:
    image = sheet(plan.letter(3), (560, 260), letters=14)
    return encoded(image.rotate(90, expand=True))


@kind("picture: EXIF orientation", ".jpg", 0, 90, 180, 270)
def oriented(plan: Plan) -> bytes:
    orientation, turn = plan.chance.choice([(6, 90), (8, 270), (3, 180)])
    exif = Image.Exif()
    exif[0x112] = orientation
    image = sheet(plan.letter(6)).rotate(turn, expand=True)
    return encoded(image, "JPEG", quality=90, exif=exif)


@kind("picture: EXIF thumbnail", ".jpg")
def with_thumbnail(plan: Plan) -> bytes:
    import struct

    small = encoded(sheet(plan.letter(4), (700, 400), letters=20), "JPEG", quality=80)
    first = struct.pack("<H", 0) + struct.pack("<I", 8 + 6)
    entries = [(0x103, 3, 1, 6), (0x201, 4, 1, 0), (0x202, 4, 1, len(small))]
    offset = 8 + 6 + 2 + 12 * len(entries) + 4
    entries[1] = (0x201, 4, 1, offset)
    second = struct.pack("<H", len(entries)) + b"".join(
        struct.pack("<HHII", *entry) for entry in entries
    ) + struct.pack("<I", 0)  # fmt: skip
    body = b"Exif\0\0II*\0" + struct.pack("<I", 8) + first + second + small
    segment = b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body
    data = encoded(Image.new("RGB", (800, 600), "#88aacc"), "JPEG", quality=80)
    return data[:2] + segment + data[2:]


@kind("picture: alpha 0", ".png")
def see_through(plan: Plan) -> bytes:
    image = sheet(plan.letter(6)).convert("RGBA")
    image.putalpha(Image.new("L", image.size, plan.chance.choice([0, 255, 0])))
    if image.getpixel((0, 0))[3]:  # type: ignore[index]
        mask = Image.new("L", image.size, 255)
        ImageDraw.Draw(mask).rectangle((0, 0, *image.size), fill=0)
        image.putalpha(mask)
    return encoded(image)


@kind("picture: low contrast", ".png")
def faint(plan: Plan) -> bytes:
    grey = plan.chance.choice([238, 242, 246])
    image = sheet(plan.letter(6), ink=(grey,) * 3)
    ImageDraw.Draw(image).text(
        (90, 1000), plan.words(4), fill="black", font=ImageFont.truetype("DejaVuSans.ttf", 34)
    )
    return encoded(image)


@kind("picture: on dark", ".png")
def on_dark(plan: Plan) -> bytes:
    return encoded(sheet(plan.letter(6), ink="#d0d0d0", paper="#1e1e1e"))


@kind("picture: skewed", ".png", -7, 7, -11, 11)
def skewed(plan: Plan) -> bytes:
    angle = plan.chance.choice([7, -7, 11, -11])
    image = sheet(plan.letter(6)).rotate(
        angle, expand=True, fillcolor="white", resample=Image.Resampling.BICUBIC
    )
    return encoded(image)


@kind("picture: form with boxes", ".png")
def boxed_picture(plan: Plan) -> bytes:
    image = Image.new("RGB", (1240, 900), "white")
    draw = ImageDraw.Draw(image)
    font, small = (ImageFont.truetype("DejaVuSans.ttf", size) for size in (30, 22))
    for row in range(6):
        label, value = plan.pair()
        top = 60 + 130 * row
        draw.text((60, top), label, fill="black", font=small)
        draw.rectangle((60, top + 34, 1100, top + 90), outline="black", width=3)
        draw.text((74, top + 42), value, fill="black", font=font)
    return encoded(image)


@kind("picture: second frame", ".tif")
def frames(plan: Plan) -> bytes:
    pages = [sheet([plan.words(6)]), sheet(plan.letter(5))]
    return encoded(pages[0], "TIFF", save_all=True, append_images=pages[1:])


@kind("picture: photo without text", ".jpg")
def photo(plan: Plan) -> bytes:
    image = Image.effect_mandelbrot((900, 700), (-2, -1.5, 1, 1.5), 40)
    noise = Image.effect_noise((900, 700), 20)
    del plan
    return encoded(Image.blend(image, noise, 0.3).convert("RGB"), "JPEG")


# ---- scans in PDFs


def scan(image: Image.Image, form: str = "JPEG", dpi: int = 150, **more: Any) -> bytes:
    """A PDF whose page is a picture; `more` is what `put` takes."""
    return saved(put(image, form, dpi, **more))


def put(
    image: Image.Image,
    form: str = "JPEG",
    dpi: int = 150,
    *,
    before: str = "",
    after: str = "",
    matrix: str = "",
    size: tuple[float, float] | None = None,
) -> Any:
    import zlib

    from pikepdf import Array, Dictionary, Name

    pdf = blank()
    wide, high = (side * 72 / dpi for side in image.size)
    gray = image.convert("L")
    data = zlib.compress(gray.tobytes()) if form == "raw" else encoded(gray, form, quality=80)
    picture = pdf.make_stream(
        data, Type=Name.XObject, Subtype=Name.Image, Width=image.width, Height=image.height,
        ColorSpace=Name.DeviceGray, BitsPerComponent=8,
        Filter=Name.FlateDecode if form == "raw" else Name.DCTDecode,
    )  # fmt: skip
    page = pdf.pages[0].obj
    page.MediaBox = Array([0, 0, *(size or (wide, high))])
    page.Resources.XObject = Dictionary(Im=picture)
    placed = matrix or f"{wide:.2f} 0 0 {high:.2f} 0 0 cm"
    page.Contents = pdf.make_stream(f"{before} q {placed} /Im Do Q {after}".encode())
    return pdf


A4_300 = (2480, 3508)


@kind("scan: letter at 300 dpi, wrapped", ".pdf")
def letter_300(plan: Plan) -> bytes:
    lines = wrapped(plan, 14, 78)
    return scan(sheet(lines, A4_300, letters=44, step=66), dpi=300)


@kind("scan: repeated wording", ".pdf")
def repeated(plan: Plan) -> bytes:
    lines = []
    for _ in range(26):
        label, value = plan.pair()
        lines.append(f"The customer has the {label:12} {value} on file.")
    return scan(sheet(lines, A4_300, letters=44, step=100), dpi=300)


@kind("scan: table", ".pdf")
def scanned_table(plan: Plan) -> bytes:
    image = Image.new("RGB", A4_300, "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype("DejaVuSans.ttf", 38)
    for row in range(24):
        cells = [plan.words(1), plan.planted(plan.phone()), plan.planted(plan.card())]
        for column, cell in enumerate(cells):
            draw.text((150 + 800 * column, 200 + 110 * row), cell, fill="black", font=font)
    return scan(image, dpi=300)


def _turned_scan(turn: int) -> Maker:
    return lambda plan: scan(sheet(plan.letter(8), (1654, 1900)).rotate(turn, expand=True))


for _turn in (90, 180, 270):
    kind(f"scan: turned by {_turn}", ".pdf", -_turn % 360)(_turned_scan(_turn))


@kind("scan: turned by the matrix", ".pdf", 270)
def by_matrix(plan: Plan) -> bytes:
    image = sheet(plan.letter(6))
    wide, high = image.width * 72 / 150, image.height * 72 / 150
    matrix = f"0 {wide:.2f} {-high:.2f} 0 {high:.2f} 0 cm"
    return scan(image, matrix=matrix, size=(high, wide))


@kind("scan: faint", ".pdf")
def faint_scan(plan: Plan) -> bytes:
    return scan(sheet(plan.letter(8), ink=(225,) * 3, paper=(245,) * 3))


@kind("scan: skewed", ".pdf", -6, 6)
def skewed_scan(plan: Plan) -> bytes:
    return scan(sheet(plan.letter(8), (1654, 1900)).rotate(
        plan.chance.choice([6, -6]), expand=True, fillcolor="white",
        resample=Image.Resampling.BICUBIC))  # fmt: skip


@kind("scan: covered by a rectangle", ".pdf")
def covered(plan: Plan) -> bytes:
    color = plan.chance.choice(["0 g", "1 g"])
    return scan(sheet(plan.letter(5)), after=f"{color} 0 0 2000 2000 re f")


@kind("scan: one line covered", ".pdf")
def line_covered(plan: Plan) -> bytes:
    lines = plan.letter(6)
    covers = " ".join(
        f"0 g 30 {1170 * 0.48 - (90 + 60 * n + 45) * 0.48:.1f} 760 24 re f"
        for n, line in enumerate(lines) if n % 2
    )  # fmt: skip
    return scan(sheet(lines), after=covers)


@kind("scan: off the page", ".pdf")
def off_page(plan: Plan) -> bytes:
    image = sheet(plan.letter(5))
    wide, high = (side * 72 / 150 for side in image.size)
    return scan(
        image, matrix=f"{wide} 0 0 {high} 3000 3000 cm", after=at(50, 700, plan.words(5)),
        size=(595, 842),
    )  # fmt: skip


@kind("scan: clipped away", ".pdf")
def clipped_away(plan: Plan) -> bytes:
    return scan(sheet(plan.letter(5)), before="0 0 30 30 re W n")


@kind("scan: picture not used", ".pdf")
def unused(plan: Plan) -> bytes:
    pdf = put(sheet(plan.letter(5)), size=(595, 842))
    pdf.pages[0].obj.Contents = pdf.make_stream(at(50, 700, plan.words(5)).encode())
    return saved(pdf)


@kind("scan: thumbnail", ".pdf")
def thumbnail(plan: Plan) -> bytes:
    pdf = put(sheet(plan.letter(5)), size=(595, 842))
    page = pdf.pages[0].obj
    page.Thumb = page.Resources.XObject.Im
    del page.Resources["/XObject"]
    page.Contents = pdf.make_stream(at(50, 700, plan.words(5)).encode())
    return saved(pdf)


@kind("scan: inline picture", ".pdf")
def inline(plan: Plan) -> bytes:
    image = sheet(plan.letter(4), (900, 520), letters=22).convert("L")
    pdf = blank()
    data = encoded(image, "JPEG", quality=70)
    pdf.pages[0].obj.Contents = pdf.make_stream(
        b"q 540 0 0 312 20 400 cm BI /W 900 /H 520 /CS /G /BPC 8 /F /DCT ID " + data + b"\nEI Q"
    )
    return saved(pdf)


# ---- drawings


@kind("svg: text", ".svg")
def plain_svg(plan: Plan) -> bytes:
    lines = "".join(f"<text x='10' y='{30 + 20 * n}'>{line}</text>"
                    for n, line in enumerate(plan.letter(6)))  # fmt: skip
    return svg(lines)


def svg(body: str) -> bytes:
    return (
        "<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' width='800' height='600'"
        f" xmlns:xlink='http://www.w3.org/1999/xlink'>{body}</svg>"
    ).encode()


@kind("svg: a tspan a character", ".svg")
def split_svg(plan: Plan) -> bytes:
    lines = ""
    for number, line in enumerate(plan.letter(6)):
        letters = "".join(
            f"<tspan x='{10 + 9 * n}'>{letter}</tspan>" for n, letter in enumerate(line)
        )
        lines += f"<text y='{30 + 20 * number}'>{letters}</text>\n"
    return svg(lines)


@kind("svg: a text a character", ".svg")
def parted_svg(plan: Plan) -> bytes:
    lines = ""
    for number, line in enumerate(plan.letter(6)):
        lines += "".join(
            f"<text x='{10 + 9 * n}' y='{30 + 20 * number}'>{letter}</text>\n"
            for n, letter in enumerate(line) if letter != " "
        )  # fmt: skip
    return svg(lines)


@kind("svg: outlines", ".svg")
def outlined_svg(plan: Plan) -> bytes:
    if not shutil.which("pdftocairo"):
        return svg("")
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name) / "a.pdf", Path(name) / "a.svg"
        source.write_bytes(plain_pdf(plan))
        subprocess.run(["pdftocairo", "-svg", source, target], check=True)
        return target.read_bytes()


@kind("svg: outlines in paths", ".svg")
def paths_svg(plan: Plan) -> bytes:
    data = outlined_svg(plan).decode()
    shapes = dict(re.findall(r'id="(glyph[^"]*)">\s*<path [^<>]*?\bd="([^"]*)"', data))
    uses = re.findall(r'<use xlink:href="#(glyph[^"]*)" x="([^"]*)" y="([^"]*)"', data)
    return svg("".join(f"<path transform='translate({x},{y})' d='{shapes.get(name, '')}'/>"
                       for name, x, y in uses))  # fmt: skip


@kind("svg: picture in a data URI", ".svg")
def picture_svg(plan: Plan) -> bytes:
    import base64

    picture = base64.b64encode(upright(plan)).decode()
    return svg(f"<image xlink:href='data:image/png;base64,{picture}' width='800' height='600'/>")


@kind("ps: split over show", ".ps")
def split_ps(plan: Plan) -> bytes:
    lines = "".join(
        f"50 {780 - 20 * n} moveto " + "".join(f"({literal(c)}) show " for c in line) + "\n"
        for n, line in enumerate(plan.letter(6))
    )
    return (
        "%!PS-Adobe-3.0\n/Helvetica findfont 10 scalefont setfont\n" + lines + "showpage\n"
    ).encode()


@kind("eps: text", ".eps")
def plain_eps(plan: Plan) -> bytes:
    lines = "".join(
        f"50 {780 - 20 * n} moveto ({literal(line)}) show\n"
        for n, line in enumerate(plan.letter(6))
    )
    head = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 595 842\n"
    return (head + "/Helvetica findfont 10 scalefont setfont\n" + lines + "showpage\n").encode()


@kind("eps: kerned", ".eps")
def kerned_eps(plan: Plan) -> bytes:
    lines = ""
    for number, line in enumerate(plan.letter(6)):
        pieces = [line[n : n + 3] for n in range(0, len(line), 3)]
        lines += f"50 {780 - 20 * number} M " + " ".join(
            f"({literal(piece)}) s -0.2 0 rmoveto" for piece in pieces
        ) + "\n"  # fmt: skip
    head = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 595 842\n"
    names = "/M {moveto} def /s {show} def /Helvetica findfont 10 scalefont setfont\n"
    return (head + names + lines + "showpage\n").encode()


# ---- what was refused for nothing


@kind("refusal: RunLengthDecode", ".pdf")
def run_length(plan: Plan) -> bytes:
    from pikepdf import Name

    lines = plan.letter(5)
    content = "".join(at(50, 800 - 16 * n, line) for n, line in enumerate(lines)).encode()
    packed = b"".join(
        bytes([len(content[n : n + 128]) - 1]) + content[n : n + 128]
        for n in range(0, len(content), 128)
    )
    pdf = blank()
    pdf.pages[0].obj.Contents = pdf.make_stream(packed + b"\x80", Filter=Name.RunLengthDecode)
    return saved(pdf)


@kind("refusal: font name not UTF-8", ".pdf")
def odd_font_name(plan: Plan) -> bytes:
    import pikepdf

    with pikepdf.open(io.BytesIO(plain_pdf(plan))) as pdf:
        font = pdf.pages[0].obj.Resources.Font.F1
        font.FirstChar, font.LastChar = 32, 126
        font.Widths = pikepdf.Array([round(width(chr(code), 1000)) for code in range(32, 127)])
        data = saved(pdf)
    return data.replace(b"/BaseFont /Helvetica", b"/BaseFont /Hel#E9tica#FC")


@kind("refusal: font names in metadata", ".pdf")
def font_names(plan: Plan) -> bytes:
    from pikepdf import Dictionary, Name

    lines = plan.letter(4)
    pdf = one_page("".join(at(50, 800 - 16 * n, line) for n, line in enumerate(lines)))
    fonts = pdf.pages[0].obj.Resources.Font
    faces = ["Calibri Light", "Helvetica Neue", "Georgia Bold", "Verdana Regular"]
    for number, face in enumerate(faces):
        name = face.replace(" ", "-")
        fonts[f"/G{number}"] = pdf.make_indirect(Dictionary(
            Type=Name.Font, Subtype=Name.TrueType, BaseFont=Name("/" + name),
            Encoding=Name.WinAnsiEncoding, FirstChar=32, LastChar=33, Widths=[300, 300],
            FontDescriptor=pdf.make_indirect(Dictionary(
                Type=Name.FontDescriptor, FontName=Name("/" + name), FontFamily=face, Flags=32)),
        ))  # fmt: skip
    listed = "".join(
        f"<rdf:li rdf:parseType='Resource'><stFnt:fontName>{face.replace(' ', '-')}</stFnt:fontName>"
        f"<stFnt:fontFamily>{face}</stFnt:fontFamily></rdf:li>" for face in faces
    )  # fmt: skip
    xmp = (
        "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description"
        " xmlns:xmpTPg='http://ns.adobe.com/xap/1.0/t/pg/'"
        " xmlns:stFnt='http://ns.adobe.com/xap/1.0/sType/Font#'>"
        f"<xmpTPg:Fonts><rdf:Bag>{listed}</rdf:Bag></xmpTPg:Fonts>"
        "</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>"
    )
    pdf.Root.Metadata = pdf.make_stream(xmp.encode(), Type=Name.Metadata, Subtype=Name.XML)
    return saved(pdf)


@kind("refusal: cut off", ".pdf")
def cut_off(plan: Plan) -> bytes:
    import os

    import pikepdf

    data = plain_pdf(plan)
    with pikepdf.open(io.BytesIO(data)) as pdf:
        pdf.pages[0].obj.Zextra = pdf.make_stream(os.urandom(4000))
        data = saved(pdf, object_stream_mode=pikepdf.ObjectStreamMode.disable)
    return data[: data.rindex(b"endstream") - 1000]


# ---- readers


def squeezed(text: str) -> str:
    """Return letters and digits alone, look-alikes of digits as digits."""
    return _SEPARATORS.sub("", text).translate(_LOOK_ALIKE).lower()


def output_of(*command: str | Path) -> str:
    if shutil.which(str(command[0])) is None:
        return ""
    ran = subprocess.run(
        [str(part) for part in command], capture_output=True, timeout=120, check=False
    )
    return ran.stdout.decode("utf-8", "replace")


def seen(image: Image.Image, turns: tuple[int, ...]) -> str:
    texts = []
    for turn in turns:
        turned = image.rotate(turn, expand=True, fillcolor="white") if turn else image
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            turned.save(file.name)
            texts += [output_of("tesseract", file.name, "-", "--psm", mode) for mode in ("3", "11")]
    return "\n".join(texts)


def of_pdf(path: Path, turns: tuple[int, ...], *, pictures: bool) -> Iterator[tuple[str, str]]:
    import pdfminer.high_level
    import pypdf

    for mode in ((), ("-layout",), ("-raw",)):
        yield " ".join(("pdftotext", *mode)), output_of("pdftotext", *mode, path, "-")
    yield "mutool", output_of("mutool", "draw", "-q", "-F", "txt", path)
    with suppress(Exception), redirect_stderr(io.StringIO()):
        yield "pypdf", "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
    with suppress(Exception):
        yield "pdfminer", pdfminer.high_level.extract_text(path)
    plain = output_of("qpdf", "--qdf", "--object-streams=disable", path, "-")
    yield "qpdf", plain
    for name, data in contained(path):
        yield f"stream {name}", data
    if not pictures:
        return
    with tempfile.TemporaryDirectory() as name:
        output_of("pdftoppm", "-r", "200", "-png", path, Path(name) / "page")
        output_of("pdfimages", "-png", path, Path(name) / "image")
        for drawn in sorted(Path(name).glob("*.png")):
            with Image.open(drawn) as image:
                yield drawn.stem, seen(image.convert("RGB"), turns)
        for number, image in enumerate(stored(path)):
            yield f"stored picture {number}", seen(image, turns)


def contained(path: Path) -> Iterator[tuple[str, str]]:
    """Give the texts of ZIP archives in streams."""
    import zipfile

    import pikepdf

    with suppress(pikepdf.PdfError), pikepdf.open(path) as pdf:
        for item in pdf.objects:
            if isinstance(item, pikepdf.Stream):
                with suppress(pikepdf.PdfError, zipfile.BadZipFile):
                    raw = item.read_bytes()
                    if raw.startswith(b"PK"):
                        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
                            text = b"\n".join(archive.read(each) for each in archive.namelist())
                        yield str(item.objgen), re.sub("<[^>]*>", " ", text.decode())


def stored(path: Path) -> Iterator[Image.Image]:
    """Give every picture object, drawn or not, as it is stored."""
    import pikepdf

    with suppress(pikepdf.PdfError), pikepdf.open(path) as pdf:
        for item in pdf.objects:
            if isinstance(item, pikepdf.Stream) and item.get("/Subtype") == "/Image":
                with suppress(Exception):
                    yield pikepdf.PdfImage(item).as_pil_image().convert("RGB")


def of_picture(data: bytes, turns: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    from PIL import ImageOps, ImageSequence

    with Image.open(io.BytesIO(data)) as image:
        for number, frame in enumerate(ImageSequence.Iterator(image)):
            yield f"frame {number}", seen(frame.convert("RGB"), turns)
            flat = frame.convert("RGB").convert("L")
            yield f"frame {number}, contrast", seen(ImageOps.equalize(flat), turns)
    for found in re.finditer(rb"\xff\xd8\xff", data[2:]):
        with suppress(OSError), Image.open(io.BytesIO(data[found.start() + 2 :])) as small:
            yield "thumbnail", seen(small.convert("RGB"), turns)


def of_drawing(path: Path) -> Iterator[tuple[str, str]]:
    import base64

    text = path.read_text("latin-1")
    yield "source", text
    if path.suffix == ".svg":
        yield "source", re.sub(r"<[^>]*>", "", text)
        for found in re.finditer(r"base64,([A-Za-z0-9+/=]+)", text):
            yield from of_picture(base64.b64decode(found[1]), (0,))
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            output_of("mutool", "draw", "-q", "-r", "200", "-o", file.name, path)
            with suppress(OSError), Image.open(file.name) as image:
                yield "mutool", seen(image.convert("RGB"), (0,))
        return
    strings = re.findall(r"\(((?:[^()\\]|\\.)*)\)", text)
    yield "strings", re.sub(r"\\(.)", r"\1", "".join(strings))


def readable(one: Kind, path: Path, values: list[str]) -> dict[str, str]:
    """Return the values that a reader still sees, with the reader."""
    if one.suffix == ".pdf":
        pictures = one.name.startswith("scan") or "Type 3" in one.name or "map" in one.name
        texts = of_pdf(path, one.turns, pictures=pictures or "lies" in one.name)
    elif one.suffix in (".svg", ".ps", ".eps"):
        texts = of_drawing(path)
    else:
        texts = of_picture(path.read_bytes(), one.turns)
    found: dict[str, str] = {}
    for reader, text in texts:
        plain = squeezed(text)
        found |= {value: reader for value in values if squeezed(value) in plain}
    return found


# ---- the run


class Outcome(NamedTuple):
    documents: int = 0
    planted: int = 0
    released: int = 0
    """Values in released copies."""
    readable: int = 0
    notes: tuple[str, ...] = ()


def judged(one: Kind, copies: int, checking: FileChecker, keep: Path | None) -> Outcome:
    total = Outcome()
    for number in range(copies):
        plan = Plan(f"{one.name} {number}")
        data = one.make(plan)
        values = list(dict.fromkeys(plan.values))
        name = f"{re.sub('[^a-z0-9]+', '-', one.name.lower())}-{number}{one.suffix}"
        total = total._replace(documents=total.documents + 1, planted=total.planted + len(values))
        if keep is not None:
            (keep / name).write_bytes(data)
        try:
            masked = checking.mask(data, name).masked
        except DlpctlError as error:
            total = total._replace(notes=(*total.notes, f"{name}: {error.message}"))
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = (keep or Path(folder)) / f"masked-{name}"
            path.write_bytes(masked or b"")
            left = readable(one, path, values)
        total = total._replace(
            released=total.released + len(values),
            readable=total.readable + len(left),
            notes=(
                *total.notes,
                *(f"{name}: value {values.index(value)} by {by}" for value, by in left.items()),
            ),
        )
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", default="", help="only kinds whose name contains this")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the files and their masked copies")
    parser.add_argument("--details", action="store_true", help="name refusals and leaks")
    chosen = parser.parse_args()
    if chosen.keep:
        chosen.keep.mkdir(parents=True, exist_ok=True)
    checking = FileChecker(checker_for("VENDOR", None, None, None, None))
    sums = [0, 0, 0, 0]
    for one in KINDS:
        if chosen.kind not in one.name:
            continue
        outcome = judged(one, chosen.copies, checking, chosen.keep)
        sums = [had + more for had, more in zip(sums, outcome[:4], strict=True)]
        print(
            f"{one.name:38} {outcome.readable:4} / {outcome.released:4}   of {outcome.planted:4}"
            f" in {outcome.documents}",
            flush=True,
        )
        if chosen.details:
            for note in outcome.notes:
                print(f"    {note}", file=sys.stderr, flush=True)
    print(f"{'all':38} {sums[3]:4} / {sums[2]:4}   of {sums[1]:4} in {sums[0]}")


if __name__ == "__main__":
    main()
