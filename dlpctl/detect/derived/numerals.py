"""Numbers as programs, offices and forms write them, as plain digits."""

from __future__ import annotations

from dlpctl.regex import lazy

_GROUP = lazy(rb"[0-9A-Z]+")
_OF_CARDS = range(13, 20)
"""The digits that card numbers have."""
_IN_THOUSANDS = lazy(
    rb"3[47][0-9](?:([,.'])[0-9]{3})(?:\1[0-9]{3}){3}|[2-6](?:([,.'])[0-9]{3})(?:\2[0-9]{3}){4}"
)
_LIST = lazy(rb"[0-9]{1,3}(?:[,.'][0-9]{1,3}){4,}")
_SEPARATORS = lazy(r"[^0-9]+")
_LONGEST_NUMBER = 32


def is_number(run: bytes) -> bool:
    """Return whether digits may be a number; more of them are a code."""
    return len(run) <= _LONGEST_NUMBER and run.isdigit()


def joined_groups(run: bytes) -> bytes | None:
    """Return groups as one number; None for more of them than one has."""
    groups = _GROUP.findall(run)
    is_card = groups[0].isdigit()
    return None if is_card and sum(map(len, groups)) not in _OF_CARDS else b" ".join(groups)


def plain_number(run: bytes) -> bytes:
    """Return the digits of a number that is written in the notation of a program or an office; a
    list of numbers is kept.
    """
    if _LIST.fullmatch(run):
        return run.translate(None, b",.'") if _IN_THOUSANDS.fullmatch(run) else run
    digits, power, exponent = run.lower().partition(b"e")
    if power:
        digits = digits.replace(b".", b"").ljust(int(exponent) + 1, b"0")
        return digits if len(digits) == int(exponent) + 1 else run
    digits, _, decimals = run.strip(b"ILnlUu").partition(b".")
    if decimals.strip(b"0"):
        digits += decimals
    return digits.lstrip(b"0").replace(b"_", b"-")


def unspaced(run: bytes) -> bytes | None:
    """Return single characters joined; what separates most digits is dropped, and what separates
    groups of them is kept.
    """
    text = run.decode()
    if not text[0].isdigit():
        joined = text.replace(" ", "")
        return joined.encode() if "@" in joined or any(map(str.isdigit, joined)) else None
    parts = _SEPARATORS.findall(text)
    usual = max(set(parts), key=parts.count)
    return _SEPARATORS.sub(
        lambda found: "" if found[0] == usual else found[0].strip() or " ", text
    ).encode()
