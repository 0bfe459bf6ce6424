"""Addresses that a web page conceals from programs: encoded with a key, which is their first byte.

The script of a service for web sites decodes them, so that a reader of the page sees them.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.regex import lazy

_SIGNS = (b"data-cfemail=", b"email-protection#")
_ENCODED = lazy(rb"[\"']?((?:[0-9A-Fa-f]{2}){6,256})(?![0-9A-Fa-f])")


def concealed_text(data: bytes) -> DecodedText | None:
    """Return the text with its concealed addresses decoded; None without any."""
    runs = sorted(run for sign in _SIGNS if sign in data for run in _runs(data, sign))
    return DecodedText(*copy_around(data, runs)) if runs else None


def _runs(data: bytes, sign: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while (at := data.find(sign, at) + len(sign)) >= len(sign):
        if found := _ENCODED.match(data, at):
            key, *codes = bytes.fromhex(found[1].decode())
            address = bytes(code ^ key for code in codes).decode("utf-8", "replace").encode()
            yield (*found.span(1), b" " + address + b" ")
