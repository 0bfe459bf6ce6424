"""A long file checked in sections and blocks has the same result as with the general code, to the
byte.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# A process of its own, since only one with a single thread forks.
_SCRIPT = r"""
import base64, io, json, os, random, sys, zipfile
from email.message import EmailMessage

import openpyxl

from dlpctl.detect import blocks
from dlpctl.detect.entities import taggers
from dlpctl.system.forked import LeaveToFork
from dlpctl.detect.engine import Detector
from dlpctl.errors import StillExposedError
from dlpctl.files import longtext, longverified
from dlpctl.files.checking import FileChecker
from dlpctl.formats.contents import FileBytes
from dlpctl.preflight import Checker
from dlpctl.policy.model import Policy
from dlpctl.types import Destination

chance = random.Random(int(sys.argv[1]))
GIVEN = "Maria James Anna Peter Jörg Amara Ingrid Zoë".split()
FAMILY = "Lopez Miller Schmidt Okafor Nowak Håkansson Brown".split()

def name():
    return f"{chance.choice(GIVEN)} {chance.choice(FAMILY)}"

def mail():
    return f"{chance.choice(GIVEN).lower()}{chance.randint(0, 9)}@{chance.choice(['acme.com', 'beta.org'])}"

def card():
    return chance.choice(["4111 1111 1111 1111", "4111-1111-1111-1111", "5500005555555559"])

def phone():
    return f"({chance.randint(201, 989)}) {chance.randint(200, 999)}-{chance.randint(0, 9999):04}"

def table():
    columns = chance.sample(["name", "email", "phone", "card", "city", "ssn", "mrn"], k=chance.randint(2, 7))
    comma, end = chance.choice([",", ";", "\t"]), chance.choice(["\n", "\r\n"])
    cell = {"name": name, "email": mail, "phone": phone, "card": card,
            "city": lambda: chance.choice(["Paris", "Springfield", '"a\nb"', f'"{name()}\n{phone()}, ""x"" "', name()]),
            "ssn": lambda: f"{chance.randint(100, 600)}-{chance.randint(10, 99)}-{chance.randint(1000, 9999)}",
            "mrn": lambda: f"{chance.randint(10**6, 10**7)}"}
    rows = [comma.join(columns)]
    rows += [comma.join(cell[one]() for one in columns) for _ in range(chance.randint(5, 60))]
    return end.join([*rows, ""])

def text():
    said = ["Please ask {} about it, or write to {}.", "{} lives at 742 Evergreen Terrace, Springfield, IL 62704. {}",
            "Nothing here", "2024-01-10 INFO user={1} done for {0}", "{1}\n{0} {1}"]
    lines = []
    for _ in range(chance.randint(5, 60)):
        value = chance.choice([mail, card, phone, name])()
        if chance.random() < 0.05:
            value = base64.b64encode(value.encode()).decode()
        lines.append(chance.choice(said).format(name(), value))
    lines += [chance.choice(FAMILY), mail().split("@")[0], card().replace(" ", "")]
    return chance.choice(["\n", "\r\n", "\n\n"]).join(lines)

def values():
    return [chance.choice([mail, card, phone, name])() for _ in range(chance.randint(5, 60))]

def settings():
    return "\n".join(f'key{number} = "{value}"' for number, value in enumerate(values()))

def objects():
    made = [{chance.choice(["owner", "note"]): value, "said": text()[:40]} for value in values()]
    return json.dumps(made, indent=chance.choice([None, 1]), ensure_ascii=chance.random() < 0.5)

def workbook():
    book = openpyxl.Workbook()
    for number in range(chance.randint(1, 2)):
        sheet = book.create_sheet(chance.choice(["people", name(), f"part {number}"]) + str(number))
        for line in table().splitlines():
            sheet.append(line.split(next((mark for mark in ",;\t" if mark in line), ",")))
        for _ in range(chance.randint(0, 2)):
            value = mail()
            sheet.append([chance.choice([f'="{value}"', f"{name()} {value}", 12345678, name()])])
    output = io.BytesIO()
    book.save(output)
    return output.getvalue()

def message():
    made = EmailMessage()
    made["From"], made["To"] = f"{name()} <{mail()}>", mail()
    made["Subject"] = chance.choice(["hello", name(), phone()])
    for number in range(chance.randint(0, 30)):
        made[f"X-{chance.choice(['Note', 'Said', 'Card'])}-{number % 7}"] = chance.choice([mail, card, phone, name])()
    made.set_content(text().replace("\r", ""))
    if chance.random() < 0.5:
        made.add_attachment(table().encode(), maintype="text", subtype="csv", filename="a.csv")
    return made.as_bytes()

def archive():
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as made:
        for number in range(chance.randint(1, 5)):
            suffix, contents = chance.choice([("csv", table), ("txt", text)])
            made.writestr(f"{chance.choice(['a', name()])}{number}.{suffix}", contents())
    return output.getvalue()

def encoded(text):
    codec = chance.choice(["utf-8"] * 5 + ["utf-8-sig", "latin-1", "utf-16"])
    return text.encode(codec, "replace")

TEXTS = [(table, "a.csv"), (table, "a.csv"), (text, "a.log"), (text, "a.txt")]
TEXTS += [(settings, "a.toml"), (settings, "a.ini"), (objects, "a.json")]
FILES = {"texts": TEXTS, "files": [(workbook, "a.xlsx"), (message, "a.eml"), (archive, "a.zip")]}[sys.argv[3]]

os.sched_getaffinity = lambda _: {0, 1, 2}
taggers._WINDOW = 1 << 11
blocks.LEAST_BYTES = 1
detector = Detector()
taken, different = 0, []

def told(report):
    if report is None:
        return None
    answer = report.to_dict()
    for key in ("preflight_id", "created_at"):
        del answer[key]
    return answer, report.masked, [tuple(one) for one in report.report.findings], report.pages

def run(checking, how, data, name):
    try:
        return told(getattr(checking, how)(data, name))
    except StillExposedError as problem:
        return problem.message

general = longtext.LongText.of
def counted(*args):
    global taken
    made = general(*args)
    taken += made is not None
    searched.append(made)
    return made
longtext.LongText.of = counted

parent, searched, read = os.getpid(), [], longverified.Copy.read
def read_alone(self, **how):
    if os.getpid() != parent and searched[-1].text:
        print("the process that reads the copy has the original too", file=sys.stderr)
    return read(self, **how)
longverified.Copy.read = read_alone

BOTH = [destination.value for destination in Destination]
MIXED = Policy.from_dict({"name": "mixed", "rules": [
    {"id": "allowed", "dataTypes": ["phone-labelled", "PHI"], "destinations": BOTH, "action": "ALLOW"},
    {"id": "removed", "dataTypes": ["phone-north-america"], "destinations": BOTH, "action": "MASK", "masking": "remove"},
    {"id": "masked", "dataTypes": ["EMAIL", "FINANCIAL", "PERSON_NAME"], "destinations": BOTH, "action": "MASK"},
]})

for number in range(int(sys.argv[2])):
    longtext.BLOCK = chance.choice([100, 400])
    policy = chance.choice([Policy.builtin(), Policy.builtin(), MIXED])
    make, file = chance.choice(FILES)
    data = make()
    data = encoded(data) if isinstance(data, str) else data
    how = chance.choice(["check", "mask"])
    operator = chance.choice([None, "redact", "remove", "hash", "surrogate", "token", 'replace:a,"b"'])
    destination = chance.choice(list(Destination))
    def checking():
        return FileChecker(Checker(detector, policy, destination, operator=operator, key=b"k" * 32))
    detector.leave, longtext.LONG = None, 1 << 60
    alone = run(checking(), how, data, file)
    detector.leave, longtext.LONG = LeaveToFork(), 1
    together = run(checking(), how, FileBytes(data), file)
    if alone != together:
        different.append(number)
        if len(sys.argv) > 4:
            print(file, how, operator, destination, data, alone, together, sep="\n")
print(json.dumps({"different": different, "taken": taken}))
"""


def compared(seed: int, files: int, formats: str = "texts") -> dict[str, object]:
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(seed), str(files), formats],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=Path(__file__).parent,
    )
    assert not ran.stderr, ran.stderr
    seen: dict[str, object] = json.loads(ran.stdout)
    return seen


def test_a_long_text_is_masked_as_any_other() -> None:
    seen = compared(0, 18)
    assert seen["different"] == []
    assert seen["taken"]


def test_a_long_file_is_masked_as_any_other() -> None:
    seen = compared(20, 3, "files")
    assert seen["different"] == []
    assert seen["taken"]


@pytest.mark.slow
@pytest.mark.parametrize("formats", ["texts", "files"])
@pytest.mark.parametrize("seed", range(10, 16))
def test_many_long_texts_are_masked_as_any_other(seed: int, formats: str) -> None:
    assert compared(seed, 60, formats)["different"] == []
