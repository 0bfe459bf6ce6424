"""The topics of `dlpctl help`: Markdown files with tables that the program fills in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from dlpctl.errors import DlpctlError

_FOLDER = Path(__file__).parent


def names() -> list[str]:
    return sorted(file.stem for file in _FOLDER.glob("*.md"))


def title(name: str) -> str:
    with (_FOLDER / f"{name}.md").open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()


def text(name: str) -> str:
    """Return a topic as Markdown."""
    content = (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for table, make in _TABLES.items():
        mark = f"{{{{{table}}}}}"
        if mark in content:
            content = content.replace(mark, make())
    return content


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _settings() -> str:
    import json

    from dlpctl.config import SETTINGS, Config

    def default(key: str) -> str:
        value = Config().get(key)
        return "" if value in (None, ()) else f"`{json.dumps(value, default=str)}`"

    return _table(
        ("setting", "default", "meaning"),
        ((f"`{key}`", default(key), setting.meaning) for key, setting in SETTINGS.items()),
    )


def _variables() -> str:
    from dlpctl.config.loading import OTHER_VARIABLES

    return _table(
        ("variable", "meaning"),
        ((f"`{name}`", meaning) for name, meaning in OTHER_VARIABLES.items()),
    )


def _errors() -> str:
    classes = sorted(_below(DlpctlError), key=lambda item: item.code)
    return _table(
        ("code", "status", "HTTP", "meaning"),
        (
            (f"`{item.code}`", str(item.exit_status), str(item.http_status), _meaning(item))
            for item in classes
        ),
    )


def _below(parent: type[DlpctlError]) -> list[type[DlpctlError]]:
    return [inner for child in parent.__subclasses__() for inner in (child, *_below(child))]


def _meaning(item: type[DlpctlError]) -> str:
    return " ".join((inspect.getdoc(item) or "").partition("\n\n")[0].split())


def _types() -> str:
    import tomllib

    import dlpctl_patterns

    folder = Path(dlpctl_patterns.__path__[0]) / "types"
    rows = [
        (f"`{name}`", item["category"], item["label"], ", ".join(item.get("laws", ())))
        for file in ("secrets", "pii", "phi", "financial")
        for name, item in tomllib.loads(
            (folder / f"{file}.toml").read_text(encoding="utf-8")
        ).items()
    ]
    return _table(("type", "category", "what it is", "laws and standards"), rows)


def _policies() -> str:
    from dlpctl.policy.files import builtin_names
    from dlpctl.policy.model import Policy

    rows = [(f"`{name}`", Policy.builtin(name).description) for name in builtin_names()]
    return _table(("policy", "what it does"), rows)


def _operators() -> str:
    from dlpctl.operators import OPERATORS

    return _table(
        ("operator", "what stays"),
        ((f"`{name}`", item.summary) for name, item in OPERATORS.items()),
    )


def _commands() -> str:
    from dlpctl.cli.outline import describe

    nodes = describe().walk()[1:]
    return _table(
        ("command", "what it does"), ((f"`{' '.join(item.path)}`", item.help) for item in nodes)
    )


def _reference() -> str:
    from dlpctl.cli.topics.public_names import reference

    return reference()


_TABLES: dict[str, Callable[[], str]] = {
    "commands": _commands,
    "errors": _errors,
    "operators": _operators,
    "policies": _policies,
    "reference": _reference,
    "settings": _settings,
    "types": _types,
    "variables": _variables,
}
