"""Every setting there is: a field with its type and default, and a row of `SETTINGS` with what it accepts and means.

Named tuples, since a dataclass costs every start of every command a millisecond.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.config.kinds import DESTINATION, PATHS, POLICY, TEXT, TEXTS, Kind, choice, number, whole
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


class FileLimits(NamedTuple):
    """What a file may cost before it counts as unreadable, which blocks it."""

    input_bytes: int = 100 << 20
    expanded_bytes: int = 500 << 20
    entry_ratio: int = 200
    entry_ratio_from: int = 1 << 20
    entries: int = 2_000
    depth: int = 3
    pdf_pages: int = 2_000
    pdf_glyphs: int = 20_000_000
    pdf_invocations: int = 100_000
    pixels: int = 60_000_000
    nesting: int = 200
    memory_bytes: int = 2 << 30
    seconds: float = 120.0


class Config(NamedTuple):
    """All settings of one run. Built once and passed; nothing in it can change."""

    patterns: tuple[Path, ...] = ()
    min_score: float = 0.5
    destination: Destination = Destination.AI_TOOL
    policy: str = "default"
    operator: str | None = None
    color: str = "auto"
    allow: Allow = Allow()
    on_uninspected: str = "block"
    limits: FileLimits = FileLimits()

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
        Setting("allow.values", TEXTS, "Values that 'scan' accepts."),
        Setting("allow.regexes", TEXTS, "Regexes of values that 'scan' accepts."),
        Setting("allow.paths", TEXTS, "Globs of files that 'scan' passes over."),
        Setting("on_uninspected", choice("block", "warn"), "What a part of a file does that cannot be read."),
        Setting("limits.input_bytes", whole(1), "How large a file may be."),
        Setting("limits.expanded_bytes", whole(1), "How much may be packed in a file."),
        Setting("limits.entry_ratio", whole(1), "How many times its size a packed file may have."),
        Setting("limits.entry_ratio_from", whole(0), "From which size on that counts."),
        Setting("limits.entries", whole(1), "How many files a file may hold."),
        Setting("limits.depth", whole(0), "How deep files may lie in files."),
        Setting("limits.pdf_pages", whole(1), "How many pages a PDF may have."),
        Setting("limits.pdf_glyphs", whole(1), "How many characters a PDF may draw."),
        Setting("limits.pdf_invocations", whole(1), "How often a PDF may draw its forms."),
        Setting("limits.pixels", whole(1), "How many pixels a picture may have, all frames together."),
        Setting("limits.nesting", whole(1), "How deep XML and JSON may nest."),
        Setting("limits.memory_bytes", whole(128 << 20), "What reading a file may take of the memory."),
        Setting("limits.seconds", number(0.1, 86_400), "How long reading a file, or masking it, may take."),
    )
}
GROUPS = {key.rpartition(".")[0] for key in SETTINGS} - {""}
