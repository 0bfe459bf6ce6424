"""All settings: a field with its type and default, and a row of `SETTINGS` with values and meaning.

Named tuples, since a dataclass costs every start a millisecond.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.config.origin import DEFAULT, Origin
from dlpctl.config.setting_types import (
    DESTINATION,
    NAMES,
    PATHS,
    POLICY,
    SERVER,
    TEXT,
    TEXTS,
    SettingType,
    choice,
    integer,
    number,
)
from dlpctl.types import Destination

VARIABLES = "DLPCTL_"


class Allow(NamedTuple):
    """Findings that `scan` accepts. A check never uses it."""

    values: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Allow({len(self.values)} values, regexes={self.regexes!r}, paths={self.paths!r})"


class Serve(NamedTuple):
    """The settings of `serve`."""

    host: str = "127.0.0.1"
    port: int = 8686
    public_url: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    trusted_proxy: str | None = None
    threads: int = 16
    inspectors: int = 2
    connections: int = 1_000
    text_bytes: int = 1 << 20
    file_bytes: int = 50 << 20
    rate: int = 600
    burst: int = 100
    keep_days: int = 0
    log: str = "human"
    issuer: str = "dlpctl"


class FileLimits(NamedTuple):
    """The limits of a file: one over a limit is unreadable, which blocks it."""

    input_bytes: int = 100 << 20
    expanded_bytes: int = 500 << 20
    entry_ratio: int = 200
    entry_ratio_from: int = 1 << 20
    entries: int = 2_000
    depth: int = 3
    pdf_pages: int = 2_000
    pdf_glyphs: int = 20_000_000
    pdf_invocations: int = 100_000
    """How often a PDF may draw its forms."""
    pixels: int = 60_000_000
    nesting: int = 200
    """How deep XML and JSON may nest."""
    memory_bytes: int = 2 << 30
    seconds: float = 120.0


class Config(NamedTuple):
    """All settings of one run. Built once and passed; nothing in it can change."""

    patterns: tuple[Path, ...] = ()
    types: tuple[str, ...] = ()
    min_score: float = 0.5
    destination: Destination = Destination.AI_TOOL
    policy: str = "default"
    operator: str | None = None
    color: str = "auto"
    server: str | None = None
    allow: Allow = Allow()
    serve: Serve = Serve()
    on_uninspected: str = "block"
    limits: FileLimits = FileLimits()

    data_folder: Path = Path()
    cache_folder: Path = Path()
    origins: tuple[tuple[str, Origin], ...] = ()

    def get(self, key: str) -> Any:
        """Return a setting by its name in the files: `config.get("allow.paths")` is
        `config.allow.paths`.
        """
        return attrgetter(SETTINGS[key].key)(self)

    def origin(self, key: str) -> Origin:
        """Return the origin of a setting's value."""
        return dict(self.origins).get(key, DEFAULT)


class Setting(NamedTuple):
    key: str
    type: SettingType
    meaning: str
    is_personal: bool = False
    """Not for a project's file, whose author could send the user's content and keys anywhere."""

    @property
    def variable(self) -> str:
        return VARIABLES + self.key.upper().replace(".", "_")


SETTINGS = {
    each.key: each
    for each in (
        Setting("patterns", PATHS, "Further pattern files."),
        Setting(
            "types", NAMES, "The only categories, types or patterns that 'scan' and hooks look for."
        ),
        Setting(
            "min_score", number(0, 1), "What a finding must score for 'scan' and hooks to list it."
        ),
        Setting("destination", DESTINATION, "Where content goes if no flag says so."),
        Setting(
            "policy",
            POLICY,
            "A policy file or built-in policy; if set, 'scan' lists what it acts on.",
        ),
        Setting("operator", TEXT, "How to mask, where the policy leaves it open."),
        Setting("color", choice("auto", "always", "never"), "When output for people has colours."),
        Setting(
            "server",
            SERVER,
            "Whose control plane to ask: http://host:8686, or local.",
            is_personal=True,
        ),
        Setting("allow.values", TEXTS, "Values that 'scan' accepts."),
        Setting("allow.regexes", TEXTS, "Regexes of values that 'scan' accepts."),
        Setting("allow.paths", TEXTS, "Globs of files that 'scan' passes over."),
        Setting("serve.host", TEXT, "The address that 'serve' binds."),
        Setting("serve.port", integer(0, 65535), "Its port; 0 takes any that is free."),
        Setting("serve.public_url", TEXT, "The address that clients know the service by."),
        Setting("serve.allowed_hosts", TEXTS, "Further host names that requests may be for."),
        Setting("serve.cors_origins", TEXTS, "Origins of web pages that may call the service."),
        Setting(
            "serve.trusted_proxy", TEXT, "The address of a proxy whose X-Forwarded headers count."
        ),
        Setting("serve.threads", integer(1, 256), "Threads that check small texts."),
        Setting(
            "serve.inspectors",
            integer(1, 64),
            "Processes that check large texts, and as many for files.",
        ),
        Setting(
            "serve.connections",
            integer(10, 100_000),
            "Open connections; half of them for one address.",
        ),
        Setting("serve.text_bytes", integer(1, 1 << 30), "The largest text of a check."),
        Setting("serve.file_bytes", integer(1, 1 << 40), "The largest file of a check."),
        Setting("serve.rate", integer(1, 1_000_000_000), "Requests a minute with one key."),
        Setting("serve.burst", integer(1, 1_000_000_000), "How many of them may come at once."),
        Setting(
            "serve.keep_days",
            integer(0, 100_000),
            "Days after which checks are removed; 0 keeps them.",
        ),
        Setting("serve.log", choice("human", "json"), "The form of log lines."),
        Setting("serve.issuer", TEXT, "Who license tokens name as their issuer."),
        Setting(
            "on_uninspected",
            choice("block", "warn"),
            "What a part of a file does that cannot be read.",
        ),
        Setting("limits.input_bytes", integer(1), "How large a file may be."),
        Setting("limits.expanded_bytes", integer(1), "How much may be packed in a file."),
        Setting(
            "limits.entry_ratio", integer(1), "How many times its size a packed file may have."
        ),
        Setting("limits.entry_ratio_from", integer(0), "From which size on that counts."),
        Setting("limits.entries", integer(1), "How many files a file may hold."),
        Setting("limits.depth", integer(0), "How deep files may lie in files."),
        Setting("limits.pdf_pages", integer(1), "How many pages a PDF may have."),
        Setting("limits.pdf_glyphs", integer(1), "How many characters a PDF may draw."),
        Setting("limits.pdf_invocations", integer(1), "How often a PDF may draw its forms."),
        Setting(
            "limits.pixels", integer(1), "How many pixels a picture may have, or a frame of one."
        ),
        Setting("limits.nesting", integer(1), "How deep XML and JSON may nest."),
        Setting(
            "limits.memory_bytes", integer(128 << 20), "What reading a file may take of the memory."
        ),
        Setting(
            "limits.seconds",
            number(0.1, 86_400),
            "How long reading a file, or masking it, may take.",
        ),
    )
}
GROUPS = {key.rpartition(".")[0] for key in SETTINGS} - {""}
