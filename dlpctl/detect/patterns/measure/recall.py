"""Recall: values of every type planted in carrier texts, and the share that is found."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dlpctl.detect.engine import THRESHOLD, Detector
from dlpctl.detect.patterns.measure import values


class Planted(NamedTuple):
    """A text with a value in it; a secret may be found as any type of secret."""

    type: str
    shape: str
    carrier: str
    text: str
    value: str


class Recall(NamedTuple):
    type: str
    planted: int
    found: int
    missed: tuple[tuple[str, str], ...]
    """Shape and carrier of each missed value."""

    @property
    def share(self) -> float:
        return self.found / self.planted


def _snake(label: str) -> str:
    """Return the label as a field name, without accents and apostrophes."""
    bare = re.sub(r"\b[dl]'|['’#]", "", label.lower())
    folded = "".join(
        char for char in unicodedata.normalize("NFKD", bare) if unicodedata.category(char) != "Mn"
    )
    return re.sub(r"[\s./-]+", "_", folded if folded.isascii() else bare).strip("_")


def _camel(label: str) -> str:
    first, *rest = _snake(label).split("_")
    return first + "".join(map(str.title, rest))


CARRIERS: dict[str, Callable[[str, str], str]] = {
    "prose": lambda label, value: (
        f"As we said last week, the {label} is {value}, which you asked for."
    ),
    "CSV": lambda label, value: f'id,{label},note\n1,"{value}",new\n',
    "JSON": lambda label, value: f'{{"id": 1, "{_snake(label)}": "{value}", "active": true}}',
    "YAML": lambda label, value: f"record:\n  id: 1\n  {_snake(label)}: {value}\n  active: true\n",
    "environment": lambda label, value: f'MODE=fast\n{_snake(label).upper()}="{value}"\nDEBUG=0\n',
    "log line": lambda label, value: (
        f"2026-03-04T05:06:07Z INFO worker[17]: saved {_snake(label)}={value} in 12 ms\n"
    ),
    "SQL": lambda label, value: (
        f"INSERT INTO records (id, {_snake(label)}, note) VALUES (1, '{value}', 'new');"
    ),
    "HTML": lambda label, value: f"<table><tr><th>{label}</th><td>{value}</td></tr></table>",
    "Markdown": lambda label, value: (
        f"| id | {label} | note |\n|----|----|----|\n| 1 | {value} | new |\n"
    ),
    "e-mail": lambda label, value: (
        f"Subject: your request\n\nHello,\n\n{label.capitalize()}: {value}\n\nKind regards\n"
    ),
    "Python": lambda label, value: f'    {_snake(label)} = "{value}"\n',
    "JavaScript": lambda label, value: (
        f"const record = {{ {_camel(label)}: '{value}', active: true }};\n"
    ),
    "Java": lambda label, value: f'        String {_camel(label)} = "{value}";\n',
}  # fmt: skip
_NAMED = (
    "JSON",
    "YAML",
    "environment",
    "log line",
    "SQL",
    "Python",
    "JavaScript",
    "Java",
    "CSV",
    "Markdown",
    "HTML",
    "e-mail",
)
"""The carriers of secrets; in prose, a key looks like in a log."""


def planted(seed: int) -> Iterator[Planted]:
    """Yield all planted texts: each value in each carrier, each secret in three of them."""
    for value_kind in values.value_kinds():
        source = random.Random(f"{seed} {value_kind}")
        for carrier, write in CARRIERS.items():
            value = values.value(value_kind, source)
            yield Planted(
                value_kind.type, value_kind.shape, carrier, write(value_kind.label, value), value
            )
    for number, pattern_id in enumerate(values.secret_ids()):
        for turn in range(3):
            carrier = _NAMED[(number + turn) % len(_NAMED)]
            secret = values.secret(pattern_id, seed + turn)
            text = CARRIERS[carrier](secret.name, secret.value) if secret.name else secret.value
            yield Planted(
                "secrets", pattern_id, carrier if secret.name else "itself", text, secret.value
            )


def measure(detector: Detector, seed: int, threshold: float = THRESHOLD) -> list[Recall]:
    """Return the recall of each type, lowest first."""
    drawn: dict[str, int] = defaultdict(int)
    missed: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for example in planted(seed):
        drawn[example.type] += 1
        if not _is_found(detector, example, threshold):
            missed[example.type].append((example.shape, example.carrier))
    measured = [
        Recall(name, count, count - len(missed[name]), tuple(missed[name]))
        for name, count in drawn.items()
    ]
    return sorted(measured, key=lambda row: (row.share, row.type))


def _is_found(detector: Detector, example: Planted, threshold: float) -> bool:
    found = detector.scan(example.text, threshold)
    if example.type == "secrets":
        return any(finding.category == "SECRETS" for finding in found)
    return any(
        finding.type == example.type and example.text[finding.start : finding.end] == example.value
        for finding in found
    )
