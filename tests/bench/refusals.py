"""Count the files of a folder that are refused, by reason.

    python tests/bench/refusals.py FOLDER [--list] [--most-bytes N] [--share K/N] [--seconds S]

Every file is masked as `dlpctl mask` masks it: what the policy blocks is masked too, so that a
refusal says that the file cannot be read or its copy not be verified. `--list` adds a line for each
refused file, without the values in it.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dlpctl.errors import DlpctlError
from dlpctl.files.checking import FileChecker
from dlpctl.formats.interface import Limits
from dlpctl.preflight import checker_for
from dlpctl.types import Destination

_PLACES = re.compile(r"(still holds a value) at .* (as )|file \d+ \(?|\d+")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="each refused file with its reason")
    parser.add_argument("--most-bytes", type=int, default=2_000_000, help="leave out larger files")
    parser.add_argument("--share", default="1/1", help="every N-th file, from the K-th on")
    parser.add_argument("--seconds", type=float, default=60.0, help="the deadline of a file")
    arguments = parser.parse_args()
    first, step = map(int, arguments.share.split("/"))
    files = [
        path
        for path in sorted(arguments.folder.rglob("*"))
        if path.is_file() and path.stat().st_size <= arguments.most_bytes
    ][first - 1 :: step]
    results: Counter[str] = Counter()
    for path, result, seconds in examined(files, arguments.seconds):
        results[result] += 1
        if arguments.list and (result not in {"allowed", "masked"} or seconds > 30):
            print(f"{path.relative_to(arguments.folder)}\t{seconds:.1f} s\t{result}", flush=True)
    for result, count in results.most_common():
        print(f"{count:6} {result}")


def examined(files: list[Path], limit: float) -> Iterator[tuple[Path, str, float]]:
    """Yield what becomes of each file, and the seconds that takes."""
    checker = checker_for(Destination.VENDOR, None, None, None, None)
    checking = FileChecker(checker, limits=Limits(seconds=limit), method="forkserver")
    for path in files:
        began = time.monotonic()
        data = path.read_bytes()
        try:
            result = "allowed" if checking.mask(data, path.name).masked == data else "masked"
        except DlpctlError as refusal:
            result = _PLACES.sub(r"\1 \2", f"refused: {refusal}")
        yield path, result, time.monotonic() - began


if __name__ == "__main__":
    main()
