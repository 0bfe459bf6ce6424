"""The fields of requests and answers: each has a JSON Schema, and a function that reads it.

An invalid value raises a `RequestError` that starts with the path of the field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NoReturn

from dlpctl.control.clock import written
from dlpctl.errors import RequestError
from dlpctl.regex import lazy
from dlpctl.types import LARGEST_NUMBER

MAX_NAME = 200
MAX_DESCRIPTION = 4_000
MAX_ITEMS = 1_000
_TO_28 = "0[1-9]|1[0-9]|2[0-8]"
_DAY = (
    "(?!0000)[0-9]{4}-"
    f"(?:(?:0[13578]|1[02])-(?:{_TO_28}|29|3[01])"
    f"|(?:0[469]|11)-(?:{_TO_28}|29|30)|02-(?:{_TO_28}|29))"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
MOMENT = f"{_DAY}(?:T{_TIME}(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?"
"""A date or a time in ISO 8601, as a regular expression in the dialect of JSON Schema."""
_MOMENT = lazy(MOMENT)

Schema = dict[str, Any]
FieldReader = Callable[[Any, str], Any]
"""Takes a value and its path, and returns the value as the control plane uses it."""
REQUIRED: Any = object()
"""The default of a required field."""


def fail(path: str, problem: str) -> NoReturn:
    raise RequestError(f"{path}: {problem}")


def as_given(value: Any, path: str) -> Any:
    del path
    return value


class Field:
    """A field: its schema, its reader, and the default of a missing value."""

    __slots__ = ("default", "is_omitted", "read", "schema")

    def __init__(
        self,
        schema: Schema | None,
        read: FieldReader = as_given,
        *,
        default: Any = REQUIRED,
        is_omitted: bool = False,
    ) -> None:
        self.schema = schema
        """None for an attribute that is not part of the interface."""
        self.read = read
        self.default = default
        self.is_omitted = is_omitted
        """Answers omit the field if it is None."""


def optional(field: Any) -> Any:
    """Return the field as one that may also be null or missing."""
    schema: Schema = field.schema
    if "type" in schema:
        nullable = schema | {"type": [schema["type"], "null"]}
    else:
        nullable = schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    return Field(
        nullable,
        lambda value, path: None if value is None else field.read(value, path),
        default=None,
    )


def missing(field: Any, default: Any = None) -> Any:
    """Return a request's field as one that may be missing, but not null."""
    return Field(field.schema, field.read, default=default)


def omitted(field: Any, *, default: None = None) -> Any:
    """Return an answer's field as one that is omitted if it is None."""
    return Field(field.schema, default=default, is_omitted=True)


def internal(*, default: Any = REQUIRED) -> Any:
    """Return an attribute that is not part of the interface."""
    return Field(None, default=default)


def any_value(schema: Schema, *, default: Any = REQUIRED) -> Any:
    """Return a field that accepts any value: it is validated elsewhere, or ignored."""
    return Field(schema, default=default)


def described(field: Any) -> Any:
    """Return a field that may be missing and is only described here: it is validated elsewhere."""
    return Field(field.schema, default=None)


def text(
    description: str = "",
    *,
    longest: int | None = None,
    read: FieldReader | None = None,
    **schema: Any,
) -> Any:
    """Return a text field; `longest` is the maximum number of characters, all of them printable."""

    def read_text(value: Any, path: str) -> str:
        if not isinstance(value, str):
            fail(path, "must be text")
        if longest is not None:
            if len(value) > longest:
                fail(path, f"is longer than {longest:,} characters")
            if not all(line.isprintable() for line in value.replace("\t", " ").splitlines()):
                fail(path, "holds characters that cannot be printed")
        return value

    if longest is not None:
        schema["maxLength"] = longest
    return Field(_described({"type": "string", **schema}, description), read or read_text)


def line() -> Any:
    """Return a field for a short text on one line."""

    def read_line(value: Any, path: str) -> str:
        if not isinstance(value, str):
            fail(path, "must be text")
        stripped = value.strip()
        if not stripped:
            fail(path, "must not be empty")
        if len(stripped) > MAX_NAME:
            fail(path, f"is longer than {MAX_NAME} characters")
        if not stripped.isprintable():
            fail(path, "holds characters that cannot be printed")
        return stripped

    return text("one line", read=read_line, minLength=1, maxLength=MAX_NAME, pattern=r"\S")


def like(pattern: str, wanted: str, description: str = "", **schema: Any) -> Any:
    """Return a text field that must fully match a regular expression."""
    expression = lazy(pattern)

    def read_like(value: Any, path: str) -> str:
        if not isinstance(value, str) or not expression.fullmatch(value):
            fail(path, f"must be {wanted}")
        return value

    return text(description, read=read_like, pattern=f"^{pattern}$", **schema)


def read_moment(value: Any, path: str) -> str:
    """Return a date or time in the form of the store; without an offset it is UTC."""
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(value)
            return written(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    fail(path, 'must be a moment in ISO 8601, such as "2027-01-31T12:00:00Z"')


def given_moment(description: str) -> Any:
    """Return a field for a date or time in any form of ISO 8601, in a request."""
    return text(description, read=read_moment, pattern=f"^{MOMENT}$")


def moment() -> Any:
    """Return a field for a time in an answer."""
    return text("ISO 8601, UTC", format="date-time")


def day() -> Any:
    return text(format="date")


def one_of(
    options: Iterable[str],
    description: str = "",
    *,
    or_null: bool = False,
    any_case: bool = False,
    **schema: Any,
) -> Any:
    """Return a field with a fixed set of words; `any_case` describes words in any case."""
    words = [str(option) for option in options]

    def read_word(value: Any, path: str) -> str:
        if not isinstance(value, str) or value not in words:
            fail(path, f"must be one of {', '.join(words)}")
        return value

    if or_null:
        return Field(
            _described({"enum": [*words, None]}, description),
            lambda value, path: None if value is None else read_word(value, path),
            default=None,
        )
    if not any_case:
        return text(description, read=read_word, enum=words, **schema)
    letters = ("".join(f"[{a}{a.lower()}]" if a.isalpha() else a for a in word) for word in words)
    return text(f"{description}: {', '.join(words)}", pattern=f"^(?:{'|'.join(letters)})$")


def flag(**schema: Any) -> Any:
    def read_flag(value: Any, path: str) -> bool:
        if not isinstance(value, bool):
            fail(path, "must be true or false")
        return value

    return Field({"type": "boolean", **schema}, read_flag, default=schema.get("default", REQUIRED))


def integer(description: str = "", low: int = 0, high: int = LARGEST_NUMBER, **schema: Any) -> Any:
    def read_integer(value: Any, path: str) -> int:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            fail(path, f"must be a whole number from {low:,} to {high:,}")
        if int(value) != value:
            fail(path, "must be a whole number")
        return int(value)

    bounds = {"type": "integer", "minimum": low, "maximum": high, **schema}
    default = schema.get("default", REQUIRED)
    return Field(_described(bounds, description), read_integer, default=default)


def number(high: int, description: str = "") -> Any:
    """Return a field for a number from 0."""

    def read_number(value: Any, path: str) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not 0 <= value <= high:
            fail(path, f"must be a number from 0 to {high:,}")
        return float(value)

    return Field(
        _described({"type": "number", "minimum": 0, "maximum": high}, description), read_number
    )


def array(
    item: Any,
    what: str = "items",
    *,
    most: int | None = None,
    least: int = 0,
    default: Any = REQUIRED,
    **schema: Any,
) -> Any:
    """Return a list field of one field or shape; `what` names the items in errors."""
    field = as_field(item)

    def read_array(value: Any, path: str) -> list[Any]:
        if not isinstance(value, list | tuple):
            fail(path, f"must be a list of {what}")
        if len(value) < least or (most is not None and len(value) > most):
            fail(path, f"must be a list of {least} to {most:,} {what}")
        return [field.read(each, f"{path}[{index}]") for index, each in enumerate(value)]

    bounds: Schema = {"minItems": least} if least else {}
    if most is not None:
        bounds["maxItems"] = most
    bounds = {"type": "array", "items": field.schema, **bounds, **schema}
    return Field(bounds, read_array, default=default)


def texts(**schema: Any) -> Any:
    """Return a list field of texts in a request; duplicates are removed."""
    field = array(text(), "texts", most=MAX_ITEMS, **schema)
    return Field(
        field.schema, lambda value, path: list(dict.fromkeys(field.read(value, path))), default=()
    )


def numbers(
    names: Iterable[str] | None, high: int, description: str, *, like: str = "", most: int = 0
) -> Any:
    """Return a field for an object of numbers, with fixed `names`, or with up to `most` names that
    match `like`.
    """
    known = [str(each) for each in names or ()]
    form = lazy(like)
    value_field = integer(high=high)

    def read_numbers(value: Any, path: str) -> dict[str, int]:
        if not isinstance(value, Mapping):
            fail(path, "must be an object of numbers")
        if not known and not all(isinstance(key, str) and form.fullmatch(key) for key in value):
            fail(path, "must have names of types such as EMAIL")
        for key in value if known else ():
            if key not in known:
                fail(inside(path, shown(key)), f"is not a field; there are {', '.join(known)}")
        if most and len(value) > most:
            fail(path, f"must have at most {most} types")
        return {key: value_field.read(each, inside(path, key)) for key, each in value.items()}

    schema: Schema = {"type": "object", "description": description}
    if known:
        properties = dict.fromkeys(known, value_field.schema)
        return Field(
            schema | {"properties": properties, "additionalProperties": False}, read_numbers
        )
    schema |= {"propertyNames": {"pattern": f"^{like}$"}, "maxProperties": most}
    return Field(schema | {"additionalProperties": value_field.schema}, read_numbers)


def as_field(item: Any) -> Field:
    """Return the field of a shape, or the field itself."""
    if isinstance(item, Field):
        return item
    return Field(
        {"$ref": f"#/components/schemas/{item.schema_name}"}, getattr(item, "read", as_given)
    )


def nested(shape: Any) -> Any:
    """Return a field that holds an object of a shape."""
    return as_field(shape)


def checked(shape: Any) -> Any:
    """Return a field that is validated as a shape but keeps the given value."""

    def read_checked(value: Any, path: str) -> Any:
        shape.read(value, path)
        return value

    return Field(as_field(shape).schema, read_checked)


def inside(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def shown(value: object) -> str:
    """Return a client-supplied name, shortened for an error."""
    quoted = repr(value)
    return quoted if len(quoted) <= 60 else f"{quoted[:57]}..."


def _described(schema: Schema, description: str) -> Schema:
    return schema | {"description": description} if description else schema
