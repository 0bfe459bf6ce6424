from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dlpctl.detect.automaton.database import compile_triggers, finds_only_at_start
from dlpctl.detect.patterns.lint import check_patterns
from tests.detect.builtin_patterns import PATTERNS


@pytest.mark.no_cover
def test_the_library_passes_its_own_examples(library):
    assert [problem.message for problem in check_patterns(PATTERNS, library)] == []


def test_list_filters(dlpctl):
    everything = json.loads(dlpctl("patterns", "list", "--format", "json").out)
    assert {"EMAIL", "SSN", "CREDIT_CARD", "IBAN", "PRIVATE_KEY"} <= {
        one["type"] for one in everything
    }
    emails = json.loads(dlpctl("patterns", "list", "--types", "email", "--format", "json").out)
    assert {one["type"] for one in emails} == {"EMAIL"}
    pii = json.loads(dlpctl("patterns", "list", "--category", "pii", "--format", "json").out)
    assert {one["category"] for one in pii} == {"PII"}
    assert "iban" in dlpctl("patterns", "list", "--search", "bank account").out


def test_types_name_laws_and_samples(dlpctl):
    types = {
        one["name"]: one for one in json.loads(dlpctl("patterns", "types", "--format", "json").out)
    }
    assert types["CREDIT_CARD"]["checksum"] is True
    assert types["CREDIT_CARD"]["category"] == "FINANCIAL"
    assert types["PASSWORD"]["sample"] is False
    assert types["SSN"]["laws"]
    shown = dlpctl("patterns", "types", "--category", "phi").out
    assert "Medical record number" in shown
    assert "Credit card" not in shown
    assert dlpctl("patterns", "types", "--category", "x").status == 2


@pytest.mark.usefixtures("little_to_measure")
def test_stats_print_both_tables(dlpctl):
    shown = dlpctl("patterns", "stats").out
    assert "PER 200 KB" in shown
    assert "RECALL" in shown
    told = json.loads(dlpctl("patterns", "stats", "--format", "json").out)
    assert told["precision"][0]["findings"] == 0
    assert told["recall"] == [{"type": "EMAIL", "planted": 1, "found": 1, "recall": 1.0}]


def test_show_one_or_name_the_nearest(dlpctl):
    shown = json.loads(dlpctl("patterns", "show", "email", "--format", "json").out)
    assert shown["id"] == "email"
    assert shown["examples"]["match"]
    assert "regex" in dlpctl("patterns", "show", "email").out
    result = dlpctl("patterns", "show", "emial")
    assert result.status == 2
    assert "did you mean 'email'?" in result.err


GOOD = '[[pattern]]\nid = "badge"\ntype = "BADGE"\ncategory = "CUSTOM"\nlabel = "Badge"\nregex = "AC-[0-9]{8}"\nscore = 0.9\n'
EXAMPLES = '[pattern.examples]\nmatch = ["AC-12345678"]\nskip = ["AC-1234567"]\n'


def test_a_good_file_passes(dlpctl):
    Path("mine.toml").write_text(GOOD + EXAMPLES)
    result = dlpctl("patterns", "test", "mine.toml")
    assert (result.status, result.out) == (0, "1 pattern, 0 errors, 0 warnings\n")


def test_a_pattern_may_match_only_at_the_start_of_a_text(dlpctl):
    Path("mine.toml").write_text(GOOD.replace("AC-", "^AC-") + EXAMPLES)
    assert dlpctl("patterns", "test", "mine.toml").out == "1 pattern, 0 errors, 0 warnings\n"


@pytest.mark.parametrize(
    ("trigger", "text"),
    [
        (r"[$#%>:][ ][^\n]{0,40}pass", b"$ pass"),
        (r"(?i)[=az]1[^\n]{0,40}pek[ =]|x", b"z1Pek "),
        (r"[ab]+[cd][^\n]{0,40}kaksa", b"ackaksa"),
    ],
)
def test_a_trigger_is_found_anywhere(trigger: str, text: bytes) -> None:
    """The engine misses these, as they are written, after other text."""
    automaton = compile_triggers([PATTERNS[0]._replace(trigger=trigger)])
    assert not finds_only_at_start(automaton, text)


def test_a_trigger_that_is_found_only_at_the_start_is_noticed():
    anywhere, at_start = (
        compile_triggers([PATTERNS[0]._replace(trigger=trigger)]) for trigger in ("AC-", "^AC-")
    )
    assert not finds_only_at_start(anywhere, b"AC-12345678")
    assert finds_only_at_start(at_start, b"AC-12345678")


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (
            GOOD + EXAMPLES.replace("AC-12345678", "AC-1"),
            "pattern 'badge': examples.match[0] is not found",
        ),
        (
            GOOD + EXAMPLES.replace('"AC-1234567"', '"AC-12345678"'),
            "pattern 'badge': examples.skip[0] is found",
        ),
        (GOOD.replace("AC-[0-9]{8}", "[a-z]{3}") + EXAMPLES, "is broad"),
        (GOOD.replace("{8}", "+") + EXAMPLES, "no bound of its own"),
        (GOOD.replace("AC-", "(?=A)C-"), "lookaround is not supported"),
        (GOOD.replace("AC-[0-9]{8}", "(A)\\\\1"), "regex:"),
        (GOOD.replace("AC-[0-9]{8}", "A*"), "matches the empty text"),
        (GOOD.replace("score", "scroe"), "score is missing"),
        (GOOD + "weight = 1\n", "weight is not a known key"),
        (GOOD + 'validators = ["lunh"]\n', "did you mean 'luhn'?"),
        (GOOD + GOOD, "id is already used"),
        (GOOD.replace("CUSTOM", "CUSTOMS"), "did you mean 'CUSTOM'?"),
        ("[[pattern]\n", "is not TOML"),
        (GOOD + '[pattern.examples]\nmatch = ["{{random:nonsense}}"]\n', "placeholder"),
    ],
)
def test_mistakes_are_reported_with_their_positions(dlpctl, file, said):
    Path("mine.toml").write_text(file)
    result = dlpctl("patterns", "test", "mine.toml")
    assert said in result.out + result.err
    assert "mine.toml" in result.out + result.err
    assert "Traceback" not in result.err


MISTAKES = r"""weight = 1
[fragments]
sep = 3
[[pattern]]
id = "one"
type = "ONE"
category = "CUSTOM"
label = "One"
regex = "(?=A)C-[0-9]{8}"
score = 2
[[pattern]]
id = "two"
type = "TWO"
category = "CUSTOM"
label = "Two"
regex = "A(["
trigger = "A["
score = 0.9
[[pattern]]
id = "two"
type = "two"
category = "CUSTOM"
label = "Three"
regex = "A*"
score = 0.9
[[pattern]]
id = "four"
type = "FOUR"
category = "CUSTOM"
label = "Four"
regex = "{{gap}}"
score = 0.9
"""


@pytest.mark.parametrize(
    "command",
    [("patterns", "test", "mine.toml"), ("mask", "a.txt", "--patterns", "mine.toml")],
    ids=["test", "mask"],
)
def test_all_mistakes_are_listed_at_once_those_of_regexes_too(dlpctl, command):
    Path("a.txt").write_text("plain words\n")
    Path("mine.toml").write_text(MISTAKES)
    result = dlpctl(*command)
    assert (result.status, result.out) == (2, "")
    found = re.findall(r"mine\.toml:(\d+): (?:pattern '(\w+)': )?([\w.]+)", result.err)
    assert [" ".join(filter(None, each)) for each in found] == [
        "1 weight",
        "3 fragments.sep",
        "10 one score",
        "9 one regex",
        "16 two regex",
        "17 two trigger",
        "21 two type",
        "24 two regex",
        "20 two id",
        "31 four regex",
    ]
    assert len(found) == result.err.count("\n")


def test_the_mistakes_of_several_files_are_listed_at_once(dlpctl):
    Path("one.toml").write_text(GOOD.replace("AC-[0-9]{8}", "A("))
    Path("two.toml").write_text("[[pattern]\n")
    Path("three.toml").write_text(GOOD.replace("score = 0.9", "score = 9"))
    result = dlpctl("patterns", "test", "one.toml", "two.toml", "three.toml")
    found = re.findall(r"(\w+\.toml(?::\d+)?):", result.err)
    assert found == ["one.toml:6", "two.toml", "three.toml:7"]
