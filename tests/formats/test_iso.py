"""Images of discs: files and names in every tree, also where a masked file no longer fits."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from isowriter import BLOCK, ROOT, image, record

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.interface import Document, Edit, Limits

ISO = format_named("iso")


def read(data: bytes) -> Document:
    return ISO.extract(data, Limits())


def texts(document: Document) -> list[str]:
    return [segment.text for segment in document.segments]


def test_a_file_is_read_once_by_its_long_name() -> None:
    document = read(image({"first file.txt": b"one", "second.csv": b"x" * 5000}))
    assert [(child.name, len(child.data)) for child in document.children] == [
        ("first file.txt", 3),
        ("second.csv", 5000),
    ]
    assert {"FILE0.TXT;1", "first file.txt", "A DISC"} <= set(texts(document))


@pytest.mark.parametrize("size", [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_a_file_of_another_size_is_in_every_tree(size: int) -> None:
    data = image({"a.txt": b"old" * 99, "b.txt": b"kept"})
    copy = ISO.mask(data, read(data), [], {"0": b"n" * size})
    after = read(copy)
    contents = {child.name: child.data for child in after.children}
    assert contents.get("a.txt", b"") == b"n" * size
    assert contents["b.txt"] == b"kept"
    assert b"old" not in copy
    assert struct.unpack_from("<I", copy, 16 * BLOCK + 80)[0] * BLOCK == len(copy)


def test_a_masked_name_is_gone_from_every_tree() -> None:
    data = image({"john smith.txt": b"x", "b.txt": b"y"})
    document = read(data)
    edits = [
        Edit(number, 0, 10, "J. S.")
        for number, text in enumerate(texts(document))
        if text == "john smith.txt"
    ]
    copy = ISO.mask(data, document, edits, {})
    assert len(edits) == 2
    assert b"john" not in copy
    assert "john".encode("utf-16-be") not in copy
    assert [child.name for child in read(copy).children] == ["J. S._____.txt", "b.txt"]


def test_bytes_outside_of_files_are_read_and_removed() -> None:
    data = bytearray(image({"a.txt": b"x"}))
    data[100:105] = b"words"
    data += b"more words"
    (_, slack) = read(bytes(data)).children
    assert (slack.key, slack.spare, slack.data.split()) == (
        "slack",
        True,
        [b"words", b"more", b"words"],
    )
    assert b"words" not in ISO.mask(bytes(data), read(bytes(data)), [], {"slack": None})


def test_a_udf_file_system_is_not_inspected() -> None:
    (part,) = read(image({"a.txt": b"x"}, udf=True)).uninspected
    assert part.location == "UDF"


def damaged(at: int, written: bytes) -> bytes:
    data = bytearray(image({"a.txt": b"x"}))
    data[at : at + len(written)] = written
    return bytes(data)


FOLDER = ROOT * BLOCK
HOSTILE = {
    "cut off": lambda: image({"a.txt": b"x" * 5000})[:-BLOCK],
    "of a header": lambda: image({})[: 16 * BLOCK + 99],
    "a folder after its end": lambda: damaged(16 * BLOCK + 156 + 2, b"\xff\xff"),
    "blocks of no size": lambda: damaged(16 * BLOCK + 128, b"\0\0"),
    "a record longer than its block": lambda: damaged(FOLDER + 68, b"\xff" * 40),
    "interleaved": lambda: damaged(FOLDER + 68 + 26, b"\1"),
    "a file of several parts without the last": lambda: damaged(FOLDER + 68 + 25, b"\x80"),
    "too many entries": lambda: image({f"{number}": b"" for number in range(9)}),
}  # fmt: skip


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_image_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(FormatError):
        ISO.extract(make(), Limits(entries=15))


def test_a_folder_in_itself_is_read_once() -> None:
    data = damaged(FOLDER + 68, record(b"LOOP", ROOT, BLOCK, 2) + bytes(60))
    assert len(read(data).children) == 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("xorriso") is None, reason="xorriso is not installed")
def test_an_image_of_xorriso_is_masked_for_xorriso(tmp_path: Path) -> None:
    tree = tmp_path / "tree" / "a folder of a long name"
    tree.mkdir(parents=True)
    (tree / "long name of a file.txt").write_text("one")
    made = tmp_path / "a.iso"
    subprocess.run(
        ["xorriso", "-as", "mkisofs", "-quiet", "-J", "-R", "-o", made, tree.parent], check=True
    )
    data = made.read_bytes()
    document = read(data)
    (child,) = [child for child in document.children if child.key != "slack"]
    assert (child.name, child.data) == ("a folder of a long name/long name of a file.txt", b"one")
    made.write_bytes(ISO.mask(data, document, [], {child.key: b"masked" * 999}))
    subprocess.run(
        ["xorriso", "-osirrox", "on", "-indev", made, "-extract", "/", tmp_path / "out"],
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "out" / child.name).read_bytes() == b"masked" * 999
