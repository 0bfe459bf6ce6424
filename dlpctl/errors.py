"""Every error that a user can meet. Each class owns its code, its exit status and its HTTP status.

A message is one line: what is wrong, where, and what to do. It never holds a value that was scanned.
"""

from __future__ import annotations

from typing import ClassVar


class DlpctlError(Exception):
    """The root. `code` is stable and machine-readable."""

    code: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UsageError(DlpctlError):
    """The call itself makes no sense."""

    code = "usage"
    exit_status = 2
    http_status = 400


class ConfigError(DlpctlError):
    """A setting that is unknown, ill-typed or unreadable."""

    code = "config"
    exit_status = 2


class InputError(DlpctlError):
    """What should be scanned cannot be read."""

    code = "input"
    http_status = 400


class PatternError(DlpctlError):
    """A pattern file that cannot be used. The message begins with file, pattern and key."""

    code = "pattern"
    http_status = 422


class EngineError(DlpctlError):
    """The detection engine cannot run here."""

    code = "engine"


class FormatError(DlpctlError):
    """A file that cannot be read with certainty: damaged, encrypted, over a limit."""

    code = "format"
    http_status = 422


class CannotMaskError(FormatError):
    """A file that can be read, but not cleaned with certainty."""

    code = "cannot-mask"


class PolicyError(DlpctlError):
    """A policy that cannot be used. Messages begin like `policy.toml: rules[2].action: ...`."""

    code = "policy"
    exit_status = 2
    http_status = 422


class MaskingError(DlpctlError):
    """A masking operator that is unknown, or that lacks what it needs."""

    code = "masking"
    exit_status = 2
    http_status = 422


class VaultError(DlpctlError):
    """A vault or its key that is missing, damaged or not to be trusted."""

    code = "vault"


class OutputError(DlpctlError):
    """What should be written cannot be."""

    code = "output"


class StillExposedError(DlpctlError):
    """A masked text in which a value can still be read. It is blocked, as a check would."""

    code = "still-exposed"
    exit_status = 20
    http_status = 422
