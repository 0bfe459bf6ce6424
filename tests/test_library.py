"""The public library: typed, usable in asyncio, and with a complete reference."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import dlpctl
from dlpctl import TokenStore, Vault, aio
from dlpctl.cli import topics
from dlpctl.cli.topics.public_names import INSIDE
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
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
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


MODULES = (
    *("dlpctl", "dlpctl.aio", "dlpctl.frames", "dlpctl.integrations.transport"),
    *("dlpctl.integrations.logs", "dlpctl.integrations.traces", "dlpctl.integrations.models"),
)


def public_names() -> Iterator[tuple[str, Any]]:
    """The names that users import, as the reference writes them."""
    for name in MODULES:
        module = import_module(name)
        prefix = name.removeprefix("dlpctl").removeprefix(".")
        found = {each: getattr(module, each) for each in getattr(module, "__all__", dir(module))}
        for each, public in found.items():
            if each[0] != "_" and (
                hasattr(module, "__all__") or getattr(public, "__module__", "") == name
            ):
                yield f"{prefix}.{each}".removeprefix("."), public


def members_of(public: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(public).items():
        function = getattr(member, "__func__", member)
        is_called = inspect.isfunction(function) or isinstance(function, property)
        if name in public.__base__.__dict__:
            continue  # the class that it is inherited from documents it
        inside = INSIDE.get(public.__name__, "").split()
        if is_called and name[0] != "_" and name not in inside:
            yield name, function


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    text = topics.text("reference")
    found = [part.partition("\n") for part in re.split(r"^##+ ", text, flags=re.MULTILINE)]
    return {heading: body for heading, _, body in found}


def missing_in(section: str, public: Any) -> Iterator[str]:
    if inspect.getdoc(public).split("\n")[0] not in section:
        yield "docstring"
    called = public
    if isinstance(public, type):
        own = vars(public).get("__init__")
        called = own if inspect.isfunction(own) else None
        yield from (each for each in getattr(public, "_fields", ()) if f".{each}: " not in section)
        for member, _ in members_of(public):
            listed = f".{member}(" in section or f".{member}: " in section
            if not listed:
                yield member
    if called is not None:
        parameters = [each for each in inspect.signature(called).parameters if each != "self"]
        yield from (each for each in parameters if each not in section)


def test_the_reference_has_every_name_with_its_parameters_and_members(
    sections: dict[str, str],
) -> None:
    missing = []
    for name, public in public_names():
        if name.startswith("aio."):
            assert f"await {name}(...)" in sections["aio"]
        else:
            missing += [(name, each) for each in missing_in(sections[name], public)]
    assert missing == []


def test_the_public_api_is_documented() -> None:
    undocumented = [
        f"{name}.{member}"
        for name, public in public_names()
        if isinstance(public, type)
        for member, function in members_of(public)
        if not inspect.getdoc(function)
    ]
    assert undocumented == []


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


def basedpyright(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it as an editor does, in the environment of these tests."""
    environ = {**os.environ, "VIRTUAL_ENV": sys.prefix, "PATH": PATH}
    return subprocess.run(
        ["basedpyright", *arguments],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("basedpyright", path=PATH), reason="needs basedpyright")
def test_pyright_knows_every_type_in_its_strict_mode(tmp_path: Path) -> None:
    imports = []
    for name, _ in public_names():
        module, _, imported = f"dlpctl.{name}".rpartition(".")
        named = imported if module == "dlpctl" else name.replace(".", "_")
        imports.append((f"from {module} import {imported} as {named}\n", named))
    every = "".join(line for line, _ in imports)
    names = ", ".join(named for _, named in imports)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "every.py").write_text(f"{every}\nprint({names})\n")
    done = basedpyright(tmp_path)
    assert done.returncode == 0, done.stdout
    (tmp_path / "wrong.py").write_text(WRONG)
    assert basedpyright(tmp_path).stdout.count(" error: ") == 2


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("basedpyright", path=PATH), reason="needs basedpyright")
def test_no_public_name_leads_to_an_unknown_type(tmp_path: Path) -> None:
    """Types that are inferred may differ between checkers: only those of `aio` are."""
    done = basedpyright(tmp_path, "--verifytypes", "dlpctl", "--ignoreexternal", "--outputjson")
    symbols = json.loads(done.stdout)["typeCompleteness"]["symbols"]
    assert len(symbols) > 1_000
    inferred = {each["name"] for each in symbols if each["isTypeAmbiguous"]}
    unknown = {each["name"] for each in symbols if not each["isTypeKnown"]} - inferred
    assert unknown == set()
    public = {f"dlpctl.{name}" for name, _ in public_names()}
    assert {name for name in inferred & public if not name.startswith("dlpctl.aio.")} == set()
