"""From files, environment and flags to a `Config`: the later layer wins, setting by setting."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dlpctl.config.locations import locate
from dlpctl.config.origin import Layer, Origin
from dlpctl.config.setting_types import UnfitError
from dlpctl.config.settings import GROUPS, SETTINGS, VARIABLES, Config, Setting
from dlpctl.errors import ConfigError, did_you_mean
from dlpctl.regular import open_file

_MAX_BYTES = 1 << 20
_BY_VARIABLE = {each.variable: each for each in SETTINGS.values()}
OTHER_VARIABLES = {
    "DLPCTL_HOME": "A folder for settings, data and cache, in the place of those of the platform.",
    "DLPCTL_VAULT_KEY": "The key of vaults, hashes and surrogates, in the place of the key file; 32 bytes in hexadecimal.",
    "DLPCTL_BASELINE_KEY": "The key of exceptions, in the place of the salt in their file; 32 bytes in hexadecimal.",
    "DLPCTL_PASSWORD": "The password of encrypted files.",
    "DLPCTL_TOKEN": "The admin token for a server.",
    "DLPCTL_API_KEY": "The key of the policy to check by.",
    "DLPCTL_LICENSE_KEY": "The license key of this installation.",
}
"""What is no setting, since it is a secret or says where settings are; with its meaning."""
# Kubernetes sets such variables in every container beside a service that is called dlpctl or
# dlpctl-something.
_OF_KUBERNETES = r"DLPCTL_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?)"

_Given = tuple[Setting, object, Origin]


def load_config(
    flags: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    working: Path | None = None,
) -> Config:
    """The settings of a run in the folder `working`; `flags` are settings by key, of which None is
    not given.
    """
    environ = os.environ if environ is None else environ
    places = locate(environ, working)
    values: dict[str, object] = {}
    origins: dict[str, Origin] = {}
    layers = (
        _from_file(places.project, Layer.PROJECT),
        _from_file(places.user, Layer.USER),
        _from_environment(environ, places.working),
        _from_flags(flags or {}, places.working),
    )
    for layer in layers:
        for setting, value, origin in layer:
            values[setting.key] = _checked(setting, value, origin)
            origins[setting.key] = origin
    return _build(
        values, data_folder=places.data, cache_folder=places.cache, origins=tuple(origins.items())
    )


def _build(values: Mapping[str, object], **rest: Any) -> Config:
    own: dict[str, Any] = {key: value for key, value in values.items() if "." not in key}
    defaults = Config()
    for group in GROUPS:
        members = {
            key.removeprefix(f"{group}."): value
            for key, value in values.items()
            if key.startswith(f"{group}.")
        }
        own[group] = type(getattr(defaults, group))(**members)
    return Config(**own, **rest)


def _checked(setting: Setting, value: object, origin: Origin) -> object:
    if setting.is_personal and origin.layer is Layer.PROJECT:
        raise ConfigError(
            f"{origin.place(setting.key)} may stand in your own file and the environment only"
        )
    try:
        if origin.layer is Layer.ENVIRONMENT:
            value = setting.kind.read(str(value))
        return setting.kind.check(value, origin.folder)
    except UnfitError as unfit:
        item = "" if unfit.item is None else f"[{unfit.item}]"
        raise ConfigError(f"{origin.place(setting.key)}{item} {unfit.problem}") from None


def _from_file(file: Path | None, layer: Layer) -> Iterator[_Given]:
    if file is not None:
        yield from _from_table(_read(file), Origin(layer, str(file), file.parent))


def _from_table(table: Mapping[str, object], origin: Origin, prefix: str = "") -> Iterator[_Given]:
    for name, value in table.items():
        key = prefix + name
        if key in SETTINGS:
            yield SETTINGS[key], value, origin
        elif key not in GROUPS:
            raise ConfigError(
                f"{origin.place(key)} is not a setting{_hint(key, [*SETTINGS, *GROUPS])}"
            )
        elif isinstance(value, dict):
            yield from _from_table(value, origin, f"{key}.")
        else:
            raise ConfigError(f"{origin.place(key)} is not a table; write [{key}]")


def _from_environment(environ: Mapping[str, str], working: Path) -> Iterator[_Given]:
    for name in sorted(name for name in environ if name.startswith(VARIABLES)):
        if name in _BY_VARIABLE:
            if environ[name]:
                yield _BY_VARIABLE[name], environ[name], Origin(Layer.ENVIRONMENT, name, working)
        elif name not in OTHER_VARIABLES and not re.fullmatch(_OF_KUBERNETES, name):
            hint = _hint(name, [*_BY_VARIABLE, *OTHER_VARIABLES])
            raise ConfigError(f"{name} in the environment is not a setting{hint}")


def _from_flags(flags: Mapping[str, object], working: Path) -> Iterator[_Given]:
    for key, value in flags.items():
        if value is not None:
            name = "--" + key.replace("_", "-").replace(".", "-")
            yield SETTINGS[key], value, Origin(Layer.FLAG, name, working)


def _read(file: Path) -> dict[str, Any]:
    try:
        with open_file(file) as opened:
            content = opened.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise ConfigError(f"{file}: cannot be read: {problem.strerror}") from None
    if len(content) > _MAX_BYTES:
        raise ConfigError(f"{file}: is larger than {_MAX_BYTES:,} bytes; that is no configuration")
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{file}: is not UTF-8 at byte {problem.start}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise ConfigError(f"{file}: is not TOML: {problem}") from None


def _hint(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, known) or "; 'dlpctl config show' lists them all"
