"""Checks texts as fast as it can and says on stdout which are answered: what the tests kill, starve
and run side by side.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from dlpctl.control.checks import Submitted
from dlpctl.control.service import ControlPlane
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.library import parse_file
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


def main(folder: str, database: str, key: str, threads: str, each: str) -> None:
    with ControlPlane.open(Path(folder), small_detector, database=database or None) as control:

        def work() -> None:
            for turn in range(int(each)):
                under_way = [
                    submit() for _ in range(1 + turn % 3)
                ]  # several at once, as the service has them
                said = [recorded(one) if one else "quota" for one in under_way]
                sys.stdout.write("".join(f"{one}\n" for one in said if one != "quota"))
                if "quota" in said:
                    sys.stdout.write("quota\n")
                    return
                sys.stdout.flush()

        def submit() -> Submitted | None:
            try:
                return control.checks.submit_text(key, "to a@b.example", "VENDOR")
            except QuotaError:
                return None

        def recorded(submitted: Submitted) -> str:
            try:
                return submitted.recorded().preflight_id
            except QuotaError:
                return "quota"
            except StoreError:
                return "store"

        workers = [threading.Thread(target=work) for _ in range(int(threads))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
