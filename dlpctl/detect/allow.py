"""Accepted findings: values, regexes, paths, and a marker on the line itself.

Only `scan` uses an allow list, never a check: content that is about to leave must not clear itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any

from dlpctl.detect.linear import compile_regex
from dlpctl.types import Finding

_MARKER = re.compile(r"dlpctl:allow(?:=([A-Za-z0-9_,-]+))?")


class AllowList:
    def __init__(
        self,
        values: Iterable[str] = (),
        regexes: Sequence[str] = (),
        paths: Iterable[str] = (),
        source: str = "allow",
    ) -> None:
        self._values = frozenset(values)
        self._regexes: list[Any] = [
            compile_regex(regex, f"{source}.regexes[{index}]")
            for index, regex in enumerate(regexes)
        ]
        self._paths = tuple(paths)

    def skips(self, path: str) -> bool:
        """Return whether a file is accepted; globs match its path, one of its
        folders, or its name.
        """
        pure = PurePath(path)
        names = (pure.as_posix(), pure.name, *(parent.as_posix() for parent in pure.parents))
        return any(fnmatchcase(name, glob.rstrip("/")) for glob in self._paths for name in names)

    def acceptor(self, text: str) -> Callable[[Finding, str], bool] | None:
        """Return a function that decides whether a finding in a text, with its value, is accepted;
        None if no finding can be.
        """
        marked = _marked_lines(text)
        if not (marked or self._values or self._regexes):
            return None
        return lambda finding, value: self._accepts(value) or _is_marked(finding, text, marked)

    def _accepts(self, value: str) -> bool:
        return value in self._values or any(regex.fullmatch(value) for regex in self._regexes)


def _marked_lines(text: str) -> dict[int, frozenset[str]]:
    """Return the starts of lines with a marker, and the types that it names; an empty set means all
    types.
    """
    lines: dict[int, frozenset[str]] = {}
    for found in _MARKER.finditer(text):
        start = text.rfind("\n", 0, found.start()) + 1
        names = frozenset(name.upper() for name in (found[1] or "").split(",") if name)
        lines[start] = lines[start] | names if names and lines.get(start) else names
    return lines


def _is_marked(finding: Finding, text: str, marked: dict[int, frozenset[str]]) -> bool:
    if not marked:
        return False
    types = marked.get(text.rfind("\n", 0, finding.start) + 1)
    if types is None:
        return False
    return not types or not types.isdisjoint(
        (finding.type, finding.category.value, finding.pattern_id.upper())
    )
