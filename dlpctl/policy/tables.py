"""JSON values of requests, checked for the control plane."""

from __future__ import annotations

from dlpctl.errors import PolicyError
from dlpctl.mappings import UnfitError, as_json


def plain(location: str, value: object) -> object:
    """Return a copy that every JSON parser can read; raise `PolicyError` for anything else."""
    try:
        return as_json(value)
    except UnfitError as unfit:
        raise PolicyError(f"{location}{unfit.path}: {unfit.problem}") from None
