"""Mask files by many producers, with values planted everywhere, and let programs that share no
code with dlpctl look for them.

    python tests/bench/leaks.py [--short] [--json] [--keep DIR]

Judged are: values that remain (by pdftotext, pypdf, pdfminer, qpdf, LibreOffice and the decoded
bytes), words that are lost, pixels that change outside of the boxes, and files that are refused.
What a judge needs and is not installed is left out; the report names who judged.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import leak_files
from leak_files import Planted

from dlpctl.errors import FormatError
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Document
from dlpctl.formats.spans import ViewEdit
from dlpctl.formats.verify import verify

MASKS = {"ssn": "[SSN]", "card": "[CARD]", "mail": "[MAIL]", "iban": "[IBAN]"}
_FINDER = re.compile(
    r"(?P<ssn>(?<!\d)\d{3}[-\u2011]\s*\d\d[-\u2011]\s*\d{4}(?!\d))|(?P<card>(?<!\d)4\d{3}(?:[ -]?\s?\d{4}){3}(?!\d))"
    r"|(?P<mail>(?:jane|bob|ann)\.\s?[\d\s]{6,8}\s?@\s?acme-?\s?corp\.\s?example)|(?P<iban>DE(?:\s?\d){20}(?!\d))"
)
_NUMBER = re.compile(r"(?<!\d)\d{9}(?!\d)")
_TEXTS = {
    ".docx": "txt:Text (encoded):UTF8", ".odt": "txt:Text (encoded):UTF8", ".rtf": "txt:Text (encoded):UTF8", ".html": "txt:Text (encoded):UTF8",
    ".xlsx": "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1",
    ".ods": "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1",
    ".pptx": "pdf", ".odp": "pdf",
}  # fmt: skip


def find(document: Document) -> Iterator[ViewEdit]:
    """Detection as good as it can be: what is judged here is what formats make of it."""
    for number, view in enumerate(document.views):
        for found in _FINDER.finditer(view.text):
            yield ViewEdit(number, *found.span(), MASKS[str(found.lastgroup)])
        if re.search(r"ssn|security", view.context, re.IGNORECASE):
            for found in _NUMBER.finditer(view.text):
                yield ViewEdit(number, *found.span(), MASKS["ssn"])


# ---- who looks for what remains


def squeezed(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())


def spellings(value: str) -> set[bytes]:
    """A value as bytes may hold it."""
    forms: set[bytes] = set()
    for text in {value, value.replace(" ", ""), value.replace("-", "")}:
        raw = text.encode()
        forms |= {raw, text.encode("utf-16-le"), text.encode("utf-16-be"), raw.hex().encode()}
        forms.add("".join(f"\\u{ord(char):04x}" for char in text).encode())
        forms.add("".join(f"\\'{byte:02x}" for byte in raw).encode())
        forms.add("".join(f"\\{byte:03o}" for byte in raw).encode())
        forms.add(base64.b64encode(raw)[: len(raw) * 4 // 3])
    return {form.lower() for form in forms}


def decoded(data: bytes, name: str) -> Iterator[bytes]:
    """The bytes of a file and of all within it, with nothing compressed, tags left out as well."""
    yield data
    if data.startswith(b"%PDF"):
        yield from _of_pdf(data)
    elif data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive.comment
            for member in archive.namelist():
                yield member.encode()
                yield from decoded(archive.read(member), member)
    elif data.lstrip()[:1] == b"<":
        yield re.sub(rb"<[^>]*>", b"", data)


def _of_pdf(data: bytes) -> Iterator[bytes]:
    import pikepdf

    buffer = io.BytesIO()
    with pikepdf.open(io.BytesIO(data)) as pdf:
        pdf.save(
            buffer,
            compress_streams=False,
            stream_decode_level=pikepdf.StreamDecodeLevel.generalized,
            object_stream_mode=pikepdf.ObjectStreamMode.disable,
            encryption=False,
        )
    plain = buffer.getvalue()
    yield plain
    # The strings of an operator that shows text, without the room between them.
    yield re.sub(rb"\)\s*-?[\d.]*\s*\(|\)\s*Tj\s*\(|>\s*-?[\d.]*\s*<", b"", plain)


def of_program(*command: str, data: bytes) -> str:
    if shutil.which(command[0]) is None:
        return ""
    ran = subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)
    return ran.stdout.decode("utf-8", "replace")


def pdf_texts(data: bytes) -> Iterator[tuple[str, str]]:
    """Return the text that other programs read in a PDF."""
    import pdfminer.high_level
    import pypdf

    yield (
        "pdftotext",
        of_program("pdftotext", "-", "-", data=data)
        + of_program("pdftotext", "-raw", "-", "-", data=data),
    )
    reader = pypdf.PdfReader(io.BytesIO(data))
    yield "pypdf", "\n".join(page.extract_text() for page in reader.pages)
    yield "pdfminer", pdfminer.high_level.extract_text(io.BytesIO(data))
    if shutil.which("qpdf"):
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            file.write(data)
            file.flush()
            yield (
                "qpdf",
                of_program(
                    "qpdf",
                    "--qdf",
                    "--object-streams=disable",
                    "--decode-level=generalized",
                    file.name,
                    "-",
                    data=b"",
                ),
            )


def markup_words(data: bytes, name: str) -> Counter[str]:
    """All words that the parts of a package hold, as texts or as attributes."""
    words: Counter[str] = Counter()
    parts = {name: data}
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {member: archive.read(member) for member in archive.namelist()}
    for part, contents in parts.items():
        if part.endswith((".xlsx", ".docx")) and part != name:
            words += markup_words(contents, part)
        elif contents.lstrip()[:1] == b"<" and part.endswith((".xml", ".rels")):
            root = ElementTree.fromstring(contents)
            # The tag of an OpenDocument cell may repeat the text that the cell shows.
            said = (item for one in root.iter() for item in one.attrib.items())
            texts = [
                "".join(root.itertext()),
                *(text for name, text in said if not name.endswith("}string-value")),
            ]
            words.update(word for text in texts for word in known_words(text))
        elif not part.endswith((".xml", ".rels")):
            words.update(known_words(re.sub(r"<[^>]*>", " ", contents.decode("utf-8", "replace"))))
    return words


_KNOWN = re.compile("|".join(sorted(leak_files.WORDS, key=len, reverse=True)), re.IGNORECASE)


def known_words(text: str) -> list[str]:
    return [word.lower() for word in _KNOWN.findall(text)]


def changed_outside(before: bytes, after: bytes) -> int:
    """Return the number of pixels that differ where no box was drawn and no value was."""
    import pikepdf
    import pypdfium2
    from PIL import ImageDraw

    old, new = pypdfium2.PdfDocument(before), pypdfium2.PdfDocument(after)
    count = 0
    with pikepdf.open(io.BytesIO(after)) as masked:
        for number, (first, second, page) in enumerate(zip(old, new, masked.pages, strict=True), 1):
            difference = unlike(*(rendered(data, number) for data in (before, after)))
            if difference.getbbox() is None:
                continue
            covered = ImageDraw.Draw(difference)
            for points in (*drawn_boxes(page), *boxes_of_values(first)):
                xs, ys = zip(*(_device(second, x, y) for x, y in points), strict=True)
                covered.rectangle((min(xs) - 2, min(ys) - 2, max(xs) + 2, max(ys) + 2), fill=0)
            count += difference.histogram()[255]
    old.close()
    new.close()
    return count


def unlike(one: Any, other: Any) -> Any:
    """Return where a pixel is darker or lighter than all pixels around it in the other picture.

    Glyphs are at quarters of a pixel: one on the boundary of two may go to either, with other
    shades.
    """
    from PIL import Image, ImageChops, ImageFilter

    found = Image.new("L", one.size)
    for first, second in ((one, other), (other, one)):
        darkest, lightest = (
            second.filter(kind(3)) for kind in (ImageFilter.MinFilter, ImageFilter.MaxFilter)
        )
        beyond = ImageChops.lighter(
            ImageChops.subtract(darkest, first), ImageChops.subtract(first, lightest)
        )
        found = ImageChops.lighter(found, beyond)
    return found.point(lambda value: 255 * (value > 64))


def rendered(data: bytes, page: int) -> Any:
    """A page by poppler: pdfium, which dlpctl itself uses, cuts fractions off the widths of glyphs."""
    from PIL import Image

    command = (
        "pdftoppm",
        "-r",
        "72",
        "-cropbox",
        "-hide-annotations",
        "-f",
        str(page),
        "-l",
        str(page),
        "-",
    )
    ran = subprocess.run(command, input=data, capture_output=True, timeout=120, check=True)
    return Image.open(io.BytesIO(ran.stdout)).convert("L")


def drawn_boxes(page: Any) -> Iterator[list[tuple[float, float]]]:
    """The boxes that masking put at the end of a page."""
    import pikepdf

    points: list[tuple[float, float]] = []
    ours = False
    for operands, operator in pikepdf.parse_content_stream(page):
        match str(operator):
            case "BMC":
                ours = str(operands[0]) == "/Artifact"
            case "EMC":
                ours = False
            case "m" | "l" if ours:
                points.append((float(operands[0]), float(operands[1])))
            case "f" if points:
                yield points
                points = []


def boxes_of_values(page: Any) -> Iterator[list[tuple[float, float]]]:
    """Return the areas of values in forms and patterns, whose boxes are not the page's."""
    text = page.get_textpage()
    for found in _FINDER.finditer(text.get_text_range()):
        for index in range(*found.span()):
            left, bottom, right, top = text.get_charbox(index, loose=True)
            room = 4 * (top - bottom)
            yield [(left - room, bottom), (right + room, top)]


def _device(page: Any, x: float, y: float) -> tuple[int, int]:
    import ctypes

    from pypdfium2 import raw

    width, height = (math.ceil(side) for side in page.get_size())
    across, down = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, across, down)
    return across.value, down.value


# ---- a file


class Judgement:
    """The results of all files together."""

    def __init__(self, opened: Files) -> None:
        self._opened = opened
        self.files: Counter[str] = Counter()
        self.planted = self.seen = 0
        self.judges: set[str] = set()
        self.leaks: list[str] = []
        self.refused: list[str] = []
        self.unclean: list[str] = []
        self.uninspected: list[str] = []
        self.pixels: dict[str, int] = {}
        self.words: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self.seconds = 0.0

    def file(self, one: Planted) -> bytes | None:
        self.files[one.producer] += 1
        self.planted += len(one.values)
        started = time.perf_counter()
        try:
            node = self._opened.open(one.data, one.name)
            self.uninspected += (
                f"{one.name}: {part.location}: {part.reason}" for part in node.uninspected()
            )
            masked = self._opened.masked(node, find)
        except FormatError as error:
            self.refused.append(f"{one.name}: {error.message}")
            return None
        result = verify(masked, one.name, one.values, find, replacements=MASKS.values())
        self.seconds += time.perf_counter() - started
        self.unclean += (f"{one.name}: {leak.location}: {leak.shown_by}" for leak in result.leaks)
        suffix = Path(one.name).suffix
        visible: set[str] = set()
        for judge, before, after in self._texts(one, masked):
            self.judges.add(judge)
            visible |= {value for value in one.values if squeezed(value) in before}
            self._judge(one, judge, [value for value in one.values if squeezed(value) in after])
        self.judges.add("bytes")
        old, new = (
            [part.lower() for part in decoded(data, one.name)] for data in (one.data, masked)
        )
        for value in one.values:
            forms = spellings(value)
            if any(form in part for part in old for form in forms):
                visible.add(value)
            self._judge(
                one, "bytes", [value] if any(form in part for part in new for form in forms) else []
            )
        self.seen += len(visible)
        self._words(one, masked, suffix)
        if (
            suffix == ".pdf"
            and shutil.which("pdftoppm")
            and (pixels := changed_outside(one.data, masked))
        ):
            self.pixels[one.name] = pixels
        return masked

    def _texts(self, one: Planted, masked: bytes) -> Iterator[tuple[str, str, str]]:
        if one.name.endswith(".pdf"):
            for (judge, before), (_, after) in zip(
                pdf_texts(one.data), pdf_texts(masked), strict=True
            ):
                yield judge, squeezed(before), squeezed(after)

    def _judge(self, one: Planted, judge: str, remaining: list[str]) -> None:
        # Not the value: a report of leaks must be none.
        self.leaks += (
            f"{one.name}: value {one.values.index(value) + 1} of {len(one.values)} by {judge}"
            for value in remaining
        )

    def _words(self, one: Planted, masked: bytes, suffix: str) -> None:
        import pdfminer.high_level

        family = "PDF" if suffix == ".pdf" else "Office"
        if family == "PDF":
            # Boxes change what an extractor takes for columns: a word is lost when both of them
            # miss it.
            before, after = (
                Counter(known_words(pdfminer.high_level.extract_text(io.BytesIO(data))))
                for data in (one.data, masked)
            )
            after |= Counter(known_words(of_program("pdftotext", "-", "-", data=masked)))
        else:
            before, after = (markup_words(data, one.name) for data in (one.data, masked))
        self.words[family] += before.total()
        lost = (before - after).total()
        self.lost[family] += lost
        if lost:
            self.lost[one.name] += lost

    def by_office(self, copies: list[tuple[Planted, bytes]], folder: Path) -> None:
        """All masked files converted to text, those of one kind in one run, and the words of them
        counted.
        """
        for suffix, target in _TEXTS.items():
            chosen = [(one, copy) for one, copy in copies if one.name.endswith(suffix)]
            sources: list[Path] = []
            for number, (one, copy) in enumerate(chosen):
                for name, data in (("before", one.data), ("after", copy)):
                    sources.append(folder / f"{name}{number}{suffix}")
                    sources[-1].write_bytes(data)
            texts = [
                self._readable(text, target)
                for text in leak_files.office(sources, target, folder)
                if sources
            ]
            for (one, _), before, after in zip(chosen, texts[::2], texts[1::2], strict=True):
                if not before.strip():
                    continue
                self.judges.add("LibreOffice")
                plain = squeezed(after)
                self._judge(
                    one, "LibreOffice", [value for value in one.values if squeezed(value) in plain]
                )
                lost = (Counter(known_words(before)) - Counter(known_words(after))).total()
                self.words["Office"] += len(known_words(before))
                self.lost["Office"] += lost
                if lost:
                    self.lost[f"{one.name} by LibreOffice"] += lost

    def _readable(self, text: bytes, target: str) -> str:
        return (
            of_program("pdftotext", "-", "-", data=text)
            if target == "pdf" and text
            else text.decode("utf-8", "replace")
        )

    def figures(self) -> dict[str, Any]:
        return {
            "files": self.files.total(),
            "producers": sorted(self.files),
            "planted": self.planted,
            "seen before": self.seen,
            "judges": sorted(self.judges),
            "leaks": len(self.leaks),
            "not clean": len(self.unclean),
            "refused": len(self.refused),
            "words": dict(self.words),
            "words lost": {name: self.lost[name] for name in ("PDF", "Office")},
            "pixels outside boxes": sum(self.pixels.values()),
            "seconds": round(self.seconds, 1),
        }

    def details(self) -> list[str]:
        lost = [
            f"{name}: {count} words lost"
            for name, count in self.lost.items()
            if name not in {"PDF", "Office"}
        ]
        pixels = [
            f"{name}: {count} pixels changed outside of boxes"
            for name, count in self.pixels.items()
        ]
        return [
            *self.leaks,
            *self.unclean,
            *self.refused,
            *lost,
            *pixels,
            *dict.fromkeys(self.uninspected),
        ]


def run(*, short: bool, keep: Path | None) -> Judgement:
    copies: list[tuple[Planted, bytes]] = []
    with tempfile.TemporaryDirectory() as name, Files() as opened:
        judgement = Judgement(opened)
        folder = Path(name)
        makers = [leak_files.made(short)]
        if not short:
            makers += [leak_files.converted(folder), leak_files.printed(folder)]
        for files in makers:
            for one in files:
                masked = judgement.file(one)
                if masked is not None:
                    copies.append((one, masked))
                if keep is not None:
                    (keep / one.name).write_bytes(one.data)
                    (keep / f"masked-{one.name}").write_bytes(masked or b"")
        if not short and shutil.which("soffice"):
            judgement.by_office(copies, folder)
    return judgement


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--short",
        action="store_true",
        help="one file of each maker, without other programs as makers",
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder for the files and their masked copies")
    chosen = parser.parse_args()
    if chosen.keep:
        chosen.keep.mkdir(parents=True, exist_ok=True)
    judgement = run(short=chosen.short, keep=chosen.keep)
    figures = judgement.figures()
    if chosen.json:
        print(json.dumps(figures))
        return
    for line in judgement.details():
        print(line, file=sys.stderr)
    for name, figure in figures.items():
        print(f"{name:22} {figure}")


if __name__ == "__main__":
    main()
