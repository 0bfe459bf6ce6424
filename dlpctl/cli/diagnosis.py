"""What can be wrong with an installation, each with the command that mends it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import DlpctlError

if TYPE_CHECKING:
    import sqlite3

    from dlpctl.config import Config

_PRIVATE_FILES = ("mask.key", "control.key", "admin.token")
_LEAST_SPACE = 100 << 20
_SKEW = timedelta(minutes=2)
_SOON = timedelta(days=14)
_ANSWER_SECONDS = 5
_EXTRAS = (
    ("7z", "py7zr", "7z archives"),
    ("zstd", "zstandard", "zstd"),
    ("parquet", "pyarrow", "Parquet files"),
)


class State(StrEnum):
    OK = "ok"
    NOTE = "note"
    """Something that is not there, which not everybody needs."""
    WARNING = "warning"
    ERROR = "error"


class Verdict(NamedTuple):
    subject: str
    state: State
    said: str
    remedy: str = ""
    """A command, where one mends it."""


def diagnose() -> Iterator[Verdict]:
    """Each subject in turn, whatever is wrong with those before it."""
    config = yield from _settings()
    yield from _program()
    yield from _engine(config)
    yield from _cache(config.cache_folder)
    yield from _private_files(config.data_folder)
    yield from _space(config.data_folder)
    yield from _database(config.data_folder)
    yield from _clock()
    yield from _license()
    yield from _server(config)
    yield from _exceptions()
    yield from _sandbox()
    yield from _readers()


def _settings() -> Generator[Verdict, None, Config]:
    from dlpctl.config import Config, load_config, locate

    try:
        config = load_config()
    except DlpctlError as error:
        yield Verdict("settings", State.ERROR, error.message, "dlpctl config path")
        try:
            places = locate(os.environ)
        except DlpctlError:
            return Config()
        return Config(data_folder=places.data, cache_folder=places.cache)
    files = sorted({origin.name for _, origin in config.origins})
    yield Verdict("settings", State.OK, f"from {', '.join(files)}" if files else "the defaults")
    return config


def _program() -> Iterator[Verdict]:
    import platform

    from dlpctl import __version__

    python = f"dlpctl {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    found = shutil.which("dlpctl")
    if found is None:
        yield Verdict(
            "program",
            State.WARNING,
            f"{python}; not on the PATH, where hooks and completion look for it",
            f'export PATH="{Path(sys.executable).parent}:$PATH"',
        )
    else:
        yield Verdict("program", State.OK, f"{python}; {found}")


def _engine(config: Config) -> Iterator[Verdict]:
    reinstall = f"{sys.executable} -m pip install --force-reinstall hyperscan google-re2"
    try:
        import hyperscan
        import re2

        from dlpctl.detect.cache import Cache
        from dlpctl.detect.engine import Detector

        detector = Detector(files=config.patterns, cache=Cache(config.cache_folder))
        found = [one.type for one in detector.scan("write to somebody@example.com")]
    except ImportError as problem:
        yield Verdict("engine", State.ERROR, f"a library is missing: {problem}", reinstall)
        return
    except DlpctlError as error:
        yield Verdict("engine", State.ERROR, error.message, "dlpctl patterns test")
        return
    if found != ["EMAIL"]:
        yield Verdict("engine", State.ERROR, "a plain e-mail address is not found", reinstall)
        return
    yield Verdict(
        "engine",
        State.OK,
        f"{len(detector.patterns):,} patterns; {hyperscan.__name__} and {re2.__name__} work",
    )


def _cache(folder: Path) -> Iterator[Verdict]:
    try:
        status = folder.lstat()
    except FileNotFoundError:
        yield Verdict(
            "cache", State.WARNING, f"{folder} cannot be made; every start compiles the patterns"
        )
        return
    except OSError as problem:
        yield Verdict("cache", State.ERROR, f"{folder}: {problem.strerror}")
        return
    if not stat.S_ISDIR(status.st_mode):
        yield Verdict("cache", State.ERROR, f"{folder} is not a folder", f"rm {folder}")
    elif os.name == "posix" and status.st_uid != os.geteuid():
        yield Verdict(
            "cache",
            State.ERROR,
            f"{folder} belongs to somebody else",
            f"sudo chown -R $USER {folder}",
        )
    elif os.name == "posix" and status.st_mode & 0o022:
        yield Verdict(
            "cache",
            State.ERROR,
            f"{folder} can be written by others, so that it is not used and every start compiles the patterns",
            f"chmod -R go-w {folder}",
        )
    elif not os.access(folder, os.W_OK):
        yield Verdict("cache", State.ERROR, f"{folder} cannot be written", f"chmod u+w {folder}")
    else:
        size = _size(folder)
        yield Verdict("cache", State.OK, f"{folder}, {size / 1e6:.1f} MB")


def _size(folder: Path) -> int:
    total = 0
    for file in folder.iterdir():
        with suppress(FileNotFoundError):  # others may use the cache, too
            total += file.stat().st_size
    return total


def _private_files(folder: Path) -> Iterator[Verdict]:
    there = [file for name in _PRIVATE_FILES if (file := folder / name).exists()]
    if not there:
        yield Verdict("keys", State.OK, f"none yet; made in {folder} when one is needed")
        return
    open_ones = [file for file in there if os.name == "posix" and file.stat().st_mode & 0o077]
    for file in open_ones:
        mode = stat.S_IMODE(file.stat().st_mode)
        yield Verdict(
            "keys",
            State.ERROR,
            f"{file} can be read by others (mode {mode:04o})",
            f"chmod 600 {file}",
        )
    if not open_ones:
        yield Verdict(
            "keys",
            State.OK,
            f"{', '.join(file.name for file in there)} in {folder} are yours alone",
        )


def _space(folder: Path) -> Iterator[Verdict]:
    nearest = next((one for one in (folder, *folder.parents) if one.exists()), Path())
    free = shutil.disk_usage(nearest).free
    if free < _LEAST_SPACE:
        said = f"{free / 1e6:.0f} MB left in {nearest}; what cannot be recorded is blocked"
        yield Verdict(
            "space", State.WARNING, said, "dlpctl db prune --older-than 90d && dlpctl db vacuum"
        )


def _database(folder: Path) -> Iterator[Verdict]:
    from dlpctl.control.migrations import STEPS
    from dlpctl.control.service import DATABASE, KEY_FILE

    file = folder / DATABASE
    if not file.exists():
        yield Verdict(
            "database", State.NOTE, "none; only the control plane needs one", "dlpctl init"
        )
        return
    if not (folder / KEY_FILE).exists():
        yield Verdict(
            "database",
            State.ERROR,
            f"{folder / KEY_FILE} is missing, and without it {file} cannot be read",
            f"cp BACKUP-OF-THE-KEY {folder / KEY_FILE}",
        )
    import sqlite3
    from contextlib import closing

    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            wrong = [
                row[0] for row in connection.execute("PRAGMA quick_check(1)") if row[0] != "ok"
            ]
            if wrong:
                yield Verdict(
                    "database",
                    State.ERROR,
                    f"{file} is damaged: {wrong[0]}",
                    "dlpctl db restore BACKUP --yes",
                )
                return
            if version > len(STEPS):
                yield Verdict(
                    "database",
                    State.ERROR,
                    f"a newer dlpctl has written {file}",
                    "install a newer dlpctl from where you have this one",
                )
                return
            yield Verdict(
                "database", State.OK, f"{file}, whole, {file.stat().st_size / 1e6:.1f} MB"
            )
            yield from _stored_licenses(connection)
            yield from _newest_check(connection)
    except sqlite3.Error as problem:
        yield Verdict(
            "database", State.ERROR, f"{file}: {problem}", "dlpctl db restore BACKUP --yes"
        )


def _stored_licenses(connection: sqlite3.Connection) -> Iterator[Verdict]:
    now = datetime.now(UTC)
    rows = connection.execute(
        "SELECT slug, license_id, expires_at FROM licenses JOIN organizations USING (org_id)"
        " WHERE revoked_at IS NULL AND expires_at < ? ORDER BY expires_at",
        ((now + _SOON).isoformat(),),
    ).fetchall()
    for slug, license_id, expires in rows:
        over = expires < now.isoformat()
        yield Verdict(
            "license",
            State.ERROR if over else State.WARNING,
            f"{license_id} of {slug} {'expired' if over else 'expires'} on {expires[:10]}",
            f"dlpctl license extend {slug} {license_id} --expires {now.year + 1}-{now.month:02}-01",
        )


def _newest_check(connection: sqlite3.Connection) -> Iterator[Verdict]:
    (newest,) = connection.execute("SELECT max(created_at) FROM checks").fetchone()
    if newest and newest > (datetime.now(UTC) + _SKEW).isoformat():
        said = f"the newest check is of {newest[:19].replace('T', ' ')}: the clock stands wrong, or did then"
        yield Verdict("clock", State.ERROR, said, "sudo timedatectl set-ntp true")


def _clock() -> Iterator[Verdict]:
    now = datetime.now(UTC)
    built = datetime.fromtimestamp(Path(__file__).stat().st_mtime, UTC)
    if now < built - timedelta(days=1):
        said = f"it says {now:%Y-%m-%d %H:%M} UTC, but dlpctl was installed on {built:%Y-%m-%d}"
        yield Verdict("clock", State.ERROR, said, "sudo timedatectl set-ntp true")
    else:
        yield Verdict("clock", State.OK, f"{now:%Y-%m-%d %H:%M} UTC")


def _license() -> Iterator[Verdict]:
    from dlpctl.control.keys import Kind, well_formed

    key = os.environ.get("DLPCTL_LICENSE_KEY", "").strip()
    if not key:
        return
    if well_formed(Kind.LICENSE, key):
        yield Verdict("license", State.OK, "the form of DLPCTL_LICENSE_KEY is right")
    else:
        yield Verdict(
            "license",
            State.ERROR,
            "DLPCTL_LICENSE_KEY is no license key: it begins with dlp_lk_ and its last characters are a check",
            "dlpctl license list ORG",
        )


def _server(config: Config) -> Iterator[Verdict]:
    url = config.server
    if url is None or url == "local":
        yield Verdict("server", State.OK, "none; everything is done in this process")
        return
    from http.client import HTTPConnection, HTTPException, HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield Verdict("server", State.NOTE, f"{url} is not asked by this command")
        return
    start = (
        "dlpctl serve"
        if parts.hostname in ("127.0.0.1", "localhost")
        else f"curl {url.rstrip('/')}/readyz"
    )
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        connection = kind(parts.hostname, parts.port, timeout=_ANSWER_SECONDS)
        connection.request("GET", f"{parts.path.rstrip('/')}/readyz")
        answer = connection.getresponse()
        given = answer.getheader("Date")
        connection.close()
    except (OSError, HTTPException, ValueError) as problem:
        yield Verdict("server", State.ERROR, f"{url} does not answer: {problem}", start)
        return
    if answer.status != 200:
        said = f"{url} answers with status {answer.status}: it is not ready to check anything"
        yield Verdict("server", State.ERROR, said, start)
        return
    yield Verdict("server", State.OK, f"{url} answers")
    from email.utils import parsedate_to_datetime

    try:
        skew = parsedate_to_datetime(given) - datetime.now(UTC) if given else timedelta()
    except (ValueError, TypeError):
        return
    if abs(skew) > _SKEW:
        said = f"it differs from the server's by {abs(skew).total_seconds():.0f} seconds"
        yield Verdict("clock", State.ERROR, said, "sudo timedatectl set-ntp true")


def _exceptions() -> Iterator[Verdict]:
    from dlpctl.cli.exceptions import found, today
    from dlpctl.scan.baseline import Baseline

    file = found(None)
    if file is None:
        return
    try:
        entries = Baseline.load(file, os.environ).entries
    except DlpctlError as error:
        yield Verdict("exceptions", State.ERROR, error.message)
        return
    expired = sum(entry.has_expired(today()) for entry in entries)
    if expired:
        yield Verdict(
            "exceptions",
            State.WARNING,
            f"{expired} of {len(entries)} in {file} have expired",
            "dlpctl baseline audit",
        )
    else:
        yield Verdict("exceptions", State.OK, f"{len(entries)} in {file}")


def _sandbox() -> Iterator[Verdict]:
    from dlpctl.formats.interface import Limits
    from dlpctl.formats.worker import Worker

    try:
        with Worker(Limits()) as worker:
            refused = worker.sandbox(_ANSWER_SECONDS)
    except (DlpctlError, OSError) as problem:
        said = f"the process that reads files does not start: {problem}"
        yield Verdict("sandbox", State.ERROR, said)
        return
    if refused:
        said = f"the process that reads files has no access to other {', '.join(refused)}"
        yield Verdict("sandbox", State.OK, said)
    else:
        said = "the process that reads files has limits, but this system has no sandbox for it"
        yield Verdict("sandbox", State.NOTE, said)


def _readers() -> Iterator[Verdict]:
    tesseract = shutil.which("tesseract")
    if tesseract:
        yield Verdict("tesseract", State.OK, f"{tesseract} reads words in pictures")
    else:
        install = {"darwin": "brew install tesseract", "win32": "winget install tesseract"}.get(
            sys.platform, "sudo apt-get install tesseract-ocr"
        )
        yield Verdict(
            "tesseract", State.NOTE, "not installed: words in pictures are not read", install
        )
    from dlpctl.cli.provenance import extra_packages

    for extra, module, what in _EXTRAS:
        if find_spec(module) is None:
            yield Verdict(
                extra, State.NOTE, f"{what} cannot be read", f"pip install {extra_packages(extra)}"
            )
