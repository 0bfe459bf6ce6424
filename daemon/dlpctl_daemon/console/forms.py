"""Forms derived from declared requests: an input for each field, and the request body from the
submitted values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from werkzeug.datastructures import MultiDict

from dlpctl.control.resources.fields import MOMENT, REQUIRED, Field
from dlpctl.control.resources.shapes import SHAPES, Request

Choices = Mapping[str, Sequence[tuple[str, str]]]
"""The values to choose from and their names, by field."""
FIELDS = "fields"
"""The hidden input that lists the inputs of a form, since an unchecked box sends nothing."""
_REFERENCE = "#/components/schemas/"


class Input(NamedTuple):
    name: str
    label: str
    type: str
    """`text`, `long`, `number`, `date`, `color`, `flag`, `choice` or `choices`."""
    hint: str
    options: Sequence[tuple[str, str]]
    value: Any
    is_required: bool


class Form(NamedTuple):
    """A form that runs an operation."""

    operation: str
    path: Mapping[str, str]
    """The path parameters."""
    inputs: Sequence[Input]
    button: str

    @property
    def names(self) -> str:
        return ",".join(each.name for each in self.inputs)


def inputs_of(
    shape: type[Request], values: Mapping[str, Any], choices: Choices, prefix: str = ""
) -> Iterator[Input]:
    """Yield the inputs of a request, filled with values."""
    for name, field in shape.fields.items():
        full, value = f"{prefix}{name}", values.get(name)
        if nested := _nested(field):
            yield from inputs_of(nested, value or {}, choices, f"{full}.")
        elif field.schema is not None:
            input_type, options = _input_type(name, field, choices)
            hint = str(field.schema.get("description", ""))
            is_required = field.default is REQUIRED and input_type not in ("flag", "choices")
            label = name.replace("_", " ").capitalize().replace(" id", " ID")
            yield Input(full, label, input_type, hint, options, _shown(value), is_required)


def body_of(shape: type[Request], form: MultiDict[str, str]) -> dict[str, Any]:
    """Return the body of a request from the fields of the form."""
    named = form.get(FIELDS, "").split(",")
    return dict(_fields(shape, form, named, ""))


def _fields(
    shape: type[Request], form: MultiDict[str, str], named: Sequence[str], prefix: str
) -> Iterator[tuple[str, Any]]:
    for name, field in shape.fields.items():
        full = f"{prefix}{name}"
        if nested := _nested(field):
            if inner := dict(_fields(nested, form, named, f"{full}.")):
                yield name, inner
        elif full in named:
            input_type, _ = _input_type(name, field, {})
            given = form.get(full, "").strip()
            if input_type == "flag":
                yield name, given == "true"
            elif input_type == "choices":
                yield name, form.getlist(full)
            elif given:
                yield name, _number(given) if input_type == "number" else given
            elif field.default is REQUIRED or _may_be_empty(field):
                yield name, ""
            elif _is_nullable(field):
                yield name, None


def _nested(field: Field) -> type[Request] | None:
    reference = str((field.schema or {}).get("$ref", ""))
    shape = SHAPES.get(reference.removeprefix(_REFERENCE)) if reference else None
    return shape if shape is not None and issubclass(shape, Request) else None


def _input_type(name: str, field: Field, choices: Choices) -> tuple[str, Sequence[tuple[str, str]]]:
    schema = field.schema or {}
    types = schema.get("type", "string")
    if types == "array":
        return "choices", choices.get(name, ())
    if name in choices:
        return "choice", choices[name]
    if "enum" in schema:
        words = [word for word in schema["enum"] if word is not None]
        return "choice", [(word, word) for word in words]
    if types == "boolean":
        return "flag", ()
    if types == "integer":
        return "number", ()
    if schema.get("pattern") == f"^{MOMENT}$":
        return "date", ()
    return ("long" if schema.get("maxLength", 0) > 1_000 else "text"), ()


def _may_be_empty(field: Field) -> bool:
    schema = field.schema or {}
    bounds = ("pattern", "enum", "minLength", "format")
    return schema.get("type") == "string" and not any(name in schema for name in bounds)


def _is_nullable(field: Field) -> bool:
    schema = field.schema or {}
    return "null" in schema.get("type", ()) or None in schema.get("enum", ())


def _number(given: str) -> int | str:
    """Return a number; text that is not a number is left to the field's validation."""
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 20 else given


def _shown(value: Any) -> Any:
    return "" if value is None else value
