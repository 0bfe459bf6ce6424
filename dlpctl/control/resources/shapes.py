"""The shapes of requests and answers: classes whose attributes are fields.

`SHAPES` maps the names in the description of the interface to the shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, dataclass_transform

from dlpctl.control.resources.fields import REQUIRED, Field, Schema, read
from dlpctl.errors import RequestError, did_you_mean
from dlpctl.mappings import UnfitError, part_of, shown

Json = dict[str, Any]
SHAPES: dict[str, type[Shape]] = {}
_ATOMIC = frozenset(("string", "integer", "number", "boolean"))
_ATOMS = frozenset((str, int, float, bool, type(None)))


@dataclass_transform(frozen_default=True)
class Shape:
    """An object with declared fields. Its values are immutable and never appear in a repr."""

    schema_name: ClassVar[str]
    fields: ClassVar[dict[str, Field]] = {}
    _shown: ClassVar[tuple[str, ...]] = ()
    """The names of the fields that are part of the interface."""
    _omitted: ClassVar[frozenset[str]] = frozenset()
    _is_flat: ClassVar[bool] = False
    """All values are JSON without conversion."""

    def __init_subclass__(cls, name: str = "") -> None:
        own = {key: field for key, field in vars(cls).items() if isinstance(field, Field)}
        cls.fields = {**cls.fields, **own}
        cls.schema_name = name or cls.__name__
        cls._shown = tuple(cls.properties())
        cls._omitted = frozenset(key for key in cls._shown if cls.fields[key].is_omitted)
        types = (schema.get("type") for schema in cls.properties().values())
        cls._is_flat = (
            len(cls._shown) == len(cls.fields)
            and not cls._omitted
            and _ATOMIC.issuperset(map(str, types))
        )
        if cls.fields:
            SHAPES[cls.schema_name] = cls

    def __init__(self, *values: Any, **named: Any) -> None:
        given = self.__dict__
        given.update(zip(self.fields, values, strict=False))
        if len(given) != len(self.fields):
            for name, field in self.fields.items():
                if name not in given:  # keeps the order of the fields
                    given[name] = named.get(name, field.default)
                    if given[name] is REQUIRED:
                        raise TypeError(f"{type(self).__name__} needs {name}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} is read-only")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def properties(cls) -> dict[str, Schema]:
        return {
            name: field.schema for name, field in cls.fields.items() if field.schema is not None
        }

    @classmethod
    def schema(cls) -> Schema:
        raise NotImplementedError


class Answer(Shape):
    """An object that the service returns: all fields are present, except those that are omitted."""

    @classmethod
    def schema(cls) -> Schema:
        properties = cls.properties()
        return {
            "type": "object",
            "description": _summary(cls),
            "properties": properties,
            "required": [name for name in properties if not cls.fields[name].is_omitted],
        }

    def to_dict(self) -> Json:
        """Return the JSON of the interface, with the keys in the order of the fields."""
        values = self.__dict__
        if self._is_flat:
            return values.copy()
        return {
            name: value if value.__class__ in _ATOMS else plain(value)
            for name in self._shown
            if (value := values[name]) is not None or name not in self._omitted
        }

    def replaced(self, **changes: Any) -> Self:
        return type(self)(**(self.__dict__ | changes))


class Request(Shape):
    """An object that the service accepts: unknown fields are not allowed, unless it is open."""

    is_open: ClassVar[bool] = False
    limits: ClassVar[Schema] = {}
    """Additional keywords of the schema."""

    @classmethod
    def schema(cls) -> Schema:
        needed = [name for name, field in cls.fields.items() if field.default is REQUIRED]
        closed: Schema = {} if cls.is_open else {"required": needed, "additionalProperties": False}
        return {
            "type": "object",
            "description": _summary(cls),
            "properties": cls.properties(),
            **closed,
            **cls.limits,
        }

    @classmethod
    def read(cls, body: object) -> Self:
        """Parse a request."""
        if not isinstance(body, Mapping):
            raise RequestError("the request must be a JSON object")
        parsed: Self = read(body, "", cls.check)
        return parsed

    @classmethod
    def check(cls, value: object) -> Self:
        """Parse an object of a request, or the request itself."""
        if not isinstance(value, Mapping):
            raise UnfitError("must be an object")
        unknown = () if cls.is_open or value.keys() <= cls.fields.keys() else value
        for key in unknown:
            if key not in cls.fields:
                problem = f"is not a field here{did_you_mean(str(key), cls.fields)}"
                raise UnfitError(problem, f".{shown(str(key))}")
        return cls(
            *(
                part_of(value[name], f".{name}", field.check)
                if name in value
                else _default(field, name)
                for name, field in cls.fields.items()
            )
        )


def plain(value: Any) -> Any:
    """Return an answer as plain JSON data."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return dict(value) if isinstance(value, Mapping) else value


def _default(field: Field, name: str) -> Any:
    if field.default is REQUIRED:
        raise UnfitError("is missing", f".{name}")
    return field.default


def _summary(cls: type[Shape]) -> str:
    return (cls.__doc__ or "").partition("\n\n")[0].replace("\n    ", " ").strip()
