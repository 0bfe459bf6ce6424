"""Remembers the id and the organization of a credential, for rates and for fair lanes.

The check itself asks the store again whether the key is still valid.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from dlpctl_daemon.lanes import Share

_MOST = 10_000
_BEARER = "bearer "


class Callers:
    def __init__(self, identify: Callable[[str | None], tuple[str, str]]) -> None:
        """`identify` returns the policy and organization of a key; it raises for an unknown one."""
        self._identify = identify
        self._known: dict[bytes, Share] = {}

    def of_key(self, key: str | None) -> Share:
        """Return the share of a policy's key."""
        share = self._known.get(_digest(key))
        if share is None:
            policy_id, org_id = self._identify(key)
            share = self.remember(key, Share(org_id, policy_id))
        return share

    def share(self, key: str | None, authorization: str | None, peer: str) -> Share:
        """Return whom a request counts for, without reading the store: an unknown credential counts
        for its address.
        """
        credential = key or bearer_of(authorization)
        digest = _digest(credential)
        known = self._known.get(digest) if credential else None
        return known or Share(f"peer {peer}", f"{digest.hex()} {peer}", is_known=False)

    def remember(self, credential: str | None, share: Share) -> Share:
        if len(self._known) >= _MOST:
            self._known.clear()
        return self._known.setdefault(_digest(credential), share)


def bearer_of(header: str | None) -> str | None:
    """Return the credential in an Authorization header."""
    if header is None or header[: len(_BEARER)].lower() != _BEARER:
        return None
    return header[len(_BEARER) :].strip()


def _digest(credential: str | None) -> bytes:
    return blake2b((credential or "").encode("utf-8", "replace"), digest_size=16).digest()
