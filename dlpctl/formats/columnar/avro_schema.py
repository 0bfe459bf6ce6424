"""Walk over the binary values of Avro by their schema, and replace texts.

Values are replaced in place and all others keep their bytes, such as the branch of a union, which
decoding and encoding again may lose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from dlpctl.errors import FormatError
from dlpctl.formats.columnar.avro_values import (
    Leaf,
    damaged,
    damaged_schema,
    fixed_leaf,
    leaf_of,
    long_bytes,
    read_long,
    string_leaf,
)

Walk = Callable[[bytes, int], int]
"""Walks over the value at a position, and returns its end."""
_MOST_NODES = 100_000
"""The maximum number of types in a schema, where a repeated name counts each time."""
_DEEPEST = 100


class ValueVisitor(Protocol):
    """Receives the texts of values, and returns their replacements."""

    def values(self, path: str, header: str) -> Callable[[str], str | None]:
        """Return a function that maps a text at a path to its replacement, or to None."""

    def uninspected(self, path: str, reason: str) -> None:
        """Record a value that has no readable text."""


class Splice(NamedTuple):
    """Bytes that replace others."""

    start: int
    end: int
    raw: bytes
    is_blank: bool = False
    """True if the bytes are zero, because the replacement is not a value of the type."""


class Walker:
    """Walks over the rows of a file, and collects replacements."""

    def __init__(self, schema: Any, visitor: ValueVisitor) -> None:
        self.splices: list[Splice] = []
        """The replacements in the data that are being read; the caller clears the list."""
        self._visitor = visitor
        self._nodes = 0
        self._named: dict[str, Any] = {}
        self._open: dict[str, list[Walk]] = {}
        self.columns: list[str] = []
        """The names of the columns."""
        self.names: dict[str, None] = {}
        """The names of types, fields and symbols, in the order of the schema."""
        self.walk = self._rows(schema)

    def _rows(self, schema: Any) -> Walk:
        if isinstance(schema, dict) and schema.get("type") == "record":
            return self._record(schema, "", "", "", 0)
        self.columns.append("")
        return self._type(schema, "column 1", "", "", 0)

    def _type(self, schema: Any, path: str, header: str, space: str, depth: int) -> Walk:
        self._nodes += 1
        if self._nodes > _MOST_NODES or depth > _DEEPEST:
            raise FormatError("the schema of the Avro file is too large or nests too deep")
        if isinstance(schema, list):
            return self._union(schema, path, header, space, depth)
        if isinstance(schema, str):
            return self._primitive_or_named(schema, path, header, space, depth)
        if not isinstance(schema, dict):
            raise damaged_schema()
        type_name = schema.get("type")
        if type_name in ("record", "error"):
            return self._record(schema, path, header, space, depth)
        if type_name == "array":
            item = self._type(schema.get("items"), f"{path}[]", header, space, depth + 1)
            return self._blocks(item)
        if type_name == "map":
            key = self._leaf(string_leaf(), f"{path}.key", header)
            value = self._type(schema.get("values"), f"{path}.value", header, space, depth + 1)
            return self._blocks(lambda data, at: value(data, key(data, at)))
        if type_name == "enum":
            return self._enum(schema, space)
        if type_name == "fixed":
            self._define(schema, space)
            return self._leaf(fixed_leaf(schema), path, header)
        logical = schema.get("logicalType")
        if isinstance(type_name, str) and (leaf := leaf_of(type_name, logical, schema)):
            return self._leaf(leaf, path, header)
        return self._type(type_name, path, header, space, depth + 1)

    def _primitive_or_named(
        self, name: str, path: str, header: str, space: str, depth: int
    ) -> Walk:
        if leaf := leaf_of(name, None, {}):
            return self._leaf(leaf, path, header)
        if name == "null":
            return lambda _, at: at
        if name == "boolean":
            return _boolean
        full = f"{space}.{name}" if space and f"{space}.{name}" in self._named else name
        if full not in self._named:
            raise damaged_schema()
        if full in self._open:  # a type that contains itself has one path, however deep
            return _later(self._open[full])
        definition, space = self._named[full]
        return self._type(definition, path, header, space, depth + 1)

    def _define(self, schema: dict[str, Any], space: str) -> tuple[str, str]:
        """Record a named type; return its full name and the namespace of names in it."""
        name = schema.get("name")
        own = schema.get("namespace", space)
        if not isinstance(name, str) or not isinstance(own, str):
            raise damaged_schema()
        full = name if "." in name or not own else f"{own}.{name}"
        if full not in self._named:
            self.names[full] = None
            self._named[full] = schema, space
        return full, full.rpartition(".")[0]

    def _record(
        self, schema: dict[str, Any], path: str, header: str, space: str, depth: int
    ) -> Walk:
        full, inner = self._define(schema, space)
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise damaged_schema()
        of_type: list[Walk] = []
        if path:
            self._open[full] = of_type
        walks: list[Walk] = []
        for number, field in enumerate(fields, 1):
            if not isinstance(field, dict) or not isinstance(name := field.get("name"), str):
                raise damaged_schema()
            if path:
                self.names[name] = None
                below = f"{path}.{number}"
            else:
                self.columns.append(name)
                below = f"column {number}"
            walks.append(self._type(field.get("type"), below, name or header, inner, depth + 1))
        self._open.pop(full, None)

        def walk(data: bytes, at: int) -> int:
            for each in walks:
                at = each(data, at)
            return at

        of_type.append(walk)
        return walk

    def _enum(self, schema: dict[str, Any], space: str) -> Walk:
        self._define(schema, space)
        symbols = schema.get("symbols")
        if not isinstance(symbols, list) or not all(isinstance(each, str) for each in symbols):
            raise damaged_schema()
        self.names |= dict.fromkeys(symbols)

        def walk(data: bytes, at: int) -> int:
            number, at = read_long(data, at)
            if not 0 <= number < len(symbols):
                raise damaged()
            return at

        return walk

    def _union(self, schema: list[Any], path: str, header: str, space: str, depth: int) -> Walk:
        branches = [self._type(each, path, header, space, depth + 1) for each in schema]
        null = long_bytes(schema.index("null")) if "null" in schema else b""
        splices = self.splices

        def walk(data: bytes, at: int) -> int:
            number, value = read_long(data, at)
            if not 0 <= number < len(branches):
                raise damaged()
            end = branches[number](data, value)
            if null and splices and splices[-1].is_blank and splices[-1][:2] == (value, end):
                splices[-1] = Splice(at, end, null)
            return end

        return walk

    def _blocks(self, item: Walk) -> Walk:
        splices = self.splices

        def walk(data: bytes, at: int) -> int:
            while True:
                header = at
                count, at = read_long(data, at)
                if not count:
                    return at
                is_sized = count < 0
                if is_sized:
                    count = -count
                    _, at = read_long(data, at)
                first, before = at, len(splices)
                for _ in range(count):
                    at = item(data, at)
                    if at == first:  # values without any bytes hold nothing, however many there are
                        break
                if is_sized and len(splices) > before:
                    splices.insert(before, Splice(header, first, long_bytes(count)))

        return walk

    def _leaf(self, leaf: Leaf, path: str, header: str) -> Walk:
        read, write, zero = leaf
        visitor, splices = self._visitor, self.splices
        replacement = visitor.values(path, header)

        def walk(data: bytes, at: int) -> int:
            text, end = read(data, at)
            if end > len(data):
                raise damaged()
            if text is None:
                visitor.uninspected(path, "binary data")
            elif text and (new := replacement(text)) is not None:
                raw = write(new)
                splices.append(Splice(at, end, zero() if raw is None else raw, raw is None))
            return end

        return walk


def _later(of_type: list[Walk]) -> Walk:
    """Walk over a value of a type that is still being defined."""

    def walk(data: bytes, at: int) -> int:
        return of_type[0](data, at)

    return walk


def _boolean(data: bytes, at: int) -> int:
    if data[at] > 1:
        raise damaged()
    return at + 1
