"""Invalid pattern files: each mistake is one line that names file, pattern and key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.library import builtin_files, load_patterns, parse_file, read_file
from dlpctl.errors import PatternError
from tests.detect.builtin_patterns import PATTERNS

GOOD: dict[str, Any] = {
    "id": "badge",
    "type": "BADGE",
    "category": "CUSTOM",
    "label": "Badge number",
    "regex": "AC-[0-9]{8}",
    "score": 0.9,
}


def refused(table: dict[str, Any]) -> str:
    """Return the errors for a file with one pattern of this content."""
    with pytest.raises(PatternError) as caught:
        Detector(parse_file({"pattern": [table]}, "acme/mine.toml"))
    assert "\n" not in caught.value.message
    return caught.value.message


def refused_file(file: Path) -> str:
    with pytest.raises(PatternError) as caught:
        load_patterns([file])
    assert "\n" not in caught.value.message
    return caught.value.message


BAD_KEYS: list[tuple[dict[str, Any], str]] = [
    ({"id": None}, "pattern[0]: id is missing"),
    ({"id": "Badge No"}, "pattern[0]: id is not of the form: lower-case words joined by hyphens"),
    ({"id": 7}, "pattern[0]: id is not a text"),
    ({"type": None}, "pattern 'badge': type is missing"),
    ({"type": "badge"}, "pattern 'badge': type is not of the form: upper-case words joined by underscores"),
    ({"category": "SECRET"}, "pattern 'badge': category 'SECRET' is not one of PII, PHI, FINANCIAL, SECRETS, CUSTOM; did you mean 'SECRETS'?"),
    ({"label": "  "}, "pattern 'badge': label is empty"),
    ({"regex": None}, "pattern 'badge': regex is missing"),
    ({"regex": ["a"]}, "pattern 'badge': regex is not a text"),
    ({"regex": "a\0b"}, "pattern 'badge': regex holds a character with the code 0; write \\x00"),
    ({"regex": "a\ud800b"}, "pattern 'badge': regex holds a lone surrogate"),
    ({"regex": "a{{digits}}"}, "pattern 'badge': regex fragment 'digits' is not defined in this file"),
    ({"regex": "(?P<value>a)b|(?<value>c)"}, "pattern 'badge': regex has more than one group 'value'; write (?P<value>...) around the alternatives"),
    ({"score": "0.9"}, "pattern 'badge': score is not a number"),
    ({"score": True}, "pattern 'badge': score is not a number"),
    ({"score": 1.5}, "pattern 'badge': score is not between 0 and 1"),
    ({"score": float("nan")}, "pattern 'badge': score is not between 0 and 1"),
    ({"validators": "luhn"}, "pattern 'badge': validators is not a list"),
    ({"validators": ["luhn", "lunh"]}, "pattern 'badge': validators[1] 'lunh' is not a validator; did you mean 'luhn'?"),
    ({"validators": ["xyzzy"]}, "pattern 'badge': validators[0] 'xyzzy' is not a validator"),
    ({"keywords": ["a", 1]}, "pattern 'badge': keywords[1] is not a text"),
    ({"keywords": [""]}, "pattern 'badge': keywords[0] is not a text"),
    ({"keywords": [" "]}, "pattern 'badge': keywords[0] is not a text"),
    ({"width": 0}, "pattern 'badge': width is not between 1 and 65536"),
    ({"width": 1.5}, "pattern 'badge': width is not a whole number"),
    ({"keyword": ["a"]}, "pattern 'badge': keyword is not a known key; did you mean 'keywords'?"),
    ({"words": ["a"]}, "pattern 'badge': words is not a known key; it belongs in pattern.context"),
    ({"match": ["a"]}, "pattern 'badge': match is not a known key; it belongs in pattern.examples"),
    ({"context": {"words": ["a"], "score": 0.9, "keywords": ["a"]}}, "pattern 'badge': context.keywords is not a known key; it belongs in pattern"),
    ({"context": {"not_after": ["(a"]}}, "pattern 'badge': context.not_after: regex: is not valid: missing ): (a"),
    ({"context": {"not_in": ["b)"]}}, "pattern 'badge': context.not_in: regex: is not valid: unexpected ): b)"),
    ({"context": "near"}, "pattern 'badge': context is not a table"),
    ({"context": {"score": 0.9}}, "pattern 'badge': context.words is missing"),
    ({"context": {"words": ["badge"]}}, "pattern 'badge': context.score is missing"),
    ({"context": {"words": ["{{near}}"], "score": 0.9}}, "pattern 'badge': context.words[0] is wrong: fragment 'near' is not defined as a list in this file"),
    ({"context": {"words": ["badge", " "], "score": 0.9}}, "pattern 'badge': context.words[1] is not a text"),
    ({"context": {"words": ["a"], "score": 0.9, "before": 5000}}, "pattern 'badge': context.before is not between 0 and 1000"),
    ({"examples": {"match": [1]}}, "pattern 'badge': examples.match[0] is not a text"),
    ({"examples": {"matches": ["a"]}}, "pattern 'badge': examples.matches is not a known key; did you mean 'match'?"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"), BAD_KEYS, ids=[message[:60] for _, message in BAD_KEYS]
)
def test_bad_key(change: dict[str, Any], message: str) -> None:
    table = {key: value for key, value in (GOOD | change).items() if value is not None}
    assert refused(table) == f"acme/mine.toml: {message}"


EMPTY = "matches the empty text; make something in it required"
LOOKAROUND = (
    "lookaround is not supported; delimit with \\b or with characters around a group 'value'"
)
BACK = "a reference back to a group is not supported; write out what may be repeated"
BAD_REGEXES = [
    ("a*", EMPTY),
    (r"\b[0-9]*", EMPTY),
    ("(?m)^", EMPTY),
    ("$", EMPTY),
    (r"\B", EMPTY),
    ("(?=a)b", LOOKAROUND),
    ("(?!a)b", LOOKAROUND),
    ("(?<=a)b", LOOKAROUND),
    ("(?<!a)b", LOOKAROUND),
    (r"(a)\1", BACK),
    (r"(?P<one>a)(?P=one)", BACK),
    ("(?>a)b", "atomic groups and possessive repetitions are not supported; leave them out, since nothing here backtracks"),
    ("a++b", "atomic groups and possessive repetitions are not supported; leave them out, since nothing here backtracks"),
    ("a{2,1}", "is not valid: invalid repetition size: {2,1}"),
    ("(a", "is not valid: missing ): (a"),
    ("[a", "is not valid: missing ]: [a"),
    (r"\p{Klingon}", "is not valid: invalid character class range: \\p{Klingon}"),
    (r"a\Cb", "\\C is not supported; it would match a part of a character"),
]  # fmt: skip


@pytest.mark.parametrize(("regex", "reason"), BAD_REGEXES, ids=[regex for regex, _ in BAD_REGEXES])
def test_bad_regex(regex: str, reason: str) -> None:
    message = refused(GOOD | {"regex": regex})
    assert message == f"acme/mine.toml: pattern 'badge': regex: {reason}"


def test_regex_beyond_bounds() -> None:
    assert refused(GOOD | {"regex": "a{1001}"}).startswith(
        "acme/mine.toml: pattern 'badge': regex: "
    )
    assert refused(GOOD | {"regex": "(?:(?:[0-9a-z]{500}){500}){500}"}).startswith(
        "acme/mine.toml: pattern 'badge': regex: "
    )


def test_one_bad_regex_among_good_ones_is_named() -> None:
    tables = [GOOD | {"id": f"badge-{number}"} for number in range(5)]
    tables[3]["regex"] = "(?=a)b"
    with pytest.raises(PatternError, match=r"^mine.toml: pattern 'badge-3': regex: lookaround"):
        Detector(parse_file({"pattern": tables}, "mine.toml"))


def test_id_used_twice() -> None:
    assert (
        refused_twice("one.toml", "one.toml")
        == "one.toml: pattern 'badge': id is already used in the same file"
    )
    assert (
        refused_twice("one.toml", "two.toml")
        == "two.toml: pattern 'badge': id is already used in one.toml"
    )


def refused_twice(first: str, second: str) -> str:
    patterns = [*parse_file({"pattern": [GOOD]}, first), *parse_file({"pattern": [GOOD]}, second)]
    with pytest.raises(PatternError) as caught:
        Detector(patterns)
    return caught.value.message


def test_id_of_the_library_is_taken(tmp_path: Path, compiled_cache: Path) -> None:
    taken = PATTERNS[0]
    file = written(
        tmp_path,
        f'[[pattern]]\nid = "{taken.id}"\ntype = "A"\ncategory = "PII"\nlabel = "a"\nregex = "abc"\nscore = 1\n',
    )
    with pytest.raises(
        PatternError, match=f"mine.toml: pattern '{taken.id}': id is already used in {taken.source}"
    ):
        Detector(files=[file], cache=Cache(compiled_cache))


def written(folder: Path, content: str | bytes) -> Path:
    folder = folder / "acme"
    folder.mkdir(exist_ok=True)
    file = folder / "mine.toml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[pattern]\nid = 1", "acme/mine.toml: is not TOML: "),
        ("pattern = 'x'", "acme/mine.toml:1: pattern: must be a list of tables; write [[pattern]]"),
        (
            "[pattern]\nid = 'x'",
            "acme/mine.toml:1: pattern: must be a list of tables; write [[pattern]]",
        ),
        (
            "[[patterns]]\nid = 'x'",
            "acme/mine.toml:1: patterns: there is no such key; did you mean 'pattern'?",
        ),
        ("fragments = 1", "acme/mine.toml:1: fragments: must be a table of texts"),
        (
            "[fragments]\na = '{{b}}'\nb = 'x'",
            "acme/mine.toml:2: fragments.a: fragment 'b' is not defined above",
        ),
        (b"[[pattern]]\nid = '\xff'", "acme/mine.toml: is not UTF-8 at byte 18"),
        ("a = " + "[" * 100_000, "acme/mine.toml: is not TOML: "),
    ],
    ids=["syntax", "text", "table", "plural", "fragments", "order", "encoding", "depth"],
)
def test_bad_file(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert refused_file(written(tmp_path, content)).startswith(message)


def test_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert read_file(written(tmp_path, b"\xef\xbb\xbf[fragments]\r\n")) == []


def test_missing_file(tmp_path: Path, compiled_cache: Path) -> None:
    file = tmp_path / "none.toml"
    with pytest.raises(PatternError) as caught:
        Detector(files=[file], cache=Cache(compiled_cache))
    assert caught.value.message == f"{file}: cannot be read: No such file or directory"
    assert refused_file(file) == f"{file}: cannot be read: No such file or directory"


def test_folder_in_place_of_a_file(tmp_path: Path) -> None:
    assert refused_file(tmp_path).startswith(f"{tmp_path}: cannot be read: ")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes are POSIX")
def test_without_permission(tmp_path: Path) -> None:
    """Of the file, then of the folder; root is kept from neither, so that root asks as somebody
    else.
    """
    file = written(tmp_path, "")
    file.chmod(0)
    folder = tmp_path / "locked"
    folder.mkdir()
    within = folder / "mine.toml"
    within.write_text("")
    folder.chmod(0)
    for parent in (tmp_path, *tmp_path.parents[:2]):
        parent.chmod(parent.stat().st_mode | 0o711)
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(65534)
        assert refused_file(file) == f"{file}: cannot be read: Permission denied"
        assert refused_file(within) == f"{within}: cannot be read: Permission denied"
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)


def test_a_detector_refuses_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    loop = tmp_path / "mine.toml"
    loop.symlink_to(loop)
    with pytest.raises(PatternError, match=r"mine\.toml: cannot be read: Too many levels"):
        Detector(files=[loop], library=[])


def test_fragments_are_put_in() -> None:
    table = GOOD | {"regex": "AC-{{number}}"}
    (pattern,) = parse_file({"fragments": {"number": "[0-9]{8}"}, "pattern": [table]}, "mine.toml")
    assert pattern.regex == GOOD["regex"]


def test_fragments_are_put_into_those_after_them() -> None:
    fragments = {"digit": "[0-9]", "number": "{{digit}}{8}"}
    table = GOOD | {"regex": "AC-{{number}}"}
    (pattern,) = parse_file({"fragments": fragments, "pattern": [table]}, "mine.toml")
    assert pattern.regex == GOOD["regex"]


def test_contexts_share_lists_of_words() -> None:
    content = {
        "fragments": {"near": ["badge", "staff"]},
        "pattern": [GOOD | {"context": {"words": ["{{near}}", "visitor"], "score": 0.9}}],
    }
    (pattern,) = parse_file(content, "mine.toml")
    assert pattern.context is not None
    assert pattern.context.words == ("badge", "staff", "visitor")


def test_each_pattern_shows_what_it_finds_and_what_it_does_not() -> None:
    few = [
        pattern.id
        for file in builtin_files()
        for pattern in read_file(file)
        if min(len(pattern.match), len(pattern.skip)) < 2
    ]
    assert not few


@pytest.mark.parametrize(
    ("regex", "trigger", "expected"),
    [
        (r"x(?P<value>(?:a|[)(]|\))+)(?:$|b)", r"{{apart}}{{value}}", r"^(?:(?:a|[)(]|\))+)"),
        (r"(?P<value>[]()]{2})y", r"{{value}}", r"(?:[]()]{2})"),
        (r"AC-[0-9]{8}", r"{{value}}", r"(?:AC-[0-9]{8})"),
        (r"x{{apart}}y(?P<value>AC)", r"{{before:value}}|{{before:apart}}", r"x^y|x"),
    ],
)
def test_triggers_are_put_together(regex: str, trigger: str, expected: str) -> None:
    table = GOOD | {"regex": regex, "trigger": trigger}
    (pattern,) = parse_file({"fragments": {"apart": "^"}, "pattern": [table]}, "mine.toml")
    assert pattern.trigger == expected
