"""Apple's property lists in their binary form; property lists in XML are read as XML."""

from __future__ import annotations

import plistlib
from collections.abc import Callable
from typing import Any

from dlpctl.errors import FormatError
from dlpctl.formats.archive import BinaryFormat, Names, renamed
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits, too_deep
from dlpctl.formats.recognition import is_utf8

_SHORT = 64
"""The maximum length of data that are searched directly; longer data are read as files."""

Visit = Callable[[str, Any], Any]


class BinaryPlist(BinaryFormat):
    name = "bplist"
    magic = (b"bplist00",)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        texts = Names()
        children: list[Child] = []

        def see(key: str, leaf: Any) -> Any:
            if isinstance(leaf, bytes) and not _is_text(leaf):
                children.append(Child(key, "", leaf))
            else:
                texts.add(key, _shown(leaf), f"item {key}")
            return leaf

        _mapped(_loaded(data), see, limits)
        return texts.document(self.name, children)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        texts = renamed(document, edits)

        def replaced(key: str, leaf: Any) -> Any:
            if key in children:
                return children[key] or b""
            if key not in texts:
                return leaf
            return texts[key].encode() if isinstance(leaf, bytes) else texts[key]

        tree = _mapped(_loaded(data), replaced, Limits(nesting=len(data)))
        return plistlib.dumps(tree, fmt=plistlib.FMT_BINARY, sort_keys=False)


def _loaded(data: bytes) -> Any:
    try:
        return plistlib.loads(data, fmt=plistlib.FMT_BINARY)
    except (plistlib.InvalidFileException, ValueError, OverflowError, RecursionError) as error:
        raise FormatError("the property list is damaged") from error


def _mapped(tree: Any, visit: Visit, limits: Limits) -> Any:
    """Return the tree with each leaf and key replaced by the result of `visit`."""
    count = 0

    def walk(value: Any, depth: int) -> Any:
        nonlocal count
        if depth > limits.nesting:
            raise too_deep("the property list", limits)
        if isinstance(value, dict):
            return {walk(key, depth): walk(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, depth + 1) for inner in value]
        count += 1
        return visit(str(count), value)

    return walk(tree, 0)


def _is_text(data: bytes) -> bool:
    return len(data) <= _SHORT or is_utf8(data)


def _shown(leaf: Any) -> str:
    if isinstance(leaf, bytes):
        return leaf.decode() if is_utf8(leaf) else leaf.decode("latin-1")
    if isinstance(leaf, float):
        return str(int(leaf)) if leaf.is_integer() else ""
    return "" if isinstance(leaf, bool | plistlib.UID) else str(leaf)


FORMAT = BinaryPlist()
