"""The library as its users take it: typed, in asyncio, and with a reference that is complete."""

from __future__ import annotations

import asyncio
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dlpctl
from dlpctl import TokenStore, Vault, aio
from dlpctl.cli import topics
from dlpctl.detect.engine import Detector

TEXT = "Refund jane.doe@example.com"
PROGRAM = """
import asyncio
from collections.abc import Iterator
from pathlib import Path

from dlpctl import (
    Decision, Detector, FileReport, Finding, Policy, Report, TokenStore, Vault, aio, check,
    check_file, mask, mask_file, unmask,
)

report: Report = check("text", destination="VENDOR", policy=Policy.builtin("gdpr"))
decision: Decision = report.decision
masked: str = mask("text", operator="redact")
vault: TokenStore = Vault(Path("a.vault"), bytes(32), create=True)
back: str = unmask(mask("text", vault=vault), vault=vault)
detector: Detector = Detector().for_types({"PII"})
findings: list[Finding] = detector.scan("text", min_score=0.7)
many: Iterator[list[Finding]] = detector.scan_many(["a", "b"], processes=0)
copy: FileReport = check_file("a.pdf", "VENDOR", detector=detector)
mask_file(Path("a.pdf"), "b.pdf", overwrite=True)


async def main() -> str:
    later: Report = await aio.check("text", destination="VENDOR")
    later_copy: FileReport = await aio.check_file("a.pdf")
    print(later.summary, later_copy.masked)
    return await aio.mask("text", vault=vault)


print(asyncio.run(main()), back, findings, many, copy, decision, masked)
"""
WRONG = "from dlpctl import mask\n\nnumber: int = mask(7)\n"


def test_asyncio_gets_the_same_answers_while_its_loop_goes_on(library: Detector) -> None:
    vault = TokenStore()

    async def both() -> tuple[str, str, str]:
        masked, report = await asyncio.gather(
            aio.mask(TEXT, detector=library, vault=vault), aio.check(TEXT, detector=library)
        )
        return masked, await aio.unmask(masked, vault), report.decision.value

    assert asyncio.run(both()) == ("Refund <EMAIL_1>", TEXT, "ALLOWED_WITH_MASKING")


def test_a_vault_in_a_file_lasts(library: Detector, tmp_path: Path) -> None:
    key = bytes(range(32))
    masked = dlpctl.mask(
        TEXT, detector=library, vault=Vault(tmp_path / "a.vault", key, create=True)
    )
    assert masked == "Refund <EMAIL_1>"
    assert dlpctl.unmask(masked, Vault(tmp_path / "a.vault", key)) == TEXT


def test_the_reference_has_every_name_and_parameter() -> None:
    text = topics.text("reference")
    for name in dlpctl.__all__:
        if name.startswith("_"):
            continue
        public = getattr(dlpctl, name)
        _, heading, section = text.partition(f"\n## {name}\n")
        assert heading, name
        section = section.partition("\n## ")[0]
        assert inspect.getdoc(public).split("\n")[0][:40] in section
        if inspect.isfunction(public):
            assert all(each in section for each in inspect.signature(public).parameters)
    assert "scan_many(" in text
    assert "aio" in text


def checked(tool: list[str], folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(source)
    return subprocess.run(
        [*tool, "program.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.slow
def test_mypy_reads_the_types_of_an_installation(tmp_path: Path) -> None:
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-incremental"]
    done = checked(mypy, tmp_path, PROGRAM)
    assert done.returncode == 0, done.stdout
    assert checked(mypy, tmp_path, WRONG).stdout.count("error:") == 2


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pyright"), reason="needs pyright")
def test_pyright_reads_them_in_its_strict_mode(tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    pyright = ["pyright", "--pythonpath", sys.executable]
    done = checked(pyright, tmp_path, PROGRAM)
    assert done.returncode == 0, done.stdout
    assert checked(pyright, tmp_path, WRONG).stdout.count(" error: ") == 2
