"""The patterns of `.gitignore`, `.dlpctlignore`, `--include` and `--exclude`.

Consecutive rules are compiled into one regex, so that matching a path takes microseconds. pathspec
is three times as slow with its own regexes; with RE2 it is faster, but takes 75 ms to import and
rejects names that are not UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

_LONGEST_FILE = 1 << 20


class _Rule(NamedTuple):
    regex: str
    ignores: bool
    folders_only: bool


class Rules:
    """The rules of one file or option; later rules take precedence."""

    __slots__ = ("_groups",)

    def __init__(self, lines: Iterable[str]) -> None:
        rules = [rule for line in lines if (rule := _parse(line)) is not None]
        self._groups: list[tuple[bool, re.Pattern[str] | None, re.Pattern[str] | None]] = [
            (ignores, _compiled(rule for rule in group if not rule.folders_only), _compiled(group))
            for ignores, group in (
                (ignores, list(group))
                for ignores, group in groupby(rules, key=lambda rule: rule.ignores)
            )
        ][::-1]

    @classmethod
    def of_bytes(cls, content: bytes) -> Rules:
        text = content[:_LONGEST_FILE].decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        return cls(line.removesuffix("\r") for line in text.split("\n"))

    def __bool__(self) -> bool:
        return bool(self._groups)

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Return whether a path, relative to the rules, is ignored; None if no rule matches it."""
        for ignores, for_files, for_folders in self._groups:
            regex = for_folders if folder else for_files
            if regex is not None and regex.fullmatch(path):
                return ignores
        return None

    def covers(self, path: str) -> bool:
        """Return whether a path or one of its folders is ignored."""
        parts = path.split("/")
        return any(
            self.verdict("/".join(parts[:depth]), folder=depth < len(parts))
            for depth in range(1, len(parts) + 1)
        )


def _compiled(rules: Iterable[_Rule]) -> re.Pattern[str] | None:
    regexes = [rule.regex for rule in rules]
    return re.compile("|".join(regexes), re.DOTALL) if regexes else None


def _parse(line: str) -> _Rule | None:
    line = _without_trailing_spaces(line)
    if not line or line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    if not ignores or line.startswith(("\\#", "\\!")):
        line = line[1:]
    folders_only = line.endswith("/")
    if folders_only:
        line = line[:-1]
    if not line:
        return None
    anchored = "/" in line
    regex = _regex(line.removeprefix("/"))
    if regex is None:
        return None
    return _Rule(regex if anchored else f"(?:.*/)?{regex}", ignores, folders_only)


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    if (
        stripped.endswith("\\")
        and (len(stripped) - len(stripped.rstrip("\\"))) % 2
        and stripped != line
    ):
        return f"{stripped} "
    return stripped


def _regex(glob: str) -> str | None:
    """Return a glob as a regex for a complete path; None if git never matches the glob."""
    out: list[str] = []
    at = 0
    while at < len(glob):
        char = glob[at]
        if char == "*":
            stars = len(glob[at:]) - len(glob[at:].lstrip("*"))
            at_start, ends = at == 0 or glob[at - 1] == "/", at + stars == len(glob)
            if stars == 2 and at_start and glob.startswith("/", at + 2):
                out.append("(?:.*/)?")
                at += 3
            elif stars == 2 and at_start and ends:
                out.append(".+")
                at += 2
            else:
                out.append("[^/]*")
                at += stars
        elif char == "?":
            out.append("[^/]")
            at += 1
        elif char == "[":
            found = _bracket(glob, at)
            if found is None:
                return None
            written, at = found
            out.append(written)
        elif char == "\\":
            if at + 1 == len(glob):
                return None
            out.append(re.escape(glob[at + 1]))
            at += 2
        else:
            out.append(re.escape(char))
            at += 1
    return "".join(out)


_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "space": r"\s",
    "xdigit": "0-9A-Fa-f",
    "blank": " \\t",
    "punct": r"!-/:-@\[-`{-~",
}


def _bracket(glob: str, at: int) -> tuple[str, int] | None:
    """Return the character class that starts at `at` as a regex, and its end."""
    end = at + 1
    negated = glob[end : end + 1] in ("!", "^")
    end += negated
    items: list[str] = []
    first = True
    while end < len(glob):
        char = glob[end]
        if char == "]" and not first:
            inside = "".join(items)
            return (f"(?!/)[{'^' if negated else ''}{inside}]", end + 1) if inside else None
        first = False
        if char == "[" and glob.startswith("[:", end) and (close := glob.find(":]", end + 2)) > 0:
            written = _CLASSES.get(glob[end + 2 : close])
            if written is None:
                return None
            items.append(written)
            end = close + 2
            continue
        low, end = _literal(glob, end)
        if glob.startswith("-", end) and end + 1 < len(glob) and glob[end + 1] != "]":
            high, end = _literal(glob, end + 1)
            if low <= high:
                items.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            items.append(re.escape(low))
    return None


def _literal(glob: str, at: int) -> tuple[str, int]:
    """Return a character of a class, without the backslash before it."""
    if glob[at] == "\\" and at + 1 < len(glob):
        return glob[at + 1], at + 2
    return glob[at], at + 1
