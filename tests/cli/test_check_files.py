"""Files of every format on the command line: decided, masked next to the original, verified, and no
value shown.
"""

from __future__ import annotations

import base64
import email
import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from email.message import EmailMessage
from pathlib import Path

import openpyxl
import pytest

MAIL, SSN, CARD = "maria.lopez@corp-mail.com", "536-90-4399", "4111 1111 1111 1111"
VALUES = (MAIL, SSN, CARD, SSN.replace("-", ""), CARD.replace(" ", ""))


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Fail if a temporary file is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


def pdf(*pages: str, **settings: object) -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, **settings)
    for page in pages:
        for number, line in enumerate(page.splitlines()):
            canvas.drawString(60, 780 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def docx() -> bytes:
    from docx import Document

    document = Document()
    paragraph = document.add_paragraph("Write to maria.")
    paragraph.add_run("lopez@corp-").bold = True
    paragraph.add_run("mail.com today")
    document.sections[0].header.paragraphs[0].text = f"Card {CARD}"
    return saved(document)


def xlsx() -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "Staff"
    book.active.append(["name", "ssn", "order"])
    book.active.append(["n", int(SSN.replace("-", "")), 123456789])
    return saved(book)


def pptx() -> bytes:
    from pptx import Presentation

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.placeholders[1].text = f"Ask {MAIL}"
    slide.notes_slide.notes_text_frame.text = f"SSN {SSN}"
    return saved(deck)


def saved(document) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def eml() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", MAIL, "Offer"
    message.set_content(f"SSN {SSN}\n")
    message.add_attachment(
        pdf(f"card {CARD}"), maintype="application", subtype="pdf", filename="offer.pdf"
    )
    return message.as_bytes()


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in members.items():
            archive.writestr(name, contents)
    return buffer.getvalue()


def png() -> bytes:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (900, 160), "white")
    ImageDraw.Draw(image).text((20, 50), f"Mail {MAIL} SSN {SSN}", fill="black", font_size=36)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


FILES = {
    "a.pdf": (lambda: pdf("nothing", f"Mail {MAIL}\nSSN {SSN}"), ["at page 2"]),
    "a.docx": (docx, ["word/header1.xml", "word/document.xml, paragraph 1"]),
    "a.xlsx": (xlsx, ["at Staff!B2"]),
    "a.pptx": (pptx, ["at slide 1"]),
    "a.eml": (eml, ["header To", "offer.pdf > page 1"]),
    "a.zip": (
        lambda: zipped(**{f"{MAIL}.txt": SSN.encode(), "b.csv": b"x,y\n1,2\n"}),
        ["[EMAIL].txt > line 1"],
    ),
    "a.csv": (lambda: b"name,ssn,order\nn,536904399,123456789\n", ["at line 2"]),
    "a.json": (lambda: json.dumps({"card": int(CARD.replace(" ", ""))}).encode(), ["at line 1"]),
    "a.html": (lambda: f"<p>\n<b>maria</b>.lopez@corp-mail.com {SSN}".encode(), ["at line 2"]),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_decided_and_its_masked_copy_is_next_to_it(dlpctl, name):
    make, places = FILES[name]
    data = make()
    Path(name).write_bytes(data)
    result = dlpctl("check", name, "-d", "VENDOR")
    assert (result.status, result.err) == (10, "")
    assert result.out.startswith(f"ALLOWED_WITH_MASKING  {name}  Masked ")
    for place in places:
        assert place in result.out
    masked = f"a.masked{Path(name).suffix}"
    assert f"masked copy: {masked}" in result.out
    assert "re-read by two extractors" in result.out
    assert ", 0 of " in result.out
    assert not any(value in result.out for value in VALUES)
    assert Path(name).read_bytes() == data
    assert sorted(path.name for path in Path().iterdir()) == sorted([name, masked])
    again = dlpctl("check", masked, "-d", "VENDOR")
    assert again.status == 0, again.out


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "written", ["boundary={}", 'charset=x;\n boundary="{}"', 'Boundary = "{}"; type="text/html"']
)
def test_a_boundary_with_a_value_is_replaced_in_the_masked_copy(dlpctl, written, newline):
    inner, outer = f"a={SSN}", f"part={CARD.replace(' ', '')}"
    Path("a.eml").write_bytes(
        (
            f"Subject: parts\nContent-Type: multipart/mixed; {written.format(outer)}\nMIME-Version: 1.0\n\n"
            f"--{outer}\nContent-Type: multipart/alternative; {written.format(inner)}\n\n"
            f"--{inner}\n\nSSN {SSN}\n--{inner}\nContent-Type: text/html\n\n<p>kept</p>\n--{inner}--\n"
            f"--{outer}\n\nlast\n--{outer}--\n"
        )
        .replace("\n", newline)
        .encode()
    )
    assert dlpctl("check", "a.eml", "-d", "VENDOR").status == 10
    data = Path("a.masked.eml").read_bytes()
    assert not any(value.encode() in data for value in (SSN, CARD.replace(" ", "")))
    message = email.message_from_bytes(data)
    assert [part.get_content_type() for part in message.walk()] == [
        "multipart/mixed", "multipart/alternative", "text/plain", "text/html", "text/plain",
    ]  # fmt: skip
    assert [part.get_payload().strip() for part in message.walk() if not part.is_multipart()][
        1:
    ] == [
        "<p>kept</p>",
        "last",
    ]
    assert not message.defects


@pytest.mark.parametrize("written", ["{}", "<p>{}</p>"])
def test_a_name_that_is_a_word_or_part_of_an_address_is_removed(dlpctl, written):
    name = "a.html" if "<" in written else "a.txt"
    Path(name).write_text(
        written.format(
            "Grace Lee called. Grace asked about the grace period. Ms. Lopez wrote from maria@Lopez.com; "
            "by Anna Lopez3 min read. Please ask Anna Lopez."
        )
    )
    assert dlpctl("mask", name, "-o", f"masked.{name}").status == 0
    masked = Path(f"masked.{name}").read_text()
    assert "the grace period" in masked
    assert "3 min read" in masked
    assert not any(part in masked for part in ("Grace", "Lee", "Lopez", "Anna"))


@pytest.mark.skipif(not shutil.which("tesseract"), reason="tesseract is not installed")
def test_a_picture_is_read_and_painted_over(dlpctl):
    Path("a.png").write_bytes(png())
    result = dlpctl("check", "a.png", "-d", "VENDOR")
    assert result.status == 10
    assert dlpctl("check", "a.masked.png", "-d", "VENDOR").status == 0


def test_several_files_each_decided_and_the_worst_is_the_status(dlpctl):
    Path("a.pdf").write_bytes(pdf(f"Mail {MAIL}"))
    Path("b.csv").write_bytes(b"a,b\n1,2\n")
    Path("c.pdf").write_bytes(b"%PDF-1.7 damaged")
    result = dlpctl("check", "a.pdf", "b.csv", "c.pdf", "-d", "VENDOR")
    assert result.status == 20
    decisions = [line.split()[:2] for line in result.out.splitlines() if not line.startswith(" ")]
    assert decisions == [
        ["ALLOWED_WITH_MASKING", "a.pdf"],
        ["ALLOWED", "b.csv"],
        ["BLOCKED", "c.pdf"],
    ]
    assert not Path("c.masked.pdf").exists()
    answers = json.loads(dlpctl("check", "a.pdf", "b.csv", "c.pdf", "-f", "json").out)
    assert [one["file"] for one in answers] == ["a.pdf", "b.csv", "c.pdf"]
    assert [one["masked_file"] for one in answers] == ["a.masked.pdf", None, None]


def test_json_has_findings_coverage_and_verification(dlpctl):
    Path("a.csv").write_bytes(b"name,ssn\nn,536904399\n")
    answer = json.loads(dlpctl("check", "a.csv", "-d", "VENDOR", "-f", "json").out)
    assert answer["findings"] == [
        {
            "type": "SSN",
            "category": "PII",
            "place": "line 2",
            "score": 0.9,
            "pattern_id": "us-ssn-bare",
        }
    ]
    assert answer["coverage"] == {
        "format": "csv",
        "files": 1,
        "texts": 1,
        "characters": 21,
        "not_inspected": [],
        "notes": [],
    }
    assert (answer["verification"]["values"], answer["verification"]["remaining"]) == (1, 0)
    assert answer["masked_file"] == "a.masked.csv"
    assert "masked_content" not in answer


BLOCKED = {
    "encrypted": ("a.pdf", lambda: pdf(f"Mail {MAIL}", encrypt="secret"), {}, "encrypted"),
    "damaged": ("a.docx", lambda: docx()[:2000], {}, "damaged"),
    "too large": (
        "a.csv",
        lambda: b"x" * 2000,
        {"LIMITS_INPUT_BYTES": "1000"},
        "limits.input_bytes",
    ),
    "too deep": ("a.zip", lambda: zipped(a=zipped(b=b"x")), {"LIMITS_DEPTH": "1"}, "limits.depth"),
    "too many pages": (
        "a.pdf",
        lambda: pdf("x", "y"),
        {"LIMITS_PDF_PAGES": "1"},
        "more than 1 pages",
    ),
    "too slow": (
        "a.pdf",
        lambda: pdf(*["some words\n" * 50] * 100),
        {"LIMITS_SECONDS": "0.1"},
        "limits.seconds",
    ),
    "unknown": (
        "a.bin",
        lambda: b"\0\1\2 " + MAIL.encode() + b"\0\1",
        {},
        "1 part not inspected: binary file of unknown format",
    ),
    "not inspected": (
        "a.rar",
        lambda: b"Rar!\x1a\x07\x01\0",
        {},
        "1 part not inspected: RAR archive",
    ),
}


@pytest.mark.parametrize("what", BLOCKED)
def test_content_that_cannot_be_read_or_masked_reliably_is_blocked_with_the_reason(
    dlpctl, monkeypatch, what
):
    name, make, settings, reason = BLOCKED[what]
    for setting, value in settings.items():
        monkeypatch.setenv(f"DLPCTL_{setting}", value)
    Path(name).write_bytes(make())
    result = dlpctl("check", name, "-d", "VENDOR")
    assert (result.status, result.err) == (20, "")
    assert result.out.startswith(f"BLOCKED  {name}  Blocked for VENDOR: ")
    assert reason in result.out
    assert MAIL not in result.out
    assert [path.name for path in Path().iterdir()] == [name]
    masking = dlpctl("mask", name, "-o", "out")
    assert masking.status == 20
    assert masking.err.count("\n") == 1
    assert not Path("out").exists()


def test_blocked_content_has_no_copy_unless_masked_explicitly(dlpctl):
    key = "AKIA" + "QWERTYUIOPASDFGH"[:16]
    Path("a.json").write_text(json.dumps({"password": "hunter2-Secret!9", "key": key}))
    assert dlpctl("check", "a.json", "-d", "VENDOR").status == 20
    result = dlpctl("mask", "a.json", "--operator", "redact")
    assert result.status == 0
    assert "hunter2" not in result.out
    json.loads(result.out)


def test_passwords_come_from_the_environment_a_file_or_a_prompt(dlpctl, monkeypatch):
    Path("a.pdf").write_bytes(pdf(f"Mail {MAIL}", encrypt="secret"))
    Path("password").write_text("secret\n")
    assert dlpctl("check", "a.pdf", "--password-file", "password").status == 10
    monkeypatch.setenv("DLPCTL_PASSWORD", "secret")
    assert dlpctl("check", "a.pdf").status == 10
    monkeypatch.setenv("DLPCTL_PASSWORD", "wrong")
    assert "password" in dlpctl("check", "a.pdf").out
    assert dlpctl("check", "a.pdf", "--password").status == 2
    assert dlpctl("check", "a.pdf", "--password-file", "missing").status == 1


def test_nothing_is_overwritten_without_force(dlpctl):
    Path("a.csv").write_bytes(b"name,ssn\nn,536904399\n")
    assert dlpctl("check", "a.csv", "-d", "VENDOR").status == 10
    assert dlpctl("check", "a.csv", "-d", "VENDOR").status == 10, (
        "the copy that is there is the same"
    )
    Path("a.masked.csv").write_text("mine")
    result = dlpctl("check", "a.csv", "-d", "VENDOR")
    assert result.status == 1
    assert "ALLOWED_WITH_MASKING" in result.out
    assert "exists" in result.err
    assert Path("a.masked.csv").read_text() == "mine"
    assert dlpctl("check", "a.csv", "-d", "VENDOR", "--force").status == 10
    assert Path("a.masked.csv").read_text() != "mine"
    for command in ("check", "mask"):
        assert dlpctl(command, "a.csv", "-d", "VENDOR", "-o", "a.csv").status == 1
    assert dlpctl("check", "a.csv", "-d", "VENDOR", "-o", "own.csv").status == 10
    assert "536904399" not in Path("own.csv").read_text()


@pytest.mark.parametrize(
    ("name", "target", "other"),
    [
        ("a.heic", "copy.png", ".heic"),
        ("a.docx", "copy.pdf", ".docx"),
        ("a.docx", "copy.txt", ".docx"),
        ("a.docx", "copy.docm", ".docx"),
        ("a.csv", "copy.xlsx", ".csv"),
        ("a.txt", "copy.jpg", ".txt"),
        ("a.csv", "copy.txt", ""),
        ("a.docx", "copy.zip", ""),
        ("a.txt", "copy.json", ""),
        ("a.txt", "copy.new", ""),
    ],
)
def test_the_extension_of_a_copy_names_the_format_of_the_copy(dlpctl, name, target, other):
    photo = Path(__file__).parent.parent / "formats" / "phone.heic"
    data = photo.read_bytes() if name == "a.heic" else docx() if name == "a.docx" else b"a,b\n1,2\n"
    Path(name).write_bytes(data)
    for command in ("check", "mask"):
        result = dlpctl(command, name, "-o", target, "--force")
        refused = f"dlpctl: {target}: a copy keeps its format, and this one is not"
        assert result.err.startswith(refused) == bool(other)
        assert result.err.endswith(f": name a file that ends with {other}\n") == bool(other)
        assert Path(target).exists() != bool(other)


def test_the_name_of_the_file_is_shown_without_the_value_in_it(dlpctl):
    Path(f"{MAIL}.csv").write_bytes(b"name,ssn\nn,536904399\n")
    result = dlpctl("check", f"{MAIL}.csv", "-d", "VENDOR")
    assert result.status == 10
    assert MAIL not in result.out
    assert Path("[EMAIL].masked.csv").exists()


def test_uninspected_parts_can_be_accepted(dlpctl, monkeypatch):
    Path("a.zip").write_bytes(
        zipped(**{"a.txt": SSN.encode() + b" ssn", "b.rar": b"Rar!\x1a\x07\x01\0"})
    )
    assert dlpctl("check", "a.zip", "-d", "VENDOR").status == 20
    result = dlpctl("check", "a.zip", "-d", "VENDOR", "--on-uninspected", "warn")
    assert result.status == 10
    assert "1 part not inspected: RAR archive" in result.out
    monkeypatch.setenv("DLPCTL_ON_UNINSPECTED", "warn")
    assert dlpctl("check", "a.zip", "-d", "VENDOR", "--force").status == 10
    assert dlpctl("check", "a.zip", "--on-uninspected", "ignore").status == 2
    assert dlpctl("check", "a.zip", "--metadata", "drop").status == 2


def test_pages_are_drawn_where_asked(dlpctl, monkeypatch):
    Path("a.zip").write_bytes(zipped(**{"a.pdf": pdf(""), "b.rar": b"Rar!\x1a\x07\x01\0"}))
    tried = "flattening does not help: 1 part not inspected: RAR archive"
    assert tried in dlpctl("check", "a.zip", "-d", "VENDOR", "--flatten").out
    monkeypatch.setenv("DLPCTL_FLATTEN", "true")
    assert tried in dlpctl("check", "a.zip", "-d", "VENDOR").out


def test_pages_that_changed_are_drawn_before_and_after(dlpctl):
    Path("a.pdf").write_bytes(pdf("nothing", f"Mail {MAIL}"))
    result = dlpctl("check", "a.pdf", "-d", "VENDOR", "--before-after", "look")
    assert "2 pictures in look" in result.out
    before, after = (Path(f"look/a.page-2.{when}.png").read_bytes() for when in ("before", "after"))
    assert before.startswith(b"\x89PNG")
    assert before != after
    assert len(list(Path("look").iterdir())) == 2


def test_mask_writes_any_format_to_stdout_too(piped):
    done = piped("mask", "-d", "VENDOR", stdin=pdf(f"Mail {MAIL}"))
    assert done.returncode == 0
    assert done.stdout.startswith(b"%PDF-")
    assert piped("check", "-d", "VENDOR", stdin=done.stdout).returncode == 0


def test_a_file_within_a_plain_text_is_masked(dlpctl):
    Path("a.log").write_bytes(b"got " + base64.b64encode(gzip.compress(f"SSN {SSN}".encode())))
    assert dlpctl("check", "a.log", "-d", "VENDOR", "-o", "b.log").status == 10
    run = Path("b.log").read_bytes().split()[1]
    assert gzip.decompress(base64.b64decode(run)) == b"SSN ***-**-" + SSN[-4:].encode()


def test_tokens_of_a_vault_are_written_into_a_file(dlpctl):
    Path("a.csv").write_bytes(b"name,ssn\nn,536904399\n")
    assert (
        dlpctl("mask", "a.csv", "--vault", "v", "-o", "b.csv", "--stats").err
        == "dlpctl: masked 1 value: 1 SSN\n"
    )
    assert Path("b.csv").read_text() == "name,ssn\nn,<SSN_1>\n"
    assert dlpctl("unmask", "b.csv", "--vault", "v").out == "name,ssn\nn,536904399\n"


def test_rules_that_count_apply_to_all_files_within_a_file(dlpctl):
    members = {f"{number}.txt": f"person{number}@corp{number}.com".encode() for number in range(4)}
    Path("a.zip").write_bytes(zipped(**members))
    for least, status in ((4, 10), (5, 0)):
        rule = f'name = "m"\ndataTypes = ["EMAIL"]\ndestinations = ["VENDOR"]\naction = "MASK"\nminCount = {least}\n'
        Path("p.toml").write_text(f'name = "p"\n[[rules]]\n{rule}')
        assert dlpctl("check", "a.zip", "-p", "p.toml", "-d", "VENDOR").status == status


def test_a_value_that_repeats_without_its_label_is_masked_too(dlpctl):
    Path("a.zip").write_bytes(
        zipped(**{"a.txt": b"SSN 536904399", "b.txt": b"ref 536904399 again"})
    )
    assert dlpctl("check", "a.zip", "-d", "VENDOR").status == 10
    with zipfile.ZipFile("a.masked.zip") as archive:
        assert b"536904399" not in archive.read("b.txt")


def test_scan_lists_what_is_in_a_document(dlpctl):
    Path("a.xlsx").write_bytes(xlsx())
    result = dlpctl("scan", "a.xlsx", "--types", "SSN")
    assert "Staff!B2" in result.out
    assert "*****4399" in result.out


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_worker_and_removes_its_files(temporary, wait_for, number, status):
    Path("a.pdf").write_bytes(pdf(*(f"Mail {MAIL}\n" * 40 for _ in range(40))))
    command = [sys.executable, "-m", "dlpctl", "check", "a.pdf", "-d", "VENDOR"]
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_for(lambda: list(temporary.iterdir()))
        process.send_signal(number)
        process.communicate(timeout=300)
        assert process.returncode == status
    assert not list(temporary.iterdir())
    assert [path.name for path in Path().iterdir()] == ["a.pdf"]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_next_start_removes_the_files_of_a_killed_process(temporary, wait_for):
    Path("a.pdf").write_bytes(pdf(*(f"Mail {MAIL}\n" * 40 for _ in range(40))))
    command = [sys.executable, "-m", "dlpctl", "check", "a.pdf", "-d", "VENDOR"]
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: list(temporary.iterdir()))
        process.kill()
        process.communicate(timeout=300)
    assert len(list(temporary.iterdir())) == 1
    Path("b.txt.gz").write_bytes(gzip.compress(b"nothing"))
    command[4] = "b.txt.gz"
    subprocess.run(command, env=environment, capture_output=True, check=True, timeout=300)
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    "command",
    [["mask", "in.txt"], ["check", "in.txt"], ["scan", "in.txt"], ["mask"], ["check", "-"]],
)
def test_plain_text_imports_no_format(command):
    Path("in.txt").write_text("write to a@example.com\n")
    code = "import sys; from dlpctl.cli.main import run; run(sys.argv[1:]); sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        input="x",
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    imported = {name for name in done.stderr.split() if name.startswith("dlpctl.formats")}
    assert imported <= {
        "dlpctl.formats",
        "dlpctl.formats.quickcheck",
        "dlpctl.formats.recognition",
    }


def test_the_library_checks_and_masks_files():
    from dlpctl import Decision, check_file, mask_file

    Path("a.csv").write_bytes(b"name,ssn\nn,536904399\n")
    report = check_file("a.csv", "VENDOR")
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert b"536904399" not in (report.masked or b"536904399")
    mask_file("a.csv", "b.csv", operator="redact")
    assert Path("b.csv").read_text() == "name,ssn\nn,[SSN]\n"


def test_a_sheet_that_is_named_by_an_address_is_masked(dlpctl):
    workbook = openpyxl.Workbook()
    workbook.active.title = MAIL
    workbook.active["A1"] = "kept"
    workbook.save("a.xlsx")
    result = dlpctl("check", "a.xlsx", "-d", "VENDOR")
    assert result.status == 10
    (name,) = openpyxl.load_workbook("a.masked.xlsx").sheetnames
    assert "@" not in name


SIGNAL_IN_CALLBACK = """
import os, signal, sys, weakref

class Thing:
    pass

class Signalling:
    def find_spec(self, name, path=None, target=None):
        if name == "dlpctl.formats.archive":
            thing = Thing()
            self.watch = weakref.ref(thing, lambda _: os.kill(os.getpid(), NUMBER))

sys.meta_path.insert(0, Signalling())
from dlpctl.__main__ import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_command_even_where_python_drops_its_exception(number):
    Path("a.zip").write_bytes(zipped(**{"a.txt": b"SSN 536904399"}))
    program = SIGNAL_IN_CALLBACK.replace("NUMBER", str(int(number)))
    ended = subprocess.run(
        [sys.executable, "-c", program, "check", "a.zip", "-d", "VENDOR"],
        capture_output=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + number, b"", b"")
