"""Every setting there is. One line adds a setting to the files, the environment, `dlpctl config show` and the program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.config.kinds import DESTINATION, PATHS, POLICY, TEXT, TEXTS, Kind, choice, number
from dlpctl.config.origin import DEFAULT, Origin
from dlpctl.types import Destination

VARIABLES = "DLPCTL_"


def about(kind: Kind, meaning: str) -> dict[str, object]:
    return {"kind": kind, "meaning": meaning}


@dataclass(frozen=True, slots=True)
class Allow:
    """What `scan` passes over. A check never asks here."""

    values: tuple[str, ...] = field(
        default=(), repr=False, metadata=about(TEXTS, "Values that 'scan' accepts.")
    )
    regexes: tuple[str, ...] = field(
        default=(), metadata=about(TEXTS, "Regexes of values that 'scan' accepts.")
    )
    paths: tuple[str, ...] = field(
        default=(), metadata=about(TEXTS, "Globs of files that 'scan' passes over.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings of one run. Built once and passed; nothing in it can change."""

    patterns: tuple[Path, ...] = field(default=(), metadata=about(PATHS, "Further pattern files."))
    min_score: float = field(default=0.5, metadata=about(number(0, 1), "What a finding must score to count."))
    destination: Destination = field(
        default=Destination.AI_TOOL, metadata=about(DESTINATION, "Where content goes if no flag says so.")
    )
    policy: str = field(
        default="default", metadata=about(POLICY, "A policy file, or the name of a built-in policy.")
    )
    operator: str | None = field(
        default=None, metadata=about(TEXT, "How to mask, where the policy leaves it open.")
    )
    color: str = field(
        default="auto",
        metadata=about(choice("auto", "always", "never"), "When output for people has colours."),
    )
    allow: Allow = Allow()

    data_folder: Path = Path()
    cache_folder: Path = Path()
    origins: tuple[tuple[str, Origin], ...] = field(default=(), repr=False)

    def __getitem__(self, key: str) -> Any:
        """A setting by its name in the files: `config["allow.paths"]` is `config.allow.paths`."""
        return attrgetter(SETTINGS[key].key)(self)

    def origin(self, key: str) -> Origin:
        """Who set it last."""
        return dict(self.origins).get(key, DEFAULT)


class Setting(NamedTuple):
    key: str
    kind: Kind
    default: object
    meaning: str

    @property
    def variable(self) -> str:
        return VARIABLES + self.key.upper().replace(".", "_")


def _settings(group: Any, prefix: str = "") -> Iterator[Setting]:
    for each in fields(group):
        if "kind" in each.metadata:
            yield Setting(prefix + each.name, each.metadata["kind"], each.default, each.metadata["meaning"])
        elif is_dataclass(each.default):
            yield from _settings(each.default, f"{prefix}{each.name}.")


SETTINGS = {each.key: each for each in _settings(Config)}
GROUPS = {key.rpartition(".")[0] for key in SETTINGS} - {""}
