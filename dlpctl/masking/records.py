"""Values in the records of a stream, such as the words of a model's answer, which are masked within
each record: readers of the copy still understand its records, and operators take the whole value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dlpctl.regex import lazy

_LONGEST = 1024
"""The longest text of a record before or after its part of a value."""
_MOST_BETWEEN = 4
"""The lines between two records."""
_PART = lazy(r'(?:[^"\\\n]|\\[^\n])*')
_CHANGING = lazy(r'[0-9.]+|(?<=:)"[^"\n]*"(?=[,}])|(?<=: )"[^"\n]*"(?=[,}])')
"""What differs from record to record: numbers and texts."""


def mask_in_records(text: str, start: int, end: int, mask: Callable[[str], str]) -> str | None:
    """Return the masked copy of a span that takes several records of a stream; None for others.

    What the records have around their parts of the value is told by the first and the last of
    them, which have it outside of the span.
    """
    joints = list(_joints(text, start, end))
    if not joints:
        return None
    starts = [start, *(joint[1] for joint in joints)]
    ends = [*(joint[0] for joint in joints), end]
    parts = [text[first:last] for first, last in zip(starts, ends, strict=True)]
    if not all(map(_PART.fullmatch, parts)):
        return None
    value = "".join(parts)
    masked = mask(value)
    if len(masked) != len(value):
        parts = [masked, *("" for _ in joints)]
    else:
        cuts = iter(masked)
        parts = ["".join(next(cuts) for _ in part) for part in parts]
    written = parts[0]
    for joint, part in zip(joints, parts[1:], strict=True):
        written += text[slice(*joint)] + part
    return written


def _joints(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what is between the parts of a value: the end of a record, the lines after it and the
    start of the next one.
    """
    line = text.rfind("\n", max(start - _LONGEST, 0), start) + 1
    head = text[line : text.rfind('"', line, start) + 1]
    last = _PART.match(text, end)
    assert last is not None
    after = text.find("\n", last.end(), last.end() + _LONGEST)
    tail = text[last.end() : after if after >= 0 else last.end() + _LONGEST]
    if not head or not tail.startswith('"'):
        return
    joint = re.compile(f"{_alike(tail)}(\n(?:[^\n]*\n){{0,{_MOST_BETWEEN}}}?){_alike(head)}")
    between = ""
    for found in joint.finditer(text, start, end):
        if found[1] != between:
            between = found[1]
            known = re.compile(_alike(between))
            before = text[max(line - _LONGEST, 0) : line]
            if not (known.match(text, max(after, 0)) or re.search(f"{known.pattern}\\Z", before)):
                return
        yield found.span()


def _alike(record: str) -> str:
    """Return a regular expression for what differs only in numbers and texts."""
    parts: list[str] = []
    at = 0
    for found in _CHANGING.finditer(record):
        parts += (
            re.escape(record[at : found.start()]),
            '"[^"\n]*"' if found[0].startswith('"') else "[0-9.]+",
        )
        at = found.end()
    return "".join([*parts, re.escape(record[at:])])
