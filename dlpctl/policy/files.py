"""Read TOML, YAML and JSON files into plain tables with the lines of their keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dlpctl.errors import PolicyError, did_you_mean
from dlpctl.mappings import Source
from dlpctl.system.regular import open_file

_BUILTIN = Path(__file__).parent / "builtin"
_MAX_BYTES = 1 << 20


def builtin_names() -> list[str]:
    return sorted(path.stem for path in _BUILTIN.iterdir())


def builtin_path(name: str) -> Path:
    names = builtin_names()
    if name not in names:
        known = ", ".join(names)
        raise PolicyError(
            f"there is no built-in policy {name!r}{did_you_mean(name, names)}; there are: {known}"
        )
    return _BUILTIN / f"{name}.toml"


class TableFile(NamedTuple):
    """The content of a file, and the source that collects its mistakes."""

    data: object
    source: Source


class _Form(NamedTuple):
    read: Callable[[str], object]
    lines: Callable[[str], Mapping[str, int]]


def read_table_file(path: Path) -> TableFile:
    """Read a file in the format of its suffix; raises `PolicyError`, which starts with its name."""
    return read_table(_text_of(path), path.name, path.suffix.lower())


def read_table(text: str, name: str, suffix: str) -> TableFile:
    """Read a text in the format of a suffix; errors contain `name`."""
    form = _FORMS.get(suffix)
    if form is None:
        raise PolicyError(f"{name}: unknown format; name it .toml, .yaml, .yml or .json")
    try:
        data = form.read(text)
    except ValueError as error:
        raise PolicyError(f"{name}: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise PolicyError(f"{name}: nested too deeply") from None
    return TableFile(data, Source(name, PolicyError, cache(lambda: form.lines(text))))


def as_yaml(table: Mapping[str, object]) -> str:
    """Return a table as the text of a YAML file."""
    import yaml

    class IndentedDumper(yaml.SafeDumper):
        """Indents the items of lists, which PyYAML by default aligns with their key."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            del indentless
            super().increase_indent(flow, False)

    return yaml.dump(
        dict(table), Dumper=IndentedDumper, sort_keys=False, allow_unicode=True, width=100
    )


def _text_of(path: Path) -> str:
    try:
        with open_file(path) as opened:
            size = os.fstat(opened.fileno()).st_size
            if size > _MAX_BYTES:
                raise PolicyError(
                    f"{path.name}: {size:,} bytes is too large; the limit is {_MAX_BYTES:,}"
                )
            return opened.read().decode("utf-8-sig")
    except FileNotFoundError:
        raise PolicyError(f"{path}: there is no such file") from None
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PolicyError(
            f"{path.name}: not UTF-8 at byte {error.start}; save it as UTF-8"
        ) from None


def _toml(text: str) -> object:
    import tomllib

    return tomllib.loads(text)


def _json(text: str) -> object:
    import json

    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} occurs twice in one object; keep one")
    return table


def _yaml(text: str) -> object:
    try:
        import yaml
    except ModuleNotFoundError:
        raise PolicyError(
            "YAML files need PyYAML: pip install pyyaml; or write the policy as TOML or JSON"
        ) from None

    class UniqueKeyLoader(yaml.SafeLoader):
        """Rejects duplicate keys: PyYAML silently takes the last, which would hide a mistake."""

        def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
            node = super().compose_mapping_node(anchor)
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if key.value in seen:
                        line = key.start_mark.line + 1
                        raise ValueError(
                            f"line {line}: {key.value!r} occurs twice in one mapping; keep one"
                        )
                    seen.add(key.value)
            return node

    try:
        return yaml.load(text, UniqueKeyLoader)  # noqa: S506  # it is a safe loader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _toml_lines(text: str) -> Mapping[str, int]:
    from dlpctl.mapping_lines import toml_lines

    return toml_lines(text)


def _yaml_lines(text: str) -> Mapping[str, int]:
    from dlpctl.mapping_lines import yaml_lines

    return yaml_lines(text)


_FORMS = {
    ".toml": _Form(_toml, _toml_lines),
    ".json": _Form(_json, _yaml_lines),
    ".yaml": _Form(_yaml, _yaml_lines),
    ".yml": _Form(_yaml, _yaml_lines),
}
