"""Parses the TOML table of a pattern file; every error names the file, the pattern and the key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dlpctl.detect import validators
from dlpctl.detect.patterns.labels import LABELLED_WIDTH, label_regexes
from dlpctl.detect.patterns.model import AFTER, BEFORE, WIDEST, Context, Pattern, Possible
from dlpctl.detect.patterns.syntax import VALUE, loosened, value_of
from dlpctl.errors import PatternError, did_you_mean
from dlpctl.types import Category

ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
TYPE = re.compile(r"[A-Z][A-Z0-9_]*")
_BEFORE = re.compile(r"\{\{(before|loosely):([a-z_]+)\}\}")


def parse_pattern(
    table: Mapping[str, Any], source: str, index: int, fragments: Mapping[str, str]
) -> Pattern:
    """Return a pattern from its table; `source` and `index` name it in errors."""
    identifier = table.get("id")
    usable = isinstance(identifier, str) and ID.fullmatch(identifier)
    reader = _Reader(
        table, f"{source}: pattern '{identifier}'" if usable else f"{source}: pattern[{index}]"
    )
    identifier = reader.text("id", ID, "lower-case words joined by hyphens")
    category = reader.choice("category", [category.value for category in Category])
    context = reader.table("context")
    possible = reader.table("possible")
    examples = reader.table("examples")
    labels, short_labels = reader.strings("labels"), reader.strings("short_labels")
    checks = reader.strings("validators", _known_validator)
    labelled = bool(labels or short_labels)
    label_trigger, regex = "", reader.text("regex")
    if labelled:
        value = value_of(regex)
        if " " not in value:  # else the next word would belong to a value
            regex = regex.replace(f">{value})", f">(?i:{value}))", 1)  # as in chats
        before, label_trigger = label_regexes(labels, short_labels)
        fragments = {**fragments, "labels": before}
    pattern = Pattern(
        id=identifier,
        type=reader.text("type", TYPE, "upper-case words joined by underscores"),
        category=Category(category),
        label=reader.text("label"),
        regex=_with_fragments(reader, regex, fragments),
        score=reader.number("score", 0.0, 1.0),
        validators=checks,
        keywords=reader.strings("keywords"),
        context=_context(context) if context else None,
        possible=_possible(possible) if possible else _mistyped(labels, checks),
        labels=(*labels, *short_labels),
        width=(
            reader.integer("width", 1, WIDEST)
            if "width" in table
            else LABELLED_WIDTH
            if labelled
            else None
        ),
        trigger=_trigger(reader, fragments) if "trigger" in table else label_trigger or None,
        gated=reader.boolean("gated"),
        token=reader.boolean("token"),
        region=reader.text("region") if "region" in table else None,
        references=reader.strings("references"),
        match=examples.strings("match") if examples else (),
        skip=examples.strings("skip") if examples else (),
        source=source,
    )
    for each in (reader, context, possible, examples):
        if each:
            each.refuse_unknown_keys()
    return pattern


def _context(reader: _Reader) -> Context:
    words, against = reader.strings("words"), reader.strings("against")
    if not words and not against:
        raise reader.error("words", "is missing")
    return Context(
        words=words,
        score=reader.number("score", 0.0, 1.0) if words else 0.0,
        against=against,
        against_score=reader.number("against_score", 0.0, 1.0, default=0.0),
        before=reader.integer("before", 0, 1000, default=BEFORE),
        after=reader.integer("after", 0, 1000, default=AFTER),
    )


def _possible(reader: _Reader) -> Possible:
    return Possible(
        reader.number("score", 0.0, 1.0), reader.strings("validators", _known_validator)
    )


def _mistyped(labels: Sequence[str], checks: Sequence[str]) -> Possible | None:
    """Return the tier of a value with a label and a shape, and a wrong check digit."""
    if labels and any(validators.find(name).proves for name in checks):
        return Possible(0.4, ("long_number",))
    return None


def _known_validator(name: str) -> str | None:
    if name in validators.names():
        return None
    return f"{name!r} is not a validator{did_you_mean(name, validators.names())}"


def _trigger(reader: _Reader, fragments: Mapping[str, str]) -> str:
    """Return the trigger with its references to the regex replaced.

    `{{value}}` is the regex's value, `{{before:value}}` what precedes it, `{{before:gap}}` what
    precedes the fragment `gap`, and `{{loosely:value}}` what precedes it, without upper bounds of
    counts.
    """
    regex = reader.text("regex")

    def before(found: re.Match[str]) -> str:
        how, name = found.groups()
        sought = VALUE if name == "value" else re.compile(re.escape(f"{{{{{name}}}}}"))
        at = sought.search(regex)
        if not at:
            raise reader.error("trigger", f"names {name!r}, which is not in the regex")
        prefix = regex[: at.start()]
        return (
            loosened(_with_fragments(reader, prefix, fragments, "trigger"))
            if how == "loosely"
            else prefix
        )

    trigger = _BEFORE.sub(before, reader.text("trigger"))
    if "{{value}}" in trigger:
        trigger = trigger.replace("{{value}}", f"(?:{value_of(regex)})")
    return _with_fragments(reader, trigger, fragments, "trigger")


def _with_fragments(
    reader: _Reader, regex: str, fragments: Mapping[str, str], key: str = "regex"
) -> str:
    if "\0" in regex:
        raise reader.error(key, "holds a character with the code 0; write \\x00")

    def expand(found: re.Match[str]) -> str:
        name = found[1]
        if name not in fragments:
            raise reader.error(key, f"fragment {name!r} is not defined in this file")
        return fragments[name]

    regex = re.sub(r"\{\{([a-z_]+)\}\}", expand, regex)
    if len(VALUE.findall(regex)) > 1:
        raise reader.error(
            key, "has more than one group 'value'; write (?P<value>...) around the alternatives"
        )
    return regex


class _Reader:
    """Reads typed values from a TOML table; errors name the key."""

    def __init__(self, table: Mapping[str, Any], where: str, prefix: str = "") -> None:
        self._table = table
        self._where = where
        self._prefix = prefix

    def error(self, key: str, problem: str) -> PatternError:
        return PatternError(f"{self._where}: {self._prefix}{key} {problem}")

    def _value(
        self, key: str, kind: type | tuple[type, ...], called: str, default: Any = None
    ) -> Any:
        value = self._table.get(key, default)
        if value is None:
            raise self.error(key, "is missing")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.error(key, f"is not {called}")
        return value

    def text(self, key: str, form: re.Pattern[str] | None = None, described: str = "") -> str:
        value: str = self._value(key, str, "a text")
        if not value.strip():
            raise self.error(key, "is empty")
        self._check_unicode(key, value)
        if form and not form.fullmatch(value):
            raise self.error(key, f"is not of the form: {described}")
        return value

    def _check_unicode(self, key: str, value: str) -> None:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise self.error(key, "holds half a character") from None

    def choice(self, key: str, known: Sequence[str]) -> str:
        value: str = self._value(key, str, "a text")
        if value not in known:
            raise self.error(
                key, f"{value!r} is not one of {', '.join(known)}{did_you_mean(value, known)}"
            )
        return value

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        value = float(self._value(key, (int, float), "a number", default))
        if not low <= value <= high:
            raise self.error(key, f"is not between {low:g} and {high:g}")
        return value

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        value: int = self._value(key, int, "a whole number", default)
        if not low <= value <= high:
            raise self.error(key, f"is not between {low} and {high}")
        return value

    def boolean(self, key: str) -> bool:
        value = self._table.get(key, False)
        if not isinstance(value, bool):
            raise self.error(key, "is neither true nor false")
        return value

    def strings(
        self, key: str, refuse: Callable[[str], str | None] | None = None
    ) -> tuple[str, ...]:
        values = self._value(key, list, "a list", [])
        for at, value in enumerate(values):
            if not isinstance(value, str) or not value.strip():
                raise self.error(f"{key}[{at}]", "is not a text")
            self._check_unicode(f"{key}[{at}]", value)
            if refuse and (problem := refuse(value)):
                raise self.error(f"{key}[{at}]", problem)
        return tuple(values)

    def table(self, key: str) -> _Reader | None:
        if key not in self._table:
            return None
        return _Reader(self._value(key, dict, "a table"), self._where, f"{key}.")

    def refuse_unknown_keys(self) -> None:
        known = KEYS[self._prefix]
        for key in self._table:
            if key not in known:
                home = next((prefix for prefix, keys in KEYS.items() if key in keys), None)
                belongs = (
                    None
                    if home is None
                    else f"; it belongs in pattern{'.' if home else ''}{home}".rstrip(".")
                )
                raise self.error(key, f"is not a known key{belongs or did_you_mean(key, known)}")


KEYS = {
    "": (
        "id",
        "type",
        "category",
        "label",
        "regex",
        "score",
        "validators",
        "keywords",
        "context",
        "possible",
        "labels",
        "short_labels",
        "width",
        "trigger",
        "gated",
        "token",
        "region",
        "references",
        "examples",
    ),
    "context.": ("words", "score", "against", "against_score", "before", "after"),
    "possible.": ("score", "validators"),
    "examples.": ("match", "skip"),
}
"""The keys of each table, by the prefix of its keys in errors."""
