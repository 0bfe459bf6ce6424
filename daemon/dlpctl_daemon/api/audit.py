"""The log of checks as a stream of lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice

from flask import Response

from dlpctl.control.resources.audit import AuditItem
from dlpctl.control.resources.operations import LINES
from dlpctl_daemon.endpoints import Call, Handler

_LINES = 500


def export_audit(call: Call) -> Response:
    items = call.control.audit.export(call.access, **call.query)
    first = list(islice(items, 1))  # what is wrong with the request shows before the answer starts
    return Response(_lines(chain(first, items)), content_type=LINES)


def _lines(items: Iterator[AuditItem]) -> Iterator[bytes]:
    """Many in one piece, since each piece is a write to the connection."""
    while some := list(islice(items, _LINES)):
        lines = (json.dumps(item.to_dict(), separators=(",", ":")) for item in some)
        yield "".join(f"{line}\n" for line in lines).encode("ascii")


HANDLERS: tuple[Handler, ...] = (export_audit,)
