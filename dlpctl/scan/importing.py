"""Exceptions from other tools: what their files name by place or by hash is looked up in the files
themselves.

Gitleaks names a finding in `.gitleaksignore` by `commit:file:rule:line`, or without the commit. The
baseline of detect-secrets is JSON; its `results` have for each file the line and the SHA-1 of the
secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dlpctl.errors import BaselineError
from dlpctl.types import Category, Finding

_GITLEAKS = re.compile(
    r"(?:(?P<commit>[0-9a-f]{7,64}):)?(?P<path>.+):(?P<rule>[^:\s]+):(?P<line>\d+)"
)


class Claim(NamedTuple):
    """What another tool was told to accept."""

    path: str
    line: int
    rule: str
    commit: str = ""
    sha1: str = ""

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}" + (f" in {self.commit[:12]}" if self.commit else "")


def read_claims(name: str, text: str) -> tuple[str, list[Claim]]:
    """The tool that wrote a file, and what the file accepts."""
    if text.lstrip().startswith("{"):
        return "detect-secrets", _detect_secrets(name, text)
    return "gitleaks", _gitleaks(name, text)


def matching(
    claim: Claim, text: str, findings: Sequence[Finding], line_of: Callable[[int], int]
) -> list[Finding]:
    """What is found where a claim points; these tools look for secrets alone."""
    secrets = [one for one in findings if one.category is Category.SECRETS]
    if claim.sha1:
        same = [one for one in secrets if _sha1(text[one.start : one.end]) == claim.sha1]
        if same:
            return same[:1]
    return [one for one in secrets if line_of(one.start) <= claim.line <= line_of(one.end)]


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
            raise BaselineError(
                f"{name}:{number}: is no fingerprint of gitleaks, which is file:rule:line"
            )
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
                int(one.get("line_number", 0)),
                str(one["type"]),
                sha1=str(one["hashed_secret"]),
            )
            for path, found in results.items()
            for one in found
            # What somebody has looked at and called a real secret is no exception.
            if one.get("is_secret") is not True
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BaselineError(
            f"{name}: is not a baseline of detect-secrets; it has no sound 'results'"
        ) from None
