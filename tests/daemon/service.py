"""A service with two patterns, so that it starts at once: what the tests run as a process of its own.

python service.py FOLDER '{"port": 0}'
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from dlpctl.config.settings import Serve
from dlpctl.detect.engine import Detector
from dlpctl.detect.library import load_patterns

_PATTERNS = Path(__file__).with_name("patterns.toml")


class SlowDetector(Detector):
    """Takes a moment for a text that says so, or as long as a test holds it."""

    def scan(self, text: str, *arguments: Any, **named: Any) -> Any:
        if text.startswith("slow"):
            time.sleep(0.5)
        elif text.startswith("held"):
            folder = Path(sys.argv[1])
            with (folder / "held").open("a") as file:
                file.write(".")
            while not (folder / "released").exists():
                time.sleep(0.01)
        return super().scan(text, *arguments, **named)


def main(folder: str, settings: str) -> None:
    from dlpctl_daemon.options import Options
    from dlpctl_daemon.serve import serve

    given = json.loads(settings)
    unix_socket = given.pop("unix_socket", None)
    patterns = load_patterns([_PATTERNS])
    usual = {"log": "json", "rate": 1_000_000, "burst": 1_000_000}
    serve(Path(folder), lambda: SlowDetector(patterns=patterns), Options(Serve(**usual | given), unix_socket))


if __name__ == "__main__":
    main(*sys.argv[1:])
