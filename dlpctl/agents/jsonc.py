"""Edit JSON with comments and trailing commas: values are inserted and removed in place, and all
other characters stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from dlpctl.regex import lazy

_SPACE = lazy(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_SCALAR = lazy(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d[\d.eE+-]*|true|false|null')
_COMMENT = lazy(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/(?=[ \t]*[\r\n]))")
_INDENT = lazy(r"\n([ \t]+)\S")
_DEEPEST = 100

Path = tuple[str | int, ...]
"""The keys and indices that lead to a value."""


class JsoncError(ValueError):
    """Text that is not JSON, even with comments."""


class Node(NamedTuple):
    """A value and its position in the text."""

    start: int
    end: int
    value: Any
    """The Python value of a scalar; `{}` or `[]` for a container."""
    members: tuple[Member, ...] = ()


class Member(NamedTuple):
    """A member of an object, or an item of an array."""

    key: str | int
    start: int
    """The start of its key, or of its value in an array."""
    node: Node


def parse(text: str) -> Node:
    start = _skip(text, 0)
    node = _value(text, start, 0)
    if _skip(text, node.end) != len(text):
        raise JsoncError("text follows the value")
    return node


def loads(text: str) -> Any:
    """Return the Python value of JSON with comments."""
    return to_python(parse(text))


def to_python(node: Node) -> Any:
    if isinstance(node.value, dict):
        return {member.key: to_python(member.node) for member in node.members}
    if isinstance(node.value, list):
        return [to_python(member.node) for member in node.members]
    return node.value


def append(text: str, keys: Sequence[str], value: object) -> str:
    """Return the text with a value appended to the array at a path; create missing containers."""
    node, depth = parse(text), 0
    for number, key in enumerate(keys):
        found = _member(node, key)
        if found is None:
            for missing in reversed(keys[number + 1 :]):
                value = {missing: value if missing != keys[-1] else [value]}
            last = number == len(keys) - 1
            return _insert(text, node, depth, [value] if last else value, key)
        node, depth = found.node, depth + 1
    if not isinstance(node.value, list):
        raise JsoncError(f"{'.'.join(keys)} is not an array")
    return _insert(text, node, depth, value)


def set_member(text: str, key: str, value: object) -> str:
    """Return the text with a member added to the top-level object."""
    return _insert(text, parse(text), 0, value, key)


def span(text: str, path: Sequence[str | int]) -> tuple[int, int] | None:
    """Return the position of the value at a path; None if there is none."""
    node = parse(text)
    for key in path:
        member = _member(node, key)
        if member is None:
            return None
        node = member.node
    return node.start, node.end


def remove(text: str, path: Path) -> str:
    """Return the text without the value at a path."""
    node = parse(text)
    for key in path[:-1]:
        member = _member(node, key)
        if member is None:
            raise JsoncError("the value to remove is missing")
        node = member.node
    number = next(n for n, member in enumerate(node.members) if member.key == path[-1])
    member = node.members[number]
    start, end = member.start, member.node.end
    after = _skip(text, end)
    if text[after] == ",":
        end = after + 1
    elif number:
        comma = text.index(",", _skip(text, node.members[number - 1].node.end))
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    line = text.rfind("\n", 0, start)
    if line >= 0 and not text[line:start].strip():
        following = re.compile(r"[ \t]*(?:\r?\n|\Z)").match(text, end)
        start = line if following or text[_skip_blank(text, end)] in "]}" else start
    rest = text[end:]
    if number == 0 and len(node.members) == 1:
        return text[:start] + (rest.lstrip() if rest.lstrip()[:1] in ("]", "}") else rest)
    return text[:start] + rest


def _skip_blank(text: str, position: int) -> int:
    while position < len(text) - 1 and text[position] in " \t\r\n":
        position += 1
    return position


def _member(node: Node, key: str | int) -> Member | None:
    # Of repeated keys, parsers keep the last.
    return next((member for member in reversed(node.members) if member.key == key), None)


def _insert(text: str, node: Node, depth: int, value: object, key: str | None = None) -> str:
    if not isinstance(node.value, dict if key is not None else list):
        raise JsoncError("a value has an unexpected type")
    found = _INDENT.search(text)
    unit = found[1] if found else "  "
    newline = "\r\n" if "\r\n" in text else "\n"
    written = json.dumps(value, ensure_ascii=False, indent=unit)
    if key is not None:
        written = f"{json.dumps(key)}: {written}"
    outer, inner = newline + unit * depth, newline + unit * (depth + 1)
    written = inner + written.replace("\n", inner)
    if not node.members:
        content = text[node.start + 1 : node.end - 1].rstrip()
        head = text[: node.start + 1] + content
        return head + written + outer + text[node.end - 1 :]
    last = node.members[-1].node.end
    after = _skip(text, last)
    ends = text[after] == ","
    end = after + 1 if ends else last
    comment = _COMMENT.match(text, end)
    line = comment.end() if comment else end
    separator = "" if ends else ","
    return text[:end] + separator + text[end:line] + written + ("," if ends else "") + text[line:]


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None
    return match.end()


def _value(text: str, start: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise JsoncError("it is nested too deeply")
    if text[start : start + 1] in ("{", "["):
        return _container(text, start, depth)
    match = _SCALAR.match(text, start)
    if match is None:
        line = text.count("\n", 0, start) + 1
        raise JsoncError(f"line {line} is not JSON")
    try:
        return Node(start, match.end(), json.loads(match[0], strict=False))
    except ValueError as problem:
        raise JsoncError(str(problem)) from None


def _container(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    members: list[Member] = []
    position = _skip(text, start + 1)
    while text[position : position + 1] != closing:
        member_start, key = position, len(members)
        name: str | int = key
        if is_object:
            node = _value(text, position, depth + 1)
            position = _skip(text, node.end)
            if not isinstance(node.value, str) or text[position : position + 1] != ":":
                raise JsoncError(f"line {text.count(chr(10), 0, position) + 1} lacks a key")
            name, position = node.value, _skip(text, position + 1)
        node = _value(text, position, depth + 1)
        members.append(Member(name, member_start, node))
        position = _skip(text, node.end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] != closing:
            raise JsoncError(f"line {text.count(chr(10), 0, position) + 1} lacks a comma")
    return Node(start, position + 1, {} if is_object else [], tuple(members))
