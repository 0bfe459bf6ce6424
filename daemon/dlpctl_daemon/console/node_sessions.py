"""Sessions of the console that all nodes know which share a database."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dlpctl_daemon.console.sessions import IDLE_SECONDS, LINK_SECONDS, LONGEST_SECONDS, Session

if TYPE_CHECKING:
    from dlpctl.control.shared_items import SharedItems


class NodeSessions:
    def __init__(self, items: SharedItems) -> None:
        self._items = items

    def open(self, token_id: str) -> str:
        made = Session(token_id, secrets.token_urlsafe(32))
        return self._items.add(made.dump() | {"began": time.time()}, IDLE_SECONDS)

    @contextmanager
    def using(self, identifier: str) -> Iterator[Session | None]:
        found = self._items.use(identifier, IDLE_SECONDS)
        if found is None or "csrf" not in found:
            yield None
            return
        if time.time() - found.pop("began") > LONGEST_SECONDS:
            self.close(identifier)
            yield None
            return

        def keep(changed: dict[str, Any]) -> None:
            with self._items.changing(identifier) as item:
                item.update(changed)

        with Session.borrowed(found, keep) as session:
            yield session

    def close(self, identifier: str) -> None:
        self._items.take(identifier)

    def link(self, token_id: str) -> str:
        return self._items.add({"link": token_id}, LINK_SECONDS)

    def redeem(self, code: str) -> str | None:
        return (self._items.take(code) or {}).get("link")
