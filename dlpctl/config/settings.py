"""Every setting there is: a field with its type and default, and a row of `SETTINGS` with what it accepts and means.

Named tuples, since a dataclass costs every start of every command a millisecond.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.config.kinds import DESTINATION, PATHS, POLICY, TEXT, TEXTS, Kind, choice, number
from dlpctl.config.origin import DEFAULT, Origin
from dlpctl.types import Destination

VARIABLES = "DLPCTL_"


class Allow(NamedTuple):
    """What `scan` passes over. A check never asks here."""

    values: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Allow({len(self.values)} values, regexes={self.regexes!r}, paths={self.paths!r})"


class Config(NamedTuple):
    """All settings of one run. Built once and passed; nothing in it can change."""

    patterns: tuple[Path, ...] = ()
    min_score: float = 0.5
    destination: Destination = Destination.AI_TOOL
    policy: str = "default"
    operator: str | None = None
    color: str = "auto"
    server: str | None = None
    allow: Allow = Allow()

    data_folder: Path = Path()
    cache_folder: Path = Path()
    origins: tuple[tuple[str, Origin], ...] = ()

    def get(self, key: str) -> Any:
        """A setting by its name in the files: `config.get("allow.paths")` is `config.allow.paths`."""
        return attrgetter(SETTINGS[key].key)(self)

    def origin(self, key: str) -> Origin:
        """Who set it last."""
        return dict(self.origins).get(key, DEFAULT)


class Setting(NamedTuple):
    key: str
    kind: Kind
    meaning: str
    is_personal: bool = False
    """Not for a project's file: whoever writes that could send the user's content and keys where he likes."""

    @property
    def variable(self) -> str:
        return VARIABLES + self.key.upper().replace(".", "_")


SETTINGS = {
    each.key: each
    for each in (
        Setting("patterns", PATHS, "Further pattern files."),
        Setting("min_score", number(0, 1), "What a finding must score for 'scan' to list it."),
        Setting("destination", DESTINATION, "Where content goes if no flag says so."),
        Setting("policy", POLICY, "A policy file, or the name of a built-in policy."),
        Setting("operator", TEXT, "How to mask, where the policy leaves it open."),
        Setting("color", choice("auto", "always", "never"), "When output for people has colours."),
        Setting("server", TEXT, "The control plane to ask, as http://host:8686.", is_personal=True),
        Setting("allow.values", TEXTS, "Values that 'scan' accepts."),
        Setting("allow.regexes", TEXTS, "Regexes of values that 'scan' accepts."),
        Setting("allow.paths", TEXTS, "Globs of files that 'scan' passes over."),
    )
}
GROUPS = {key.rpartition(".")[0] for key in SETTINGS} - {""}
