"""Masks a file as a use case would, has it verified, and makes packages by hand."""

from __future__ import annotations

import io
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dlpctl.formats.files import Files, Node
from dlpctl.formats.interface import Document
from dlpctl.formats.residues import StrictMatcher
from dlpctl.formats.spans import ViewEdit
from dlpctl.formats.verify import verify

if TYPE_CHECKING:
    from workers_here import WorkerHere

VALUES = ("123-45-6789", "4111111111111111", "jane.roe@acme.example")
MASKS = ("[SSN 1]", "[CARD]", "[E-MAIL]")
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "application/vnd.openxmlformats-officedocument"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAINS = {
    "docx": ("word/document.xml", f"{OFFICE}.wordprocessingml.document.main+xml"),
    "xlsx": ("xl/workbook.xml", f"{OFFICE}.spreadsheetml.sheet.main+xml"),
    "pptx": ("ppt/presentation.xml", f"{OFFICE}.presentationml.presentation.main+xml"),
}


@pytest.fixture
def files(workers_here: type[WorkerHere]) -> Iterator[Files]:
    with Files(method=workers_here) as opened:
        yield opened


@pytest.fixture
def masked(
    files: Files, find: Callable[[Document], Iterable[ViewEdit]]
) -> Callable[[bytes, str], bytes]:
    """The masked copy of a file that holds values, which both readers must find clean."""

    def mask(data: bytes, name: str) -> bytes:
        node = files.open(data, name)
        matcher = StrictMatcher(VALUES)
        assert any(
            matcher.in_text("\n".join(files.read_again(one.document.format, one.data)))
            for one in node.walk()
        )
        copy = files.masked(node, find)
        result = verify(copy, name, VALUES, find, replacements=MASKS)
        assert result.clean, result.leaks
        return copy

    return mask


@pytest.fixture
def read(files: Files) -> Callable[[bytes, str], Node]:
    return files.open


@pytest.fixture
def package() -> Callable[..., bytes]:
    """A package of one kind: a main part, further parts, and relationships of the main part."""

    def make(
        kind: str,
        main: str,
        parts: Mapping[str, str | bytes] | None = None,
        types: Mapping[str, str] | None = None,
        relations: str = "",
    ) -> bytes:
        path, main_type = MAINS[kind]
        folder, _, file = path.rpartition("/")
        overrides = "".join(
            f'<Override PartName="/{name}" ContentType="{one}"/>'
            for name, one in {path: main_type, **(types or {})}.items()
        )
        relationships = (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        )
        members: dict[str, str | bytes] = {
            "[Content_Types].xml": f'{XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>',
            "_rels/.rels": f'{XML}{relationships}<Relationship Id="rId1" Type="{RELATIONS}/officeDocument" '
            f'Target="{path}"/></Relationships>',
            path: XML + main,
            f"{folder}/_rels/{file}.rels": f"{XML}{relationships}{relations}</Relationships>",
            **(parts or {}),
        }
        output = io.BytesIO()
        with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, contents in members.items():
                archive.writestr(name, contents)
        return output.getvalue()

    return make


@pytest.fixture
def parts_of() -> Callable[[bytes], dict[str, bytes]]:
    def parts(data: bytes) -> dict[str, bytes]:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    return parts


@pytest.fixture
def converted(tmp_path: Path) -> Callable[[bytes, str, str], bytes]:
    """A file as LibreOffice sees it."""
    program = shutil.which("soffice")
    if program is None:
        pytest.skip("LibreOffice is not installed")

    def convert(data: bytes, name: str, to: str) -> bytes:
        source = tmp_path / name
        source.write_bytes(data)
        profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
        target = tmp_path / "out"
        command = [
            program,
            profile,
            "--headless",
            "--convert-to",
            to,
            "--outdir",
            str(target),
            str(source),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        return next(target.glob(f"{source.stem}*.{to.partition(':')[0]}")).read_bytes()

    return convert
