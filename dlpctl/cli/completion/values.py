"""The values that a parameter may take; many of them depend on this machine.

Shells ask while the user types, so each list is read within some hundredths of a second, and is
empty if it cannot be read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from dlpctl.system.regular import read_regular

_TYPE = re.compile(r"^\[([A-Z][A-Z0-9_]*)\]", re.MULTILINE)
_OWN_TYPE = re.compile(r"""^type\s*=\s*["']([A-Z][A-Z0-9_]*)["']""", re.MULTILINE)


class Values(NamedTuple):
    """The values of a parameter."""

    read: Callable[[], Iterable[str]] = tuple
    or_files: bool = False
    """True if the parameter takes a file as well."""
    is_list: bool = False
    """True if the parameter takes several values, joined by commas."""


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


def _topics() -> Iterable[str]:
    from dlpctl.cli.topics import names

    return names()


def _operators() -> Iterable[str]:
    from dlpctl.operators import OPERATORS

    return OPERATORS


def _hooks() -> Iterable[str]:
    from dlpctl.agents.adapters import adapters

    return ("git", *adapters())


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
    except DlpctlError:  # the command itself will report the mistake in the settings
        return ()


def _stored(sql: str) -> Iterable[str]:
    """Return a column from this user's control plane; asking a server would be too slow."""
    import sqlite3
    from contextlib import closing

    from dlpctl.config import locate
    from dlpctl.errors import DlpctlError

    try:
        database = locate(os.environ).data / "control.db"
        with closing(
            sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=0.05)
        ) as connection:
            return [str(row[0]) for row in connection.execute(sql)]
    except (DlpctlError, sqlite3.Error):
        return ()


_FILE = Values(or_files=True)
_POLICY = Values(_policies, or_files=True)
PARAMETERS = {
    "category": Values(_categories),
    "destination": Values(_destinations),
    "operator": Values(_operators),
    "org": Values(_organizations),
    "policies": Values(_stored_policies),
    "policy": _POLICY,
    "policy_id": Values(_stored_policies),
    "target": Values(_hooks),
    "topic": Values(_topics),
    "type_name": Values(_types),
    "types": Values(_types, is_list=True),
    "before": _POLICY,
    "after": _POLICY,
    "file": _FILE,
    "files": _FILE,
    "paths": _FILE,
    "output": _FILE,
    "vault": _FILE,
}
"""The values by parameter name, for parameters whose type does not list them."""
