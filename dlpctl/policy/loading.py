"""Read a policy from a table: check names, and report mistakes with their positions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from dlpctl.errors import did_you_mean
from dlpctl.mappings import KnownTable, Source, UnfitError, as_json, inside, keys_of, shown
from dlpctl.operators import OPERATORS
from dlpctl.policy.rules import (
    DEFAULT_MIN_SCORE,
    EVERYTHING,
    Catalogue,
    Exemption,
    PatternCheck,
    PolicyFields,
    Rule,
)
from dlpctl.policy.selectors import is_known, known_names, normal
from dlpctl.regex import lazy
from dlpctl.types import Action, Category, Destination, Sensitivity

_STORED_KEYS = ["policy_id", "org_id", "is_active", "api_key", "created_at", "updated_at"]
"""Keys that the service adds to a stored policy, so that its answer can be saved as a file."""
_VERSION = lazy(r"\d{1,9}\.\d{1,9}")
_FINGERPRINT = lazy(r"[0-9a-f]{32}")
_NOT_IN_IDS = lazy(r"[^a-z0-9]+")
_MAX_RULES = 1_000
_MAX_EXCEPTIONS = 10_000


def read_policy(
    data: object, source: Source, known_types: Catalogue | None, check_patterns: PatternCheck | None
) -> PolicyFields:
    """Return the content of a policy, or raise the error of the source with all mistakes."""
    table = KnownTable(data, source, "", [*keys_of(PolicyFields), "sensitivity", *_STORED_KEYS])
    version = table.text("version", "1.0")
    if isinstance(table.get("version"), str) and not _VERSION.fullmatch(version):
        table.fail("version", f'must be two numbers such as "1.0", not {shown(version)}')
    name = table.text("name")
    if "name" in table and not name.strip():
        table.fail("name", "must not be empty")
    patterns = _custom_patterns(table)
    known = with_custom(known_types, patterns) if known_types else None
    min_score = table.score("minScore")
    if "sensitivity" in table:
        sensitivity = table.member("sensitivity", Sensitivity, "a sensitivity")
        if min_score is not None:
            table.fail("sensitivity", "cannot be combined with minScore")
        min_score = sensitivity.min_score
    fields = PolicyFields(
        name=name,
        rules=_Rules(known).read(table),
        description=table.text("description", ""),
        version=version,
        tags=tuple(tag for _, tag in table.texts("tags")),
        min_score=DEFAULT_MIN_SCORE if min_score is None else min_score,
        default_action=table.member("defaultAction", Action, "an action")
        if "defaultAction" in table
        else None,
        custom_patterns=patterns,
    )
    source.problems.raise_any()
    if patterns and check_patterns:
        check_patterns(list(patterns), source.location("customPatterns"))
    return fields


def _custom_patterns(table: KnownTable) -> tuple[Mapping[str, object], ...]:
    patterns: list[Mapping[str, object]] = []
    fail = table.source.fail
    for path, item in table.items("customPatterns"):
        if not isinstance(item, Mapping):
            fail(path, f"must be a table, not {shown(item)}")
            continue
        unfit = [key for key in ("id", "type") if not isinstance(item.get(key), str)]
        for key in unfit:
            is_there = key in item
            fail(
                inside(path, key),
                f"must be text, not {shown(item[key])}" if is_there else "is missing",
            )
        try:
            plain = {str(key): as_json(value, f".{key}") for key, value in item.items()}
        except UnfitError as problem:
            fail(path + problem.path, problem.problem)
            continue
        if not unfit:
            patterns.append(plain)
    return tuple(patterns)


def with_custom(known: Catalogue, patterns: tuple[Mapping[str, object], ...]) -> Catalogue:
    """Return the catalogue with a policy's own patterns."""
    types, ids = dict(known.types), dict(known.patterns)
    for pattern in patterns:
        named = str(pattern.get("category", Category.CUSTOM)).upper()
        category = Category[named] if named in Category.__members__ else Category.CUSTOM
        type_name = str(pattern["type"])
        types[type_name] = types.get(type_name, frozenset()) | {category}
        ids[str(pattern["id"])] = type_name
    return Catalogue(types, ids)


class _Rules:
    """Reads the rules of a policy, whose names must be in the catalogue if there is one."""

    def __init__(self, catalogue: Catalogue | None) -> None:
        self._catalogue = catalogue
        self._ids: dict[str, str] = {}
        """The paths of the rules, by id."""

    def read(self, table: KnownTable) -> tuple[Rule, ...]:
        items = table.items("rules", required=True, most=_MAX_RULES)
        tables = [KnownTable(item, table.source, path, keys_of(Rule)) for path, item in items]
        return tuple(self._rule(each, number) for number, each in enumerate(tables, start=1))

    def _rule(self, table: KnownTable, number: int) -> Rule:
        name = table.text("name", "")
        identifier = table.text("id", "")
        if not identifier:
            identifier = _NOT_IN_IDS.sub("-", name.lower()).strip("-") or f"rule-{number}"
            if identifier in self._ids:
                identifier = f"{identifier}-{number}"
        if identifier in self._ids:
            table.fail("id", f"{shown(identifier)} is already the id of {self._ids[identifier]}")
        self._ids[identifier] = table.path
        destinations = [
            table.source_member(path, item, Destination, "a destination")
            for path, item in table.texts("destinations", required=True)
        ]
        return Rule(
            id=identifier,
            name=name or identifier,
            data_types=self._selectors(table, required=True),
            destinations=tuple(dict.fromkeys(destinations)),
            action=table.member("action", Action, "an action"),
            enabled=table.flag("enabled", True),
            min_score=table.score("minScore"),
            min_count=table.count("minCount", 1),
            min_distinct=table.count("minDistinct", 1),
            masking=self._masking(table),
            exceptions=self._exemptions(table),
        )

    def _selector(self, source: Source, path: str, name: str) -> str:
        selector = normal(name.strip())
        if not selector:
            source.fail(path, "must name a category, a detection type or a pattern")
        elif self._catalogue and not is_known(selector, self._catalogue):
            hint = did_you_mean(selector, known_names(self._catalogue))
            problem = f"{shown(name)} is not a category, detection type or pattern{hint}"
            source.fail(path, f"{problem}; a custom type needs a pattern file or customPatterns")
        return selector

    def _selectors(self, table: KnownTable, *, required: bool = False) -> tuple[str, ...]:
        names = table.texts("dataTypes", required=required)
        found = (self._selector(table.source, path, name) for path, name in names)
        return tuple(dict.fromkeys(found))

    def _masking(self, table: KnownTable) -> tuple[tuple[str, str], ...]:
        value, path = table.get("masking"), table.at("masking")
        if value is None:
            return ()
        if isinstance(value, str):
            return ((EVERYTHING, _operator(table.source, path, value)),)
        if not isinstance(value, Mapping):
            table.fail(
                "masking",
                f"must be an operator, or a table of types and operators, not {shown(value)}",
            )
            return ()
        operators: dict[str, str] = {}
        for key, operator in value.items():
            at = inside(path, str(key))
            is_all = key == EVERYTHING
            selector = EVERYTHING if is_all else self._selector(table.source, at, str(key))
            if selector in operators:
                table.source.fail(at, "occurs twice, in two spellings; keep one")
            operators[selector] = _operator(table.source, at, operator)
        return tuple(operators.items())

    def _exemptions(self, table: KnownTable) -> tuple[Exemption, ...]:
        items = table.items("exceptions", most=_MAX_EXCEPTIONS)
        tables = [KnownTable(item, table.source, path, keys_of(Exemption)) for path, item in items]
        return tuple(self._exemption(each) for each in tables)

    def _exemption(self, table: KnownTable) -> Exemption:
        fingerprint = pattern = None
        if ("hmac" in table) == ("pattern" in table):
            table.source.fail(
                table.path, "needs either 'hmac' (one value) or 'pattern' (a regular expression)"
            )
        elif "hmac" in table:
            fingerprint = table.text("hmac").lower()
            if not _FINGERPRINT.fullmatch(fingerprint):
                table.fail("hmac", "must be 32 hexadecimal digits, and never the value itself")
        else:
            pattern = table.text("pattern")
            _check_regex(table, pattern)
        for key in ("owner", "reason"):
            if key in table and not table.text(key).strip():
                table.fail(key, "must not be empty")
        return Exemption(
            owner=table.text("owner"),
            reason=table.text("reason"),
            expires=_day(table),
            hmac=fingerprint,
            pattern=pattern,
            data_types=self._selectors(table),
        )


def _operator(source: Source, path: str, operator: object) -> str:
    """Return an operator: `partial`, `redact` and so on, or `replace:TEXT`."""
    name, colon, _ = operator.partition(":") if isinstance(operator, str) else ("", "", "")
    found = OPERATORS.get(name)
    if not isinstance(operator, str):
        source.fail(path, f"must be the name of an operator, not {shown(operator)}")
    elif found is not None and found.takes_text and not colon:
        source.fail(path, f"'{name}' needs its text: '{name}:TEXT'")
    elif found is None or (colon and not found.takes_text):
        hint = did_you_mean(name, OPERATORS) or f"; there are: {', '.join(OPERATORS)}"
        source.fail(path, f"{shown(operator)} is not a masking operator{hint}")
    return str(operator)


def _check_regex(table: KnownTable, pattern: str) -> None:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        table.fail("pattern", f"RE2 rejects this pattern: {reason}")


def _day(table: KnownTable) -> date:
    value = table.required("expires")
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        if value is not None:
            table.fail("expires", f"must be a date such as 2027-12-31, not {shown(value)}")
        return date.min
