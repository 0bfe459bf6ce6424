"""A file whose content contradicts its name is read both ways."""

from __future__ import annotations

import base64
import io
import zipfile
from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import CannotMaskError
from dlpctl.formats.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dlpctl.formats.files import Files
    from dlpctl.formats.interface import Document
    from dlpctl.formats.spans import ViewEdit

SSN = "123-45-6789"


def word() -> bytes:
    import docx

    document = docx.Document()
    document.add_paragraph(f"number {SSN} kept")
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


@pytest.mark.parametrize("name", ["a.docx", "a.pdf", "a.txt", "a.zip", "a.png", "a", "a.exe"])
def test_the_content_decides_rather_than_the_name(
    name: str, files: Files, find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    node = files.open(word(), name)
    assert node.document.format == "docx"
    masked = files.masked(node, find)
    assert b"kept" in zipfile.ZipFile(io.BytesIO(masked)).read("word/document.xml")
    assert verify(masked, name, [SSN], find).clean


def test_content_that_contradicts_the_name_is_read_both_ways(
    files: Files, find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    node = files.open(f'{{"a": "{SSN}"}}'.encode(), "a.xml")
    assert [document.format for document in node.documents()][:2] == ["json", "text"]
    assert all(list(find(document)) for document in node.documents())
    assert verify(files.masked(node, find), "a.xml", [SSN], find, replacements=["[SSN 1]"]).clean


def test_a_masked_message_in_base64_does_not_hide_the_next_one(
    files: Files, find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    head = b"From a\nSubject: b\nContent-Transfer-Encoding: "
    mails = b"%bbase64\n\n%b\n\n%b7bit\n\n%b\n" % (
        head,
        base64.b64encode(SSN.encode()),
        head,
        SSN.encode(),
    )
    masked = files.masked(files.open(mails, "a.mbox"), find)
    assert masked.count(b"\n\nFrom a\n") == 1
    assert verify(masked, "a.mbox", [SSN], find).clean


def test_a_value_that_only_the_other_reading_shows_is_refused(
    files: Files, find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    node = files.open(f'{{"a": "{SSN}"}}'.encode(), "a.xml")
    with pytest.raises(CannotMaskError, match="another reading"):
        files.masked(node, lambda document: [] if document is node.document else find(document))
