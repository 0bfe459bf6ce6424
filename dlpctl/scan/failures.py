"""Interpret the errors of providers' packages: transient or not, and a readable reason."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator

_PASSING = frozenset((408, 429, 500, 502, 503, 504))
_NETWORK = frozenset(
    ("HTTPClientError", "ClientConnectionError", "ClientPayloadError", "IncompleteRead")
)
"""The names of base classes of network errors, in packages that may not be installed."""
_QUERY = re.compile(r"\?\S+")
_LONGEST = 200


def _chain(problem: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = problem
    for _ in range(5):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__


def status_of(problem: BaseException) -> int | None:
    """Return the HTTP status of a failed request, if there is one."""
    for each in _chain(problem):
        if _is_of_network(each):  # the parser of aiohttp gives 400 to an answer that ends early
            return None
        response = getattr(each, "response", None)
        if isinstance(response, dict):
            response = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if isinstance(response, int):
            return response
        for name in ("status", "code"):  # one after the other: aiohttp warns of its "code"
            if isinstance(status := getattr(each, name, None), int):
                return status
    return None


def is_transient(problem: BaseException) -> bool:
    """Return whether the same request may succeed later."""
    status = status_of(problem)
    if status is not None:
        return status in _PASSING
    return any(
        isinstance(each, TimeoutError | ConnectionError)
        or getattr(each, "errno", None) == errno.EBUSY
        or _is_of_network(each)
        for each in _chain(problem)
    )


def _is_of_network(problem: BaseException) -> bool:
    return not _NETWORK.isdisjoint(base.__name__ for base in type(problem).__mro__)


def reason_of(problem: BaseException) -> str:
    """Return the reason of a failed request in one line, without the queries of addresses."""
    *_, origin = _chain(problem)
    status = status_of(problem)
    if isinstance(problem, TimeoutError) or "Timeout" in type(origin).__name__:
        return "the server did not answer in time"
    text = str(getattr(origin, "message", "") or getattr(problem, "strerror", "") or problem)
    lines = _QUERY.sub("", text).strip().splitlines() or [type(origin).__name__]
    text = lines[0][:_LONGEST]
    if isinstance(problem, PermissionError) or status in (401, 403):
        return f"access denied: {text}"
    return f"{text} (HTTP {status})" if status and str(status) not in text else text
