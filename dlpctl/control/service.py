"""The control plane: all services on one folder.

Errors are those of `dlpctl.errors`, each with its `http_status`. `org` is an id or a slug. A `body` is a request's JSON object; what is wrong
with it is a `RequestError` or `PolicyError` that begins with the field. Answers are those of `records`, whose `to_dict` is the JSON of the
interface. All methods may be called from any thread, and by several processes on one database.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from dlpctl.control.access import FIRST_ADMIN
from dlpctl.control.analytics import Analytics
from dlpctl.control.audit import Audit
from dlpctl.control.checks import Checks, Limits
from dlpctl.control.client_metrics import ClientMetrics
from dlpctl.control.clock import Clock, utc_now
from dlpctl.control.core import Core
from dlpctl.control.directory import Directory
from dlpctl.control.engine import Engine
from dlpctl.control.files import MaskedFiles
from dlpctl.control.groups import Groups
from dlpctl.control.keys import KeyRing
from dlpctl.control.ledger import Chain
from dlpctl.control.licenses import Licenses
from dlpctl.control.maintenance import Maintenance
from dlpctl.control.organizations import Organizations
from dlpctl.control.policies import Policies
from dlpctl.control.signing import ISSUER, Signer
from dlpctl.control.store import Store
from dlpctl.control.tokens import Tokens
from dlpctl.control.usage import Usage
from dlpctl.control.writer import Batch
from dlpctl.errors import StoreError

if TYPE_CHECKING:
    from types import TracebackType

    from dlpctl.detect.engine import Detector

DATABASE = "control.db"
KEY_FILE = "control.key"
FILES = "masked"


class ControlPlane:
    """`with ControlPlane.open(config.data_folder, make_detector) as control: ...`"""

    def __init__(
        self, core: Core, engine: Engine, folder: Path, limits: Limits, issuer: str = ISSUER
    ) -> None:
        chain = Chain(core.ring)
        files = MaskedFiles(core, folder / FILES)
        self._core = core
        self.folder = folder
        self.limits = limits
        self.organizations = Organizations(core)
        self.policies = Policies(core, engine)
        self.groups = Groups(core)
        self.licenses = Licenses(core, Signer(core, issuer))
        self.tokens = Tokens(core, folder / FIRST_ADMIN)
        directory = Directory()
        self.checks = Checks(core, engine, directory, chain, files, limits)
        self.usage = Usage(core, directory, chain)
        self.client_metrics = ClientMetrics(core, directory, chain)
        self.analytics = Analytics(core)
        self.audit = Audit(core, chain)
        self.maintenance = Maintenance(core, chain, files)
        self._engine = engine

    @classmethod
    def open(
        cls,
        folder: Path,
        make_detector: Callable[[], Detector],
        *,
        clock: Clock = utc_now,
        limits: Limits | None = None,
        issuer: str = ISSUER,
    ) -> ControlPlane:
        """Open the one in a folder, or create it. The detector is made at its first use."""
        database = folder / DATABASE
        ring = KeyRing.load(folder / KEY_FILE, create=not database.exists())
        store = Store(database)
        try:
            _check_key(store, ring, folder)
        except BaseException:
            store.close()
            raise
        engine = Engine(make_detector, lambda: _mask_key(folder))
        return cls(Core(store, ring, clock), engine, folder, limits or Limits(), issuer)

    def ready(self) -> None:
        """Raises `StoreError` where a check could not be made and recorded now."""
        self._engine.ready()
        self.maintenance.ready()

    def close(self) -> None:
        self._core.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _check_key(store: Store, ring: KeyRing, folder: Path) -> None:
    """With another key file every key would be unknown and the audit log broken; better to say so at once."""
    expected = ring.key_for("check")
    with store.reading() as connection:
        row = connection.execute("SELECT value FROM state WHERE name = 'key'").fetchone()
    if row is None:

        def first(batch: Batch) -> bytes:
            batch.execute("INSERT OR IGNORE INTO state VALUES ('key', ?)", (expected,))
            stored: bytes = batch.execute("SELECT value FROM state WHERE name = 'key'").fetchone()[0]
            return stored

        value = store.run(first)
    else:
        value = row["value"]
    if not hmac.compare_digest(value, expected):
        raise StoreError(
            f"{folder / KEY_FILE}: is not the key of {folder / DATABASE}; put the right one there"
        )


def _mask_key(folder: Path) -> bytes:
    """The same key as the command line masks with, so that fingerprints and pseudonyms agree."""
    from dlpctl.masking.vault import vault_key

    return vault_key(folder / "mask.key", os.environ, create=True)
