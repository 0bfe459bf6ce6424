"""Valid values for every pattern of secrets, drawn from a seed: what a recall corpus plants."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dlpctl.detect.placeholders import expand
from dlpctl.detect.validators.secrets_examples import GENERATORS


class Planted(NamedTuple):
    """A value with the name of the variable that would hold it; without a name, a text that stands on its own."""

    name: str
    value: str


@cache
def _templates() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def pattern_ids() -> list[str]:
    """The patterns that a value can be drawn for, in a stable order."""
    return list(_templates())


def draw(pattern_id: str, seed: int) -> Planted:
    """The same for the same pattern and seed."""
    template = _templates()[pattern_id]
    value = expand(template["value"], f"{pattern_id}/{seed}", lambda: GENERATORS)
    return Planted(template.get("name", ""), value)
