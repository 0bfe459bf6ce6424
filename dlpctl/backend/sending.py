"""`python -m dlpctl.backend.sending SPOOL`: tells the server of the checks that wait, and stays a while for those that follow.

It begins in the background when a check is over, and knows the server and the license from DLPCTL_SERVER and DLPCTL_LICENSE_KEY.
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
from dlpctl.errors import DlpctlError, UnauthorizedError

BATCH = 100
_IDLE_SECONDS = 5.0


def send(spool: Spool, server: RemoteBackend, license_key: str) -> dict[str, Any] | None:
    """All that waits, batch by batch; what the server said last."""
    receipt = None
    while checks := spool.waiting(BATCH):
        try:
            receipt = server.report_usage(license_key, list(checks.values()))
        except UnauthorizedError:
            spool.remove(checks)  # nobody will ever take what belongs to no license
            raise
        spool.remove(checks)
        spool.mark()
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
        main(Path(sys.argv[1]), os.environ["DLPCTL_SERVER"], os.environ["DLPCTL_LICENSE_KEY"].strip())
