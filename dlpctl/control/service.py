"""The control plane: all services on one folder.

Errors are those of `dlpctl.errors`, each with an `http_status`. `org` is an id or a slug. A `body`
is the JSON object of a request; an invalid one raises a `RequestError` or `PolicyError` that starts
with the field. Answers are the shapes of `resources`, whose `to_dict` is the JSON of the interface.
All methods may be called from any thread, and by several processes on one database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from dlpctl.control.access import FIRST_ADMIN
from dlpctl.control.analytics import Analytics
from dlpctl.control.audit import Audit
from dlpctl.control.chain import Chain
from dlpctl.control.checks import Checks, Limits
from dlpctl.control.clock import Clock, TrustedClock, utc_now
from dlpctl.control.core import Core
from dlpctl.control.custody import Custody, prepare_restore, settle
from dlpctl.control.database import Database
from dlpctl.control.directory import Directory
from dlpctl.control.engine import Engine
from dlpctl.control.files import MaskedFiles
from dlpctl.control.groups import Groups
from dlpctl.control.guardrail import Guardrails
from dlpctl.control.heads import NotedHead
from dlpctl.control.inspection import Inspector
from dlpctl.control.keyfile import KeyFile
from dlpctl.control.keys import KeyRing
from dlpctl.control.licenses import Licenses
from dlpctl.control.maintenance import Maintenance
from dlpctl.control.maskkey import MaskKey
from dlpctl.control.offline import HEAD_FILE
from dlpctl.control.organizations import Organizations
from dlpctl.control.policies import Policies
from dlpctl.control.previews import Previews
from dlpctl.control.shared_items import SharedItems
from dlpctl.control.signing import ISSUER, Signer
from dlpctl.control.sqlite import SqliteDatabase
from dlpctl.control.storage import FolderStorage, TableStorage
from dlpctl.control.store import Store
from dlpctl.control.tokens import Tokens
from dlpctl.control.usage import Usage

if TYPE_CHECKING:
    from types import TracebackType

    from dlpctl.detect.engine import Detector

DATABASE = "control.db"
KEY_FILE = "control.key"
MASK_KEY = "mask.key"
FILES = "masked"


class ControlPlane:
    """`with ControlPlane.open(config.data_folder, make_detector) as control: ...`"""

    def __init__(
        self,
        core: Core,
        engine: Engine,
        folder: Path,
        limits: Limits,
        issuer: str = ISSUER,
        inspector: Inspector | None = None,
    ) -> None:
        is_shared = core.store.database.is_shared
        storage = TableStorage(core.store) if is_shared else FolderStorage(folder / FILES)
        files = MaskedFiles(core, storage)
        self.shared_items = SharedItems(core) if is_shared else None
        self._core = core
        self.folder = folder
        self.limits = limits
        self.organizations = Organizations(core)
        self.policies = Policies(core, engine)
        self.groups = Groups(core)
        self.licenses = Licenses(core, Signer(core, issuer))
        self.tokens = Tokens(core, folder / FIRST_ADMIN)
        directory = Directory(core.ring)
        self.checks = Checks(core, engine, directory, files, limits, inspector)
        self.previews = Previews(core, directory, self.checks, limits, inspector)
        self.guardrails = Guardrails(self.checks, limits)
        self.usage = Usage(core, directory)
        self.analytics = Analytics(core)
        self.audit = Audit(core)
        self.maintenance = Maintenance(core, files, folder / KEY_FILE, self.shared_items)
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
        inspector: Inspector | None = None,
        environ: Mapping[str, str] | None = None,
        turn: AbstractContextManager[object] | None = None,
        database: str | None = None,
        restoring: bool = False,
    ) -> ControlPlane:
        """Open the control plane in a folder, or create it. The detector is created at its first
        use. For `restoring`, the database may be damaged or lost, but the key file may not.

        `database` is the address of a PostgreSQL that several nodes share; without it, the database
        is a file in the folder.

        An `inspector` inspects large texts and files outside of this process. `environ` may hold
        the key for operators and exceptions. `turn` is held while this process writes to the
        database.
        """
        found = database_at(folder, database)
        ring = KeyRing.load(folder / KEY_FILE, create=found.is_new and not restoring)
        if restoring and isinstance(found, SqliteDatabase):
            found.set_aside_unreadable()
        store = Store(found, turn)
        trusted = TrustedClock(clock)
        noted = NotedHead(folder / HEAD_FILE, ring, trusted)
        core = Core(store, ring, trusted, Chain(ring, trusted, noted), set())
        try:
            store.observe(Custody(ring, noted))
            (prepare_restore if restoring else settle)(core)
        except BaseException:
            store.close()
            raise
        KeyFile(folder / KEY_FILE).settle(ring.current.key)
        mask_key = MaskKey(core.store, folder / MASK_KEY, environ or {})
        engine = Engine(make_detector, mask_key)
        return cls(core, engine, folder, limits or Limits(), issuer, inspector)

    def ready(self) -> None:
        """Raise `StoreError` if a check could not be made and recorded now."""
        self._engine.ready()
        self.maintenance.ready()

    def close(self) -> None:
        self._core.chain.noted.keep()
        self._core.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def database_at(folder: Path, address: str | None) -> Database:
    """Return the database at an address, or else in a folder."""
    if address is None:
        return SqliteDatabase(folder / DATABASE)
    from dlpctl.control.postgresql.database import PostgresDatabase

    return PostgresDatabase.of(address)
