"""Unknown binaries: strings are searched for secrets alone, and each counts as not inspected."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.files.finding import search_document
from dlpctl.formats import binary
from dlpctl.formats.files import Files
from dlpctl.policy.model import Policy
from dlpctl.preflight import Checker
from dlpctl.scan.content import Examiner
from dlpctl.scan.results import Result, Skip, Why
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection
from dlpctl.texts.binaries import strings_of
from dlpctl.types import Destination

SECRET = "postgres://admin:Xk29vQpLw81z@db.acme.io/prod"
PERSONAL = (
    "Dear Mr. Peter Miller, jane.roe@acme.io, +1 415 555 2671, SSN 536-90-4399, 4111 1111 1111 1111"
)
ELF = b"\x7fELF\2\1\1\0\0\0"
KINDS = {
    "program or library (ELF)": ELF,
    "program or library (PE)": b"MZ" + bytes(58) + struct.pack("<L", 64) + b"PE\0\0",
    "program or library (Mach-O)": b"\xcf\xfa\xed\xfe\7\0\0\1",
    "program (WebAssembly)": b"\0asm\1\0\0\0",
    "compiled Python": b"\xa7\r\r\n\0\0\0\0",
    "database (Access)": b"\0\1\0\0Standard Jet DB\0",
    "HEIC film (save its pictures as JPEG or PNG)": b"\0\0\0\x18ftyphevc",
    "medical picture (DICOM)": bytes(128) + b"DICM\2\0",
    "binary file of unknown format": b"\1\2\3\0\0\0\4",
}


def scanned(detector: Detector, *names: str) -> tuple[list[Result], list[Skip], Scan]:
    one = Scan(Examiner(detector, 0.5, AllowList()), Selection(), jobs=1)
    found = list(one.files(names))
    return (
        [each for each in found if isinstance(each, Result)],
        [each for each in found if isinstance(each, Skip)],
        one,
    )


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_only_secrets_are_looked_for(library: Detector, kind: str) -> None:
    Path("a").write_bytes(
        KINDS[kind] + f"\0{PERSONAL}\0\0{SECRET}\0".encode() + b"\0\xff\xfe\1" * 9
    )
    results, skips, done = scanned(library, "a")
    assert [one.category for one in results] == ["SECRETS"]
    assert results[0].inner == f"byte {Path('a').read_bytes().index(b'Xk29'):,}"
    assert skips == [Skip("a", Why.BINARY, f"{kind}: only its strings were searched, for secrets")]
    assert (done.summary.files, done.summary.failures) == (1, 0)


def test_only_secrets_are_looked_for_in_large_binaries(library: Detector) -> None:
    Path("a").write_bytes(ELF + bytes(17 << 20) + f"\0{PERSONAL}\0\0{SECRET}\0".encode())
    results, skips, _ = scanned(library, "a")
    assert [one.category for one in results] == ["SECRETS"]
    assert [one.why for one in skips] == [Why.BINARY]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_strings_of_windows_programs_are_searched(library: Detector, encoding: str) -> None:
    Path("a.exe").write_bytes(b"MZ\x90\0\3\0\xff\xff" + SECRET.encode(encoding) + bytes(99))
    results, _, _ = scanned(library, "a.exe")
    assert [one.category for one in results] == ["SECRETS"]


@pytest.mark.parametrize("before", [0, 17 << 20], ids=["whole", "in parts"])
def test_a_value_ends_with_its_string(library: Detector, before: int) -> None:
    parts = (b"pw=", b"O|", b"x!g", b"A*q", b"1u<", b"pw=k8Zq!x27Lw", b"x!g", b"A*q")
    Path("a").write_bytes(ELF + bytes(before) + b"\0".join(parts) + bytes(99))
    results, _, _ = scanned(library, "a")
    start = len(ELF) + before + len(b"\0".join(parts[:5])) + len(b"\0pw=")
    assert [(one.start, one.end) for one in results] == [(start, start + 10)]


def test_a_label_hides_no_key_in_a_later_string(library: Detector) -> None:
    key = b"ghp_" + b"a8Kd0Qm2Zx7Lp4Rt9Vb3Nc6Yw1Hs5Jf8GeTu"
    Path("a").write_bytes(ELF + b"\0".join((b"password=", b"ab", key)) + bytes(99))
    results, _, _ = scanned(library, "a")
    start = len(ELF) + len(b"password=\0ab\0")
    assert [(one.start, one.end) for one in results] == [(start, start + len(key))]
    checked = Checker(library, Policy.builtin(), Destination.VENDOR)
    with Files() as files:
        document = files.open(Path("a").read_bytes(), "a").document
    found = search_document(document, checked)
    assert [piece for one in found for piece in one.pieces] == [(0, start, start + len(key))]
    assert document.place_of(0, start) == f"byte {start:,}"


def test_a_symbol_after_a_word_for_a_password_is_none(library: Detector) -> None:
    names = b"PQchangePassword", b"PyObject_RichCompare", b"PyUnicode_Compare", b"__finite"
    Path("a").write_bytes(ELF + b"\0".join(names) + bytes(99))
    assert scanned(library, "a")[0] == []


def test_strings_keep_the_length() -> None:
    for data in (b"", b"\0", b"ab\0cd\xff", "a long string".encode("utf-16-le") + b"\1"):
        assert len(strings_of(data)) == len(data)
    assert strings_of(b"\1\2ab\r\n\0c\xff") == b"\x1a\x1aab\r\n\x1ac\x1a"
    for encoding in ("utf-16-le", "utf-16-be"):
        strings = strings_of(b"\xff\1" + "secret value".encode(encoding) + b"\xff")
        assert strings.strip(b"\x1a") == b"secret value"


def test_a_search_for_other_types_finds_nothing_in_binaries(library: Detector) -> None:
    Path("a").write_bytes(ELF + f"\0{PERSONAL}\0{SECRET}\0".encode())
    results, skips, _ = scanned(library.for_types(["EMAIL"]), "a")
    assert (results, [one.why for one in skips]) == ([], [Why.BINARY])


def test_the_reason_of_a_blank_file_is_none() -> None:
    assert binary.reason(bytes(100)) == ""
