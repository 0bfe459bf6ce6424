"""Reading TOML, YAML and JSON files into plain tables, with one kind of error."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dlpctl.errors import PolicyError, did_you_mean
from dlpctl.regular import open_file

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


def read_table_file(path: Path) -> object:
    """What a file holds, by its suffix; raises `PolicyError`, with the file's name in front."""
    try:
        with open_file(path) as opened:
            size = os.fstat(opened.fileno()).st_size
            if size > _MAX_BYTES:
                raise PolicyError(
                    f"{path.name}: {size:,} bytes is too large; the limit is {_MAX_BYTES:,}"
                )
            text = opened.read().decode("utf-8-sig")
    except FileNotFoundError:
        raise PolicyError(f"{path}: there is no such file") from None
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PolicyError(
            f"{path.name}: not UTF-8 at byte {error.start}; save it as UTF-8"
        ) from None
    readers = {".toml": _toml, ".json": _json, ".yaml": _yaml, ".yml": _yaml}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise PolicyError(
            f"{path.name}: name it .toml, .yaml, .yml or .json, so that its form is known"
        )
    try:
        return reader(text)
    except ValueError as error:
        raise PolicyError(f"{path.name}: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise PolicyError(f"{path.name}: nested too deeply") from None


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
        raise ValueError(f"{twice!r} stands twice in one object; keep one")
    return table


def _yaml(text: str) -> object:
    try:
        import yaml
    except ModuleNotFoundError:
        raise PolicyError(
            "YAML files need PyYAML: pip install pyyaml; or write the policy as TOML or JSON"
        ) from None

    class UniqueKeyLoader(yaml.SafeLoader):
        """PyYAML takes the last of two equal keys in silence; in a policy that hides a mistake."""

        def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
            node = super().compose_mapping_node(anchor)
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if key.value in seen:
                        line = key.start_mark.line + 1
                        raise ValueError(
                            f"line {line}: {key.value!r} stands twice in one mapping; keep one"
                        )
                    seen.add(key.value)
            return node

    loader = UniqueKeyLoader(text)
    try:
        return loader.get_single_data()
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    finally:
        loader.dispose()
