"""From what a file or a request holds to a `Policy`, every name checked and every error with its
place.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from dlpctl.errors import did_you_mean
from dlpctl.policy.model import (
    DEFAULT_MIN_SCORE,
    EVERYTHING,
    OPERATORS,
    Catalogue,
    Exemption,
    PatternCheck,
    Policy,
    Rule,
)
from dlpctl.policy.selectors import is_known, known_names, normal
from dlpctl.policy.tables import Table, fail, inside, one_of, plain, shown
from dlpctl.regex import lazy
from dlpctl.types import Action, Category, Destination

_POLICY_KEYS = (
    "name",
    "description",
    "version",
    "tags",
    "rules",
    "minScore",
    "defaultAction",
    "customPatterns",
)
# What the service adds to a stored policy; accepted, so that its answer can be saved and used as a
# file.
_STORED_KEYS = ("policy_id", "org_id", "is_active", "api_key", "created_at", "updated_at")
_RULE_KEYS = (
    "id",
    "name",
    "enabled",
    "dataTypes",
    "destinations",
    "action",
    "minScore",
    "minCount",
    "minDistinct",
    "masking",
    "exceptions",
)
_EXEMPTION_KEYS = ("hmac", "pattern", "dataTypes", "owner", "reason", "expires")
_VERSION = lazy(r"\d{1,9}\.\d{1,9}")
_FINGERPRINT = lazy(r"[0-9a-f]{32}")
_NOT_IN_IDS = lazy(r"[^a-z0-9]+")
_MAX_RULES = 1_000
_MAX_EXCEPTIONS = 10_000


def policy_of(
    data: object, known_types: Catalogue | None, check_patterns: PatternCheck | None, source: str
) -> Policy:
    table = Table(data, f"{source}:" if source else "", _POLICY_KEYS + _STORED_KEYS)
    version = table.text("version", "1.0")
    if not _VERSION.fullmatch(version):
        fail(table.at("version"), f'must be two numbers such as "1.0", not {shown(version)}')
    default_action = None
    if "defaultAction" in table:
        default_action = one_of(
            table.at("defaultAction"), table.required("defaultAction"), Action, "an action"
        )
    patterns = _custom_patterns(table, check_patterns)
    catalogue = with_custom(known_types, patterns) if known_types else None
    min_score = table.score("minScore")
    name = table.text("name")
    if not name.strip():
        fail(table.at("name"), "must not be empty")
    return Policy(
        name=name,
        rules=_rules(table, catalogue),
        description=table.text("description", ""),
        version=version,
        tags=tuple(tag for _, tag in table.texts("tags")),
        min_score=DEFAULT_MIN_SCORE if min_score is None else min_score,
        default_action=default_action,
        custom_patterns=patterns,
    )


def _custom_patterns(table: Table, check: PatternCheck | None) -> tuple[Mapping[str, object], ...]:
    patterns: list[Mapping[str, object]] = []
    for place, item in table.items("customPatterns"):
        if not isinstance(item, Mapping):
            fail(place, f"must be a table, not {shown(item)}")
        for key in ("id", "type"):
            if not isinstance(item.get(key), str):
                fail(
                    inside(place, key),
                    "is missing" if key not in item else f"must be text, not {shown(item[key])}",
                )
        patterns.append(
            {str(key): plain(inside(place, str(key)), value) for key, value in item.items()}
        )
    if patterns and check:
        check(patterns, table.at("customPatterns"))
    return tuple(patterns)


def with_custom(known: Catalogue, patterns: tuple[Mapping[str, object], ...]) -> Catalogue:
    """The catalogue and what a policy's own patterns add to it."""
    types, ids = dict(known.types), dict(known.patterns)
    for pattern in patterns:
        named = str(pattern.get("category", Category.CUSTOM)).upper()
        category = Category[named] if named in Category.__members__ else Category.CUSTOM
        type_name = str(pattern["type"])
        types[type_name] = types.get(type_name, frozenset()) | {category}
        ids[str(pattern["id"])] = type_name
    return Catalogue(types, ids)


def _rules(table: Table, catalogue: Catalogue | None) -> tuple[Rule, ...]:
    items = table.items("rules", required=True)
    if len(items) > _MAX_RULES:
        fail(table.at("rules"), f"holds {len(items):,} rules; the limit is {_MAX_RULES:,}")
    rules: list[Rule] = []
    ids: dict[str, str] = {}
    for number, (place, item) in enumerate(items, start=1):
        rule = _rule(Table(item, place, _RULE_KEYS), number, catalogue, set(ids))
        if rule.id in ids:
            fail(inside(place, "id"), f"{shown(rule.id)} is the id of {ids[rule.id]} already")
        ids[rule.id] = place.split(": ")[-1]
        rules.append(rule)
    return tuple(rules)


def _rule(table: Table, number: int, catalogue: Catalogue | None, taken: set[str]) -> Rule:
    name = table.text("name", "")
    identifier = table.text("id", "")
    if not identifier:
        identifier = _NOT_IN_IDS.sub("-", name.lower()).strip("-") or f"rule-{number}"
        if identifier in taken:
            identifier = f"{identifier}-{number}"
    destinations = [
        one_of(place, item, Destination, "a destination")
        for place, item in table.texts("destinations", required=True)
    ]
    return Rule(
        id=identifier,
        name=name or identifier,
        data_types=_selectors(table, catalogue, required=True),
        destinations=tuple(dict.fromkeys(destinations)),
        action=one_of(table.at("action"), table.required("action"), Action, "an action"),
        enabled=table.flag("enabled", True),
        min_score=table.score("minScore"),
        min_count=table.whole("minCount", 1),
        min_distinct=table.whole("minDistinct", 1),
        masking=_masking(table, catalogue),
        exceptions=_exemptions(table, catalogue),
    )


def _selector(place: str, name: str, catalogue: Catalogue | None) -> str:
    selector = normal(name.strip())
    if not selector:
        fail(place, "must name a category, a detection type or a pattern")
    if catalogue and not is_known(selector, catalogue):
        hint = did_you_mean(selector, known_names(catalogue))
        fail(place, f"{shown(name)} is not a category, detection type or pattern{hint}")
    return selector


def _selectors(
    table: Table, catalogue: Catalogue | None, *, required: bool = False
) -> tuple[str, ...]:
    names = table.texts("dataTypes", required=required)
    return tuple(dict.fromkeys(_selector(place, name, catalogue) for place, name in names))


def check_operator(place: str, operator: object) -> str:
    """`partial`, `redact` and so on, or `replace:TEXT`."""
    if not isinstance(operator, str):
        fail(place, f"must be the name of an operator, not {shown(operator)}")
    name, colon, _ = operator.partition(":")
    if name == "replace" and not colon:
        fail(place, "'replace' needs its text: 'replace:TEXT'")
    if name not in OPERATORS or (colon and name != "replace"):
        hint = did_you_mean(name, OPERATORS) or f"; there are: {', '.join(OPERATORS)}"
        fail(place, f"{shown(operator)} is not a masking operator{hint}")
    return operator


def _masking(table: Table, catalogue: Catalogue | None) -> tuple[tuple[str, str], ...]:
    if "masking" not in table:
        return ()
    value, place = table.required("masking"), table.at("masking")
    if isinstance(value, str):
        return ((EVERYTHING, check_operator(place, value)),)
    if not isinstance(value, Mapping):
        fail(place, f"must be an operator, or a table of types and operators, not {shown(value)}")
    operators: dict[str, str] = {}
    for key, operator in value.items():
        at = inside(place, str(key))
        selector = EVERYTHING if key == EVERYTHING else _selector(at, str(key), catalogue)
        if selector in operators:
            fail(at, "stands twice, in two spellings; keep one")
        operators[selector] = check_operator(at, operator)
    return tuple(operators.items())


def _exemptions(table: Table, catalogue: Catalogue | None) -> tuple[Exemption, ...]:
    items = table.items("exceptions")
    if len(items) > _MAX_EXCEPTIONS:
        fail(
            table.at("exceptions"),
            f"holds {len(items):,} exceptions; the limit is {_MAX_EXCEPTIONS:,}",
        )
    return tuple(
        _exemption(Table(item, place, _EXEMPTION_KEYS), catalogue) for place, item in items
    )


def _exemption(table: Table, catalogue: Catalogue | None) -> Exemption:
    if ("hmac" in table) == ("pattern" in table):
        fail(table.place, "needs either 'hmac' (one value) or 'pattern' (a regular expression)")
    fingerprint = pattern = None
    if "hmac" in table:
        fingerprint = table.text("hmac").lower()
        if not _FINGERPRINT.fullmatch(fingerprint):
            fail(
                table.at("hmac"),
                "must be 32 hexadecimal digits, a fingerprint and never the value itself",
            )
    else:
        pattern = table.text("pattern")
        _check_regex(table.at("pattern"), pattern)
    for key in ("owner", "reason"):
        if not table.text(key).strip():
            fail(table.at(key), "must not be empty")
    return Exemption(
        owner=table.text("owner"),
        reason=table.text("reason"),
        expires=_day(table.at("expires"), table.required("expires")),
        hmac=fingerprint,
        pattern=pattern,
        data_types=_selectors(table, catalogue),
    )


def _check_regex(place: str, pattern: str) -> None:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        fail(place, f"RE2 refuses this pattern: {reason}")


def _day(place: str, value: object) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        fail(place, f"must be a date such as 2027-12-31, not {shown(value)}")
