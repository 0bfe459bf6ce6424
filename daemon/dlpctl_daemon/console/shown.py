"""Format values for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dlpctl.control.access import SHORTENED
from dlpctl.types import LARGEST_NUMBER

_WORDS = {
    "ALLOWED": "allowed",
    "ALLOWED_WITH_MASKING": "masked",
    "BLOCKED": "blocked",
    "AI_TOOL": "AI tool",
    "VENDOR": "Vendor",
    "CUSTOMER": "Customer",
    "REFUSED": "refused",
    "": "Not known",
}
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def number(value: int) -> str:
    return "unlimited" if value == LARGEST_NUMBER else f"{value:,}"


def moment(value: str) -> str:
    """Return a UTC time without its fraction."""
    return value[:19].replace("T", " ")


def size(value: float) -> str:
    """Return a number of bytes in the unit that fits."""
    for unit in _UNITS[:-1]:
        if value < 1_000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1_000
    return f"{value:.1f} {_UNITS[-1]}"


def milliseconds(value: float) -> str:
    return f"{value:,.1f} ms" if value < 1_000 else f"{value / 1_000:,.1f} s"


def word(value: str) -> str:
    """Return the display name of a decision or destination."""
    return _WORDS.get(value, value)


def shortened(key: str) -> str:
    """Return the start and end of a key, which identify it."""
    return f"{key[:7]}{SHORTENED}{key[-4:]}"


def share(part: int, total: int) -> str:
    return f"{part / total:.1%}" if total else "-"


FILTERS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (number, moment, size, milliseconds, word, shortened, share)
}
