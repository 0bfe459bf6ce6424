"""Whose key it is, for the limit of its rate: remembered, since the check itself asks the store again whether the key still holds."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

_MOST = 10_000


class Callers:
    def __init__(self, identify: Callable[[str | None], str]) -> None:
        """`identify` raises for a key that nobody knows."""
        self._identify = identify
        self._known: dict[bytes, str] = {}

    def policy_id(self, key: str | None) -> str:
        digest = blake2b((key or "").encode("utf-8", "replace"), digest_size=16).digest()
        policy_id = self._known.get(digest)
        if policy_id is None:
            policy_id = self._identify(key)
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[digest] = policy_id
        return policy_id
