"""Reading a request's JSON object field by field; what is wrong is an error that begins with the
field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NoReturn

from dlpctl.control.clock import written
from dlpctl.errors import RequestError, did_you_mean
from dlpctl.regex import lazy
from dlpctl.types import LARGEST_NUMBER

MAX_NAME = 200
MAX_DESCRIPTION = 4_000
MAX_ITEMS = 1_000
_TO_28 = "0[1-9]|1[0-9]|2[0-8]"
_DAY = (
    "(?!0000)[0-9]{4}-"
    f"(?:(?:0[13578]|1[02])-(?:{_TO_28}|29|3[01])|(?:0[469]|11)-(?:{_TO_28}|29|30)|02-(?:{_TO_28}|29))"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
MOMENT = f"{_DAY}(?:T{_TIME}(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?"
"""A day or a moment in ISO 8601, in the dialect of regular expressions that JSON Schema has."""
_MOMENT = lazy(MOMENT)


def fail(field: str, problem: str) -> NoReturn:
    raise RequestError(f"{field}: {problem}")


class Fields:
    def __init__(self, body: object, known: Iterable[str], place: str = "") -> None:
        """`place` is where in the request the object is; without one, it is the request itself."""
        if not isinstance(body, Mapping):
            problem = "is missing" if body is None else "must be an object"
            raise RequestError(
                f"{place}: {problem}" if place else "the request must be a JSON object"
            )
        known = list(known)
        for key in body:
            if key not in known:
                field = f"{place}.{_shown(str(key))}" if place else _shown(str(key))
                fail(field, f"is not a field here{did_you_mean(str(key), known)}")
        self._body: Mapping[str, Any] = body

    def __contains__(self, field: str) -> bool:
        return field in self._body

    def given(self, field: str) -> Any:
        """As it stands, or None."""
        return self._body.get(field)

    def name(self, field: str = "name") -> str:
        """A short text on one line; it must be there."""
        if field not in self._body:
            fail(field, "is missing")
        text = self.text(field).strip()
        if not text:
            fail(field, "must not be empty")
        if len(text) > MAX_NAME:
            fail(field, f"is longer than {MAX_NAME} characters")
        if not text.isprintable():
            fail(field, "holds characters that cannot be printed")
        return text

    def text(self, field: str, default: str = "") -> str:
        value = self._body.get(field, default)
        if not isinstance(value, str):
            fail(field, "must be text")
        if len(value) > MAX_DESCRIPTION:
            fail(field, f"is longer than {MAX_DESCRIPTION:,} characters")
        if not all(line.isprintable() for line in value.replace("\t", " ").splitlines()):
            fail(field, "holds characters that cannot be printed")
        return value

    def flag(self, field: str, default: bool) -> bool:
        value = self._body.get(field, default)
        if not isinstance(value, bool):
            fail(field, "must be true or false")
        return value

    def whole(self, field: str, low: int, high: int = LARGEST_NUMBER) -> int:
        value = self._body.get(field)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            fail(field, f"must be a whole number from {low:,} to {high:,}")
        if int(value) != value:
            fail(field, "must be a whole number")
        return int(value)

    def texts(self, field: str) -> list[str]:
        value = self._body.get(field, [])
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            fail(field, "must be a list of texts")
        if len(value) > MAX_ITEMS:
            fail(field, f"holds more than {MAX_ITEMS:,} items")
        return list(dict.fromkeys(value))

    def choice(self, field: str, options: Iterable[str]) -> str:
        options = list(options)
        value = self._body.get(field)
        if value not in options:
            what = "is missing" if field not in self._body else f"{_shown(value)} is none of these"
            fail(field, f"{what}: {', '.join(options)}")
        return str(value)

    def moment(self, field: str) -> str:
        """A day or a moment in ISO 8601; without an offset it is UTC."""
        value = self._body.get(field)
        if isinstance(value, str) and _MOMENT.fullmatch(value):
            with suppress(ValueError, OverflowError):
                moment = datetime.fromisoformat(value)
                return written(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        fail(field, 'must be a moment in ISO 8601, such as "2027-01-31T12:00:00Z"')


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
