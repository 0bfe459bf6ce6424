"""Instructions for revoking and replacing each type of secret, from the table beside
the patterns.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

_FILE = "rotation.toml"


class Rotation(NamedTuple):
    """Instructions for revoking a secret and getting another one."""

    advice: str
    page: str = ""
    """The page where the owner revokes the secret, or that explains how; empty for an unknown
    issuer.
    """
    command: str = ""
    """The command for it, with the parts to fill in as capitals."""

    def to_dict(self) -> dict[str, str]:
        return {name: text for name, text in self._asdict().items() if text}


def rotation_of(pattern_id: str, type_name: str) -> Rotation | None:
    """Return the rotation of a pattern's findings; None if they are not secrets."""
    tables = rotation_tables()
    if type_name not in tables:
        return None
    words = pattern_id.split("-")
    names = ("-".join(words[:count]) for count in range(len(words), 0, -1))
    of_issuer = next((tables[name] for name in names if name in tables), {})
    return Rotation(**tables[type_name] | of_issuer)


@cache
def rotation_tables() -> dict[str, dict[str, str]]:
    """Return the tables by the first words of patterns, and by type."""
    import tomllib

    import dlpctl_patterns

    file = Path(dlpctl_patterns.__path__[0]) / _FILE
    return tomllib.loads(file.read_text(encoding="utf-8"))
