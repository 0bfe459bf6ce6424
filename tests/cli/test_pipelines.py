"""Templates and the action, run like the runners do, and the source that they install from."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
import yaml

from dlpctl.detect.validators.secrets_examples import pem_key

ROOT = Path(__file__).parents[2]
KEY = pem_key(Random(6))
COMMIT = "0123456789abcdef0123456789abcdef01234567"
FROM = f"git+https://git.example/acme/dlpctl@{COMMIT}"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="runners run shells of POSIX")
STDIN = {"closed": "<&-", "/dev/null": "< /dev/null", "an empty pipe": "< <(:)"}


@pytest.fixture
def repository(_own_home: None) -> Callable[..., None]:
    """Makes the working folder a repository, with or without a key in it."""

    def make(*, key: bool) -> None:
        Path("readme.txt").write_text("nothing to see\n")
        if key:
            Path("deploy.pem").write_text(KEY)
        for arguments in (["init", "-q", "-b", "main"], ["add", "."]):
            subprocess.run(["git", *arguments], check=True)
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        subprocess.run(["git", *identity, "commit", "-qm", "one"], check=True)

    return make


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for the PATH: dlpctl is this program, and pip only records its arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    scripts = {
        "dlpctl": f'exec {shlex.quote(sys.executable)} -m dlpctl "$@"',
        "pip": f'printf "%s\\n" "$@" >> {shlex.quote(str(tmp_path / "pip.log"))}',
    }
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def run_step(programs: Path, tmp_path: Path) -> Callable[..., int]:
    """Runs the script of a step from a file, with a stdin like that of runners."""

    def call(script: str, *options: str, stdin: str = "an empty pipe", **environ: str) -> int:
        (tmp_path / "step").write_text(script)
        line = f"bash {' '.join(options)} {shlex.quote(str(tmp_path / 'step'))} {STDIN[stdin]}"
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", line],
            env={**os.environ, **environ, "PATH": path},
            capture_output=True,
            timeout=300,
            check=False,
        )
        return done.returncode

    return call


def shown(dlpctl, template: str) -> dict[str, object]:
    result = dlpctl("hook", "show", template, "--install-from", FROM)
    assert (result.status, result.err) == (0, "")
    assert "@SOURCE@" not in result.out
    return yaml.safe_load(result.out)


def scripts_of(template: str, document) -> Iterator[tuple[str, list[str]]]:
    """Yield each script of a pipeline, with the shell options that the runner uses for it."""
    if template == "github":
        for step in document["jobs"]["scan"]["steps"]:
            if "run" in step:
                yield step["run"], ["-e"]
    else:
        job = document["dlpctl"]
        yield "\n".join([*job["before_script"], *job["script"]]), ["-e", "-o", "pipefail"]


@pytest.mark.parametrize(
    ("template", "key", "stdin"),
    [
        *(("github", True, name) for name in STDIN),
        ("github", False, "an empty pipe"),
        ("gitlab", True, "an empty pipe"),
        ("gitlab", False, "/dev/null"),
    ],
)
def test_a_template_fails_for_a_key_and_passes_without(
    dlpctl, template, key, stdin, repository, run_step, tmp_path
):
    repository(key=key)
    scripts = list(scripts_of(template, shown(dlpctl, template)))
    statuses = [run_step(script, *options, stdin=stdin) for script, options in scripts]
    assert max(statuses) == (20 if key else 0)
    assert FROM in (tmp_path / "pip.log").read_text().splitlines()
    report = json.loads(
        Path({"github": "dlpctl.sarif", "gitlab": "dlpctl.json"}[template]).read_text()
    )
    found = report["runs"][0]["results"] if template == "github" else report
    assert len(found) == key


def test_findings_below_the_threshold_pass(dlpctl, run_step):
    Path("readme.txt").write_text("card 4111 1111 1111 1112, 00:00:5e:00:53:01\n")
    Path("dlpctl.toml").write_text("min_score = 0.05\n")
    *_, (scan, _) = scripts_of("github", shown(dlpctl, "github"))
    assert dlpctl("scan", "readme.txt", "--fail-on", "1").status == 10
    assert run_step(scan.replace("scan .", "scan . --fail-on 1"), "-e") == 0


def test_the_component_is_the_pipeline_with_inputs(dlpctl):
    head, job = yaml.safe_load_all(
        dlpctl("hook", "show", "gitlab-component", "--install-from", FROM).out
    )
    inputs = head["spec"]["inputs"]
    text = json.dumps(job)
    for name, declared in inputs.items():
        assert f"$[[ inputs.{name} ]]" in text
        text = text.replace(f"$[[ inputs.{name} ]]", declared["default"])
    assert json.loads(text) == shown(dlpctl, "gitlab")


@pytest.fixture
def action(run_step, tmp_path) -> Callable[..., list[int]]:
    """Runs the scripts of the action, with its inputs and the variables of a runner."""

    def call(arguments: str, **environ: str) -> list[int]:
        text = (ROOT / ".github/actions/scan/action.yml").read_text(encoding="utf-8")
        document = yaml.safe_load(text)
        values = {name: given["default"] for name, given in document["inputs"].items()}
        values |= {"arguments": arguments, "sarif": "out.sarif"}
        known = {f"inputs.{name}": value for name, value in values.items()}
        known["github.token"] = "made-up"
        runner = {
            "GITHUB_ACTION_PATH": str(ROOT / ".github/actions/scan"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "RUNNER_TEMP": str(tmp_path),
        }
        statuses = []
        for step in (step for step in document["runs"]["steps"] if "run" in step):
            own = {
                name: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: known[found[1]], value)
                for name, value in step.get("env", {}).items()
            }
            options = ["--noprofile", "--norc", "-e", "-o", "pipefail"]
            statuses.append(run_step(step["run"], *options, **{**runner, **environ, **own}))
        return statuses

    return call


@pytest.mark.parametrize(
    ("arguments", "key", "status"),
    [
        (".", False, 0),
        ("", True, 20),
        ("--types SECRETS\nreadme.txt\n.\n", True, 20),
        ("--diff HEAD .", True, 0),
    ],
)
def test_the_action_scans_whatever_its_arguments_are(
    arguments, key, status, repository, action, tmp_path
):
    repository(key=key)
    assert action(arguments) == [0, status, 0], "what cannot be commented on does not fail"
    assert json.loads(Path("out.sarif").read_text())["runs"][0]["invocations"][0][
        "executionSuccessful"
    ]
    assert "## dlpctl scan" in (tmp_path / "summary.md").read_text()
    installed = (tmp_path / "pip.log").read_text().splitlines()[-1]
    assert Path(installed).resolve() == ROOT, "the action installs its own checkout"


def test_the_action_comments_on_the_pull_request(repository, action, forge, tmp_path):
    repository(key=True)
    assert action(".", **forge.of_github(tmp_path)) == [0, 20, 0]
    (comment,) = forge.comments
    assert "deploy.pem" in comment["body"]
    assert forge.tokens == {"Bearer made-up"}


class TestSource:
    """The source that pipelines install dlpctl from: nothing is guessed."""

    @staticmethod
    def show(
        tmp_path: Path, template: str, *, direct: object = None, urls: str = ""
    ) -> tuple[int, str, str]:
        """Return the source that an installation with this provenance prints."""
        info = tmp_path / "site" / "dlpctl-1.2.3.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: dlpctl\nVersion: 1.2.3\n{urls}"
        )
        if direct is not None:
            (info / "direct_url.json").write_text(json.dumps(direct))
        done = subprocess.run(
            [sys.executable, "-m", "dlpctl", "hook", "show", template],
            env={**os.environ, "PYTHONPATH": str(info.parent)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def test_is_the_commit_that_was_installed(self, tmp_path):
        vcs = {"vcs": "git", "requested_revision": "main", "commit_id": COMMIT}
        direct = {"url": "https://jane:word@git.example/acme/dlpctl.git", "vcs_info": vcs}
        status, out, _ = self.show(tmp_path, "github", direct=direct)
        assert status == 0
        assert f"pip install git+https://git.example/acme/dlpctl.git@{COMMIT}\n" in out

    def test_is_the_repository_and_revision_of_pre_commit(self, tmp_path):
        vcs = {"vcs": "git", "commit_id": COMMIT}
        direct = {"url": "https://git.example/acme/dlpctl.git", "vcs_info": vcs}
        (repo,) = yaml.safe_load(self.show(tmp_path, "pre-commit", direct=direct)[1])["repos"]
        assert (repo["repo"], repo["rev"]) == ("https://git.example/acme/dlpctl.git", COMMIT)

    def test_is_a_wheel_with_its_digest(self, tmp_path):
        archive = {"hashes": {"sha256": "ab" * 32}}
        direct = {"url": "https://files.example/dlpctl.whl", "archive_info": archive}
        _, out, _ = self.show(tmp_path, "gitlab", direct=direct)
        step = yaml.safe_load(out)["dlpctl"]["before_script"][0]
        assert step == f"pip install 'https://files.example/dlpctl.whl#sha256={'ab' * 32}'"

    def test_is_what_the_project_declares(self, tmp_path):
        urls = "Project-URL: Homepage, https://example.com\nProject-URL: Source, https://git.example/d\n"
        assert "git+https://git.example/d@v1.2.3" in self.show(tmp_path, "github", urls=urls)[1]

    @pytest.mark.parametrize(
        ("template", "direct"),
        [
            ("github", None),
            ("gitlab", {"url": "file:///home/jane/dlpctl", "dir_info": {"editable": True}}),
            ("pre-commit", {"url": "file:///home/jane/dlpctl.whl", "archive_info": {}}),
        ],
    )
    def test_is_requested_if_unknown(self, tmp_path, template, direct):
        status, out, err = self.show(tmp_path, template, direct=direct)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "--install-from 'git+https://HOST/ORG/dlpctl@COMMIT'" in err
        assert "jane" not in err

    @pytest.mark.parametrize(
        "url",
        [
            "dlpctl",
            "dlpctl==1.0",
            "dlpctl @ git+https://git.example/dlpctl@abc",
            "http://files.example/dlpctl.whl",
            "git+https://git.example/acme/dlpctl",
            "git+https://jane:word@git.example/acme/dlpctl@abc",
            "git+https://git.example/$(id)@abc",
            "git+https://git.example/a'b@abc",
            "",
        ],
    )
    def test_is_refused_unless_it_is_a_fixed_address(self, dlpctl, url):
        result = dlpctl("hook", "show", "github", "--install-from", url)
        assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
        assert "word" not in result.err

    def test_of_an_archive_is_none_for_pre_commit(self, dlpctl):
        result = dlpctl(
            "hook", "show", "pre-commit", "--install-from", "https://files.example/d.whl"
        )
        assert (result.status, "git repository" in result.err) == (2, True)


FOLDERS = (
    "*.*",
    ".pre-commit*",
    ".ci/*",
    ".github/**/*",
    "completions/*",
    "daemon/**/*",
    "dlpctl/**/*",
    "patterns/*",
)


def test_nothing_installs_dlpctl_by_its_bare_name_or_names_an_invented_repository():
    bare = re.compile(
        r"""\b(?:uvx|(?:pip3?|pipx|uv tool|uv) (?:install|run|add|download))\b[^\n&|;]*?[ '"]dlpctl(?:\[[\w,]+\])?(?=[\s'"`=<>~!]|$)"""
    )
    invented = re.compile(r"(?:github|gitlab)\.com/[\w.-]+/dlpctl|OWNER/|git\.example")
    wrong = []
    for file in (file for folder in FOLDERS for file in sorted(ROOT.glob(folder))):
        if file.suffix in (".bin", ".json", ".pyc") or not file.is_file():
            continue
        for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), start=1):
            if bare.search(line) or invented.search(line):
                wrong.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert wrong == []
