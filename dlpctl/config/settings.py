"""All settings: a field with its type and default, and a row of `SETTINGS` with values and meaning.

They are named tuples, since a dataclass would add a millisecond to every start.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.config.origin import DEFAULT, Origin
from dlpctl.config.setting_types import (
    DATABASE,
    DESTINATION,
    FLAG,
    NAMES,
    PATHS,
    POLICY,
    SERVER,
    TEXT,
    TEXTS,
    DatabaseAddress,
    SettingType,
    choice,
    integer,
    number,
)
from dlpctl.types import Destination, Sensitivity

VARIABLES = "DLPCTL_"
_PERSONAL = ("server", "serve.database", "agents.", "gateway.")


class Allow(NamedTuple):
    """Findings that `scan` accepts. Checks never use it."""

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
    processes: int = 1
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
    database: DatabaseAddress | None = None

    @property
    def database_url(self) -> str | None:
        """Return the address of the database that is no file, with its password."""
        return self.database and self.database.url


class FileLimits(NamedTuple):
    """The limits for a file; a file over a limit counts as unreadable and is blocked."""

    input_bytes: int = 100 << 20
    expanded_bytes: int = 500 << 20
    entry_ratio: int = 200
    entry_ratio_from: int = 8 << 20
    entries: int = 2_000
    depth: int = 6
    pdf_pages: int = 2_000
    pdf_glyphs: int = 20_000_000
    pdf_invocations: int = 100_000
    """The maximum number of times that a PDF draws its forms."""
    pixels: int = 60_000_000
    nesting: int = 200
    """The maximum nesting of XML and JSON."""
    memory_bytes: int = 2 << 30
    seconds: float = 120.0


class Agents(NamedTuple):
    """The settings for hooks of coding agents."""

    policy: str = "ai-prompts"
    on_failure: str = "block"
    restore_in: tuple[str, ...] = ()
    vault_days: int = 7


class GatewaySettings(NamedTuple):
    """The settings of the gateway."""

    host: str = "127.0.0.1"
    port: int = 8687
    policy: str = "ai-prompts"
    operator: str = "token"
    hours: int = 24
    body_bytes: int = 32 << 20
    inspect_answers: bool = False


class Config(NamedTuple):
    """All settings of one run. Built once and passed on; immutable."""

    patterns: tuple[Path, ...] = ()
    types: tuple[str, ...] = ()
    min_score: float = 0.5
    sensitivity: str = "balanced"
    destination: Destination = Destination.AI_TOOL
    policy: str = "default"
    operator: str | None = None
    color: str = "auto"
    server: str | None = None
    allow: Allow = Allow()
    serve: Serve = Serve()
    on_uninspected: str = "block"
    metadata: str = "keep"
    flatten: bool = False
    limits: FileLimits = FileLimits()
    agents: Agents = Agents()
    gateway: GatewaySettings = GatewaySettings()

    data_folder: Path = Path()
    cache_folder: Path = Path()
    origins: tuple[tuple[str, Origin], ...] = ()

    def get(self, key: str) -> Any:
        """Return a setting by its name in files: `config.get("allow.paths")` is
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

    @property
    def is_personal(self) -> bool:
        """True if a project's file may not set it: its author could send content and keys
        anywhere.
        """
        return self.key.startswith(_PERSONAL)

    @property
    def variable(self) -> str:
        return VARIABLES + self.key.upper().replace(".", "_")


_ALL: dict[str, tuple[SettingType, str]] = {
    "patterns": (PATHS, "Additional pattern files."),
    "types": (NAMES, "The categories, types or patterns that 'scan' and hooks look for."),
    "min_score": (number(0, 1), "The lowest score of a finding in 'scan' and hooks."),
    "sensitivity": (
        choice(*Sensitivity),
        "How sure a finding must be: high includes possible ones, low only likely ones.",
    ),
    "destination": (DESTINATION, "The default destination."),
    "policy": (POLICY, "A policy file or a built-in policy; if set, 'scan' lists what it acts on."),
    "operator": (TEXT, "How to mask, unless the policy says otherwise."),
    "color": (choice("auto", "always", "never"), "Whether output for people is coloured."),
    "server": (SERVER, "The control plane to ask: http://host:8686, or local."),
    "allow.values": (TEXTS, "Values that 'scan' accepts."),
    "allow.regexes": (TEXTS, "Regexes of values that 'scan' accepts."),
    "allow.paths": (TEXTS, "Globs of files that 'scan' skips."),
    "serve.host": (TEXT, "The address that 'serve' listens on."),
    "serve.port": (integer(0, 65535), "The port that 'serve' listens on; 0 takes a free one."),
    "serve.public_url": (TEXT, "The address that clients know the service by."),
    "serve.allowed_hosts": (TEXTS, "Additional host names that requests may use."),
    "serve.cors_origins": (TEXTS, "Origins of web pages that may call the service."),
    "serve.trusted_proxy": (TEXT, "The address of a proxy whose X-Forwarded headers are trusted."),
    "serve.processes": (integer(1, 64), "The number of processes that answer requests."),
    "serve.threads": (integer(1, 256), "Threads in each process that check small texts."),
    "serve.inspectors": (
        integer(1, 64),
        "Processes of each that check large texts, and as many for files.",
    ),
    "serve.connections": (
        integer(10, 100_000),
        "The maximum number of open connections; one address may have half of them.",
    ),
    "serve.text_bytes": (integer(1, 1 << 30), "The size of the largest text."),
    "serve.file_bytes": (integer(1, 1 << 40), "The size of the largest file."),
    "serve.rate": (integer(1, 1_000_000_000), "Requests a minute with one key."),
    "serve.burst": (integer(1, 1_000_000_000), "The size of a burst of requests with one key."),
    "serve.keep_days": (integer(0, 100_000), "Days until checks are removed; 0 keeps them."),
    "serve.log": (choice("human", "json"), "The format of log lines."),
    "serve.issuer": (TEXT, "The issuer of license tokens."),
    "serve.database": (
        DATABASE,
        "A PostgreSQL for several nodes: postgresql://user@host/name. Default: a file.",
    ),
    "on_uninspected": (
        choice("block", "warn"),
        "What happens to a file with a part that cannot be inspected.",
    ),
    "metadata": (
        choice("keep", "clean"),
        "Whether a copy keeps metadata of a file, such as its author, in which nothing was found.",
    ),
    "flatten": (
        FLAG,
        "Whether a PDF that cannot be masked otherwise becomes pictures of its pages.",
    ),
    "agents.policy": (POLICY, "The policy that hooks of coding agents decide by."),
    "agents.on_failure": (
        choice("block", "allow"),
        "What happens to an event of an agent that cannot be inspected.",
    ),
    "agents.restore_in": (TEXTS, "Globs of additional agent tools in which tokens are restored."),
    "agents.vault_days": (
        integer(1, 3_650),
        "Days after its last use until a session's vault is removed.",
    ),
    "gateway.host": (TEXT, "The address that the gateway listens on."),
    "gateway.port": (
        integer(0, 65535),
        "The port that the gateway listens on; 0 takes a free one.",
    ),
    "gateway.policy": (POLICY, "The policy that the gateway decides by."),
    "gateway.operator": (
        choice("token", "surrogate"),
        "How the gateway masks: tokens, or made-up values that look real.",
    ),
    "gateway.hours": (
        integer(1, 8_760),
        "Hours after its last use until the values of a conversation are forgotten.",
    ),
    "gateway.body_bytes": (integer(1, 1 << 30), "The size of the largest request to the gateway."),
    "gateway.inspect_answers": (
        FLAG,
        "Whether answers are checked for CUSTOMER; streams are cut before a value.",
    ),
    "limits.input_bytes": (integer(1), "The size of the largest file."),
    "limits.expanded_bytes": (integer(1), "The total size of unpacked content of a file."),
    "limits.entry_ratio": (integer(1), "The maximum ratio of unpacked to packed size."),
    "limits.entry_ratio_from": (integer(0), "The unpacked size above which it counts."),
    "limits.entries": (integer(1), "The maximum number of files in a file."),
    "limits.depth": (integer(0), "The maximum depth of files in files."),
    "limits.pdf_pages": (integer(1), "The maximum number of pages of a PDF."),
    "limits.pdf_glyphs": (integer(1), "The maximum number of characters that a PDF draws."),
    "limits.pdf_invocations": (integer(1), "How often a PDF may draw its forms."),
    "limits.pixels": (integer(1), "The maximum pixels of a picture or one of its frames."),
    "limits.nesting": (integer(1), "The maximum nesting of XML and JSON."),
    "limits.memory_bytes": (integer(128 << 20), "The maximum memory for reading a file."),
    "limits.seconds": (number(0.1, 86_400), "The maximum time for reading a file, or masking it."),
}
SETTINGS = {key: Setting(key, *row) for key, row in _ALL.items()}
GROUPS = {key.rpartition(".")[0] for key in SETTINGS} - {""}
