"""Import exceptions from other tools: findings that they name by position or hash are looked up in
the files.

Gitleaks names a finding in `.gitleaksignore` by `commit:file:rule:line`, or without the commit. A
detect-secrets baseline is JSON; its `results` have the line and the SHA-1 of each secret.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dlpctl.errors import BaselineError
from dlpctl.system.regular import read_regular
from dlpctl.types import Category, Finding
from dlpctl.values import fingerprint

_LINE_END = re.compile(r"\r\n|\r|\n")
_GITLEAKS = re.compile(
    r"(?:(?P<commit>[0-9a-f]{7,64}):)?(?P<path>.+):(?P<rule>[^:\s]+):(?P<line>\d+)"
)


class Claim(NamedTuple):
    """An exception of another tool."""

    path: str
    line: int
    rule: str
    commit: str = ""
    sha1: str = ""

    @property
    def location(self) -> str:
        return f"{self.path}:{self.line}" + (f" in {self.commit[:12]}" if self.commit else "")


def read_claims(name: str, text: str) -> tuple[str, list[Claim]]:
    """Return the tool that wrote a file, and the exceptions in the file."""
    if text.lstrip().startswith("{"):
        return "detect-secrets", _detect_secrets(name, text)
    return "gitleaks", _gitleaks(name, text)


def find_claimed(
    claim: Claim, root: Path, scan: Callable[[str], Sequence[Finding]], key: bytes
) -> list[tuple[str, str]]:
    """Return fingerprints and types of the findings that a claim refers to."""
    text = _text_of(claim, root)
    if text is None:
        return []
    return [
        (fingerprint(key, each.type, text[each.start : each.end], each.category), each.type)
        for each in _matching(claim, text, scan(text))
    ]


def _matching(claim: Claim, text: str, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that a claim refers to; these tools find only secrets."""
    secrets = [each for each in findings if each.category is Category.SECRETS]
    if claim.sha1:
        same = [each for each in secrets if _sha1(text[each.start : each.end]) == claim.sha1]
        if same:
            return same[:1]
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    return [
        each
        for each in secrets
        if bisect_right(starts, each.start) <= claim.line <= bisect_right(starts, each.end)
    ]


def _text_of(claim: Claim, root: Path) -> str | None:
    """Return the file that a claim names, as of its commit."""
    if not claim.commit:
        try:
            return read_regular(root / claim.path).decode("utf-8", "surrogateescape")
        except OSError:
            return None
    import subprocess

    shown = subprocess.run(
        ["git", "-C", str(root), "cat-file", "blob", f"{claim.commit}:{claim.path}"],
        capture_output=True,
        check=False,
    )
    return None if shown.returncode else shown.stdout.decode("utf-8", "surrogateescape")


def _sha1(value: str) -> str:
    import hashlib

    return hashlib.sha1(value.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def _gitleaks(name: str, text: str) -> list[Claim]:
    claims = []
    for number, line in enumerate(text.splitlines(), start=1):
        written = line.strip()
        if not written or written.startswith("#"):
            continue
        found = _GITLEAKS.fullmatch(written)
        if not found:
            raise BaselineError(f"{name}:{number}: is not a gitleaks fingerprint (file:rule:line)")
        claims.append(
            Claim(found["path"], int(found["line"]), found["rule"], found["commit"] or "")
        )
    return claims


def _detect_secrets(name: str, text: str) -> list[Claim]:
    try:
        results = json.loads(text)["results"]
        return [
            Claim(
                str(path),
                int(each.get("line_number", 0)),
                str(each["type"]),
                sha1=str(each["hashed_secret"]),
            )
            for path, found in results.items()
            for each in found
            # An entry that was confirmed as a real secret is not an exception.
            if each.get("is_secret") is not True
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BaselineError(
            f"{name}: is not a baseline of detect-secrets; it has no sound 'results'"
        ) from None
