"""Remembers the policy, token and organization of a credential, for rates and for fair lanes.

The check itself asks the store again whether the key is still valid.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING

from dlpctl_daemon.lanes import Share

if TYPE_CHECKING:
    from dlpctl.control.access import Access

_MOST = 10_000
_BEARER = "bearer "


class Callers:
    def __init__(self, identify: Callable[[str | None], tuple[str, str]]) -> None:
        """`identify` returns the policy and organization of a key; it raises for an unknown one."""
        self._identify = identify
        self._known: dict[bytes, Share] = {}

    def policy_id(self, key: str | None) -> str:
        digest = _digest(key)
        share = self._known.get(digest)
        if share is None:
            policy_id, org_id = self._identify(key)
            share = self._remember(digest, Share(org_id, policy_id))
        return share.key

    def remember(self, token: str | None, access: Access) -> None:
        """Record the organization of a token that was accepted; a token for all organizations has
        turns of its own.
        """
        digest = _digest(token)
        if digest not in self._known:
            self._remember(digest, Share(access.org_id or access.token_id, access.token_id))

    def share(self, key: str | None, authorization: str | None, peer: str) -> Share:
        """Return whom a request counts for, without reading the store: an unknown credential counts
        for its address.
        """
        credential = key or bearer_of(authorization)
        known = self._known.get(_digest(credential)) if credential else None
        return known or Share(f"peer {peer}", f"peer {peer}")

    def _remember(self, digest: bytes, share: Share) -> Share:
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[digest] = share
        return share


def bearer_of(header: str | None) -> str | None:
    """Return the credential in an Authorization header."""
    if header is None or header[: len(_BEARER)].lower() != _BEARER:
        return None
    return header[len(_BEARER) :].strip()


def _digest(credential: str | None) -> bytes:
    return blake2b((credential or "").encode("utf-8", "replace"), digest_size=16).digest()
