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
    is_personal: bool = False
    """True if a project's file may not set it: its author could send content and keys anywhere."""

    @property
    def variable(self) -> str:
        return VARIABLES + self.key.upper().replace(".", "_")


_ALL = (
    Setting("patterns", PATHS, "Additional pattern files."),
    Setting("types", NAMES, "The categories, types or patterns that 'scan' and hooks look for."),
    Setting("min_score", number(0, 1), "The lowest score of a finding in 'scan' and hooks."),
    Setting(
        "sensitivity",
        choice(*Sensitivity),
        "How sure a finding must be: high includes possible ones, low only likely ones.",
    ),
    Setting("destination", DESTINATION, "The default destination."),
    Setting(
        "policy",
        POLICY,
        "A policy file or a built-in policy; if set, 'scan' lists what it acts on.",
    ),
    Setting("operator", TEXT, "How to mask, unless the policy says otherwise."),
    Setting("color", choice("auto", "always", "never"), "Whether output for people is coloured."),
    Setting(
        "server", SERVER, "The control plane to ask: http://host:8686, or local.", is_personal=True
    ),
    Setting("allow.values", TEXTS, "Values that 'scan' accepts."),
    Setting("allow.regexes", TEXTS, "Regexes of values that 'scan' accepts."),
    Setting("allow.paths", TEXTS, "Globs of files that 'scan' skips."),
    Setting("serve.host", TEXT, "The address that 'serve' listens on."),
    Setting(
        "serve.port", integer(0, 65535), "The port that 'serve' listens on; 0 takes a free one."
    ),
    Setting("serve.public_url", TEXT, "The address that clients know the service by."),
    Setting("serve.allowed_hosts", TEXTS, "Additional host names that requests may use."),
    Setting("serve.cors_origins", TEXTS, "Origins of web pages that may call the service."),
    Setting(
        "serve.trusted_proxy", TEXT, "The address of a proxy whose X-Forwarded headers are trusted."
    ),
    Setting("serve.processes", integer(1, 64), "The number of processes that answer requests."),
    Setting("serve.threads", integer(1, 256), "Threads in each process that check small texts."),
    Setting(
        "serve.inspectors",
        integer(1, 64),
        "Processes of each that check large texts, and as many for files.",
    ),
    Setting(
        "serve.connections",
        integer(10, 100_000),
        "The maximum number of open connections; one address may have half of them.",
    ),
    Setting("serve.text_bytes", integer(1, 1 << 30), "The size of the largest text."),
    Setting("serve.file_bytes", integer(1, 1 << 40), "The size of the largest file."),
    Setting("serve.rate", integer(1, 1_000_000_000), "Requests a minute with one key."),
    Setting(
        "serve.burst", integer(1, 1_000_000_000), "The size of a burst of requests with one key."
    ),
    Setting("serve.keep_days", integer(0, 100_000), "Days until checks are removed; 0 keeps them."),
    Setting("serve.log", choice("human", "json"), "The format of log lines."),
    Setting("serve.issuer", TEXT, "The issuer of license tokens."),
    Setting(
        "serve.database",
        DATABASE,
        "A PostgreSQL for several nodes: postgresql://user@host/name. Default: a file.",
        is_personal=True,
    ),
    Setting(
        "on_uninspected",
        choice("block", "warn"),
        "What happens to a file with a part that cannot be inspected.",
    ),
    Setting(
        "metadata",
        choice("keep", "clean"),
        "Whether a copy keeps metadata of a file, such as its author, in which nothing was found.",
    ),
    Setting(
        "flatten",
        FLAG,
        "Whether a PDF that cannot be masked otherwise becomes pictures of its pages.",
    ),
    Setting(
        "agents.policy",
        POLICY,
        "The policy that hooks of coding agents decide by.",
        is_personal=True,
    ),
    Setting(
        "agents.on_failure",
        choice("block", "allow"),
        "What happens to an event of an agent that cannot be inspected.",
        is_personal=True,
    ),
    Setting(
        "agents.restore_in",
        TEXTS,
        "Globs of additional agent tools in which tokens are restored.",
        is_personal=True,
    ),
    Setting(
        "agents.vault_days",
        integer(1, 3_650),
        "Days after its last use until a session's vault is removed.",
        is_personal=True,
    ),
    Setting("gateway.host", TEXT, "The address that the gateway listens on.", is_personal=True),
    Setting(
        "gateway.port",
        integer(0, 65535),
        "The port that the gateway listens on; 0 takes a free one.",
        is_personal=True,
    ),
    Setting("gateway.policy", POLICY, "The policy that the gateway decides by.", is_personal=True),
    Setting(
        "gateway.operator",
        choice("token", "surrogate"),
        "How the gateway masks: tokens, or made-up values that look real.",
        is_personal=True,
    ),
    Setting(
        "gateway.hours",
        integer(1, 8_760),
        "Hours after its last use until the values of a conversation are forgotten.",
        is_personal=True,
    ),
    Setting(
        "gateway.body_bytes",
        integer(1, 1 << 30),
        "The size of the largest request to the gateway.",
        is_personal=True,
    ),
    Setting(
        "gateway.inspect_answers",
        FLAG,
        "Whether answers are checked for CUSTOMER; streams are cut before a value.",
        is_personal=True,
    ),
    Setting("limits.input_bytes", integer(1), "The size of the largest file."),
    Setting("limits.expanded_bytes", integer(1), "The total size of unpacked content of a file."),
    Setting(
        "limits.entry_ratio",
        integer(1),
        "The maximum ratio of unpacked to packed size.",
    ),
    Setting("limits.entry_ratio_from", integer(0), "The unpacked size above which it counts."),
    Setting("limits.entries", integer(1), "The maximum number of files in a file."),
    Setting("limits.depth", integer(0), "The maximum depth of files in files."),
    Setting("limits.pdf_pages", integer(1), "The maximum number of pages of a PDF."),
    Setting("limits.pdf_glyphs", integer(1), "The maximum number of characters that a PDF draws."),
    Setting("limits.pdf_invocations", integer(1), "How often a PDF may draw its forms."),
    Setting("limits.pixels", integer(1), "The maximum pixels of a picture or one of its frames."),
    Setting("limits.nesting", integer(1), "The maximum nesting of XML and JSON."),
    Setting("limits.memory_bytes", integer(128 << 20), "The maximum memory for reading a file."),
    Setting(
        "limits.seconds", number(0.1, 86_400), "The maximum time for reading a file, or masking it."
    ),
)
SETTINGS = {each.key: each for each in _ALL}
GROUPS = {key.rpartition(".")[0] for key in SETTINGS} - {""}
