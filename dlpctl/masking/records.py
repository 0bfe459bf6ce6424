"""Values in the records of a stream, such as the words of a model's answer, which are masked within
each record: readers of the copy still understand its records, and operators take the whole value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from dlpctl.regex import lazy

Range = tuple[int, int]

_LONGEST = 1024
"""The longest text of a record before or after its part of a value."""
_MOST_BETWEEN = 4
"""The lines between two records."""
_PART = lazy(r'(?:[^"\\\n]|\\[^\n])*')
_CHANGING = lazy(r'[0-9.]+|(?<=:)"[^"\n]*"(?=[,}])|(?<=: )"[^"\n]*"(?=[,}])')
"""Numbers and texts, which differ from record to record."""


def record_joints(
    text: str, start: int, end: int, is_clear: Callable[[int, int], bool]
) -> list[Range]:
    """Return what is between the parts of a value that takes several records of a stream; nothing
    for any other value.

    What records have around their parts is told by the first and the last of them, which have it
    outside of the value. If they have another value there, which `is_clear` tells, all records do.
    """
    joints = list(_joints(text, start, end, is_clear))
    parts = _parts(start, end, joints)
    return joints if all(_PART.fullmatch(text, *part) for part in parts) else []


def mask_in_records(
    value: str, start: int, joints: Sequence[Range], mask: Callable[[str], str]
) -> str:
    """Return the masked copy of a value that starts at a position, with its records."""
    apart = [(first - start, last - start) for first, last in joints]
    parts = [value[slice(*part)] for part in _parts(0, len(value), apart)]
    joined = "".join(parts)
    masked = mask(joined)
    if len(masked) == len(joined):
        characters = iter(masked)
        parts = ["".join(islice(characters, len(part))) for part in parts]
    else:
        parts = [masked, *("" for _ in joints)]
    between = (value[slice(*joint)] for joint in apart)
    return parts[0] + "".join(map(str.__add__, between, parts[1:]))


def _parts(start: int, end: int, joints: Sequence[Range]) -> list[Range]:
    starts = [start, *(joint[1] for joint in joints)]
    ends = [*(joint[0] for joint in joints), end]
    return list(zip(starts, ends, strict=True))


def _joints(
    text: str, start: int, end: int, is_clear: Callable[[int, int], bool]
) -> Iterator[Range]:
    """Yield what is between the parts of a value: the end of a record, the lines after it and the
    start of the next one.
    """
    line = text.rfind("\n", max(start - _LONGEST, 0), start) + 1
    head = text[line : text.rfind('"', line, start) + 1]
    last = _PART.match(text, end, end + _LONGEST)
    assert last is not None
    after = text.find("\n", last.end(), last.end() + _LONGEST)
    tail = text[last.end() : after if after >= 0 else last.end() + _LONGEST]
    if not head or not tail.startswith('"'):
        return
    if not (is_clear(line, line + len(head)) and is_clear(last.end(), last.end() + len(tail))):
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
