"""What is in a file, whatever a policy thinks of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dlpctl.files.finding import Ledger, place_all, scan_document
from dlpctl.files.names import Names
from dlpctl.files.report import Gap
from dlpctl.formats.files import Files

if TYPE_CHECKING:
    from dlpctl.files.finding import Scan
    from dlpctl.formats.interface import Limits
    from dlpctl.formats.worker import Method
    from dlpctl.types import Finding


class Found(NamedTuple):
    """`text` holds the values, one below the other: an allow list and samples are made from it as from any text."""

    text: str
    findings: list[Finding]
    """Their positions are those of `text`; `locator` is the place in the file, as it may be shown."""
    not_inspected: tuple[Gap, ...]
    format: str


def find_in_file(
    data: bytes,
    name: str,
    scan: Scan,
    *,
    limits: Limits | None = None,
    method: Method = "spawn",
    password: str | None = None,
) -> Found:
    """Everything that `scan` finds in a file of any format; raises `FormatError` where it cannot be read with certainty."""
    with Files(limits, method) as files:
        node = files.open(data, name, password)
    placed = place_all(node, lambda document: scan_document(document, scan))
    names = Names(scan)
    names.know(placed)
    ledger = Ledger(placed, names.shown([one.place for one in placed]))
    missed = list(node.uninspected())
    gaps = zip(names.shown([part.place for part in missed]), missed, strict=True)
    return Found(
        ledger.text,
        ledger.findings,
        tuple(Gap(place, part.reason) for place, part in gaps),
        node.document.format,
    )
