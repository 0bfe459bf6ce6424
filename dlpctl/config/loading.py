"""Load the settings from files, environment and flags; later layers override earlier ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.config.locations import locate
from dlpctl.config.origin import Layer, Origin
from dlpctl.config.settings import GROUPS, SETTINGS, VARIABLES, Config, Setting
from dlpctl.errors import ConfigError, did_you_mean
from dlpctl.mappings import Problems, Source, UnfitError
from dlpctl.system.regular import open_file

_MAX_BYTES = 1 << 20
_BY_VARIABLE = {each.variable: each for each in SETTINGS.values()}
OTHER_VARIABLES = {
    "DLPCTL_HOME": "The folder for settings, data and cache, instead of the platform's folders.",
    "DLPCTL_VAULT_KEY": "The key of vaults, hashes and surrogates; 32 bytes in hexadecimal.",
    "DLPCTL_BASELINE_KEY": "The key of exceptions, instead of their salt; 32 bytes in hexadecimal.",
    "DLPCTL_PASSWORD": "The password of encrypted files.",
    "DLPCTL_TOKEN": "The admin token for a server.",
    "DLPCTL_API_KEY": "The key of the policy to check by.",
    "DLPCTL_LICENSE_KEY": "The license key of this installation.",
}
"""Variables that are not settings (secrets and the folder of settings), with their meanings."""
# Kubernetes sets such variables in every container if a service is called dlpctl or
# dlpctl-something.
_OF_KUBERNETES = r"DLPCTL_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?)"


class _Given(NamedTuple):
    """The value of a setting in one layer."""

    setting: Setting
    value: object
    origin: Origin
    source: Source


def load_config(
    flags: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    working: Path | None = None,
) -> Config:
    """Return the settings for a run in the folder `working`; raise `ConfigError` with all mistakes.

    `flags` maps settings to values; None means that a flag is not given.
    """
    environ = os.environ if environ is None else environ
    locations = locate(environ, working)
    problems = Problems(ConfigError)
    values: dict[str, object] = {}
    origins: dict[str, Origin] = {}
    layers = (
        _from_file(locations.project, Layer.PROJECT, problems),
        _from_file(locations.user, Layer.USER, problems),
        _from_environment(environ, locations.working, problems),
        _from_flags(flags or {}, locations.working, problems),
    )
    for layer in layers:
        for given in layer:
            key = given.setting.key
            try:
                values[key] = _checked(given)
            except UnfitError as unfit:
                path = key if given.origin.is_file else ""
                given.source.fail(path + unfit.path, unfit.problem)
            origins[key] = given.origin
    problems.raise_any()
    return _build(
        values,
        data_folder=locations.data,
        cache_folder=locations.cache,
        origins=tuple(origins.items()),
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


def _checked(given: _Given) -> object:
    if given.setting.is_personal and given.origin.layer is Layer.PROJECT:
        raise UnfitError("is only allowed in your own file and the environment")
    is_text = given.origin.layer is Layer.ENVIRONMENT
    value = given.setting.type.read(str(given.value)) if is_text else given.value
    return given.setting.type.check(value, given.origin.folder)


def _from_file(file: Path | None, layer: Layer, problems: Problems) -> Iterator[_Given]:
    if file is None:
        return
    text = _read(file)

    def lines() -> Mapping[str, int]:
        from dlpctl.mapping_lines import toml_lines

        return toml_lines(text)

    source = Source(str(file), ConfigError, lines, problems)
    yield from _from_table(_parsed(file, text), Origin(layer, str(file), file.parent), source)


def _from_table(
    table: Mapping[str, object], origin: Origin, source: Source, prefix: str = ""
) -> Iterator[_Given]:
    for name, value in table.items():
        key = prefix + name
        if key in SETTINGS:
            yield _Given(SETTINGS[key], value, origin, source)
        elif key not in GROUPS:
            source.fail(key, f"is not a setting{_hint(key, [*SETTINGS, *GROUPS])}")
        elif isinstance(value, dict):
            yield from _from_table(value, origin, source, f"{key}.")
        else:
            source.fail(key, f"must be a table; write [{key}]")


def _from_environment(
    environ: Mapping[str, str], working: Path, problems: Problems
) -> Iterator[_Given]:
    for name in sorted(name for name in environ if name.startswith(VARIABLES)):
        source = Source(name, ConfigError, problems=problems)
        if name in _BY_VARIABLE:
            if environ[name]:
                origin = Origin(Layer.ENVIRONMENT, name, working)
                yield _Given(_BY_VARIABLE[name], environ[name], origin, source)
        elif name not in OTHER_VARIABLES and not re.fullmatch(_OF_KUBERNETES, name):
            hint = _hint(name, [*_BY_VARIABLE, *OTHER_VARIABLES])
            source.fail("", f"is not a variable of dlpctl{hint}")


def _from_flags(flags: Mapping[str, object], working: Path, problems: Problems) -> Iterator[_Given]:
    for key, value in flags.items():
        if value is not None:
            name = "--" + key.replace("_", "-").replace(".", "-")
            source = Source(name, ConfigError, problems=problems)
            yield _Given(SETTINGS[key], value, Origin(Layer.FLAG, name, working), source)


def _read(file: Path) -> str:
    try:
        with open_file(file) as opened:
            content = opened.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):  # services have homes such as /dev/null
        return ""
    except OSError as problem:
        raise ConfigError(f"{file}: cannot be read: {problem.strerror}") from None
    if len(content) > _MAX_BYTES:
        raise ConfigError(f"{file}: is larger than {_MAX_BYTES:,} bytes; is it a settings file?")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{file}: is not UTF-8 at byte {problem.start}") from None


def _parsed(file: Path, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise ConfigError(f"{file}: is not TOML: {problem}") from None


def _hint(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, known) or "; 'dlpctl config show' lists them all"
