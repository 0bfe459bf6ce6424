"""The messages between the service and the processes that inspect large contents for it."""

from __future__ import annotations

from typing import NamedTuple

from dlpctl.config.settings import FileLimits
from dlpctl.control.inspection import StoredPolicy
from dlpctl.formats.isolation.messages import LIMITS
from dlpctl.processes.schema import TEXT, ListOf, OneOf, Optional, Record
from dlpctl.types import Detection


class CheckText(NamedTuple):
    """Check a text by a policy."""

    policy: StoredPolicy
    text: str


class CheckFile(NamedTuple):
    """Check a file by a policy, and mask it if it may go."""

    policy: StoredPolicy
    name: str
    data: bytes
    limits: FileLimits | None


class Ready(NamedTuple):
    """The process has loaded its patterns, and accepts requests."""


class Inspected(NamedTuple):
    """The report on a content, with the masked content unless it is blocked."""

    decision: str
    summary: str
    detected: list[Detection]
    masked: bytes | None
    is_last: bool
    """The process must be replaced."""


class Failed(NamedTuple):
    """The inspection failed: the error by its class in `dlpctl.errors`."""

    error: str
    message: str


Request = CheckText | CheckFile
_POLICY = Record(StoredPolicy, destination=TEXT)
REQUEST = OneOf(
    t=Record(CheckText, policy=_POLICY),
    f=Record(CheckFile, policy=_POLICY, limits=Optional(LIMITS)),
)
REPLY = OneOf(
    r=Record(Ready),
    i=Record(Inspected, detected=ListOf(Record(Detection))),
    e=Record(Failed),
)
