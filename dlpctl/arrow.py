"""The texts of Arrow arrays, however deep they are nested: each distinct one is shown once, and
replaced wherever it is. Types, nulls, categories and the shape of nested values stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyarrow import Array, DataType, Field, RecordBatch

LONG_AGO = datetime(1800, 1, 1)  # noqa: DTZ001 - also of types without a time zone
"""Stands for a masked day where there must be one."""
_DEEPEST = 64
_KEY, _VALUE = "key", "value"


class TextVisitor(Protocol):
    """Sees the texts of a table, and says what replaces them."""

    def texts(
        self, path: str, header: str, texts: Sequence[str], indices: Array
    ) -> Mapping[int, str]:
        """Return replacements by number; `indices` are the numbers of the texts, in order."""

    def uninspected(self, path: str, reason: str) -> None:
        """Note a part of the table that has no readable text."""


def rewrite_batch(batch: RecordBatch, visitor: TextVisitor) -> RecordBatch:
    """Return a batch with the replacements of a visitor, and the same schema."""
    import pyarrow

    columns = [
        rewrite_column(column, field, field.name, visitor)
        for field, column in zip(batch.schema, batch.columns, strict=True)
    ]
    if all(new is old for new, old in zip(columns, batch.columns, strict=True)):
        return batch
    return pyarrow.RecordBatch.from_arrays(columns, schema=batch.schema)


def rewrite_column(column: Array, field: Field, path: str, visitor: TextVisitor) -> Array:
    """Return a column with the replacements of a visitor, as its field allows them."""
    rewritten = rewrite(column, path, field.name, visitor)
    return column if rewritten is column else _allowed(rewritten, field)


def rewrite(array: Array, path: str, header: str, visitor: TextVisitor, depth: int = 0) -> Array:
    """Return an array with the replacements of a visitor; the same one if there are none.

    `path` names the array for people, and `header` labels the values in it.
    """
    if depth > _DEEPEST:
        visitor.uninspected(path, f"it nests deeper than {_DEEPEST} levels")
        return array
    rewriter = next((make for is_such, make in _rewriters() if is_such(array.type)), None)
    if rewriter is None:
        visitor.uninspected(path, f"values of type {array.type} cannot be read")
        return array
    return rewriter(array, path, header, visitor, depth)


_Rewriter = Callable[["Array", str, str, TextVisitor, int], "Array"]


@cache
def _rewriters() -> Sequence[tuple[Callable[[DataType], bool], _Rewriter]]:
    """Return who rewrites the arrays of a type: the first whose test is passed."""
    from pyarrow import BaseExtensionType, types

    return (
        (lambda data_type: isinstance(data_type, BaseExtensionType), _extension),
        (lambda data_type: types.is_null(data_type) or types.is_boolean(data_type), _without_text),
        (types.is_dictionary, _categories),
        (types.is_run_end_encoded, _runs),
        (_is_text, _strings),
        (_is_binary, _bytes),
        (types.is_struct, _struct),
        (types.is_map, _map),
        (types.is_fixed_size_list, _fixed_list),
        (lambda data_type: types.is_list(data_type) or types.is_large_list(data_type), _list),
        (types.is_floating, _floats),
        (lambda data_type: types.is_primitive(data_type) or types.is_decimal(data_type), _numbers),
    )


def _is_text(data_type: DataType) -> bool:
    from pyarrow import types

    return bool(
        types.is_string(data_type)
        or types.is_large_string(data_type)
        or types.is_string_view(data_type)
    )


def _is_binary(data_type: DataType) -> bool:
    from pyarrow import types

    return bool(
        types.is_binary(data_type)
        or types.is_large_binary(data_type)
        or types.is_binary_view(data_type)
        or types.is_fixed_size_binary(data_type)
    )


def _without_text(array: Array, *_: object) -> Array:
    return array


def _strings(array: Array, path: str, header: str, visitor: TextVisitor, _depth: int) -> Array:
    encoded, texts, replaced = _judged(array, path, header, visitor)
    if not replaced:
        return array
    return _taken(encoded, _with(texts, replaced), array.type)


def _judged(
    array: Array, path: str, header: str, visitor: TextVisitor
) -> tuple[Any, list[str], Mapping[int, str]]:
    """Return an array of text as its distinct texts, and the replacements for some of them."""
    encoded = array.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    return encoded, texts, visitor.texts(path, header, texts, encoded.indices) if texts else {}


def counts_of(texts: Sequence[str], indices: Array) -> list[int]:
    """Return how often each text occurs."""
    from pyarrow import compute

    counts = [1] * len(texts)
    if len(texts) + indices.null_count < len(indices):
        counted = compute.value_counts(indices.drop_null())
        numbers, sums = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
        for number, count in zip(numbers, sums, strict=True):
            counts[number] = count
    return counts


def _with(texts: Sequence[Any], replaced: Mapping[int, Any]) -> list[Any]:
    changed = list(texts)
    for number, text in replaced.items():
        changed[number] = text
    return changed


def _taken(encoded: Any, values: Sequence[Any], data_type: DataType) -> Array:
    import pyarrow

    is_view = {
        pyarrow.string_view(): pyarrow.large_string(),
        pyarrow.binary_view(): pyarrow.large_binary(),
    }
    return (
        pyarrow.array(values, is_view.get(data_type, data_type))
        .take(encoded.indices)
        .cast(data_type)
    )


def _categories(array: Any, path: str, header: str, visitor: TextVisitor, depth: int) -> Array:
    """Rewrite the categories that occur; two that become the same are one afterwards."""
    plain = array.cast(array.type.value_type)
    rewritten = rewrite(plain, path, header, visitor, depth + 1)
    if rewritten is plain and len(plain.unique().drop_null()) == len(array.dictionary):
        return array
    return rewritten.dictionary_encode().cast(array.type)


def _runs(array: Any, path: str, header: str, visitor: TextVisitor, depth: int) -> Array:
    from pyarrow import compute

    plain = compute.run_end_decode(array)
    rewritten = rewrite(plain, path, header, visitor, depth + 1)
    if rewritten is plain:
        return array
    return compute.run_end_encode(rewritten, run_end_type=array.type.run_end_type)


def _extension(array: Any, path: str, header: str, visitor: TextVisitor, depth: int) -> Array:
    storage = array.storage
    rewritten = rewrite(storage, path, header, visitor, depth + 1)
    return array if rewritten is storage else array.type.wrap_array(rewritten)


def _bytes(array: Any, path: str, header: str, visitor: TextVisitor, _depth: int) -> Array:
    """Rewrite bytes that are text; others are reported."""
    import pyarrow

    try:
        text = array.cast(pyarrow.large_binary()).cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:
        visitor.uninspected(path, "binary data")
        return array
    encoded, texts, replaced = _judged(text, path, header, visitor)
    if not replaced:
        return array
    width = array.type.byte_width if pyarrow.types.is_fixed_size_binary(array.type) else None
    made = {
        number: None if width is not None and len(raw) != width else raw
        for number, raw in ((number, text.encode()) for number, text in replaced.items())
    }
    raw = [text.encode() for text in texts]
    return _taken(encoded, _with(raw, made), array.type)


def _floats(array: Any, path: str, header: str, visitor: TextVisitor, depth: int) -> Array:
    """Read numbers without a fraction as people write them: 4111111111111111."""
    import pyarrow

    try:
        text = array.cast(pyarrow.int64()).cast(pyarrow.large_string())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        return _numbers(array, path, header, visitor, depth)
    return _parsed(array, text, path, header, visitor)


def _numbers(array: Any, path: str, header: str, visitor: TextVisitor, _depth: int) -> Array:
    import pyarrow

    try:
        text = array.cast(pyarrow.large_string())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        try:
            texts = [None if value is None else str(value) for value in array.to_pylist()]
        except (ValueError, OverflowError):
            visitor.uninspected(path, f"values of type {array.type} cannot be read")
            return array
        text = pyarrow.array(texts, pyarrow.large_string())
    return _parsed(array, text, path, header, visitor)


def _parsed(array: Any, text: Any, path: str, header: str, visitor: TextVisitor) -> Array:
    """Rewrite numbers and dates as texts. A replacement that is none of that type becomes null."""
    import pyarrow

    encoded, _, replaced = _judged(text, path, header, visitor)
    if not replaced:
        return array

    def parsed(replacement: str) -> Any:
        try:
            return pyarrow.scalar(replacement).cast(array.type).as_py()
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            return None

    made = pyarrow.array(
        [
            parsed(replaced[number]) if number in replaced else None
            for number in range(len(encoded.dictionary))
        ],
        array.type,
    ).take(encoded.indices)
    is_replaced = pyarrow.array([number in replaced for number in range(len(encoded.dictionary))])
    return pyarrow.compute.if_else(
        is_replaced.take(encoded.indices).fill_null(False),
        made,
        array,
    )


def _allowed(array: Any, field: Field) -> Array:
    """Return an array with blank values in place of nulls where its field allows none, and its
    values may become null.
    """
    import pyarrow

    blank = None if field.nullable or not array.null_count else _blank(array.type)
    return array if blank is None else array.fill_null(pyarrow.scalar(blank, array.type))


def _blank(data_type: Any) -> object:
    """Return a value that is nobody's, or a day before anybody's birth; None for other types."""
    from pyarrow import types

    if types.is_date(data_type) or types.is_timestamp(data_type):
        return LONG_AGO
    if types.is_time(data_type) or types.is_duration(data_type):
        return time() if types.is_time(data_type) else timedelta()
    if types.is_fixed_size_binary(data_type):
        return bytes(data_type.byte_width)
    is_number = types.is_integer(data_type) or types.is_floating(data_type)
    return 0 if is_number or types.is_decimal(data_type) else None


def _struct(array: Any, path: str, header: str, visitor: TextVisitor, depth: int) -> Array:
    import pyarrow

    fields = list(array.type)
    children = array.flatten()  # without what is hidden under a null
    rewritten = [
        rewrite(child, f"{path}.{field.name}", field.name or header, visitor, depth + 1)
        for field, child in zip(fields, children, strict=True)
    ]
    if all(new is old for new, old in zip(rewritten, children, strict=True)):
        return array
    if array.null_count:
        rewritten = [
            new if field.nullable else _without_nulls(new, array, number)
            for number, (field, new) in enumerate(zip(fields, rewritten, strict=True))
        ]
    rewritten = list(map(_allowed, rewritten, fields))
    return pyarrow.StructArray.from_arrays(rewritten, fields=fields, mask=array.is_null())


def _without_nulls(rewritten: Array, array: Any, number: int) -> Array:
    """Return the values of a field that has no nulls: under a null struct, those that it had."""
    import pyarrow
    from pyarrow import compute

    numbers = pyarrow.array(range(len(array)), pyarrow.int64())
    others = compute.add(numbers, len(array))
    chosen = compute.if_else(array.is_null(), others, numbers)
    return pyarrow.concat_arrays([rewritten, array.field(number)]).take(chosen)


def _list(array: Any, path: str, header: str, visitor: TextVisitor, depth: int) -> Array:
    values = array.flatten()
    rewritten = rewrite(values, f"{path}[]", header, visitor, depth + 1)
    if rewritten is values:
        return array
    allowed = _allowed(rewritten, array.type.value_field)
    return type(array).from_arrays(_offsets(array), allowed, type=array.type)


def _fixed_list(array: Any, path: str, header: str, visitor: TextVisitor, depth: int) -> Array:
    import pyarrow

    plain = array.cast(pyarrow.list_(array.type.value_field))
    rewritten = rewrite(plain, path, header, visitor, depth + 1)
    return array if rewritten is plain else rewritten.cast(array.type)


def _map(array: Any, path: str, header: str, visitor: TextVisitor, depth: int) -> Array:
    """Rewrite the keys and values of maps."""
    import pyarrow

    key, value = array.type.key_field, array.type.item_field
    entry = pyarrow.struct([key.with_name(_KEY), value.with_name(_VALUE)])
    plain = array.cast(pyarrow.list_(entry))
    entries = plain.flatten()
    old_keys, old_values = entries.field(0), entries.field(1)
    keys = rewrite(old_keys, f"{path}.{_KEY}", header, visitor, depth + 1)
    values = rewrite(old_values, f"{path}.{_VALUE}", header, visitor, depth + 1)
    if keys is old_keys and values is old_values:
        return array
    keys, values = _allowed(keys, key), _allowed(values, value)
    return pyarrow.MapArray.from_arrays(_offsets(plain), keys, values, type=array.type)


def _offsets(array: Any) -> Array:
    """Return where each list starts in the flattened values; null where there is no list."""
    import pyarrow
    from pyarrow import compute

    large = pyarrow.types.is_large_list(array.type)
    data_type = pyarrow.int64() if large else pyarrow.int32()
    lengths = array.value_lengths().fill_null(0)
    ends = compute.cumulative_sum(lengths).cast(data_type)
    starts = compute.subtract(ends, lengths.cast(data_type))
    valid = compute.if_else(array.is_valid(), starts, pyarrow.scalar(None, data_type))
    last = ends[-1].as_py() if len(ends) else 0
    return pyarrow.concat_arrays([valid, pyarrow.array([last], data_type)])


def field_names(fields: Iterable[Any]) -> Iterator[str]:
    """Yield the names of columns, and of the fields of nested ones."""
    from pyarrow import types

    for field in fields:
        yield field.name
        if types.is_nested(field.type):
            children = (field.type.field(number) for number in range(field.type.num_fields))
            yield from field_names(children)


def metadata_texts(schema: Any) -> Iterator[str]:
    """Yield the keys and values that a schema and its columns hold besides their names."""
    for holder in (schema, *schema):
        for key, value in (holder.metadata or {}).items():
            yield key.decode("utf-8", "replace")
            yield value.decode("utf-8", "replace")
