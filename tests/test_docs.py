"""Every command, option, setting, variable, error and type is documented, and the links between
pages work.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlpctl.cli import topics
from dlpctl.cli.catalogue import command_names
from dlpctl.cli.outline import Node, describe
from dlpctl.config import SETTINGS
from dlpctl.config.loading import OTHER_VARIABLES
from dlpctl.detect.engine import Detector
from dlpctl.errors import DlpctlError
from dlpctl.operators import OPERATORS
from dlpctl.policy.files import builtin_names

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / "dlpctl", ROOT / "daemon" / "dlpctl_daemon"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "dlpctl" / "cli" / "topics").glob("*.md"))]
MARKDOWN = [
    *ROOT.glob("*.md"),
    *(ROOT / ".github").rglob("*.md"),
    *(
        page
        for room in ("dlpctl", "daemon", "patterns", "tests")
        for page in (ROOT / room).rglob("*.md")
    ),
]
LISTED = frozenset({"commands", "configuration", "environment", "exit-codes", "types"})
"""Topics that are mostly tables."""


@pytest.fixture(scope="module")
def program() -> Node:
    return describe()


def test_every_command_and_option_has_a_help_text(program: Node) -> None:
    silent = [" ".join(node.path) for node in program.walk() if not node.help]
    silent += [
        f"{' '.join(node.path)} {option.names[-1]}"
        for node in program.walk()
        for option in node.options
        if not option.help
    ]
    assert silent == []
    listed = topics.text("commands")
    assert [
        node.path for node in program.walk()[1:] if f"`{' '.join(node.path)}`" not in listed
    ] == []


def test_every_command_is_part_of_a_page() -> None:
    read = "\n".join(topics.text(name) for name in topics.names() if name not in LISTED)
    read += (ROOT / "README.md").read_text(encoding="utf-8")
    assert [
        name for name in command_names() if not re.search(rf"dlpctl {name}\b|`{name}\b", read)
    ] == []


def test_every_setting_variable_error_type_policy_and_operator_is_explained() -> None:
    def classes(parent: type[DlpctlError]) -> list[type[DlpctlError]]:
        return [inner for child in parent.__subclasses__() for inner in (child, *classes(child))]

    expected = {
        "configuration": list(SETTINGS),
        "environment": list(OTHER_VARIABLES),
        "exit-codes": [one.code for one in classes(DlpctlError)],
        "policies": builtin_names(),
        "prompts": list(OPERATORS),
    }
    for topic, names in expected.items():
        text = topics.text(topic)
        assert [
            name for name in names if not re.search(rf"\| `{re.escape(name)}` \|.* \w", text)
        ] == [], topic
    assert all(one.__doc__ for one in classes(DlpctlError))


def test_every_type_is_explained(library: Detector) -> None:
    text = topics.text("types")
    assert sorted({one.type for one in library.patterns if f"| `{one.type}` |" not in text}) == []


def test_every_variable_in_the_sources_is_known() -> None:
    known = {*OTHER_VARIABLES, *(setting.variable for setting in SETTINGS.values())}
    used = {
        name
        for folder in SOURCES
        for file in folder.rglob("*.py")
        for name in re.findall(r"\bDLPCTL_[A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8"))
    }
    # A prefix of names, such as that of a group of settings, is none itself.
    assert {
        name for name in used - known if not any(one.startswith(name) for one in known)
    } == set()


@pytest.mark.parametrize(
    "page",
    [*PAGES, *sorted(ROOT.glob("*/README.md"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_on_pages_exist(page: Path, program: Node) -> None:
    """Each `dlpctl ...` of a page is a command with options that it has, and each topic that it
    names is one.
    """
    nodes = {node.path: node for node in program.walk()}
    wrong = []
    for line in page.read_text(encoding="utf-8").splitlines():
        for call in re.findall(r"\bdlpctl ([a-z][^`'|;&)>]*)", line.partition("  #")[0]):
            words = call.split()
            path = tuple(words[:2]) if tuple(words[:2]) in nodes else tuple(words[:1])
            if path not in nodes:
                continue  # a sentence about dlpctl
            known = {name for option in nodes[path].options for name in option.names}
            wrong += [
                f"{call}: {word}"
                for word in words
                if word.startswith("--") and word.partition("=")[0] not in known
            ]
            if path == ("help",) and len(words) > 1 and words[1] not in ("TOPIC", *topics.names()):
                wrong.append(call)
    assert wrong == []


def test_links_lead_somewhere_and_blocks_of_code_end() -> None:
    wrong = []
    for page in MARKDOWN:
        text = page.read_text(encoding="utf-8")
        # A fence that opens within a block shows that the block before it was never closed.
        fences = re.findall(r"^ *```(\w*)", text, re.MULTILINE)
        if len(fences) % 2 or any(fences[1::2]):
            wrong.append(f"{page.relative_to(ROOT)}: a block of code does not end")
        for path, anchor in re.findall(r"\]\((?!https?://)([^)#\s]*)#?([^)\s]*)\)", text):
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in _anchors(target)):
                wrong.append(f"{page.relative_to(ROOT)}: {path}#{anchor}")
    assert wrong == []


def _anchors(page: Path) -> list[str]:
    headings = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_pages_are_short_and_narrow() -> None:
    for page in PAGES[1:]:
        lines = page.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# "), page
        assert len(lines) < 60, page
        assert max(map(len, lines)) <= 160, page


def test_help_is_markdown_in_a_pipe_and_laid_out_on_a_terminal(dlpctl_run) -> None:
    listed = dlpctl_run("help")
    assert all(name in listed for name in topics.names())
    assert dlpctl_run("help", "ci") == topics.text("ci")
    assert "Usage: dlpctl policy lint" in dlpctl_run("policy", "lint", "--help")
    assert "--destination" in dlpctl_run("help", "check")
    assert "did you mean 'security'?" in dlpctl_run("help", "secrity")


@pytest.fixture
def dlpctl_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    from dlpctl.cli.main import run

    monkeypatch.setenv("DLPCTL_HOME", str(tmp_path))

    def call(*arguments: str) -> str:
        run(arguments)
        return "".join(capfd.readouterr())

    return call
