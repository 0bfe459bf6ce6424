"""The files of a release besides its distributions: all derived from the sources of the help."""

from __future__ import annotations

import hashlib
import html.parser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dlpctl.cli import topics
from dlpctl.cli.outline import describe
from dlpctl.version import __version__

ROOT = Path(__file__).parents[1]
RELEASE = ROOT / ".github" / "release"
BIN = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
PROGRAM = describe()
REPOSITORY = {"GITHUB_SERVER_URL": "https://git.example", "GITHUB_REPOSITORY": "acme/dlpctl"}


def build(*arguments: object, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    return subprocess.run(
        [sys.executable, str(RELEASE / "build.py"), *map(str, arguments)],
        env={**kept, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def man_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("man") / "dlpctl.1"
    done = build("man", file)
    assert (done.returncode, done.stderr) == (0, "")
    return file


def test_the_man_page_has_every_command_option_and_example(man_page: Path) -> None:
    text = man_page.read_text().replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "")
    text = text.replace("\\e", "\\")
    for node in PROGRAM.walk()[1:]:
        _, found, section = text.partition(f'.SS "dlpctl {" ".join(node.path)}"\n')
        assert found, node.path
        section = section.partition("\n.S")[0]
        assert node.help in section
        named = {name for option in node.options for name in option.names} - {"-h", "--help"}
        assert [name for name in named if f"\\fB{name}\\fR" not in section] == []
        assert node.children or all(example in section for example in node.examples)


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
def test_the_man_page_is_set_without_a_warning(man_page: Path) -> None:
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", "-P-cbou", str(man_page)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stderr == ""
    assert "dlpctl policy lint" in done.stdout


class Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.ids: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.ids += filter(None, [given.get("id")])
        self.links |= {str(given["href"])} if tag == "a" else set()
        self.loaded |= {str(value) for name, value in given.items() if name == "src"}
        assert tag not in ("script", "link", "iframe")

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build("site", folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    read = {}
    for file in site.glob("*.html"):
        read[file.name] = Page()
        read[file.name].feed(file.read_text("utf-8"))
    return read


def test_the_site_has_what_the_help_has(pages: dict[str, Page]) -> None:
    assert {name.removesuffix(".html") for name in pages} == {"index", *topics.names()}
    words = " ".join(pages["types.html"].text.split())
    assert "CREDIT_CARD" in words
    listed = pages["commands.html"]
    for node in PROGRAM.walk()[1:]:
        assert "-".join(node.path) in listed.ids
        assert all(example in listed.text for example in node.examples)
    assert len(listed.ids) == len(set(listed.ids))


def test_the_links_of_the_site_work_and_nothing_is_loaded(
    site: Path, pages: dict[str, Page]
) -> None:
    for page in pages.values():
        inner = {link for link in page.links if not link.startswith("https://")}
        assert [link for link in inner if not (site / link).exists()] == []
        assert page.loaded <= {"tour.svg"}
    assert "library.html" in pages["reference.html"].links
    assert "baselines.html" in pages["index.html"].links


def test_the_formula_names_what_was_built_where_it_was_built(tmp_path: Path) -> None:
    distribution = tmp_path / f"dlpctl-{__version__}.tar.gz"
    distribution.write_bytes(b"made up")
    (tmp_path / "dlpctl.1").write_text("made up, too")
    assert build("formula", tmp_path, **REPOSITORY).returncode == 0
    text = (tmp_path / "dlpctl.rb").read_text()
    assert "@" not in re.sub(r'"python@3|@example', "", text)
    assert f'url "https://git.example/acme/dlpctl/releases/download/v{__version__}/dlpctl-' in text
    assert hashlib.sha256(b"made up").hexdigest() in text
    assert hashlib.sha256(b"made up, too").hexdigest() in text


def test_without_a_repository_there_is_no_formula(tmp_path: Path) -> None:
    (tmp_path / f"dlpctl-{__version__}.tar.gz").write_bytes(b"")
    (tmp_path / "dlpctl.1").write_bytes(b"")
    done = build("formula", tmp_path)
    assert done.returncode == 1
    assert "declare Source in [project.urls]" in done.stderr
    assert not (tmp_path / "dlpctl.rb").exists()


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.skipif(not shutil.which("ruby"), reason="needs ruby, and packages")
def test_the_formula_installs_a_release_and_its_test_passes(tmp_path: Path) -> None:
    """With the steps of Homebrew in a stand-in; packages come from where pip takes them."""
    dist = tmp_path / "dist"
    make = [sys.executable, "-m", "build", "--sdist", "--outdir", str(dist), str(ROOT)]
    subprocess.run(make, check=True, timeout=600, capture_output=True)
    assert build("man", dist / "dlpctl.1").returncode == 0
    assert build("formula", dist, **REPOSITORY).returncode == 0
    shutil.unpack_archive(dist / f"dlpctl-{__version__}.tar.gz", tmp_path)
    arguments = [
        dist / "dlpctl.rb",
        tmp_path / f"dlpctl-{__version__}",
        tmp_path / "prefix",
        dist / "dlpctl.1",
        sys.executable,
    ]
    done = subprocess.run(
        ["ruby", str(ROOT / "tests/formula.rb"), *map(str, arguments)],
        env={**os.environ, "DLPCTL_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    installed = {
        str(each.relative_to(tmp_path / "prefix")) for each in tmp_path.glob("prefix/*/**/*")
    }
    assert installed >= {
        "bin/dlpctl",
        "etc/bash_completion.d/dlpctl",
        "share/zsh/site-functions/_dlpctl",
        "share/fish/vendor_completions.d/dlpctl.fish",
        "share/man/man1/dlpctl.1",
    }


def workflow() -> dict[str, Any]:
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    return yaml.safe_load(text)["jobs"]


def test_all_that_is_published_was_tested_and_attested() -> None:
    jobs = workflow()
    assert [jobs[name]["needs"] for name in ("test", "image", "index")] == [
        "build",
        "test",
        "image",
    ]
    assert set(jobs["release"]["needs"]) == {"build", "index"}
    for name in ("build", "index"):
        steps = jobs[name]["steps"]
        assert any("attest-build-provenance" in step.get("uses", "") for step in steps)
        assert jobs[name]["permissions"]["attestations"] == "write"
    pushed = {each["architecture"] for each in jobs["image"]["strategy"]["matrix"]["include"]}
    joined = next(step for step in jobs["index"]["steps"] if step.get("id") == "push")["run"]
    assert pushed == set(re.findall(r"\$image-(\w+)", joined)) == {"amd64", "arm64"}


@pytest.fixture
def pipelines(tmp_path: Path) -> list[Path]:
    """The files of GitHub: those of this repository, and the one that is made for others."""
    made = tmp_path / ".github/workflows/dlpctl.yml"
    made.parent.mkdir(parents=True)
    source = f"git+https://git.example/acme/dlpctl@{'0123456789' * 4}"
    command = [sys.executable, "-m", "dlpctl", "hook", "show", "github", "--install-from", source]
    made.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    own = ROOT / ".github"
    return [*own.glob("workflows/*.yml"), *own.glob("actions/*/action.yml"), made]


def test_each_action_of_others_is_a_commit_of_a_version_that_is_named(
    pipelines: list[Path],
) -> None:
    commits: dict[str, set[str]] = {}
    for file in pipelines:
        for action, rest in re.findall(r"uses: ([^@\s]+)(.*)", file.read_text("utf-8")):
            assert re.fullmatch(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+", rest), (file.name, action)
            commits.setdefault(action, set()).add(rest)
    assert len(commits) == 6
    assert [action for action, named in commits.items() if len(named) > 1] == []


@pytest.mark.skipif(not shutil.which("zizmor", path=BIN), reason="needs zizmor")
def test_zizmor_finds_nothing_in_the_pipelines(pipelines: list[Path]) -> None:
    done = subprocess.run(
        [shutil.which("zizmor", path=BIN) or "", "--offline", "--no-progress", *pipelines],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout


def test_scripts_of_the_workflow_are_shell_and_name_files_that_exist() -> None:
    for job in workflow().values():
        for step in job["steps"]:
            script = re.sub(r"\$\{\{.*?\}\}", "x", step.get("run", ""))
            subprocess.run(["bash", "-n", "-c", script], check=True, timeout=300)
            named = re.findall(r"\.github/[\w./]+", script)
            assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_image_runs_as_any_user_and_needs_no_writable_folder() -> None:
    text = (RELEASE / "Dockerfile").read_text("utf-8")
    last = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER \d{5}:\d{5}$", last, re.MULTILINE)
    assert last.startswith("python:3.13-slim\n")
    assert "dlpctl cache build" in text
    assert "--owner 10001 --group 10001 /var/lib/dlpctl/data" in last
    assert last.index("\nUSER") > last.index("\nRUN")


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_the_picture_shows_what_the_commands_print(
    tmp_path: Path, compiled_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(compiled_cache, tmp_path / "home" / "cache")
    monkeypatch.setenv("DLPCTL_HOME", str(tmp_path / "home"))
    script = ROOT / ".github/recording/record.py"
    command = [sys.executable, str(script), str(tmp_path / "tour.svg")]
    subprocess.run(command, check=True, timeout=300)
    kept = script.with_name("tour.svg")
    drawn = (tmp_path / "tour.svg").read_text("utf-8")
    assert drawn == kept.read_text("utf-8"), "python .github/recording/record.py draws it again"
    assert not re.search(r"https?://(?!www\.w3\.org/)", drawn)


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--window-size=390,800",)], ids=["desktop", "phone"])
def test_the_site_has_no_violation_and_fits(site: Path, in_browser, flags: tuple[str, ...]) -> None:
    """Every kind of page: with a picture, tables, options and code."""
    for name in ("index", "commands", "types", "reference"):
        found = in_browser(
            (site / f"{name}.html").read_text("utf-8"),
            """async () => ({
                violations: (await axe.run()).violations.map(one => [one.id, one.nodes[0].html]),
                overflow: document.documentElement.scrollWidth - innerWidth,
            })""",
            *flags,
        )
        assert found["violations"] == [], name
        assert found["overflow"] <= 0, name
