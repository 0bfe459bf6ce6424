from __future__ import annotations

import json

import pytest

from dlpctl.agents import jsonc

COMMENTED = """\
// settings of the team
{
    "model": "x", /* keep */
    "hooks": {
        "Stop": [ { "a": 1 } ], // one
    },
}
"""


def test_comments_and_order_stay() -> None:
    changed = jsonc.append(COMMENTED, ("hooks", "Stop"), {"b": 2})
    changed = jsonc.append(changed, ("hooks", "Start"), {"c": 3})
    assert jsonc.loads(changed)["hooks"] == {"Stop": [{"a": 1}, {"b": 2}], "Start": [{"c": 3}]}
    for comment in ("// settings of the team", "/* keep */", "// one"):
        assert comment in changed
    assert changed.index('"model"') < changed.index('"Stop"') < changed.index('"Start"')


@pytest.mark.parametrize(
    "text",
    ["{}", "{}\n", '{"a": 1}', '{\n  "a": [1, 2]\n}\n', '{\r\n\t"a": {}\r\n}', COMMENTED],
)
def test_additions_can_be_removed(text: str) -> None:
    before = jsonc.loads(text)
    changed = jsonc.append(text, ("new", "list"), {"x": [1]})
    assert jsonc.loads(changed) == {**before, "new": {"list": [{"x": [1]}]}}
    restored = jsonc.remove(changed, ("new",))
    assert jsonc.loads(restored) == before
    assert restored.split() == text.split() or jsonc.loads(restored) == before


@pytest.mark.parametrize("path", [("a", 0), ("a", 1), ("a", 2), ("a",), ("b",)])
@pytest.mark.parametrize(
    "text", ['{"a": [1, 2, 3], "b": 4}', '{\n "a": [\n  1,\n  2, // two\n  3,\n ],\n "b": 4,\n}']
)
def test_remove(text: str, path: jsonc.Path) -> None:
    expected = {"a": [1, 2, 3], "b": 4}
    holder: object = expected
    for key in path[:-1]:
        holder = holder[key]  # type: ignore[index]
    del holder[path[-1]]  # type: ignore[attr-defined]
    assert jsonc.loads(jsonc.remove(text, path)) == expected


def test_plain_json_is_read_like_json() -> None:
    value = {"é": ["\\", '"', "\n", -1.5e3, True, None, {}, []], "a//b": "/* no */"}
    assert jsonc.loads(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text", ["", "{", "[1 2]", '{"a" 1}', "{a: 1}", "{} x", '{"a": }', "/* open", "[" * 200]
)
def test_invalid(text: str) -> None:
    with pytest.raises(jsonc.JsoncError):
        jsonc.loads(text)
