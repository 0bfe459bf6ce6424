"""Addresses of machines and mailboxes."""

from __future__ import annotations

from dlpctl.detect.validators.registry import validator
from dlpctl.detect.validators.wordlists import read_words
from dlpctl.regex import lazy

_HEX = frozenset("0123456789abcdefABCDEF")
_FILE_ENDINGS = read_words("file_endings")


@validator("email_address")
def email_address(value: str) -> bool:
    """A mailbox that can exist: no dot at either end or twice in a row, and no file name or system
    unit as its domain.
    """
    local, at, domain = value.rpartition("@")
    if (
        not at
        or len(value) > 254
        or not local
        or len(local) > 64
        or local[0] == "."
        or local[-1] == "."
        or ".." in value
    ):
        return False
    labels = domain.split(".")
    if (
        len(labels) < 2
        or domain.strip(".-") != domain
        or ("-" in domain and (".-" in domain or "-." in domain))
        or (len(domain) > 63 and max(map(len, labels)) > 63)
    ):
        return False
    return labels[-1].lower() not in _FILE_ENDINGS and not (
        local == "git" and domain.startswith(("github.", "gitlab.", "bitbucket.", "ssh."))
    )


@validator("email_international")
def email_international(value: str) -> bool:
    """A mailbox with letters beyond ASCII; other mailboxes belong to another pattern."""
    return not value.isascii() and email_address(value)


_NO_USERS = read_words("no_users")


@validator("user_name")
def user_name(value: str) -> bool:
    """A login name of a person: not a role, a type or a placeholder."""
    bare = value.lower()
    return bare not in _NO_USERS and not bare.startswith(
        ("self.", "this.", "request.", "your", "my_", "os.", "config.")
    )


@validator("has_digit")
def has_digit(value: str) -> bool:
    """Not a plain word, nor the name of a field or a module."""
    return any("0" <= char <= "9" for char in value)


@validator("no_program_word")
def no_program_word(value: str) -> bool:
    """Not a word that programs use: a type, a state, a field."""
    words = read_words("program")
    bare = value.lower()
    return bare not in words and bare.removesuffix("s") not in words


def _octets(value: str) -> list[int]:
    parts = value[:32].partition("/")[0].partition(":")[0].split(".")
    if len(parts) != 4 or not all(
        part.isascii() and part.isdigit() and len(part) <= 3 and (part == "0" or part[0] != "0")
        for part in parts
    ):
        return []
    octets = [int(part) for part in parts]
    return octets if max(octets) <= 255 else []


@validator("ipv4")
def ipv4(value: str) -> bool:
    """An address of a machine on any network: not this host itself, a mask, or all hosts."""
    octets = _octets(value)
    return bool(octets) and octets[0] not in {0, 127, 255}


_OBJECT_IDENTIFIERS = {(1, 3), (2, 5)}
"""The first numbers of object identifiers, which are far more common than hosts there."""


@validator("ipv4_public")
def ipv4_public(value: str) -> bool:
    """An address with an owner: not private, loopback, link-local, documentation, multicast, a
    mask, or small like a version.
    """
    octets = _octets(value)
    if not octets:
        return False
    first, second, third, fourth = octets
    if first in {0, 10, 127} or first >= 224 or octets[1:] in ([0, 0, 0], [255, 255, 255]):
        return False
    if (
        (first, second) in {(169, 254), (192, 168)}
        or (first == 172 and 16 <= second <= 31)
        or (first == 100 and 64 <= second <= 127)
    ):
        return False
    if (first, second, third) in {(192, 0, 2), (198, 51, 100), (203, 0, 113), (192, 0, 0)} or (
        first == 198 and second in {18, 19}
    ):
        return False
    if (first, second) in _OBJECT_IDENTIFIERS:
        return False
    return max(octets) >= 30 and (fourth != 0 or max(octets) >= 100)


@validator("ipv6")
def ipv6(value: str) -> bool:
    """An address of a machine: not `::` or `::1`, and with a digit, since `a::b` is a scope."""
    from ipaddress import AddressValueError, IPv6Address

    if (
        len(value) > 64
        or not any(map(str.isdigit, value))
        or value.startswith(("::1/", "::/"))
        or value == "::1"
    ):
        return False
    try:
        IPv6Address(value.partition("/")[0].partition("%")[0])
    except AddressValueError:
        return False
    return True


@validator("ipv6_public")
def ipv6_public(value: str) -> bool:
    """Global unicast outside documentation; with a digit, since `dead::beef` is more often a joke
    or a scope operator.
    """
    head = value[:64].lower().lstrip("[").split(":")
    first = head[0].zfill(4)
    documentation = first == "2001" and len(head) > 1 and head[1].lstrip("0") == "db8"
    return ipv6(value) and first[0] in "23" and not documentation


@validator("ipv6_whole")
def ipv6_whole(value: str) -> bool:
    """Eight groups of a machine's address, outside documentation and the local link."""
    groups = value[:64].lower().split(":")
    return (
        ipv6(value)
        and sum(len(group) > 2 for group in groups) > 1
        and len(set(groups)) > 2
        and not groups[0].startswith(("fe8", "fe9", "fea", "feb", "ff"))
        and not (groups[0] == "2001" and groups[1].lstrip("0") == "db8")
    )


@validator("mac_address")
def mac_address(value: str) -> bool:
    """Not all zeros or ones, nor a run of one byte."""
    bare = value[:24].replace(":", "").replace("-", "").replace(".", "").lower()
    return (
        len(bare) == 12
        and set(bare) <= _HEX
        and len({bare[at : at + 2] for at in range(0, 12, 2)}) > 2
    )


_TEMPLATE = lazy(r"[$<{%\[]")


@validator("url_secret")
def url_secret(value: str) -> bool:
    """A value in a URL that grants access: not a template, not a word."""
    return (
        8 <= len(value) <= 4096
        and not _TEMPLATE.match(value)
        and any(char.isdigit() for char in value)
        and len(set(value[:64])) > 4
    )
