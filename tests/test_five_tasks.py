"""A stranger's five tasks, done with the commands of the README and nothing else."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
import yaml

from dlpctl.cli.demonstration import INVOICE, make_pdf
from dlpctl.detect.validators.secrets_examples import pem_key

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PROMPT = "Refund jane.doe@example.com: card 4111 1111 1111 1111, SSN 536-90-4399\n"
SOURCE = "git+https://HOST/ORG/dlpctl@COMMIT"
pytestmark = pytest.mark.skipif(
    os.name != "posix" or not shutil.which("git"), reason="needs a POSIX shell and git"
)
Run = Callable[..., subprocess.CompletedProcess[str]]


def task(title: str) -> list[str]:
    """The commands below a bold title of the README: three at most."""
    found = re.search(rf"\*\*{title}.*?```(sh|console)\n(.*?)```", README, re.DOTALL)
    assert found, title
    lines = found[2].splitlines()
    if found[1] == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    assert 1 <= len(lines) <= 3, lines
    return lines


@pytest.fixture
def run(tmp_path: Path, compiled_cache: Path) -> Run:
    """Runs commands in a new repository, as a user with an empty home does."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copytree(compiled_cache, tmp_path / "home" / "cache")
    (folder / "prompt.txt").write_text(PROMPT)
    (folder / "invoice.pdf").write_bytes(make_pdf(INVOICE))
    (folder / "sample.key").write_text(pem_key(Random(1)))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DLPCTL_")}
    for who in ("AUTHOR", "COMMITTER"):
        kept |= {f"GIT_{who}_NAME": "Jane", f"GIT_{who}_EMAIL": "jane@example.com"}
    kept["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept["DLPCTL_HOME"] = str(tmp_path / "home")

    def call(*commands: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", "\n".join(commands)],
            cwd=folder,
            env={**kept, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    assert call("git init -q -b main && git add prompt.txt && git commit -qm first").returncode == 0
    return call


def test_mask_a_prompt_and_restore_the_answer(run: Run) -> None:
    masked, restored = task("Mask a prompt, and restore the answer")
    assert run(masked).stdout == "Refund <EMAIL_1>: card <CREDIT_CARD_1>, SSN <SSN_1>\n"
    assert run(restored).stdout == "I have written to jane.doe@example.com.\n"


def test_check_a_pdf(run: Run, tmp_path: Path) -> None:
    import pypdf

    done = run(*task("Check a PDF"))
    assert done.stdout.endswith("exit status 10\n")
    (page,) = pypdf.PdfReader(tmp_path / "project" / "invoice.masked.pdf").pages
    assert "4111" not in page.extract_text()


def test_a_hook_with_one_accepted_false_positive(run: Run, tmp_path: Path) -> None:
    install, refused, accepted = task("Keep secrets out of commits")
    assert run(install).returncode == 0
    assert "refused" in run(refused).stderr
    assert run("git log --oneline").stdout.count("\n") == 1
    assert run(accepted).returncode == 0
    assert run("git log --oneline").stdout.count("\n") == 2
    (tmp_path / "project" / "other.key").write_text(pem_key(Random(2)))
    assert run("git add other.key && git commit -qm other").returncode == 1, "others still count"


def test_a_pipeline_that_fails_on_a_planted_secret(run: Run, tmp_path: Path) -> None:
    assert run(*task("Fail a pipeline for a secret")).returncode == 0
    project = tmp_path / "project"
    written = yaml.safe_load((project / ".github/workflows/dlpctl.yml").read_text())
    install, scan, _ = [step["run"] for step in written["jobs"]["scan"]["steps"] if "run" in step]
    assert install == f"pip install {shlex.quote(SOURCE)}"
    # A checkout has what is committed, and a runner starts each script by 'bash -e'.
    (project / "prompt.txt").write_text("nothing to see\n")
    statuses = []
    for planted in ((), ("sample.key",)):
        checkout = tmp_path / f"checkout{len(planted)}"
        shutil.copytree(project, checkout, ignore=lambda *_: {"sample.key", "invoice.pdf"})
        for name in planted:
            shutil.copy(project / name, checkout / name)
        statuses.append(run(f"cd {checkout} && bash -e -c {shlex.quote(scan)}").returncode)
    assert statuses[0] == 0
    assert statuses[1] != 0


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_a_server_with_one_organization(run: Run, tmp_path: Path, port: int) -> None:
    """The port is a free one; the third command waits for the line that the server prints."""
    init, serve, check = task("Run a server for an organization")
    log = tmp_path / "log"
    wait = f'while ! grep -q listening {log}; do kill -0 "$server" || exit 1; sleep 0.05; done'
    done = run(
        f"{init} >/dev/null",
        f"{serve.removesuffix(' &')} >{log} 2>&1 & server=$!",
        wait,
        f"{check.replace('8686', str(port))} --format json",
        'status=$?; kill "$server"; wait "$server"; exit $status',
        DLPCTL_SERVE_PORT=str(port),
    )
    assert done.returncode == 10, done.stderr + log.read_text()
    answer = json.loads(done.stdout)
    assert answer["decision"] == "ALLOWED_WITH_MASKING"
    assert "route=/api/preflight" in log.read_text()
    listed = run("dlpctl audit list --org acme --format json")
    assert answer["preflight_id"] in listed.stdout
