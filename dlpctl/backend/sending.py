"""`python -m dlpctl.backend.sending SPOOL`: reports the checks that wait to the server, and stays a
while for further ones.

It starts in the background after a check, and takes the server and the license from DLPCTL_SERVER
and DLPCTL_LICENSE_KEY.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dlpctl.backend.address import Address
from dlpctl.backend.connection import Connection
from dlpctl.backend.licensing import LicenseClient
from dlpctl.backend.remote import RemoteBackend
from dlpctl.backend.spool import Spool
from dlpctl.control.clock import next_month
from dlpctl.errors import DlpctlError, InputError, RequestError, TooLargeError, UnauthorizedError

BATCH = 100
_IDLE_SECONDS = 5.0


def send(spool: Spool, server: RemoteBackend, license_key: str) -> dict[str, Any] | None:
    """Report all that waits, batch by batch; return the server's last answer.

    A check that the server refuses stays, since a newer server may take it, and delays no other.
    """
    receipt = None
    refused: dict[Path, DlpctlError] = {}
    while checks := spool.waiting(BATCH, refused):
        try:
            receipt = _report(server, license_key, checks, refused) or receipt
        except UnauthorizedError:
            spool.remove(checks)  # nobody will ever take what belongs to no license
            raise
        spool.remove(checks.keys() - refused.keys())
        spool.mark()
    if receipt is None and refused:
        raise next(iter(refused.values()))
    return receipt


def _report(
    server: RemoteBackend,
    license_key: str,
    checks: dict[Path, dict[str, Any]],
    refused: dict[Path, DlpctlError],
) -> dict[str, Any] | None:
    """Report checks; where they are refused, split them until the guilty ones are alone."""
    try:
        told: dict[str, Any] = server.report_usage(license_key, {"checks": list(checks.values())})
        return told
    except (InputError, RequestError, TooLargeError) as error:
        if len(checks) == 1:
            refused |= dict.fromkeys(checks, error)
            return None
    receipt = None
    items, middle = list(checks.items()), len(checks) // 2
    for half in (items[:middle], items[middle:]):
        receipt = _report(server, license_key, dict(half), refused) or receipt
    return receipt


def main(folder: Path, url: str, license_key: str, idle_seconds: float = _IDLE_SECONDS) -> None:
    client = LicenseClient(url, license_key, folder.parent.parent)
    spool = Spool(folder)
    while True:
        with closing(RemoteBackend(Connection(Address.parse(url)), None)) as server:
            receipt = send(spool, server, license_key)
        if receipt is None:
            break
        limit = receipt["max_checks_per_month"]
        if receipt["checks_this_month"] >= limit:
            client.spent(next_month(datetime.now(UTC)), limit)
        time.sleep(idle_seconds)
    spool.unmark()


if __name__ == "__main__":
    with suppress(DlpctlError, KeyError):  # what could not be sent is sent the next time
        main(
            Path(sys.argv[1]), os.environ["DLPCTL_SERVER"], os.environ["DLPCTL_LICENSE_KEY"].strip()
        )
