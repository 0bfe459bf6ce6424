"""Signed heads of the audit chain: a line of text each, which shows later whether all records up to it are still there."""

from __future__ import annotations

import hmac
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.control.clock import written
from dlpctl.control.keys import KeyRing, Secrets
from dlpctl.errors import UsageError
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from dlpctl.control.chain import Ends

PREFIX = "dlpctl-head"
_FORM = lazy(
    rf"{PREFIX}:([0-9]{{1,18}}):([0-9]{{1,18}}):([0-9a-f]{{64}}):([0-9]{{8}}T[0-9]{{6}}\.[0-9]{{3}}Z):([0-9a-f]{{64}})"
)
_NOTE_SECONDS = 1.0


class SignedHead(NamedTuple):
    seq: int
    """Checks up to here."""
    event: int
    """Events up to here."""
    link: bytes
    moment: str
    signature: bytes

    @classmethod
    def sign(cls, secrets: Secrets, seq: int, event: int, link: bytes, moment: datetime) -> SignedHead:
        head = cls(seq, event, link, written(moment).replace("-", "").replace(":", ""), b"")
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
        return f"{self._said}:{self.signature.hex()}"

    @property
    def _said(self) -> str:
        return f"{PREFIX}:{self.seq}:{self.event}:{self.link.hex()}:{self.moment}"

    def is_signed_by(self, ring: KeyRing) -> bool:
        secrets = ring.linked_with(self.seq, self.event)
        return any(hmac.compare_digest(self._mac(one), self.signature) for one in {secrets, ring.current})

    def _mac(self, secrets: Secrets) -> bytes:
        return secrets.mac("noted-head", self._said.encode())


class NotedHead:
    """The latest head, in a file beside the key file: what this machine has seen of the database."""

    def __init__(self, file: Path, ring: KeyRing) -> None:
        self.file = file
        self._ring = ring
        self.pending: SignedHead | None = None
        """What the transaction that is under way makes the head."""
        self.latest: SignedHead | None = None
        self._kept_at = -_NOTE_SECONDS

    def load(self) -> None:
        self.latest = self.read()

    def is_ahead_of(self, ends: Ends) -> bool:
        if self.latest is None or not ends.is_behind(self.latest):
            return False
        # Another process may have restored a backup, and noted that.
        self.latest = self.read() or self.latest
        return ends.is_behind(self.latest)

    def committed(self) -> None:
        """Take up the head of a transaction; the file follows at most once a second, and with every event."""
        head, self.pending = self.pending, None
        if head is None:
            return
        before, self.latest = self.latest, head
        now = time.monotonic()
        if now - self._kept_at >= _NOTE_SECONDS or before is None or before.event != head.event:
            self._kept_at = now
            self.keep()

    def keep(self, *, anyway: bool = False) -> None:
        """Write the file, unless it holds a later head; `anyway` is for a backup that was restored."""
        head, kept = self.latest, self.read()
        if head is None or (kept and not anyway and (kept.seq > head.seq or kept.event > head.event)):
            return
        with suppress(OSError):
            with NamedTemporaryFile(
                "w", dir=self.file.parent, prefix=f".{self.file.name}.", delete=False
            ) as temporary:
                temporary.write(f"{head}\n")
            try:
                Path(temporary.name).replace(self.file)
            except OSError:
                Path(temporary.name).unlink()

    def replace(self, head: SignedHead) -> None:
        """Note an earlier head than before, since a backup was restored."""
        self.latest = head
        self.keep(anyway=True)

    def read(self) -> SignedHead | None:
        """Return the head in the file, if it is one of this control plane."""
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
