"""Find the lines of keys in TOML, YAML and JSON, for errors about their values.

Paths are those of `dlpctl.mappings`: `rules[2].action`. Keys in inline TOML tables have the line of
the key that holds them.
"""

from __future__ import annotations

import re
from typing import Any

_DEEPEST = 16
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_LONG_STRINGS = re.compile(r"\"\"\"|" + "'''")


def toml_lines(text: str) -> dict[str, int]:
    """Return the line of each key and table of a TOML text."""
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    prefix = quote = ""
    for number, line in enumerate(text.split("\n"), start=1):
        was_quoted = bool(quote)
        for found in _LONG_STRINGS.findall(line):
            quote = "" if quote == found else quote or found
        if was_quoted:
            continue
        if header := _HEADER.match(line):
            parts = _parts(header[2])
            prefix = _resolved(parts[:-1], counts)
            prefix = f"{prefix}.{parts[-1]}" if prefix else parts[-1]
            if header[1] == "[[":
                index = counts[prefix] = counts.get(prefix, -1) + 1
                lines.setdefault(prefix, number)
                prefix = f"{prefix}[{index}]"
            lines.setdefault(prefix, number)
        elif key := _KEY.match(line):
            path = ".".join(_parts(key[1]))
            lines.setdefault(f"{prefix}.{path}" if prefix else path, number)
    return lines


def yaml_lines(text: str) -> dict[str, int]:
    """Return the line of each key and item of a YAML or JSON text."""
    import yaml

    lines: dict[str, int] = {}

    def walk(node: Any, path: str, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inner = f"{path}.{key.value}" if path else str(key.value)
                lines[inner] = key.start_mark.line + 1
                walk(value, inner, depth + 1)
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                lines[f"{path}[{index}]"] = item.start_mark.line + 1
                walk(item, f"{path}[{index}]", depth + 1)

    try:
        walk(yaml.compose(text, Loader=yaml.SafeLoader), "", 0)
    except (yaml.YAMLError, RecursionError):
        return {}  # such as JSON that is no YAML, for its tabs
    return lines


def _parts(key: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(key)]


def _resolved(parts: list[str], counts: dict[str, int]) -> str:
    """Return the path of a table, with the index of the last item of each list on the way."""
    path = ""
    for part in parts:
        path = f"{path}.{part}" if path else part
        if path in counts:
            path = f"{path}[{counts[path]}]"
    return path
