"""Avro files: a header with the schema, then blocks of rows, each compressed on its own.

Blocks without replacements stay unchanged. The schema is a JSON file within the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dlpctl.errors import CannotMaskError
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, decodings, renamed
from dlpctl.formats.columnar.avro_codecs import codec_named
from dlpctl.formats.columnar.avro_header import MAGIC, SYNC, read_header
from dlpctl.formats.columnar.avro_schema import Splice, Walker
from dlpctl.formats.columnar.avro_sections import avro_sections
from dlpctl.formats.columnar.avro_values import (
    damaged,
    damaged_schema,
    long_bytes,
    read_bytes,
    read_long,
)
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits
from dlpctl.formats.recognition import is_utf8
from dlpctl.formats.tablecells import PART, TableTexts, changes_of

_SCHEMA, _CODEC = "avro.schema", "avro.codec"
_STRUCTURE = frozenset(
    (
        *("type", "name", "namespace", "fields", "items", "values", "symbols", "size", "aliases"),
        *("logicalType", "precision", "scale", "order"),
    )
)


class _Block(NamedTuple):
    rows: int
    packed: bytes


class _Container(NamedTuple):
    """The parts of a file."""

    metadata: dict[str, bytes]
    mark: bytes
    blocks: list[_Block]

    @property
    def codec(self) -> str:
        return self.metadata.get(_CODEC, b"null").decode("utf-8", "replace")

    @property
    def schema(self) -> Any:
        return _parsed(self.metadata.get(_SCHEMA, b""))


class _Extraction:
    """Collects the texts of rows."""

    def __init__(self, collected: TableTexts) -> None:
        self._collected = collected

    def values(self, path: str, header: str) -> Callable[[str], None]:
        return self._collected.cells(path, header)

    def uninspected(self, path: str, reason: str) -> None:
        self._collected.miss(path, reason)


class _Masking:
    """Replaces texts by path."""

    def __init__(self, changes: dict[str, dict[str, str]]) -> None:
        self._changes = changes

    def values(self, path: str, _header: str) -> Callable[[str], str | None]:
        return self._changes.get(path, {}).get

    def uninspected(self, path: str, reason: str) -> None:
        """Keep values that the document lists as not inspected."""


class Avro(BinaryFormat):
    name = "avro"
    extensions = (".avro",)
    magic = (MAGIC,)
    is_table = True
    sections = staticmethod(avro_sections)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        (document,) = self._documents(data, limits, limits.expanded_bytes)
        return document

    def extract_parts(self, data: bytes, limits: Limits) -> Iterator[Document]:
        """Yield documents of some rows each, so that memory does not grow with the rows."""
        return self._documents(data, limits, PART)

    def _documents(self, data: bytes, limits: Limits, most: int) -> Iterator[Document]:
        """Yield documents of up to about `most` characters; the last one has the names."""
        container = _container(data)
        allowance = Allowance(limits)
        collected = TableTexts(allowance)
        walker = Walker(container.schema, _Extraction(collected))
        for block, contents in _contents(container, allowance):
            for _ in _rows(walker, block, contents):
                collected.rows += 1
                if collected.size > most:
                    yield collected.document(self.name, Names())
                    collected.start_part(collected.rows)
        names = Names()
        for number, name in enumerate(walker.columns, 1):
            names.add(f"column {number}", name, f"name of column {number}")
        for number, name in enumerate(walker.names, 1):
            names.add(f"name {number}", name, f"name of a type, field or symbol ({number})")
        children = [Child(_SCHEMA, "schema.json", container.metadata[_SCHEMA])]
        for number, (key, value) in enumerate(container.metadata.items(), 1):
            if key in (_SCHEMA, _CODEC):
                continue
            names.add(f"key {number}", key, f"metadata key {number}")
            if is_utf8(value):
                names.add(f"value {number}", value.decode(), f"metadata value {number}")
            else:
                children.append(Child(f"value {number}", f"value {number}", value))
        yield collected.document(self.name, names, children)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        container = _container(data)
        changes, others = changes_of(document, edits)
        texts = renamed(document, others)
        if any(key.startswith(("column", "name")) for key in texts):
            raise _bad_name()
        output = [_header(container, texts, children)]
        codec = codec_named(container.codec)
        walker = Walker(container.schema, _Masking(changes))
        for block, contents in _contents(container, Allowance(Limits())):
            for _ in _rows(walker, block, contents):
                pass
            packed = block.packed
            if walker.splices:
                packed = codec.pack(_spliced(contents, walker.splices))
                walker.splices.clear()
            output += (long_bytes(block.rows), long_bytes(len(packed)), packed, container.mark)
        return b"".join(output)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        texts = decodings(data)
        for _, contents in _contents(_container(data), Allowance(limits)):
            texts += decodings(contents)
        return texts


def _container(data: bytes) -> _Container:
    metadata, mark, at = read_header(data)
    blocks: list[_Block] = []
    try:
        while at < len(data):
            rows, at = read_long(data, at)
            packed, at = read_bytes(data, at)
            if rows < 0 or data[at : at + SYNC] != mark:
                raise damaged()
            blocks.append(_Block(rows, packed))
            at += SYNC
    except IndexError as error:
        raise damaged() from error
    return _Container(metadata, mark, blocks)


def _parsed(schema: bytes) -> Any:
    try:
        return json.loads(schema)
    except (ValueError, RecursionError) as error:
        raise damaged_schema() from error


def _contents(container: _Container, allowance: Allowance) -> Iterator[tuple[_Block, bytes]]:
    """Yield each block with its uncompressed rows."""
    codec = codec_named(container.codec)
    for block in container.blocks:
        yield block, codec.unpack(block.packed, allowance)


def _rows(walker: Walker, block: _Block, contents: bytes) -> Iterator[None]:
    """Walk over the rows of a block; yield after each."""
    at = 0
    try:
        for _ in range(block.rows):
            end = walker.walk(contents, at)
            if end == at:  # rows without any bytes hold nothing, however many there are
                break
            at = end
            yield
    except IndexError as error:
        raise damaged() from error
    if at != len(contents):
        raise damaged()


def _spliced(contents: bytes, splices: list[Splice]) -> bytes:
    pieces: list[bytes] = []
    at = 0
    for splice in splices:
        pieces += (contents[at : splice.start], splice.raw)
        at = splice.end
    return b"".join((*pieces, contents[at:]))


def _header(container: _Container, texts: dict[str, str], children: Children) -> bytes:
    """Return the header with the texts and files of the metadata replaced."""
    pieces = [MAGIC, long_bytes(len(container.metadata))]
    keys: set[str] = set()
    for number, (key, old) in enumerate(container.metadata.items(), 1):
        new_key = texts.get(f"key {number}", key)
        if new_key in keys:
            raise CannotMaskError("two keys of the metadata become the same")
        keys.add(new_key)
        value = children.get(key if key == _SCHEMA else f"value {number}", old) or b""
        if key == _SCHEMA and _structure(_parsed(value)) != _structure(container.schema):
            raise _bad_name()
        if f"value {number}" in texts:
            value = texts[f"value {number}"].encode()
        for each in (new_key.encode(), value):
            pieces += (long_bytes(len(each)), each)
    return b"".join((*pieces, b"\0", container.mark))


def _structure(schema: Any) -> Any:
    """Return the parts of a schema that readers need: all but documentation, properties and
    defaults that are texts.
    """
    if isinstance(schema, list):
        return [_structure(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _structure(each) for key, each in schema.items() if key in _STRUCTURE}
    if "default" in schema:
        default = schema["default"]
        is_text = isinstance(default, str) and schema.get("type") != "enum"
        kept["default"] = "" if is_text else default
    return kept


def _bad_name() -> CannotMaskError:
    return CannotMaskError("a name or default of the Avro schema holds a value: change it")


FORMAT = Avro()
