"""What only this machine knows and a shell asks for while somebody types: `dlpctl __complete KIND`.

It runs before the command line is imported and answers in some hundredths of a second; what goes wrong is an empty answer.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from dlpctl.regular import read_regular

COMMAND = "__complete"
_TYPE = re.compile(r"^\[([A-Z][A-Z0-9_]*)\]", re.MULTILINE)
_OWN_TYPE = re.compile(r"""^type\s*=\s*["']([A-Z][A-Z0-9_]*)["']""", re.MULTILINE)


def main(kind: str) -> int:
    found = sorted(set(KINDS[kind]())) if kind in KINDS else []
    sys.stdout.write("".join(f"{value}\n" for value in found))
    return 0


def _destinations() -> Iterable[str]:
    from dlpctl.types import Destination

    return Destination


def _categories() -> Iterable[str]:
    from dlpctl.types import Category

    return Category


def _types() -> Iterable[str]:
    import dlpctl_patterns

    library = Path(dlpctl_patterns.__path__[0]) / "types"
    found = set(_categories())
    for file in library.glob("*.toml"):
        found.update(_TYPE.findall(_text(file)))
    for file in _own_patterns():
        found.update(_OWN_TYPE.findall(_text(file)))
    return found


def _policies() -> Iterable[str]:
    from dlpctl.policy.files import builtin_names

    return builtin_names()


def _stored_policies() -> Iterable[str]:
    return _stored("SELECT policy_id FROM policies")


def _organizations() -> Iterable[str]:
    return _stored("SELECT slug FROM organizations")


KINDS: dict[str, Callable[[], Iterable[str]]] = {
    "categories": _categories,
    "destinations": _destinations,
    "organizations": _organizations,
    "policies": _policies,
    "stored-policies": _stored_policies,
    "types": _types,
}


def _text(file: Path) -> str:
    try:
        return read_regular(file).decode("utf-8", "replace")
    except OSError:
        return ""


def _own_patterns() -> Iterable[Path]:
    from dlpctl.config import load_config
    from dlpctl.errors import DlpctlError

    try:
        return load_config().patterns
    except DlpctlError:  # the command itself will say what is wrong with the settings
        return ()


def _stored(sql: str) -> Iterable[str]:
    """From the control plane of this user, read only; a server is not asked, since nobody waits for one while typing."""
    import sqlite3
    from contextlib import closing

    from dlpctl.config import locate
    from dlpctl.errors import DlpctlError

    try:
        database = locate(os.environ).data / "control.db"
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=0.05)) as connection:
            return [str(row[0]) for row in connection.execute(sql)]
    except (DlpctlError, sqlite3.Error):
        return ()
