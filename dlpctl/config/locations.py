"""The files and folders of dlpctl on this machine."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from dlpctl.errors import ConfigError

PROJECT_FILE = "dlpctl.toml"
USER_FILE = "config.toml"
EXCEPTIONS_FILE = ".dlpctl-allow"
_XDG = (
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_CACHE_HOME", ".cache"),
)
_HOMELESS = "no home folder is known; set HOME, or DLPCTL_HOME to a folder for dlpctl"


class Locations(NamedTuple):
    working: Path
    project: Path | None
    """The nearest `dlpctl.toml`; None if there is none."""
    user: Path
    """The user's own file, whether it exists or not."""
    config: Path
    data: Path
    cache: Path


def locate(environ: Mapping[str, str], working: Path | None = None) -> Locations:
    try:
        working = (working or Path.cwd()).absolute()
    except FileNotFoundError:
        raise ConfigError("the working directory no longer exists; change to another one") from None
    config, data, cache = _folders(environ, working)
    return Locations(
        working, nearest(PROJECT_FILE, working), config / USER_FILE, config, data, cache
    )


def _folders(environ: Mapping[str, str], working: Path) -> tuple[Path, Path, Path]:
    if home := environ.get("DLPCTL_HOME"):
        try:
            root = working / Path(home).expanduser()
        except RuntimeError:
            raise ConfigError(
                "DLPCTL_HOME starts with '~', but no home folder is known; write an absolute path"
            ) from None
        return root / "config", root / "data", root / "cache"
    if sys.platform == "linux" and (user := Path(environ.get("HOME", ""))).is_absolute():
        # The same result as platformdirs, whose import takes milliseconds.
        config, data, cache = (
            Path(given)
            if (given := environ.get(variable, "").strip()) and Path(given).is_absolute()
            else user / usual
            for variable, usual in _XDG
        )
        return config / "dlpctl", data / "dlpctl", cache / "dlpctl"
    from platformdirs import PlatformDirs

    folders = PlatformDirs("dlpctl", appauthor=False)
    try:
        paths = folders.user_config_path, folders.user_data_path, folders.user_cache_path
    except RuntimeError:  # from newer versions, where older ones return a relative path
        raise ConfigError(_HOMELESS) from None
    if not all(path.is_absolute() for path in paths):
        raise ConfigError(_HOMELESS)
    return paths


def nearest(name: str, working: Path) -> Path | None:
    """Return the file of this name in the folder, or in the nearest folder above that has one."""
    for folder in (working, *working.parents):
        candidate = folder / name
        try:
            if candidate.is_file() and not _planted(candidate):
                return candidate
        except OSError:  # a folder that we may not read holds nothing meant for us
            continue
    return None


def _planted(file: Path) -> bool:
    """Return whether another user put the file into a folder that everyone can write to, like
    /tmp.
    """
    if os.name != "posix":
        return False
    everybody = file.parent.stat().st_mode & stat.S_IWOTH
    return bool(everybody) and file.lstat().st_uid not in (0, os.geteuid())
