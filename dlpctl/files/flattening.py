"""The last resort for a file that cannot be masked in place: pictures of its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.interface import described
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from dlpctl.files.report import Verified
    from dlpctl.formats.files import Node

    Masked = tuple[bytes, Verified | None, str]


class Flattened(NamedTuple):
    """The result of an attempt; without `data`, `reason` is the reason."""

    data: bytes
    verified: Verified | None
    reason: str
    node: Node | None = None
    """The file as read from the pictures."""


class Refusals(NamedTuple):
    """Contents of the pictures that block the file."""

    values: bool
    """A value that the policy blocks and that only the pictures show."""
    uninspected: bool
    """A part that can be neither read nor painted over."""


def flattened_copy(
    reason: str,
    read: Callable[[], Node],
    decide: Callable[[Node], Decision],
    mask: Callable[[Node], Masked],
    refusals: Refusals,
) -> Flattened:
    """Return a copy with pictures as pages, for a file that is blocked for a reason."""
    try:
        node = read()
        other = ""
        if decide(node) is Decision.BLOCKED and refusals.values:
            other = "its pages show a value that the policy blocks"
        elif refusals.uninspected:
            other = described(part for part in node.uninspected() if not part.is_removable)
        if not other:
            data, verified, other = mask(node)
            if not other:
                return Flattened(data, verified, "", node)
    except FormatError as error:
        other = error.message
    return Flattened(b"", None, f"{reason}; flattening does not help: {other}")
