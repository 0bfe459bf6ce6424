"""Sessions of the console, and links that open them. Both are kept only in memory: after a restart,
users sign in again.

If several processes answer requests, one keeps all sessions (see `supervision`), and the others ask
it.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from dlpctl.control.shared_items import digest_of
from dlpctl.system.recent import Recent

IDLE_SECONDS = 30 * 60.0
LONGEST_SECONDS = 12 * 3_600.0
LINK_SECONDS = 120.0
_MOST = 1_000
_Item = TypeVar("_Item")


class Notice(NamedTuple):
    """A message that the next page shows once."""

    level: str
    """`ok` or `error`."""
    text: str
    secret: str = ""
    """A key that is shown only once."""


class Session:
    """A user who has signed in with a token."""

    def __init__(self, token_id: str, csrf: str) -> None:
        self.token_id = token_id
        self.csrf = csrf
        self.org = ""
        """The slug of the organization to show; empty means all."""
        self.notices: list[Notice] = []
        self.refused: tuple[str, Mapping[str, str]] = ("", {})
        """The operation and fields of a refused form, to be corrected."""

    @classmethod
    @contextmanager
    def borrowed(
        cls, content: Mapping[str, Any], keep: Callable[[dict[str, Any]], object]
    ) -> Iterator[Self]:
        """Load a session that is kept elsewhere, and `keep` there what the page changes."""
        session = cls(content["token_id"], content["csrf"])
        session.change(content)
        try:
            yield session
        finally:
            dumped = session.dump()
            changed = {name: value for name, value in dumped.items() if value != content[name]}
            if changed:
                keep(changed)

    def dump(self) -> dict[str, Any]:
        """Return the content as it arrives at another process."""
        arrived: dict[str, Any] = json.loads(json.dumps(vars(self)))
        return arrived

    def change(self, content: Mapping[str, Any]) -> None:
        """Apply the changes of a page in another process."""
        self.org = content.get("org", self.org)
        if "notices" in content:
            self.notices = [Notice(*each) for each in content["notices"]]
        if "refused" in content:
            operation, fields = content["refused"]
            self.refused = (operation, fields)

    def take_notices(self) -> list[Notice]:
        """Return the messages that have not been shown yet."""
        taken, self.notices = self.notices, []
        return taken


class _Kept(Generic[_Item]):
    """Items by secret identifiers, stored only as digests; the least recently used are dropped."""

    def __init__(self) -> None:
        self._items: Recent[bytes, _Item] = Recent(_MOST)

    def add(self, item: _Item) -> str:
        identifier = secrets.token_urlsafe(32)
        self._items.put(digest_of(identifier), item)
        return identifier

    def get(self, identifier: str) -> _Item | None:
        return self._items.get(digest_of(identifier))

    def take(self, identifier: str) -> _Item | None:
        return self._items.pop(digest_of(identifier))


class SessionStore(Protocol):
    """Keeps sessions and links."""

    def open(self, token_id: str) -> str:
        """Start a session, and return its identifier for a cookie."""

    @contextmanager
    def using(self, identifier: str) -> Iterator[Session | None]:
        """Yield a session that has not expired, record its use, and keep changes to it."""

    def close(self, identifier: str) -> None: ...

    def link(self, token_id: str) -> str:
        """Return a code that signs in once, within two minutes."""

    def redeem(self, code: str) -> str | None:
        """Return the id of the token that a code was made with; the code cannot be used again."""


class _Open:
    """A session and the time of its last use."""

    def __init__(self, session: Session, now: float) -> None:
        self.session = session
        self.began = now
        self.seen = now


class Sessions:
    """All sessions and links of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: _Kept[_Open] = _Kept()
        self._links: _Kept[tuple[str, float]] = _Kept()

    def open(self, token_id: str) -> str:
        made = Session(token_id, secrets.token_urlsafe(32))
        return self._sessions.add(_Open(made, self._clock()))

    def find(self, identifier: str) -> Session | None:
        found, now = self._sessions.get(identifier), self._clock()
        if found is None:
            return None
        if now - found.seen > IDLE_SECONDS or now - found.began > LONGEST_SECONDS:
            self.close(identifier)
            return None
        found.seen = now
        return found.session

    @contextmanager
    def using(self, identifier: str) -> Iterator[Session | None]:
        yield self.find(identifier)

    def close(self, identifier: str) -> None:
        self._sessions.take(identifier)

    def link(self, token_id: str) -> str:
        return self._links.add((token_id, self._clock() + LINK_SECONDS))

    def redeem(self, code: str) -> str | None:
        token_id, until = self._links.take(code) or ("", 0.0)
        return token_id if token_id and self._clock() <= until else None
