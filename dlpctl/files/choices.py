"""The options of a check of a file, beside the policy."""

from __future__ import annotations

from typing import Literal, TypeVar, get_args

from dlpctl.errors import UsageError

OnUninspected = Literal["block", "warn"]
Metadata = Literal["keep", "clean"]
_T = TypeVar("_T", bound=str)


def parse_on_uninspected(name: str) -> OnUninspected:
    """Return what a part that cannot be inspected means."""
    return _one_of(get_args(OnUninspected), "on_uninspected", name)


def parse_metadata(name: str) -> Metadata:
    """Return what happens to metadata."""
    return _one_of(get_args(Metadata), "metadata", name)


def _one_of(known: tuple[_T, ...], option: str, name: str) -> _T:
    for each in known:
        if each == name.lower():
            return each
    raise UsageError(f"{option}: {name!r} is unknown; there are {' and '.join(known)}")
