"""Scan a sample of contents, and estimate how many of all contents have findings.

Within each folder and format, one content is drawn from every interval of positions, so that the
sample represents the mix of all contents. The intervals of the estimates treat it as a simple
random sample, which makes them rather too wide than too narrow.
"""

from __future__ import annotations

import math
from collections import Counter
from hashlib import blake2b
from typing import Any

from dlpctl.scan.results import Result
from dlpctl.scan.source import File

_STRATA = 1 << 17
"""Folders and formats beyond this number share a stratum, which bounds memory."""
_TAIL = 0.025
"""The probability on each side of an interval."""


class Sample:
    """Draws contents, and counts those that have findings of a type."""

    def __init__(self, share: float, seed: str) -> None:
        self.share = share
        self._seed = seed
        self._strata: dict[int, tuple[int, int, int]] = {}
        self._of_types: Counter[str] = Counter()
        self._path: str | None = None
        self._types: set[str] = set()
        self.listed = self.listed_bytes = self.read = 0

    def draws(self, file: File) -> bool:
        """Return whether the next listed content is in the sample."""
        self.listed += 1
        self.listed_bytes += file.size
        folder, _, name = file.shown.rpartition("/")
        suffix = name.rpartition(".")[2].lower() if "." in name else ""
        stratum = self._number(f"{folder}\0{suffix}") % _STRATA
        position, drawn, chosen = self._strata.get(stratum) or (0, 0, self._position(stratum, 0))
        is_chosen = position == chosen
        if is_chosen:
            drawn += 1
            chosen = max(chosen + 1, self._position(stratum, drawn))
        self._strata[stratum] = position + 1, drawn, chosen
        return is_chosen

    def _position(self, stratum: int, interval: int) -> int:
        """Return the position of the content that is drawn from an interval of a stratum."""
        offset = self._number(f"{stratum} {interval}") / (1 << 64)
        return math.floor((interval + offset) / self.share)

    def _number(self, text: str) -> int:
        digest = blake2b(
            f"{self._seed}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8
        ).digest()
        return int.from_bytes(digest)

    def count(self, result: Result) -> None:
        """Count a finding; findings of one content must be consecutive."""
        if result.path != self._path:
            self._path, self._types = result.path, set()
        if result.type not in self._types:
            self._types.add(result.type)
            self._of_types[result.type] += 1

    def to_dict(self) -> dict[str, Any]:
        bounds = {name: (count, *self._bounds(count)) for name, count in self._counts()}
        return {
            "share": self.share,
            "seed": self._seed,
            "listed": self.listed,
            "listed_bytes": self.listed_bytes,
            "read": self.read,
            "types": {
                name: {"read": count, "low": low, "high": high}
                for name, (count, low, high) in bounds.items()
            },
        }

    def sentences(self, noun: str) -> list[str]:
        """Return coverage and estimates as sentences."""
        if not self.read:
            return []
        share = f"{100 * self.read / self.listed:.3g} %"
        scanned = f"{self.read:,} of {self.listed:,} {noun}s ({share})"
        lines = [f"A sample was scanned: {scanned}, seed {self._seed}."]
        for name, count in self._counts():
            low, high = self._bounds(count)
            about = round(count / self.read * self.listed)
            lines.append(f"{name}: in about {about:,} {noun}s, 95 % interval {low:,} to {high:,}.")
        if self.read < self.listed:
            lines.append(f"A type that is not listed: in at most {self._bounds(0)[1]:,} {noun}s.")
        return lines

    def _counts(self) -> list[tuple[str, int]]:
        """Return the types with the number of contents that have them, most frequent first."""
        return sorted(self._of_types.items(), key=lambda item: (-item[1], item[0]))

    def _bounds(self, count: int) -> tuple[int, int]:
        return interval(self.listed, self.read, count)


def interval(total: int, drawn: int, count: int) -> tuple[int, int]:
    """Return the exact 95 % interval for the number among `total`, given `count` of `drawn`."""
    if not drawn:
        return 0, total
    lowest, highest = count, total - (drawn - count)
    # Both tails are monotonic in the number, so bisection finds the bounds.
    low, above = lowest, highest
    while low < above:
        middle = (low + above) // 2
        if _tail(total, middle, drawn, count, step=1) > _TAIL:
            above = middle
        else:
            low = middle + 1
    below, high = low, highest
    while below < high:
        middle = (below + high + 1) // 2
        if _tail(total, middle, drawn, count, step=-1) > _TAIL:
            below = middle
        else:
            high = middle - 1
    return low, high


def _tail(total: int, marked: int, drawn: int, count: int, *, step: int) -> float:
    """Return the probability of `count` marked items in a sample or, by `step`, of more or fewer.

    A tail that contains the mean exceeds any threshold, so it is not summed up.
    """
    if step * (count - drawn * marked / total) <= 0:
        return 1.0
    term = math.exp(
        _choices(marked, count) + _choices(total - marked, drawn - count) - _choices(total, drawn)
    )
    probability = 0.0
    while term > probability * 1e-12:
        probability += term
        if step > 0:
            term *= (marked - count) * (drawn - count)
            term /= (count + 1) * (total - marked - drawn + count + 1)
        else:
            term *= count * (total - marked - drawn + count)
            term /= (marked - count + 1) * (drawn - count + 1)
        count += step
    return probability


def _choices(total: int, chosen: int) -> float:
    """Return the logarithm of the number of combinations."""
    if not 0 <= chosen <= total:
        return -math.inf
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)
