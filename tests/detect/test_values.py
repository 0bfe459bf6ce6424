"""Each kind of value is found behind its label, as its type and as a whole."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "corpora"))

import values

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector

CARRIERS = (
    "For the file: {label} is {value}, as agreed.",
    '{{"{key}": "{value}", "n": 1}}',
    "| {label} | {value} |",
)
TYPES = sorted({kind.type for kind in values.kinds()})


@pytest.mark.parametrize("type_", TYPES)
def test_values_are_found(type_: str, library: Detector) -> None:
    source = random.Random(type_)
    missed, drawn = [], 0
    for kind in values.kinds():
        if kind.type != type_:
            continue
        for carrier in CARRIERS:
            value = values.value(kind, source)
            text = carrier.format(label=kind.label, key=kind.label.replace(" ", "_"), value=value)
            found = {text[one.start : one.end] for one in library.scan(text) if one.type == type_}
            drawn += 1
            if value not in found:
                missed.append((kind.shape, carrier))
    assert len(missed) <= 0.03 * drawn, missed


def test_the_same_seed_gives_the_same_values() -> None:
    kinds = values.kinds()[:20]
    assert [values.value(kind, random.Random(7)) for kind in kinds] == [
        values.value(kind, random.Random(7)) for kind in kinds
    ]
