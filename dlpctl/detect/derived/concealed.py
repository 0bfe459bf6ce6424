"""Addresses that are concealed from programs: their sign as a character's number or twice, and
those that a service for web sites encodes with a key, which is their first byte.
"""

from __future__ import annotations

import re

from dlpctl.detect.derived.decoded import Run
from dlpctl.regex import lazy

_OPERATOR = rb"[ \t]*(?:[&+.]|\|\|)[ \t]*"
_CONCEALED = {
    b"(64)": lazy(
        rb"([\"']%b(?:chrw?|n?char)\(64\)%b[\"'])" % (_OPERATOR, _OPERATOR), re.IGNORECASE
    ),
    b"@@": lazy(rb"(?<=[0-9A-Za-z])(@@)(?=[0-9a-z])"),
    b"cfemail=": lazy(rb"cfemail=[\"']?((?:[0-9a-f]{2}){6,256})(?![0-9a-f])"),
    b"email-protection#": lazy(rb"email-protection#((?:[0-9a-f]{2}){6,256})(?![0-9a-f])"),
}
"""Regexes by the text that a quick check looks for; their group is what is decoded."""
GATE = "|".join(re.escape(sign.decode()) for sign in _CONCEALED)


def runs(data: bytes) -> list[Run]:
    """Return the signs and addresses that are concealed, decoded."""
    return sorted(
        (*found.span(1), _decoded(found[1]))
        for sign, regex in _CONCEALED.items()
        if sign in data
        for found in regex.finditer(data)
    )


def _decoded(concealed: bytes) -> bytes:
    """Return a sign, or an address with blanks around it."""
    if not concealed.isalnum():
        return b"@"
    key, *codes = bytes.fromhex(concealed.decode())
    address = bytes(code ^ key for code in codes).decode("utf-8", "replace")
    return f" {address} ".encode()
