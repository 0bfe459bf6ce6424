"""The fields of requests and answers: each has a JSON Schema, and a check of its values.

An invalid value raises a `RequestError` that starts with the path of the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NoReturn

from dlpctl.control.clock import written
from dlpctl.errors import RequestError
from dlpctl.mappings import UnfitError, as_flag, as_integer, as_list, as_text, part_of, shown
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
Check = Callable[[Any], Any]
"""Returns a value as the control plane uses it; raises `UnfitError` for an invalid one."""
REQUIRED: Any = object()
"""The default of a required field."""


def fail(path: str, problem: str) -> NoReturn:
    raise RequestError(f"{path}: {problem}")


def read(value: Any, path: str, check: Check) -> Any:
    """Return the checked value; raise a `RequestError` with the path of the part that is wrong."""
    try:
        return check(value)
    except UnfitError as unfit:
        fail((path + unfit.path).removeprefix("."), unfit.problem)


def as_given(value: Any) -> Any:
    return value


class Field:
    """A field: its schema, its check, and the default of a missing value."""

    __slots__ = ("check", "default", "is_omitted", "schema")

    def __init__(
        self,
        schema: Schema | None,
        check: Check = as_given,
        *,
        default: Any = REQUIRED,
        is_omitted: bool = False,
    ) -> None:
        self.schema = schema
        """None for an attribute that is not part of the interface."""
        self.check = check
        self.default = default
        self.is_omitted = is_omitted
        """Answers omit the field if it is None."""

    def read(self, value: Any, path: str) -> Any:
        return read(value, path, self.check)


def optional(field: Any) -> Any:
    """Return the field as one that may also be null or missing."""
    schema: Schema = field.schema
    if "type" in schema:
        nullable = schema | {"type": [schema["type"], "null"]}
    else:
        nullable = schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    return Field(
        nullable,
        lambda value: None if value is None else field.check(value),
        default=None,
    )


def missing(field: Any, default: Any = None) -> Any:
    """Return a request's field as one that may be missing, but not null."""
    return Field(field.schema, field.check, default=default)


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
    description: str = "", *, longest: int | None = None, check: Check | None = None, **schema: Any
) -> Any:
    """Return a text field; `longest` is the maximum number of characters, all of them printable."""

    def as_printable(value: Any) -> str:
        given = as_text(value)
        if longest is not None:
            _check_length(given, longest)
            _check_printable(given.replace("\t", " ").splitlines())
        return given

    if longest is not None:
        schema["maxLength"] = longest
    return Field(_described({"type": "string", **schema}, description), check or as_printable)


def line() -> Any:
    """Return a field for a short text on one line."""

    def as_line(value: Any) -> str:
        stripped = as_text(value).strip()
        if not stripped:
            raise UnfitError("must not be empty")
        _check_length(stripped, MAX_NAME)
        _check_printable([stripped])
        return stripped

    return text("one line", check=as_line, minLength=1, maxLength=MAX_NAME, pattern=r"\S")


def _check_length(given: str, longest: int) -> None:
    if len(given) > longest:
        raise UnfitError(f"is longer than {longest:,} characters")


def _check_printable(lines: Iterable[str]) -> None:
    if not all(line.isprintable() for line in lines):
        raise UnfitError("holds characters that cannot be printed")


def like(pattern: str, wanted: str, description: str = "", **schema: Any) -> Any:
    """Return a text field that must fully match a regular expression."""
    expression = lazy(pattern)

    def as_wanted(value: Any) -> str:
        if not isinstance(value, str) or not expression.fullmatch(value):
            raise UnfitError(f"must be {wanted}")
        return value

    return text(description, check=as_wanted, pattern=f"^{pattern}$", **schema)


def as_moment(value: Any) -> str:
    """Return a date or time in the form of the store; without an offset it is UTC."""
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(value)
            return written(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    raise UnfitError('must be a moment in ISO 8601, such as "2027-01-31T12:00:00Z"')


def given_moment(description: str) -> Any:
    """Return a field for a date or time in any form of ISO 8601, in a request."""
    return text(description, check=as_moment, pattern=f"^{MOMENT}$")


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

    def as_word(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise UnfitError(f"must be one of {', '.join(words)}")
        return value

    if or_null:
        return Field(
            _described({"enum": [*words, None]}, description),
            lambda value: None if value is None else as_word(value),
            default=None,
        )
    if not any_case:
        return text(description, check=as_word, enum=words, **schema)
    letters = ("".join(f"[{a}{a.lower()}]" if a.isalpha() else a for a in word) for word in words)
    return text(f"{description}: {', '.join(words)}", pattern=f"^(?:{'|'.join(letters)})$")


def flag(**schema: Any) -> Any:
    default = schema.get("default", REQUIRED)
    return Field({"type": "boolean", **schema}, as_flag, default=default)


def integer(description: str = "", low: int = 0, high: int = LARGEST_NUMBER, **schema: Any) -> Any:
    bounds = {"type": "integer", "minimum": low, "maximum": high, **schema}
    default = schema.get("default", REQUIRED)
    return Field(
        _described(bounds, description),
        lambda value: as_integer(value, low, high),
        default=default,
    )


def number(high: int, description: str = "") -> Any:
    """Return a field for a number from 0."""

    def as_part(value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= high:
            raise UnfitError(f"must be a number from 0 to {high:,}")
        return float(value)

    schema = {"type": "number", "minimum": 0, "maximum": high}
    return Field(_described(schema, description), as_part)


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

    limit = LARGEST_NUMBER if most is None else most

    def as_array(value: Any) -> list[Any]:
        if isinstance(value, list | tuple) and not least <= len(value) <= limit:
            raise UnfitError(f"must be a list of {least} to {limit:,} {what}")
        return as_list(value, field.check, f"a list of {what}")

    bounds: Schema = {"minItems": least} if least else {}
    if most is not None:
        bounds["maxItems"] = most
    bounds = {"type": "array", "items": field.schema, **bounds, **schema}
    return Field(bounds, as_array, default=default)


def texts(**schema: Any) -> Any:
    """Return a list field of texts in a request; duplicates are removed."""
    field = array(text(), "texts", most=MAX_ITEMS, **schema)
    return Field(field.schema, lambda value: list(dict.fromkeys(field.check(value))), default=())


def numbers(
    names: Iterable[str] | None, high: int, description: str, *, like: str = "", most: int = 0
) -> Any:
    """Return a field for an object of numbers, with fixed `names`, or with up to `most` names that
    match `like`.
    """
    known = [str(each) for each in names or ()]
    form = lazy(like)
    value_field = integer(high=high)

    def as_numbers(value: Any) -> dict[str, int]:
        if not isinstance(value, Mapping):
            raise UnfitError("must be an object of numbers")
        if not known and not all(isinstance(key, str) and form.fullmatch(key) for key in value):
            raise UnfitError("must have names of types such as EMAIL")
        for key in value if known else ():
            if key not in known:
                problem = f"is not a field; there are {', '.join(known)}"
                raise UnfitError(problem, f".{shown(key)}")
        if most and len(value) > most:
            raise UnfitError(f"must have at most {most} types")
        return {key: part_of(each, f".{key}", value_field.check) for key, each in value.items()}

    schema: Schema = {"type": "object", "description": description}
    if known:
        properties = dict.fromkeys(known, value_field.schema)
        return Field(schema | {"properties": properties, "additionalProperties": False}, as_numbers)
    schema |= {"propertyNames": {"pattern": f"^{like}$"}, "maxProperties": most}
    return Field(schema | {"additionalProperties": value_field.schema}, as_numbers)


def as_field(item: Any) -> Any:
    """Return the field for an object of a shape, or the field itself."""
    if isinstance(item, Field):
        return item
    return Field(
        {"$ref": f"#/components/schemas/{item.schema_name}"}, getattr(item, "check", as_given)
    )


def checked(shape: Any) -> Any:
    """Return a field that is validated as a shape but keeps the given value."""

    def as_shaped(value: Any) -> Any:
        shape.check(value)
        return value

    return Field(as_field(shape).schema, as_shaped)


def _described(schema: Schema, description: str) -> Schema:
    return schema | {"description": description} if description else schema
