"""Parse the tables of a pattern file; every mistake names the file, its line, pattern and key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dlpctl.detect import validators
from dlpctl.detect.patterns.labels import LABELLED_WIDTH, label_regexes, label_words
from dlpctl.detect.patterns.model import AFTER, BEFORE, WIDEST, Context, Pattern, Possible
from dlpctl.detect.patterns.syntax import (
    NAMED,
    VALUE,
    Fragments,
    loosened,
    put_in,
    stems_of,
    unknown_fragment,
    value_of,
)
from dlpctl.errors import PatternError, did_you_mean
from dlpctl.mappings import Source
from dlpctl.types import Category

ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
TYPE = re.compile(r"[A-Z][A-Z0-9_]*")
_LABELS = ("labels", "short_labels")
_MISTYPED = 0.4
"""The score of a value with a label and a wrong check digit."""
_STEMS = re.compile(r"\{\{stems:([a-z_]+)\}\}")
_AFTER_BOUNDARY = re.compile(r"\\b\(\?P?<value>")
_OF_TOKENS = frozenset({"tail", "not_placeholder", "base62_crc"})
"""The validators of tokens with their provider's prefix."""
_BEFORE = re.compile(r"\{\{(before|loosely):([a-z_]+)\}\}")


def parse_pattern(
    table: Mapping[str, Any],
    source: Source,
    index: int,
    shared: Fragments,
    *,
    check_regexes: bool,
) -> Pattern:
    """Return a pattern from its table; after mistakes, which `source` collects, a usable one."""
    reader = _TableReader(table, source, index)
    identifier = reader.text("id", ID, "lower-case words joined by hyphens")
    category = reader.choice("category", [category.value for category in Category])
    context, possible = reader.table("context"), reader.table("possible")
    examples = reader.table("examples")
    labels, short_labels = (shared.in_labels(reader.strings(name)) for name in _LABELS)
    checks = reader.strings("validators", _known_validator)
    labelled = bool(labels or short_labels)
    fragments, label_trigger, regex = shared.regexes, "", reader.text("regex")
    if labelled:
        value = value_of(regex)
        if " " not in value:  # otherwise the next word would belong to a value
            regex = regex.replace(f">{value})", f">(?i:{value}))", 1)  # as in chats
        before, label_trigger = label_regexes(labels, short_labels, gated=reader.boolean("gated"))
        fragments = {**fragments, "labels": before, "label_words": label_words(labels)}
    read_context = _context(context, shared) if context else None
    pattern = Pattern(
        id=identifier,
        type=reader.text("type", TYPE, "upper-case words joined by underscores"),
        category=Category(category),
        label=reader.text("label"),
        regex=_with_fragments(reader, regex, fragments),
        score=reader.number("score", 0.0, 1.0),
        validators=checks,
        keywords=reader.strings("keywords"),
        context=read_context,
        possible=_possible(possible) if possible else _invented(labels, read_context, checks),
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
        judged=reader.boolean("judged"),
        region=reader.text("region") if "region" in table else None,
        references=reader.strings("references"),
        match=examples.strings("match") if examples else (),
        skip=examples.strings("skip") if examples else (),
        source=source.name,
    )
    for each in (reader, context, possible, examples):
        if each:
            each.refuse_unknown_keys()
    if check_regexes:
        _check_regexes(pattern, reader)
    return pattern


def _check_regexes(pattern: Pattern, reader: _TableReader) -> None:
    """Report the regexes that an engine refuses, unless they have a mistake already."""
    from dlpctl.detect.automaton.database import check_context, check_trigger, checked_width

    for key, check in (
        ("regex", checked_width),
        ("trigger", check_trigger),
        ("context", check_context),
    ):
        if key not in reader.failed:
            try:
                check(pattern._replace(source=reader.where(key)))
            except PatternError as problem:
                reader.problems.add(problem.message)


def _context(reader: _TableReader, shared: Fragments) -> Context:
    words, against, around, not_around = (
        _words(reader, key, shared.words) for key in ("words", "against", "around", "not_around")
    )
    not_after, not_in = (
        tuple(_with_fragments(reader, each, shared.regexes, key) for each in reader.strings(key))
        for key in ("not_after", "not_in")
    )
    if not (words or against or not_after or not_in or around):
        reader.fail("words", "is missing")
    return Context(
        words=words,
        score=reader.number("score", 0.0, 1.0) if words or around else 0.0,
        against=against,
        against_score=reader.number("against_score", 0.0, 1.0, default=0.0),
        before=reader.integer("before", 0, 1000, default=BEFORE),
        after=reader.integer("after", 0, 1000, default=AFTER),
        not_after=not_after,
        not_in=not_in,
        around=around,
        not_around=not_around,
    )


def _words(reader: _TableReader, key: str, lists: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return words of a context, with those of the fragments that it names."""
    words: list[str] = []
    for at, word in enumerate(reader.strings(key)):
        name = NAMED.fullmatch(word)
        if name and name[1] not in lists:
            problem = unknown_fragment(name[1], "as a list in this file")
            reader.fail(f"{key}[{at}]", f"is wrong: {problem}")
        words += lists.get(name[1], [word]) if name else [word]
    return tuple(words)


def _possible(reader: _TableReader) -> Possible:
    return Possible(
        reader.number("score", 0.0, 1.0), reader.strings("validators", _known_validator)
    )


def _invented(
    labels: Sequence[str], context: Context | None, checks: Sequence[str]
) -> Possible | None:
    """Return the possible score for values with a label and a shape, but a wrong check digit, and
    for placeholders in the shape of a provider's tokens.
    """
    if not _OF_TOKENS.isdisjoint(checks):
        return Possible(_MISTYPED, ("possible_token",))
    if not any(validators.find(name).proves for name in checks):
        return None
    if labels:
        return Possible(_MISTYPED, ("long_number",))
    return Possible(_MISTYPED, ("varied_digits",)) if context and context.words else None


def _known_validator(name: str) -> str | None:
    if name in validators.names():
        return None
    return f"{name!r} is not a validator{did_you_mean(name, validators.names())}"


def _trigger(reader: _TableReader, fragments: Mapping[str, str]) -> str:
    """Return the trigger with its references to the regex replaced.

    `{{value}}` is the regex's value, `{{before:value}}` the part before it, `{{before:gap}}` the
    part before the fragment `gap`, and `{{loosely:value}}` the part before the value without upper
    bounds of counts. `{{stems:value}}` and `{{stems:name}}` are parts of the words of the value and
    of a fragment.
    """
    regex = reader.text("regex")

    def stems(found: re.Match[str]) -> str:
        is_value = found[1] == "value"
        words = value_of(regex) if is_value else f"{{{{{found[1]}}}}}"
        boundary = r"\b" if is_value and _AFTER_BOUNDARY.search(regex) else ""
        words = _with_fragments(reader, words, fragments, "trigger")
        return f"(?:{stems_of(words, boundary)})"

    def before(found: re.Match[str]) -> str:
        how, name = found.groups()
        sought = VALUE if name == "value" else re.compile(re.escape(f"{{{{{name}}}}}"))
        at = sought.search(regex)
        if not at:
            reader.fail("trigger", f"names {name!r}, which is not in the regex")
            return ""
        prefix = regex[: at.start()]
        return (
            loosened(_with_fragments(reader, prefix, fragments, "trigger"))
            if how == "loosely"
            else prefix
        )

    trigger = _STEMS.sub(stems, _BEFORE.sub(before, reader.text("trigger")))
    if "{{value}}" in trigger:
        trigger = trigger.replace("{{value}}", f"(?:{value_of(regex)})")
    return _with_fragments(reader, trigger, fragments, "trigger")


def _with_fragments(
    reader: _TableReader, regex: str, fragments: Mapping[str, str], key: str = "regex"
) -> str:
    if "\0" in regex:
        reader.fail(key, "holds a character with the code 0; write \\x00")

    regex = put_in(
        regex, fragments, lambda name: reader.fail(key, unknown_fragment(name, "in this file"))
    )
    if len(VALUE.findall(regex)) > 1:
        reader.fail(
            key, "has more than one group 'value'; write (?P<value>...) around the alternatives"
        )
    return regex


class _TableReader:
    """Reads typed values from a TOML table. After a mistake, it returns a valid substitute."""

    def __init__(
        self,
        table: Mapping[str, Any],
        source: Source,
        index: int,
        named: str = "",
        prefix: str = "",
    ) -> None:
        """`prefix` is the prefix of keys in mistakes: empty in the table of the pattern itself."""
        self._table = table
        self._source = source
        self.problems = source.problems
        self.failed: set[str] = set()
        self._index = index
        self._prefix = prefix
        identifier = table.get("id")
        is_usable = isinstance(identifier, str) and ID.fullmatch(identifier)
        self._named = named or (f"pattern '{identifier}'" if is_usable else f"pattern[{index}]")

    def where(self, key: str) -> str:
        return self._source.where(f"pattern[{self._index}].{self._prefix}{key}")

    def fail(self, key: str, problem: str) -> None:
        self.failed.add(key)
        self.problems.add(f"{self.where(key)}: {self._named}: {self._prefix}{key} {problem}")

    def _value(
        self, key: str, value_type: type | tuple[type, ...], called: str, default: Any
    ) -> Any:
        """Return a value of that type; None after a mistake."""
        value = self._table.get(key, default)
        if value is None:
            self.fail(key, "is missing")
        elif not isinstance(value, value_type) or isinstance(value, bool):
            self.fail(key, f"is not {called}")
        else:
            return value
        return None

    def text(self, key: str, form: re.Pattern[str] | None = None, described: str = "") -> str:
        value = self._value(key, str, "a text", None)
        if value is None:
            return "x"
        if not value.strip():
            self.fail(key, "is empty")
        elif not self._is_unicode(value):
            self.fail(key, "holds a lone surrogate")
        elif form and not form.fullmatch(value):
            self.fail(key, f"is not of the form: {described}")
        return str(value)

    @staticmethod
    def _is_unicode(value: str) -> bool:
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
        return True

    def choice(self, key: str, known: Sequence[str]) -> str:
        value = self._value(key, str, "a text", None)
        if value in known:
            return str(value)
        if value is not None:
            hint = did_you_mean(value, known)
            self.fail(key, f"{value!r} is not one of {', '.join(known)}{hint}")
        return known[0]

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        value = self._value(key, (int, float), "a number", default)
        return float(self._within(key, value, low, high))

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        value = self._value(key, int, "a whole number", default)
        return int(self._within(key, value, low, high))

    def _within(self, key: str, value: float | None, low: float, high: float) -> float:
        if value is not None and low <= value <= high:
            return value
        if value is not None:
            self.fail(key, f"is not between {low:g} and {high:g}")
        return low

    def boolean(self, key: str) -> bool:
        value = self._table.get(key, False)
        if not isinstance(value, bool):
            self.fail(key, "is neither true nor false")
        return value is True

    def strings(
        self, key: str, refuse: Callable[[str], str | None] | None = None
    ) -> tuple[str, ...]:
        fitting: list[str] = []
        for at, value in enumerate(self._value(key, list, "a list", []) or ()):
            if not isinstance(value, str) or not value.strip():
                self.fail(f"{key}[{at}]", "is not a text")
            elif not self._is_unicode(value):
                self.fail(f"{key}[{at}]", "holds a lone surrogate")
            elif refuse and (problem := refuse(value)):
                self.fail(f"{key}[{at}]", problem)
            else:
                fitting.append(value)
        return tuple(fitting)

    def table(self, key: str) -> _TableReader | None:
        if key not in self._table:
            return None
        table = self._value(key, dict, "a table", None)
        if table is None:
            return None
        return _TableReader(table, self._source, self._index, self._named, f"{key}.")

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
                self.fail(key, f"is not a known key{belongs or did_you_mean(key, known)}")


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
        "judged",
        "region",
        "references",
        "examples",
    ),
    "context.": Context._fields,
    "possible.": Possible._fields,
    "examples.": ("match", "skip"),
}
"""The keys of each table, by the prefix of its keys in errors."""
