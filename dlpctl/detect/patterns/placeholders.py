"""Placeholders in examples, so that the repository contains no secrets that look real.

`{{random:[A-Z0-9]{16}}}` and `{{make:NAME}}` become values that depend only on the pattern's id and
the number of the example, so that failures are reproducible.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

from dlpctl.errors import PatternError

_PLACEHOLDER = re.compile(r"\{\{(random|make):(.+?)\}\}(?!\})", re.DOTALL)
_RANDOM = re.compile(r"(?:\[((?:[^\]\\]|\\.)+)\]|(\\[dw]))(?:\{(\d{1,4})\})?")
_NAMED_CLASSES = {"\\d": "0-9", "\\w": "0-9A-Za-z_"}


def expand(
    example: str, seed: str, makers: Callable[[], Mapping[str, Callable[[random.Random], str]]]
) -> str:
    """Return the example with each placeholder replaced; `makers` returns the functions by name."""
    if "{{" not in example:
        return example
    source = random.Random(seed)  # noqa: S311

    def replace(found: re.Match[str]) -> str:
        name, argument = found.groups()
        if name == "random":
            return _random_text(argument, source)
        make = makers().get(argument)
        if make is None:
            raise PatternError(f"placeholder '{{{{make:{argument}}}}}' is not known")
        return make(source)

    return _PLACEHOLDER.sub(replace, example)


def _random_text(described: str, source: random.Random) -> str:
    """Return characters for a run of classes with counts, such as `[A-Z]{4}[0-9]{2}`."""
    text = []
    position = 0
    while position < len(described):
        found = _RANDOM.match(described, position)
        if not found:
            raise PatternError(
                f"placeholder '{{{{random:{described}}}}}' is not a run of [classes]{{counts}}"
            )
        members = _members(found[1] or _NAMED_CLASSES[found[2]])
        text.append("".join(source.choice(members) for _ in range(int(found[3] or 1))))
        position = found.end()
    return "".join(text)


def _members(described: str) -> str:
    for name, meant in _NAMED_CLASSES.items():
        described = described.replace(name, meant)
    described = re.sub(r"\\(.)", lambda found: f"\0{found[1]}", described)
    members: list[str] = []
    position = 0
    while position < len(described):
        if described[position] == "\0":
            position += 1
        elif described[position + 1 : position + 2] == "-" and position + 2 < len(described):
            members += [
                chr(code)
                for code in range(ord(described[position]), ord(described[position + 2]) + 1)
            ]
            position += 3
            continue
        members.append(described[position])
        position += 1
    return "".join(members)
