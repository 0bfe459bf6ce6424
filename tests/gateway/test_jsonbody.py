"""JSON with positions, compared with the standard library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.errors import InputError
from dlpctl.gateway import jsonbody
from dlpctl.gateway.jsonbody import Splice

TEXTS = st.one_of(
    st.text(max_size=8),
    st.text('ab"\\\n\u00e9\U0001f600<', max_size=8),
    st.just("x" * 2_100),
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.none()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def expected(value: Any, path: str = "") -> Iterator[tuple[str, str, bool]]:
    """Yield path and text of each leaf, and whether it is a key."""
    if isinstance(value, str):
        yield path, value, False
    elif type(value) is int and len(str(value)) >= 9:
        yield path, str(value), False
    elif isinstance(value, list):
        for each in value:
            yield from expected(each, f"{path}[]")
    elif isinstance(value, dict):
        for key, each in value.items():
            inner = f"{path}.{key}" if path else key
            yield inner, key, True
            yield from expected(each, inner)


@settings(max_examples=60)
@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_leaves_match_the_parsed_value(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    want = list(expected(value))
    assert jsonbody.loads(text) == value
    assert [(each.path, each.text, each.is_key) for each in jsonbody.leaves(text)] == want
    in_units = [leaf for unit in jsonbody.units(text) for leaf in jsonbody.leaves_of(text, unit)]
    assert [(each.path, each.text, each.is_key) for each in in_units] == want


@settings(max_examples=60)
@given(st.text(min_size=1, max_size=20), st.booleans(), st.data())
def test_splices_replace_characters_and_nothing_else(
    value: str, ascii_only: bool, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(value)))
    end = data.draw(st.integers(start, len(value)))
    text = json.dumps({"k": [value]}, ensure_ascii=ascii_only)
    leaf = jsonbody.leaves(text)[1]
    new = jsonbody.spliced(text, jsonbody.raw_splices(text, leaf, [Splice(start, end, '"\\')]))
    assert json.loads(new) == {"k": [value[:start] + '"\\' + value[end:]]}
    kept = json.dumps(value[:start], ensure_ascii=ascii_only)[1:-1]
    assert new.startswith('{"k": ["' + kept)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1,]",
        '{"a":1 "b":2}',
        '{"a":1,"a":2}',
        '{"a":{"b":1,"\\u0062":2}}',
        "[NaN]",
        "[Infinity]",
        "[01]",
        "['a']",
        '["\n"]',
        '"\\ud800" x',
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        "\ufeff{}",
    ],
)
def test_invalid_or_ambiguous_json_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        jsonbody.loads(text)


def test_small_values_are_read_together_but_not_all_of_them() -> None:
    text = json.dumps([{"note": f"item {number}"} for number in range(1_000)])
    sizes = [unit.end - unit.start for unit in jsonbody.units(text)]
    assert 1 < len(sizes) < 50
    assert max(sizes) < 2 * min(sizes[:-1])


def test_brackets_in_texts_do_not_count_as_nesting() -> None:
    text = json.dumps(["[" * 5_000, "{" * 5_000 + '"'])
    assert jsonbody.loads(text)[0] == "[" * 5_000
