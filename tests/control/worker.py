"""Checks texts as fast as it can and says on stdout which are answered: what the tests kill, starve and run side by side."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from dlpctl.control.service import ControlPlane
from dlpctl.detect.engine import Detector
from dlpctl.detect.library import parse_file
from dlpctl.errors import QuotaError, StoreError

_PATTERN = {
    "id": "mail",
    "type": "EMAIL",
    "category": "PII",
    "label": "Mail",
    "regex": r"\b[a-z]{1,9}@[a-z]{1,9}\.example\b",
    "score": 0.9,
}


def small_detector() -> Detector:
    return Detector(patterns=parse_file({"pattern": [_PATTERN]}, "tests"))


def main(folder: str, key: str, threads: str, each: str) -> None:
    with ControlPlane.open(Path(folder), small_detector) as control:

        def work() -> None:
            for _ in range(int(each)):
                try:
                    made = control.checks.check_text(key, "to a@b.example", "VENDOR")
                except QuotaError:
                    sys.stdout.write("quota\n")
                    return
                except StoreError:
                    sys.stdout.write("store\n")
                else:
                    sys.stdout.write(f"{made.preflight_id}\n")
                sys.stdout.flush()

        workers = [threading.Thread(target=work) for _ in range(int(threads))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
