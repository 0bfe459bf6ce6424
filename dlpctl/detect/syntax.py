"""How a regex is put together: what is its value, and what stands before it."""

from __future__ import annotations

import re

from dlpctl.regex import lazy

VALUE = lazy(r"\(\?P?<value>")
_PARTS = lazy(r"\\.|\[\^?\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*\]|[()|]", re.DOTALL)
_DEPTHS = {"(": 1, ")": -1}


def value_of(regex: str) -> str:
    """What stands in the group `value`, or the whole regex without one."""
    found = VALUE.search(regex)
    if not found:
        return regex
    depth = 1
    for part in _PARTS.finditer(regex, found.end()):
        depth += _DEPTHS.get(part[0], 0)
        if not depth:
            return regex[found.end() : part.start()]
    return regex[found.end() :]


def begins_with(regex: str, trigger: str) -> bool:
    """Whether the trigger is all that stands before the value, so that it says how far before its end a match can begin."""
    found = VALUE.search(regex)
    if not found or regex[: found.start()] != trigger:
        return False
    depth = 0
    for part in _PARTS.finditer(regex):
        depth += _DEPTHS.get(part[0], 0)
        if part[0] == "|" and not depth:
            return False  # the value may be in one of the alternatives alone
    return True
