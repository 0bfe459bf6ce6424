"""The README and the topics are true: their commands run, and print what the pages show."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from dlpctl.cli import topics
from dlpctl.cli.demonstration import INVOICE, make_pdf
from dlpctl.config import SETTINGS, Config, Layer, load_config
from dlpctl.detect.validators.secrets_examples import pem_key
from dlpctl.policy.files import builtin_names

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
Blocks = list[tuple[str, str]]


def blocks(text: str) -> Blocks:
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


BLOCKS = blocks(README)
TOPICS = {name: found for name in topics.names() if (found := blocks(topics.text(name)))}
PAGES = {"README": BLOCKS} | TOPICS
FILE_NAME = re.compile(r"# (\S+)\n")
PROMPT = "Refund jane.doe@example.com: card 4111 1111 1111 1111, SSN 536-90-4399\n"
END_OF_COMMAND = "--- end of command ---\n"

posix_shell = pytest.mark.skipif(
    os.name != "posix" or not shutil.which("sh"), reason="needs a POSIX shell"
)


def of_language(language: str) -> list[str]:
    return [content for name, content in BLOCKS if name == language]


def file_name(block: str) -> str:
    named = FILE_NAME.match(block)
    assert named, f"a TOML block begins with the name of its file, not with {block[:20]!r}"
    return named[1]


def commands(block: str) -> list[tuple[str, str]]:
    """Each command of a console block, and what it prints."""
    parts = [part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, expected) for command, _, expected in parts]


@pytest.fixture
def environ(tmp_path: Path, compiled_cache: Path) -> dict[str, str]:
    shutil.copytree(compiled_cache, tmp_path / "home" / "cache")
    unwanted = ("FORCE_COLOR", "PYTHONWARNINGS")
    kept = {
        key: text
        for key, text in os.environ.items()
        if not key.startswith("DLPCTL_") and key not in unwanted
    }
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    author = {"NAME": "Jane", "EMAIL": "jane@example.com"}
    identity = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in author.items()
    }
    return kept | identity | {"PATH": programs, "DLPCTL_HOME": str(tmp_path / "home")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with the files that the tour works on."""
    folder = tmp_path / "tour"
    folder.mkdir()
    (folder / "prompt.txt").write_text(PROMPT)
    (folder / "invoice.pdf").write_bytes(make_pdf(INVOICE))
    (folder / "sample.key").write_text(pem_key(Random(1)))
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    return folder


def run(commands: list[str], folder: Path, environ: dict[str, str]) -> list[str]:
    """Return the output of each command, in one shell."""
    script = "".join(f"{command}\necho '{END_OF_COMMAND.strip()}'\n" for command in commands)
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
        timeout=300,
    )
    return done.stdout.split(END_OF_COMMAND)[:-1]


def is_as_shown(printed: str, shown: str) -> bool:
    """`...` stands for anything, and the width of columns does not count, since it depends on the
    paths in them.
    """
    printed, shown = (re.sub(r" {2,}", "  ", text) for text in (printed, shown))
    pattern = ".*".join(re.escape(part) for part in shown.split("..."))
    return re.fullmatch(pattern, printed, flags=re.DOTALL) is not None


def tomls(pages: Iterable[Blocks]) -> dict[str, str]:
    """The files that pages show, by their names."""
    return {file_name(block): block for page in pages for name, block in page if name == "toml"}


@posix_shell
@pytest.mark.parametrize("page", [name for name in PAGES if "console" in dict(PAGES[name])])
def test_commands_print_what_is_shown(project: Path, environ: dict[str, str], page: str) -> None:
    folder = project
    for name, content in tomls(TOPICS.values()).items():
        if name != "dlpctl.toml":
            (folder / name).write_text(content, encoding="utf-8")
    ran = 0
    for language, block in PAGES[page]:
        if language == "toml":
            (folder / file_name(block)).write_text(block, encoding="utf-8")
        elif language == "console":
            steps = commands(block)
            outputs = run([command for command, _ in steps], folder, environ)
            for (command, shown), printed in zip(steps, outputs, strict=True):
                assert is_as_shown(printed, shown), f"$ {command}\n{printed}"
                ran += 1
    assert ran > 1


@posix_shell
def test_the_first_command_prints_what_is_shown_below_it(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    pipe = of_language("sh")[0].rpartition("&& ")[2].replace(".venv/bin/", "")
    assert run([pipe.strip()], tmp_path, environ) == [of_language("text")[0]]


def test_examples_of_the_library_are_true(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, environ: dict[str, str]
) -> None:
    monkeypatch.setenv("DLPCTL_HOME", environ["DLPCTL_HOME"])
    monkeypatch.chdir(tmp_path)  # examples write files
    runner = doctest.DocTestRunner(verbose=False)
    for number, block in enumerate(of_language("pycon"), start=1):
        example = doctest.DocTestParser().get_doctest(
            block, {}, f"example {number}", "README.md", 0
        )
        report: list[str] = []
        runner.run(example, out=report.append)
        assert not runner.failures, "".join(report)
    assert runner.tries > 3


def test_the_configuration_shown_holds_and_is_not_the_default(tmp_path: Path) -> None:
    shown = tomls(TOPICS.values())["dlpctl.toml"]
    (tmp_path / "dlpctl.toml").write_text(shown, encoding="utf-8")
    config = load_config(environ={"DLPCTL_HOME": str(tmp_path / "home")}, working=tmp_path)
    keys = [key for key in SETTINGS if config.origin(key).layer is Layer.PROJECT]
    assert len(keys) > 15
    for key in keys:
        assert config.get(key) != Config().get(key), f"{key} is shown with its default"


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_every_topic_is_named() -> None:
    assert [name for name in topics.names() if f"`{name}`" not in README] == []


def test_every_built_in_policy_is_named() -> None:
    assert [name for name in builtin_names() if f"`{name}`" not in README] == []
