"""A service with two patterns, so that it starts at once: what the tests run as a process of its
own.

python service.py FOLDER '{"port": 0}'
python service.py --inspector
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from dlpctl.config.setting_types import DatabaseAddress
from dlpctl.config.settings import Serve
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.library import load_patterns

_PATTERNS = Path(__file__).with_name("patterns.toml")


class SlowDetector(Detector):
    """Waits until a file is there, or dies, for a text that says so."""

    def scan(self, text: str, *arguments: Any, **named: Any) -> Any:
        if text.startswith("held"):
            folder = Path(sys.argv[1])
            with (folder / "held").open("a") as file:
                file.write(".")
            while not (folder / "released").exists():
                time.sleep(0.01)
        elif text.startswith("hold "):
            file_name = Path(text.split()[1])
            file_name.with_suffix(".held").touch()
            while not file_name.exists():
                time.sleep(0.01)
        elif text.startswith("die "):
            os.kill(os.getpid(), signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        return super().scan(text, *arguments, **named)


def detector() -> Detector:
    return SlowDetector(patterns=load_patterns([_PATTERNS]))


def main(folder: str, settings: str) -> None:
    from dlpctl_daemon.options import Options
    from dlpctl_daemon.serve import serve

    given = json.loads(settings)
    unix_socket = given.pop("unix_socket", None)
    usual = {"log": "json", "rate": 1_000_000, "burst": 1_000_000}
    if "database" in given:
        given["database"] = DatabaseAddress(given["database"])
    options = Options(Serve(**usual | given), unix_socket)
    serve(Path(folder), detector, options, [sys.executable, __file__, "--inspector"])


def inspect() -> None:
    from dlpctl_daemon import inspector

    inspector.main(detector)


if __name__ == "__main__":
    if sys.argv[1:] == ["--inspector"]:
        inspect()
    else:
        main(*sys.argv[1:])
