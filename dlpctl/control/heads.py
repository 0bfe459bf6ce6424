"""Signed heads of the audit chain: one line of text each, which later proves whether all records up
to that point still exist.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from dlpctl.control.clock import utc_now, written
from dlpctl.control.keys import KeyRing, Secrets
from dlpctl.control.links import Ends
from dlpctl.errors import UsageError
from dlpctl.regex import lazy

PREFIX = "dlpctl-head"
_FORM = lazy(
    rf"{PREFIX}:([0-9]{{1,18}}):([0-9]{{1,18}}):([0-9a-f]{{64}})"
    r":([0-9]{8}T[0-9]{6}\.[0-9]{3}Z):([0-9a-f]{64})"
)
_NOTE_SECONDS = 1.0


class SignedHead(NamedTuple):
    seq: int
    """The number of the last check."""
    event: int
    """The number of the last event."""
    link: bytes
    moment: str
    signature: bytes

    @classmethod
    def of(cls, ends: Ends, secrets: Secrets, moment: datetime) -> SignedHead:
        compact = written(moment).replace("-", "").replace(":", "")
        head = cls(ends.last_seq, ends.last_event, ends.last_link, compact, b"")
        return head._replace(signature=head._mac(secrets))

    @classmethod
    def parse(cls, text: str) -> SignedHead:
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise UsageError(
                f"this is not a head of the audit log: it is one line that starts with {PREFIX}:"
            )
        seq, event, link, moment, signature = found.groups()
        return cls(int(seq), int(event), bytes.fromhex(link), moment, bytes.fromhex(signature))

    def __str__(self) -> str:
        return f"{self._content}:{self.signature.hex()}"

    @property
    def _content(self) -> str:
        return f"{PREFIX}:{self.seq}:{self.event}:{self.link.hex()}:{self.moment}"

    def is_signed_by(self, ring: KeyRing) -> bool:
        secrets = ring.linked_with(self.seq, self.event)
        return any(
            hmac.compare_digest(self._mac(each), self.signature) for each in {secrets, ring.current}
        )

    def _mac(self, secrets: Secrets) -> bytes:
        return secrets.mac("noted-head", self._content.encode())


class NotedHead:
    """The latest head that this machine has seen, in a file beside the key file."""

    def __init__(self, file: Path, ring: KeyRing, clock: Callable[[], datetime] = utc_now) -> None:
        self.file = file
        self._ring = ring
        self._clock = clock
        self.pending: tuple[Ends, Secrets] | None = None
        """The end of the chain as the current transaction leaves it."""
        self._latest: tuple[Ends, Secrets] | None = None
        """The end of the chain after the last transaction; its head is signed when the file is
        written.
        """
        self._known: SignedHead | None = None
        """The content of the file when it was last read."""
        self._kept_at = -_NOTE_SECONDS

    def load(self) -> None:
        self._known = self.read()

    def is_ahead_of(self, ends: Ends) -> bool:
        if not self._is_ahead(ends):
            return False
        # Another process may have restored a backup and noted its head.
        known = self.read()
        if known is not None:
            self._known, self._latest = known, None
        return self._is_ahead(ends)

    def _is_ahead(self, ends: Ends) -> bool:
        if self._latest is not None:
            latest = self._latest[0]
            return ends.is_older_than(latest.last_seq, latest.last_event)
        return self._known is not None and ends.is_older_than(self._known.seq, self._known.event)

    def has_committed(self, event: int) -> bool:
        """Return whether this process has seen the transaction of an event commit."""
        return self._latest is not None and event <= self._latest[0].last_event

    def committed(self) -> None:
        """Take over the end of the chain after a transaction. The file is written after each event,
        and otherwise at most once a second.
        """
        made, self.pending = self.pending, None
        if made is None:
            return
        before, self._latest = self._latest, made
        now = time.monotonic()
        if (
            now - self._kept_at >= _NOTE_SECONDS
            or before is None
            or before[0].last_event != made[0].last_event
        ):
            self._kept_at = now
            self.keep()

    def keep(self) -> None:
        """Write the file, unless it already holds a later head."""
        if self._latest is None:
            return
        kept, (ends, secrets) = self.read(), self._latest
        if kept is None or not ends.is_older_than(kept.seq, kept.event):
            self._write(SignedHead.of(ends, secrets, self._clock()))

    def replace(self, head: SignedHead) -> None:
        """Note an earlier head than before, because a backup was restored."""
        self._known, self._latest = head, None
        self._write(head)

    def latest(self) -> SignedHead | None:
        if self._latest is None:
            return self._known
        ends, secrets = self._latest
        return SignedHead.of(ends, secrets, self._clock())

    def _write(self, head: SignedHead) -> None:
        with suppress(OSError):
            with NamedTemporaryFile(
                "w", dir=self.file.parent, prefix=f".{self.file.name}.", delete=False
            ) as temporary:
                temporary.write(f"{head}\n")
            try:
                Path(temporary.name).replace(self.file)
            except OSError:
                Path(temporary.name).unlink()

    def read(self) -> SignedHead | None:
        """Return the head in the file if this control plane signed it."""
        return self.parse(self.text())

    def text(self) -> str:
        try:
            return self.file.read_text("ascii")
        except (OSError, UnicodeDecodeError):
            return ""

    def parse(self, text: str) -> SignedHead | None:
        try:
            head = SignedHead.parse(text)
        except UsageError:
            return None
        return head if head.is_signed_by(self._ring) else None
