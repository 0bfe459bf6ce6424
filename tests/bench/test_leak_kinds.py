"""No value that a foreign reader can read is released: planted by kind, and put at random places."""

from __future__ import annotations

import random
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

_SPEC = spec_from_file_location("leak_kinds", Path(__file__).with_name("leak_kinds.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
leak_kinds = module_from_spec(_SPEC)
sys.modules["leak_kinds"] = leak_kinds
_SPEC.loader.exec_module(leak_kinds)
KINDS = {kind.name: kind for kind in leak_kinds.kinds()}

WIDE = {
    "text in utf-16": ("utf-16-le", 2),
    "text in utf-16-le": ("utf-16-le", 2),
    "registry": ("utf-16-le", 2),
    "text in utf-32": ("utf-32-le", 4),
    "text in cp037": ("cp037", 1),
    "text in cp500": ("cp500", 1),
}
_GLUED = re.compile(rb"[-0-9\xf0-\xf9]")


@pytest.fixture(name="checker", scope="session")
def checker_fixture() -> Any:
    return leak_kinds.strict_checker()


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_no_planted_value_is_readable(kind: Any, checker: Any) -> None:
    outcome = leak_kinds.judge(kind, checker, 0)
    assert outcome.readable == 0, outcome.reason
    assert outcome.released or kind.may_block, outcome.reason


def canaries(kind: Any, checker: Any, seed: int, count: int) -> list[str]:
    """Return the places of a sample at which a value was released that a foreign reader shows."""
    chance = random.Random(f"{kind.name} {seed}")
    values = leak_kinds.Values(seed)
    data = kind.make(values)
    remaining = []
    codec, unit = WIDE.get(kind.name, ("utf-8", 1))
    for _ in range(count):
        at = chance.randrange(len(data) + 1) // unit * unit
        if _GLUED.search(data[max(at - 8, 0) : at + 8]):
            continue  # within another value it would be no value
        value = chance.choice([values.card, values.mail, values.iban])()
        mutated = data[:at] + f" {value} ".encode(codec) + data[at:]
        report = checker.check(mutated, f"document{kind.suffix}")
        if report.masked is None:
            continue
        try:
            shown = kind.read(report.masked)
        except Exception:  # a reader that fails shows nothing
            shown = ""
        texts = map(leak_kinds.squeezed, (shown, report.masked.decode("latin-1")))
        if any(leak_kinds.squeezed(value) in text for text in texts):
            remaining.append(f"{kind.name}, seed {seed}, byte {at}")
    return remaining


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_no_value_at_any_place_is_readable(kind: Any, checker: Any) -> None:
    assert not [one for seed in range(2) for one in canaries(kind, checker, seed, 12)]
