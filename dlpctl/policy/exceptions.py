"""Match values with the exceptions of a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlpctl.policy.rules import Exemption
from dlpctl.policy.selectors import Reach, closest
from dlpctl.types import Finding
from dlpctl.values import fingerprint


def excepting(exemptions: Sequence[Exemption], key: bytes | None) -> Callable[[Finding, str], bool]:
    """Return a test for findings and their values. `exemptions` must not have expired."""
    by_fingerprint: dict[str, list[Exemption]] = {}
    for exemption in exemptions:
        if exemption.hmac:
            by_fingerprint.setdefault(exemption.hmac, []).append(exemption)
    matchers = [
        (matcher(exemption.pattern), exemption) for exemption in exemptions if exemption.pattern
    ]

    def excepts(finding: Finding, value: str) -> bool:
        if any(_concerns(exemption, finding) and matches(value) for matches, exemption in matchers):
            return True
        if not by_fingerprint or key is None:
            return False
        named = by_fingerprint.get(fingerprint(key, finding.type, value, finding.category), ())
        return any(_concerns(exemption, finding) for exemption in named)

    return excepts


def _concerns(exemption: Exemption, finding: Finding) -> bool:
    if not exemption.data_types:
        return True
    how = closest(exemption.data_types, finding.type, finding.category, finding.pattern_id)
    return how is not Reach.NONE


def matcher(pattern: str) -> Callable[[str], bool]:
    import re2

    compiled = re2.compile(pattern)

    def matches(value: str) -> bool:
        # RE2 cannot take a lone surrogate, so such a value is never excepted.
        encodable = value.isascii() or value == value.encode("utf-8", "replace").decode()
        return encodable and compiled.fullmatch(value) is not None

    return matches
