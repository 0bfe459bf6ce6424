"""Diagnose an installation: each problem comes with the command that repairs it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.cli.diagnosis.verdicts import Verdict, error, noted, ok, warning
from dlpctl.errors import DlpctlError

if TYPE_CHECKING:
    from dlpctl.config import Config

_PRIVATE_FILES = ("mask.key", "control.key", "admin.token")
_LEAST_SPACE = 100 << 20
_SANDBOX_SECONDS = 5
_EXTRAS = (
    ("7z", "py7zr", "7z archives"),
    ("zstd", "zstandard", "zstd"),
    ("lz4", "lz4", "LZ4"),
    ("brotli", "brotli", "Brotli"),
    ("parquet", "pyarrow", "Parquet, ORC and Arrow files"),
)
_TESSERACT = {"darwin": "brew install tesseract", "win32": "winget install tesseract"}


def diagnose() -> Iterator[Verdict]:
    """Yield a verdict on each subject, whatever problems earlier ones have."""
    from dlpctl.cli.diagnosis import control

    config = yield from _settings()
    yield _program()
    yield _engine(config)
    yield _cache(config.cache_folder)
    yield from _private_files(config.data_folder)
    yield from _space(config.data_folder)
    yield from control.database(config)
    yield _clock()
    yield from control.license_key()
    yield from control.server(config)
    yield from _exceptions()
    yield from _sandbox()
    yield from _readers()


def _settings() -> Generator[Verdict, None, Config]:
    from dlpctl.cli.session import Session
    from dlpctl.config import Config, load_config, locate

    try:
        config = load_config()
    except DlpctlError as problem:
        yield error("settings", problem.message, "dlpctl config path")
        try:
            locations = locate(os.environ)
        except DlpctlError:
            return Config()
        return Config(data_folder=locations.data, cache_folder=locations.cache)
    files = sorted({origin.name for _, origin in config.origins})
    try:
        for name in (config.policy, config.agents.policy, config.gateway.policy):
            Session(config, None).policy(name)
    except DlpctlError as problem:
        yield error("settings", problem.message, "dlpctl config show")
    else:
        yield ok("settings", f"from {', '.join(files)}" if files else "the defaults")
    return config


def _program() -> Verdict:
    import platform

    from dlpctl.version import __version__

    system = f"{platform.system()} {platform.machine()}"
    python = f"dlpctl {__version__}, Python {platform.python_version()}, {system}"
    found = shutil.which("dlpctl")
    if found is None:
        message = f"{python}; not on the PATH, where hooks and completions look for it"
        return warning("program", message, f'export PATH="{Path(sys.executable).parent}:$PATH"')
    return ok("program", f"{python}; {found}")


def _engine(config: Config) -> Verdict:
    reinstall = f"{sys.executable} -m pip install --force-reinstall hyperscan google-re2"
    try:
        import hyperscan
        import re2

        from dlpctl.detect.automaton.cache import Cache
        from dlpctl.detect.engine import Detector

        detector = Detector(files=config.patterns, cache=Cache(config.cache_folder))
        found = [item.type for item in detector.scan("write to somebody@example.com")]
    except ImportError as problem:
        return error("engine", f"a library is missing: {problem}", reinstall)
    except DlpctlError as problem:
        return error("engine", problem.message, "dlpctl patterns test")
    if found != ["EMAIL"]:
        return error("engine", "a plain e-mail address is not found", reinstall)
    libraries = f"{hyperscan.__name__} and {re2.__name__}"
    return ok("engine", f"{len(detector.patterns):,} patterns; {libraries} work")


def _cache(folder: Path) -> Verdict:
    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.engine import Detector

    is_posix = os.name == "posix"
    try:
        status = folder.lstat()
    except FileNotFoundError:
        message = f"{folder} cannot be created; every run compiles what it needs"
        return warning("cache", message)
    except OSError as problem:
        return error("cache", f"{folder}: {problem.strerror}")
    if not stat.S_ISDIR(status.st_mode):
        return error("cache", f"{folder} is not a folder", f"rm {folder}")
    if is_posix and status.st_uid != os.geteuid():
        return error("cache", f"{folder} is another user's", f"sudo chown -R $USER {folder}")
    if is_posix and status.st_mode & 0o022:
        message = f"{folder} is not used, since others can write to it"
        return error("cache", message, f"chmod -R go-w {folder}")
    message = f"{folder}, {sum(Cache(folder).sizes().values()) / 1e6:.1f} MB"
    is_compiled = Detector(cache=Cache(folder)).is_compiled
    if not os.access(folder, os.W_OK):
        if is_compiled:
            return ok("cache", f"{message}; read-only, with all patterns")
        return error("cache", f"{folder} cannot be written", f"chmod u+w {folder}")
    if not is_compiled:
        return noted("cache", f"{message}; not all patterns are compiled", "dlpctl cache build")
    return ok("cache", message)


def _private_files(folder: Path) -> Iterator[Verdict]:
    existing = [file for name in _PRIVATE_FILES if (file := folder / name).exists()]
    if not existing:
        nearest = next((item for item in (folder, *folder.parents) if item.exists()), Path())
        if nearest.is_dir() and os.access(nearest, os.W_OK):
            yield ok("keys", f"none yet; made in {folder} when one is needed")
        else:
            message = f"none yet, and {folder} cannot be written: no vaults, no control plane"
            yield warning("keys", message, "export DLPCTL_HOME=FOLDER")
        return
    modes = [(file, stat.S_IMODE(file.stat().st_mode)) for file in existing]
    readable = [(file, mode) for file, mode in modes if os.name == "posix" and mode & 0o077]
    for file, mode in readable:
        yield error("keys", f"others can read {file} (mode {mode:04o})", f"chmod 600 {file}")
    if not readable:
        names = ", ".join(file.name for file in existing)
        yield ok("keys", f"only you can read {names} in {folder}")


def _space(folder: Path) -> Iterator[Verdict]:
    nearest = next((item for item in (folder, *folder.parents) if item.exists()), Path())
    free = shutil.disk_usage(nearest).free
    if free < _LEAST_SPACE:
        message = (
            f"{free / 1e6:.0f} MB left in {nearest}; checks that cannot be recorded are blocked"
        )
        remedy = "dlpctl db prune --older-than 90d && dlpctl db vacuum"
        yield warning("space", message, remedy)


def _clock() -> Verdict:
    now = datetime.now(UTC)
    built = datetime.fromtimestamp(Path(__file__).stat().st_mtime, UTC)
    if now < built - timedelta(days=1):
        message = f"it says {now:%Y-%m-%d %H:%M} UTC, but dlpctl was installed on {built:%Y-%m-%d}"
        return error("clock", message, "sudo timedatectl set-ntp true")
    return ok("clock", f"{now:%Y-%m-%d %H:%M} UTC")


def _exceptions() -> Iterator[Verdict]:
    from dlpctl.cli.accepted import exceptions_file, today
    from dlpctl.scan.baseline import Baseline

    file = exceptions_file(None)
    if file is None:
        return
    try:
        entries = Baseline.load(file, os.environ).entries
    except DlpctlError as problem:
        yield error("exceptions", problem.message)
        return
    expired = sum(entry.has_expired(today()) for entry in entries)
    if expired:
        message = f"{expired} of {len(entries)} in {file} have expired"
        yield warning("exceptions", message, "dlpctl baseline audit")
    else:
        yield ok("exceptions", f"{len(entries)} in {file}")


def _sandbox() -> Iterator[Verdict]:
    from dlpctl.formats.interface import Limits
    from dlpctl.formats.worker import Worker

    try:
        with Worker(Limits()) as worker:
            refused = worker.sandbox(_SANDBOX_SECONDS)
    except (DlpctlError, OSError) as problem:
        message = f"the process that reads files does not start: {problem}"
        yield error("sandbox", message)
        return
    if refused:
        message = f"the process that reads files has no access to other {', '.join(refused)}"
        yield ok("sandbox", message)
    else:
        message = "the process that reads files has limits, but this system has no sandbox for it"
        yield noted("sandbox", message)


def _readers() -> Iterator[Verdict]:
    from dlpctl.cli.provenance import extra_packages

    tesseract = shutil.which("tesseract")
    if tesseract:
        yield ok("tesseract", f"{tesseract} reads words in pictures")
    else:
        install = _TESSERACT.get(sys.platform, "sudo apt-get install tesseract-ocr")
        yield noted("tesseract", "not installed: words in pictures are not read", install)
    for extra, module, what in _EXTRAS:
        if find_spec(module) is None:
            yield noted(extra, f"{what} cannot be read", f"pip install {extra_packages(extra)}")
