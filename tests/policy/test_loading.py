from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import PatternError, PolicyError
from dlpctl.policy.files import builtin_names
from dlpctl.policy.model import Catalogue, Policy
from dlpctl.types import Action, Category, Destination

if TYPE_CHECKING:
    from pathlib import Path

CATALOGUE = Catalogue.of(
    [
        ("email", "EMAIL", Category.PII),
        ("ssn", "SSN", Category.PII),
        ("phone", "PHONE", Category.PII),
        ("github-pat", "API_KEY", Category.SECRETS),
        ("us-mbi", "US_MBI", Category.PHI),
    ]
)


def rule(**changes: object) -> dict[str, object]:
    return {
        "name": "r",
        "dataTypes": ["PII"],
        "destinations": ["VENDOR"],
        "action": "MASK",
        **changes,
    }


def policy(*rules: dict[str, object], **changes: object) -> dict[str, object]:
    return {"name": "p", "rules": list(rules), **changes}


def exemption(**changes: object) -> dict[str, object]:
    return {"pattern": "x+", "owner": "ann", "reason": "test", "expires": "2027-12-31", **changes}


TOML = """
name = "p"
minScore = 0.6
defaultAction = "block"
tags = ["a"]

[[rules]]
name = "Mask mail"
dataTypes = ["email", "GitHub-PAT", "pii"]
destinations = ["vendor", "CUSTOMER"]
action = "mask"
minScore = 0.3
minCount = 2
minDistinct = 3
masking = { EMAIL = "token", "*" = "replace:[gone: yes]" }

[[rules.exceptions]]
pattern = '.*@example\\.com'
dataTypes = ["EMAIL"]
owner = "ann"
reason = "documentation"
expires = 2027-12-31
"""


def test_every_field_survives_a_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(TOML, encoding="utf-8")
    loaded = Policy.load(path, known_types=CATALOGUE)
    (only,) = loaded.rules
    assert (loaded.min_score, loaded.default_action, loaded.tags) == (0.6, Action.BLOCK, ("a",))
    assert only.id == "mask-mail"
    assert only.data_types == ("EMAIL", "github-pat", "PII")
    assert only.destinations == (Destination.VENDOR, Destination.CUSTOMER)
    assert (only.min_score, only.min_count, only.min_distinct) == (0.3, 2, 3)
    assert dict(only.masking) == {"EMAIL": "token", "*": "replace:[gone: yes]"}
    assert only.exceptions[0].expires == date(2027, 12, 31)
    assert (
        Policy.from_dict(json.loads(json.dumps(loaded.to_dict())), known_types=CATALOGUE) == loaded
    )


def test_the_three_formats_are_equivalent(tmp_path: Path) -> None:
    table = policy(
        rule(exceptions=[exemption()], masking="redact"),
        customPatterns=[{"id": "a-b", "type": "T"}],
    )
    (tmp_path / "a.json").write_text(json.dumps(table))
    (tmp_path / "a.yaml").write_text(
        "name: p\n"
        "rules:\n"
        "- name: r\n"
        "  dataTypes: &types [PII]\n"
        "  destinations: [VENDOR]\n"
        "  action: MASK\n"
        "  masking: redact\n"
        "  exceptions:\n"
        "  - {pattern: x+, owner: ann, reason: test, expires: 2027-12-31}\n"
        "customPatterns: [{id: a-b, type: T}]\n"
    )
    (tmp_path / "a.toml").write_text(
        'name = "p"\ncustomPatterns = [{ id = "a-b", type = "T" }]\n'
        '[[rules]]\nname = "r"\ndataTypes = ["PII"]\ndestinations = ["VENDOR"]\naction = "MASK"\n'
        'masking = "redact"\n[[rules.exceptions]]\npattern = "x+"\n'
        'owner = "ann"\nreason = "test"\nexpires = 2027-12-31\n'
    )
    loaded = [Policy.load(tmp_path / f"a.{suffix}") for suffix in ("json", "yaml")]
    loaded.append(Policy.load(str(tmp_path / "a.toml")))
    assert loaded[0] == loaded[1] == loaded[2]


def test_an_answer_of_the_service_is_a_policy_file() -> None:
    stored = policy(
        rule(id="7"),
        policy_id="x",
        org_id="o",
        is_active=True,
        api_key="k",
        created_at="c",
        updated_at="u",
    )
    assert Policy.from_dict(stored).rules[0].id == "7"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "p.toml: must be a table, not []"),
        ({"rules": []}, "p.toml: name: is missing"),
        (policy(name=""), "p.toml: name: must not be empty"),
        ({"name": "p"}, "p.toml: rules: is missing"),
        (policy(rulez=[]), "p.toml: rulez: there is no such key; did you mean 'rules'?"),
        (policy(version=1.0), "p.toml: version: must be text, not 1.0"),
        (policy(version="one"), "p.toml: version: must be two numbers such as \"1.0\", not 'one'"),
        (policy(minScore=2), "p.toml: minScore: must be a number from 0 to 1, not 2"),
        (
            policy(defaultAction="DROP"),
            "p.toml: defaultAction: 'DROP' is not an action; there are: ALLOW, MASK, BLOCK",
        ),
        (policy(7), "p.toml: rules[0]: must be a table, not 7"),
        (
            policy(rule(), rule(), rule(destinations=["VENDORS"])),
            "p.toml: rules[2].destinations[0]: 'VENDORS' is not a destination; did you mean 'VENDOR'?",
        ),
        (policy(rule(action=None)), "p.toml: rules[0].action: is missing"),
        (
            policy(rule(action="MASKED")),
            "p.toml: rules[0].action: 'MASKED' is not an action; did you mean 'MASK'?",
        ),
        (
            policy(rule(dataTypes=["EMAILS"])),
            (
                "p.toml: rules[0].dataTypes[0]: 'EMAILS' is not a category, detection type or pattern; "
                "did you mean 'EMAIL'?"
            ),
        ),
        (policy(rule(dataTypes="PII")), "p.toml: rules[0].dataTypes: must be a list, not 'PII'"),
        (policy(rule(dataTypes=[1])), "p.toml: rules[0].dataTypes[0]: must be text, not 1"),
        (policy(rule(dataTypes=[""])), "p.toml: rules[0].dataTypes[0]: must name a category"),
        (policy(rule(enabled="yes")), "p.toml: rules[0].enabled: must be true or false, not 'yes'"),
        (
            policy(rule(minCount=0)),
            "p.toml: rules[0].minCount: must be a whole number of at least 1, not 0",
        ),
        (
            policy(rule(minDistinct=True)),
            "p.toml: rules[0].minDistinct: must be a whole number of at least 1, not True",
        ),
        (
            policy(rule(masking="partail")),
            "p.toml: rules[0].masking: 'partail' is not a masking operator; did you mean 'partial'?",
        ),
        (
            policy(rule(masking="replace")),
            "p.toml: rules[0].masking: 'replace' needs its text: 'replace:TEXT'",
        ),
        (
            policy(rule(masking="redact:x")),
            "p.toml: rules[0].masking: 'redact:x' is not a masking operator; did you mean 'redact'?",
        ),
        (
            policy(rule(masking={"EMIAL": "redact"})),
            "p.toml: rules[0].masking.EMIAL: 'EMIAL' is not",
        ),
        (
            policy(rule(masking={"email": "redact", "EMAIL": "hash"})),
            "p.toml: rules[0].masking.EMAIL: occurs twice",
        ),
        (policy(rule(masking=[])), "p.toml: rules[0].masking: must be an operator"),
        (
            policy(rule(id="a"), rule(id="a")),
            "p.toml: rules[1].id: 'a' is already the id of rules[0]",
        ),
        (
            policy(rule(exceptions=[exemption(hmac="0" * 32)])),
            "p.toml: rules[0].exceptions[0]: needs either 'hmac'",
        ),
        (
            policy(rule(exceptions=[exemption(owner=" ")])),
            "p.toml: rules[0].exceptions[0].owner: must not be empty",
        ),
        (
            policy(rule(exceptions=[exemption(reason=None)])),
            "p.toml: rules[0].exceptions[0].reason: is missing",
        ),
        (
            policy(rule(exceptions=[exemption(expires="soon")])),
            "p.toml: rules[0].exceptions[0].expires: must be a date",
        ),
        (
            policy(rule(exceptions=[exemption(pattern="(?=a)")])),
            "p.toml: rules[0].exceptions[0].pattern: RE2 rejects",
        ),
        (policy(customPatterns=[{"id": "x"}]), "p.toml: customPatterns[0].type: is missing"),
        (
            policy(customPatterns=[{"id": "x", "type": 3}]),
            "p.toml: customPatterns[0].type: must be text, not 3",
        ),
        (policy(customPatterns=["x"]), "p.toml: customPatterns[0]: must be a table"),
        (
            policy(customPatterns=[{"id": "x", "type": "T", "when": date(2027, 1, 1)}]),
            "p.toml: customPatterns[0].when: must be text, a number",
        ),
    ],
)
def test_an_error_gives_the_position_and_the_nearest_name(table: object, message: str) -> None:
    with pytest.raises(PolicyError) as error:
        Policy.from_dict(table, known_types=CATALOGUE, source="p.toml")
    assert error.value.message.startswith(message)
    assert "\n" not in error.value.message


def test_an_invalid_fingerprint_is_never_shown() -> None:
    value = "someone@secret.example"
    with pytest.raises(PolicyError, match="32 hexadecimal digits") as error:
        Policy.from_dict(policy(rule(exceptions=[exemption(hmac=value, pattern=None)])))
    assert value not in error.value.message


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", "name = 'p'\nname = 'q'\n", "a.toml: Cannot overwrite a value"),
        ("a.json", '{"name": "p", "name": "q"}', "a.json: 'name' occurs twice"),
        ("a.yaml", "name: p\nname: q\n", "a.yaml: line 2: 'name' occurs twice"),
        ("a.yml", "a: [", "a.yml: while parsing"),
        ("a.json", "{", "a.json: Expecting"),
        ("a.json", "[" * 100_000, "a.json: nested too deeply"),
        (
            "a.yaml",
            "!!python/object/apply:os.getcwd []",
            "a.yaml: could not determine a constructor",
        ),
        ("a.ini", "", "a.ini: unknown format; name it .toml, .yaml, .yml or .json"),
        ("a.toml", "#" * (1 << 20) + "\n", "a.toml: 1,048,577 bytes is too large"),
    ],
)
def test_unreadable_content_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(PolicyError) as error:
        Policy.load(path)
    assert error.value.message.startswith(message)


def test_missing_and_undecodable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="there is no such file"):
        Policy.load(tmp_path / "none.toml")
    with pytest.raises(PolicyError, match="cannot be read"):
        Policy.load(tmp_path)
    (tmp_path / "a.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(PolicyError, match="not UTF-8 at byte 8"):
        Policy.load(tmp_path / "a.toml")


def test_custom_patterns_widen_the_catalogue_and_are_checked_by_the_library() -> None:
    table = policy(
        rule(dataTypes=["BADGE", "acme-badge"]),
        customPatterns=[{"id": "acme-badge", "type": "BADGE", "x": [{}]}],
    )
    seen: list[tuple[object, str]] = []
    loaded = Policy.from_dict(
        table,
        known_types=CATALOGUE,
        check_patterns=lambda tables, place: seen.append((tables, place)),
        source="p.toml",
    )
    assert seen == [([{"id": "acme-badge", "type": "BADGE", "x": [{}]}], "p.toml: customPatterns")]
    assert Policy.from_dict(loaded.to_dict()) == loaded

    def refuse(tables: object, place: str) -> None:
        raise PatternError(f"{place}[0].regex: is missing")

    with pytest.raises(PatternError, match=r"customPatterns\[0\]\.regex"):
        Policy.from_dict(table, known_types=CATALOGUE, check_patterns=refuse)


def test_missing_ids_are_generated() -> None:
    table = policy(rule(), rule(), rule(name=None), rule(name="Örtliche Regel!"))
    assert [each.id for each in Policy.from_dict(table).rules] == [
        "r",
        "r-2",
        "rule-3",
        "rtliche-regel",
    ]


@pytest.mark.parametrize("name", builtin_names())
def test_a_builtin_policy_is_complete(name: str) -> None:
    loaded = Policy.builtin(name)
    assert loaded.name == name
    assert loaded.description.endswith(".")
    assert Policy.from_dict(loaded.to_dict()) == loaded


def test_an_unknown_builtin_policy_names_the_nearest() -> None:
    with pytest.raises(PolicyError, match="did you mean 'pci-dss'"):
        Policy.builtin("pci")


def test_a_policy_has_a_size_limit() -> None:
    with pytest.raises(PolicyError, match="holds 1,001 rules; the limit is 1,000"):
        Policy.from_dict(policy(*[rule()] * 1_001))
    with pytest.raises(PolicyError, match="holds 10,001 exceptions; the limit is 10,000"):
        Policy.from_dict(policy(rule(exceptions=[exemption()] * 10_001)))


def test_recursive_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "name: p\nrules: []\ncustomPatterns: [&a {id: x, type: T, again: *a}]\n", encoding="utf-8"
    )
    with pytest.raises(PolicyError, match="is nested too deeply"):
        Policy.load(tmp_path / "a.yaml")


def test_a_time_of_day_in_an_expiry_date_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(TOML.replace("2027-12-31", "2027-12-31T10:00:00Z"), encoding="utf-8")
    assert Policy.load(path).rules[0].exceptions[0].expires == date(2027, 12, 31)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "p.toml",
            (
                'name = "p"\nnotes = """\nminScore = 2\n"""\n\n[[rules]]\naction = "MASKED"\n'
                'destinations = ["VENDOR"]\ndataTypes = ["PII"]\n\n[[rules]]\n[[rules.exceptions]]\n'
                'expires = "soon"\n'
            ),
        ),
        (
            "p.yaml",
            (
                "name: p\nnotes: |\n  minScore: 2\n\n\nrules:\n- action: MASKED\n  destinations: [VENDOR]\n"
                "  dataTypes: [PII]\n\n- \n  exceptions:\n  - expires: soon\n"
            ),
        ),
        (
            "p.json",
            (
                '{"name": "p",\n"notes":\n"minScore: 2",\n\n\n"rules": [{\n"action": "MASKED",\n'
                '"destinations": ["VENDOR"],\n"dataTypes": ["PII"]},\n\n\n{"exceptions": [{\n'
                '"expires": "soon"}]}]}\n'
            ),
        ),
    ],
)
def test_all_mistakes_of_a_file_are_listed_with_their_lines(
    tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(PolicyError) as error:
        Policy.load(path)
    problems = [problem.removeprefix(f"{name}:").partition(" ") for problem in error.value.problems]
    assert ("2:", "notes:") in [(line, rest.split()[0]) for line, _, rest in problems]
    found = {rest.split()[0]: int(line.rstrip(":")) for line, _, rest in problems}
    assert found["rules[0].action:"] == 7
    assert found["rules[1].exceptions[0].expires:"] == 13
    assert {"rules[1].action:", "rules[1].dataTypes:", "rules[1].destinations:"} <= set(found)
    assert "; ".join(error.value.problems) == error.value.message


def test_reading_stops_after_too_many_mistakes() -> None:
    with pytest.raises(PolicyError) as error:
        Policy.from_dict(policy(*[rule(action="MASKED")] * 1_000))
    assert len(error.value.problems) == 21
