"""Every error that a user can meet. Each class has its code, exit status and HTTP status.

A message is one line: what is wrong, where, and what to do. It never contains a scanned value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'VENDOR'?`, or nothing if no known word is similar or the only one
    that begins so; neither case nor the dashes of options count.
    """
    from difflib import get_close_matches

    def folded(name: str) -> str:
        return name.casefold().lstrip("-")

    by_folded = {folded(candidate): candidate for candidate in reversed(list(known))}
    begun = [name for name in by_folded if name.startswith(folded(word))]
    close = get_close_matches(folded(word), by_folded, n=1) or (begun if len(begun) == 1 else [])
    return f"; did you mean '{by_folded[close[0]]}'?" if close else ""


def fault(problem: BaseException) -> str:
    """Return type and place of an internal error; its message may contain scanned values."""
    at = problem.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    location = f" in {at.tb_frame.f_code.co_qualname}, line {at.tb_lineno}" if at else ""
    return f"{type(problem).__name__}{location}"


class DlpctlError(Exception):
    """The base of all errors. `code` is stable and machine-readable."""

    code: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        """`problems` are the mistakes of a file, one line each; the message joins them."""
        super().__init__(message)
        self.message = message
        self.problems: tuple[str, ...] = tuple(problems)


@contextmanager
def os_errors(error: type[DlpctlError], what: str) -> Iterator[None]:
    """Turn an `OSError` into an error of ours: `FILE: cannot be read: REASON`."""
    try:
        yield
    except OSError as problem:
        raise error(f"{what}: {problem.strerror}") from None


class UsageError(DlpctlError):
    """An invalid call."""

    code = "usage"
    exit_status = 2
    http_status = 400


class ConfigError(DlpctlError):
    """A setting that is unknown, ill-typed or unreadable."""

    code = "config"
    exit_status = 2


class InputError(DlpctlError):
    """Content that cannot be read."""

    code = "input"
    http_status = 400


class BaselineError(DlpctlError):
    """A file of exceptions that cannot be used. The message starts with file and line."""

    code = "baseline"
    exit_status = 2


class PatternError(DlpctlError):
    """A pattern file that cannot be used. The message starts with file, pattern and key."""

    code = "pattern"
    exit_status = 2
    http_status = 422


class EngineError(DlpctlError):
    """The detection engine cannot run here."""

    code = "engine"


class NameDataError(EngineError):
    """The data file of the tagger for names and addresses is missing, damaged or outdated."""

    code = "name-data"


class FormatError(DlpctlError):
    """A file that cannot be read with certainty: damaged, encrypted, over a limit. It is
    blocked.
    """

    code = "format"
    exit_status = 20
    http_status = 422


class CannotMaskError(FormatError):
    """A file that can be read, but not masked with certainty."""

    code = "cannot-mask"


class PolicyError(DlpctlError):
    """A policy that cannot be used. Messages start like `policy.toml:12: rules[2].action: ...`."""

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
    """Output that cannot be written."""

    code = "output"


class StillExposedError(DlpctlError):
    """A masked text in which a value can still be read. It is blocked."""

    code = "still-exposed"
    exit_status = 20
    http_status = 422


class RequestError(DlpctlError):
    """A field of a request that is invalid. The message starts with the field."""

    code = "request"
    exit_status = 2
    http_status = 422


class UnauthorizedError(DlpctlError):
    """No credential, or an unknown one."""

    code = "unauthorized"
    http_status = 401


class ForbiddenError(DlpctlError):
    """The credential does not allow the request."""

    code = "forbidden"
    http_status = 403


class NotFoundError(DlpctlError):
    """The object does not exist, or is not visible with the credential."""

    code = "not-found"
    http_status = 404


class ConflictError(DlpctlError):
    """The object exists already, or conflicts with another."""

    code = "conflict"
    http_status = 409


class TooLargeError(DlpctlError):
    """More than a limit allows in one request."""

    code = "too-large"
    http_status = 413


class RateLimitError(DlpctlError):
    """Too many requests in too short a time."""

    code = "rate-limit"
    http_status = 429

    def __init__(self, message: str, *, limit: int, retry_after: int) -> None:
        super().__init__(message)
        self.limit = limit
        self.retry_after = retry_after
        """Seconds."""


class QuotaError(RateLimitError):
    """The monthly checks of a license are used up."""

    code = "quota"


class StoreError(DlpctlError):
    """The database or its key file cannot be used. Nothing was done."""

    code = "store"
    http_status = 503


class TamperedError(DlpctlError):
    """A row of the database that another program has changed; it is not used."""

    code = "tampered"
    http_status = 403

    @classmethod
    def of(cls, table: str, key: str) -> TamperedError:
        return cls(
            f"{key} in {table}: was changed in the database by another program, so it is not used;"
            " see 'dlpctl audit verify'"
        )


class BusyError(DlpctlError):
    """The service has no capacity now. Nothing was done; the same request may succeed later."""

    code = "busy"
    http_status = 503


class ServerError(DlpctlError):
    """A server that cannot be reached, or that is not one of dlpctl."""

    code = "server"
    http_status = 502


class LicenseError(DlpctlError):
    """A license token that cannot be trusted."""

    code = "license"
    http_status = 403
