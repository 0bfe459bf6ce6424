from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from dlpctl.detect.validators.secrets_examples import pem_key

EMAIL = "write to john.doe@example.com"
KEY = pem_key(Random(7))


@pytest.mark.parametrize(
    ("text", "status", "decision"),
    [
        ("nothing here", 0, "ALLOWED"),
        (EMAIL, 10, "ALLOWED_WITH_MASKING"),
        (KEY, 20, "BLOCKED"),
        ("", 0, "ALLOWED"),
    ],
)
def test_exit_status_and_decision(dlpctl, text, status, decision):
    Path("in.txt").write_text(text)
    for form in ("human", "json"):
        result = dlpctl("check", "in.txt", "-d", "VENDOR", "--format", form)
        assert result.status == status
        assert decision in result.out
    alone = dlpctl("check", "in.txt", "-d", "VENDOR", "--decision-only")
    assert (alone.status, alone.out) == (status, f"{decision}\n")


def test_plain_text_over_the_limit_is_blocked(dlpctl, piped, monkeypatch):
    monkeypatch.setenv("DLPCTL_LIMITS_INPUT_BYTES", "20")
    Path("in.txt").write_text("nothing here at all, but much")
    for more in ([], ["--decision-only"]):
        result = dlpctl("check", "in.txt", *more)
        assert (result.status, result.out[:7]) == (20, "BLOCKED")
    assert piped("check", "-", "--decision-only", stdin=b"x" * 21).returncode == 20
    assert piped("check", "-", "--decision-only", stdin=b"x" * 20).returncode == 0


def test_a_copy_on_stdout_is_refused(dlpctl):
    Path("in.txt").write_text(EMAIL)
    result = dlpctl("check", "in.txt", "-o", "-")
    assert result.status == 2
    assert "dlpctl mask" in result.err
    assert not Path("-").exists()


def test_quiet_checks_report_by_exit_status(dlpctl):
    for text, status in (("nothing here", 0), (EMAIL, 10), (KEY, 20)):
        Path("in.txt").write_text(text)
        for more in ([], ["--decision-only"], ["--format", "json"]):
            result = dlpctl("check", "in.txt", "-q", *more)
            assert (result.status, result.out) == (status, "")


def test_json_is_the_preflight_result_of_the_specification(dlpctl):
    Path("in.txt").write_text(f"{EMAIL} and a@example.org")
    answer = json.loads(dlpctl("check", "in.txt", "--format", "json").out)
    assert list(answer) == [
        "preflight_id",
        "decision",
        "summary",
        "detected",
        "masked_content",
        "policy_version",
        "created_at",
    ]
    assert answer["detected"] == [{"type": "EMAIL", "count": 2, "sample": "j***@example.com"}]
    assert answer["masked_content"] == "write to j***@example.com and ***@example.org"
    assert answer["policy_version"] == "1.0"
    assert answer["created_at"].endswith("Z")


def test_findings_have_positions_but_no_values(dlpctl):
    Path("in.txt").write_text(EMAIL)
    answer = json.loads(dlpctl("check", "in.txt", "--format", "json", "--findings").out)
    assert answer["findings"] == [
        {
            "type": "EMAIL",
            "category": "PII",
            "start": 9,
            "end": 29,
            "score": 0.9,
            "pattern_id": "email",
        }
    ]


def test_a_blocked_text_has_no_masked_content_and_no_sample_of_a_key(dlpctl):
    Path("in.txt").write_text(KEY)
    answer = json.loads(dlpctl("check", "in.txt", "--format", "json").out)
    assert answer["masked_content"] is None
    assert answer["detected"] == [{"type": "PRIVATE_KEY", "count": 1, "sample": None}]


def test_several_files_each_decided_and_the_worst_is_the_status(dlpctl):
    Path("a.txt").write_text("fine")
    Path("b.txt").write_text(EMAIL)
    result = dlpctl("check", "a.txt", "b.txt")
    assert result.status == 10
    assert len([line for line in result.out.splitlines() if line.startswith("ALLOWED")]) == 2
    answers = json.loads(dlpctl("check", "a.txt", "b.txt", "--format", "json").out)
    assert [(one["file"], one["decision"]) for one in answers] == [
        ("a.txt", "ALLOWED"),
        ("b.txt", "ALLOWED_WITH_MASKING"),
    ]
    assert dlpctl("check", "a.txt", "b.txt", "-o", "out.txt").status == 2


def test_human_output_lists_types_and_positions(dlpctl):
    Path("in.txt").write_text(f"first\n{EMAIL}\n")
    result = dlpctl("check", "in.txt", "-d", "VENDOR")
    assert "Masked 1 email; nothing blocked for VENDOR" in result.out
    assert "at 2:10" in result.out
    assert "john.doe" not in result.out


def test_the_masked_copy_is_written_to_the_given_file(dlpctl):
    Path("in.txt").write_text(EMAIL)
    dlpctl("check", "in.txt", "-o", "out.txt")
    assert Path("out.txt").read_text() == "write to j***@example.com"


def test_check_ignores_the_inline_marker(dlpctl):
    Path("in.txt").write_text(f"{EMAIL} dlpctl:allow")
    assert dlpctl("check", "in.txt").status == 10


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["in.txt", "-d", "VENDORS"], 2, "did you mean 'VENDOR'?"),
        (["in.txt", "-p", "missing.toml"], 2, "no such file"),
        (["missing.txt"], 1, "missing.txt: cannot be read"),
        (["."], 1, "is a directory"),
        (["in.txt", "--operator", "blur"], 2, "there is no masking operator 'blur'"),
    ],
)
def test_bad_input_is_a_one_line_error_with_advice(dlpctl, arguments, status, said):
    Path("in.txt").write_text(EMAIL)
    result = dlpctl("check", *arguments)
    assert result.out == ""
    assert said in result.err
    assert result.err.count("\n") == 1
    assert result.status == status
    as_json = dlpctl("check", *arguments, "--format", "json")
    assert said in json.loads(as_json.err)["detail"]


def test_a_policy_file_decides(dlpctl):
    Path("in.txt").write_text(EMAIL)
    Path("strict.toml").write_text(
        'name = "strict"\n[[rules]]\nname = "no mail"\ndataTypes = ["EMAIL"]\ndestinations = ["VENDOR"]\naction = "BLOCK"\n'
    )
    assert dlpctl("check", "in.txt", "-p", "strict.toml", "-d", "VENDOR").status == 20
    assert dlpctl("check", "in.txt", "-p", "strict.toml", "-d", "CUSTOMER").status == 0


def test_a_policy_can_have_its_own_patterns(dlpctl):
    Path("in.txt").write_text("badge AC-12345678")
    Path("own.toml").write_text(
        'name = "own"\n[[rules]]\nname = "badges"\ndataTypes = ["BADGE"]\ndestinations = ["VENDOR"]\naction = "MASK"\n'
        '[[customPatterns]]\nid = "badge"\ntype = "BADGE"\ncategory = "CUSTOM"\nlabel = "Badge"\n'
        "regex = '''\\bAC-[0-9]{8}\\b'''\nscore = 0.9\n"
    )
    result = dlpctl("check", "in.txt", "-p", "own.toml", "-d", "VENDOR", "--format", "json")
    assert result.status == 10
    assert "12345678" not in result.out


def test_rules_that_count_apply_to_the_complete_text(dlpctl):
    Path("in.txt").write_text(
        "".join(f"person{number}@example.com {'filler ' * 20_000}\n" for number in range(12))
    )
    Path("bulk.toml").write_text(
        'name = "bulk"\n[[rules]]\nname = "bulk"\ndataTypes = ["EMAIL"]\ndestinations = ["VENDOR"]\naction = "BLOCK"\nminCount = 10\n'
    )
    assert dlpctl("check", "in.txt", "-p", "bulk.toml", "-d", "VENDOR").status == 20
    assert (
        dlpctl("check", "in.txt", "-p", "bulk.toml", "-d", "VENDOR", "--decision-only").status == 20
    )


def test_an_unreadable_file_does_not_stop_the_check_of_others(dlpctl):
    Path("b.txt").write_text("mail jane.doe@example.com", encoding="utf-8")
    result = dlpctl("check", "gone.txt", "b.txt", "my own words", "-d", "VENDOR")
    assert result.status == 1
    assert "b.txt" in result.out
    assert "ALLOWED_WITH_MASKING" in result.out
    assert "gone.txt: cannot be read" in result.err
    assert "my own words: cannot be read" in result.err
    assert "; pass a text on stdin: echo TEXT | dlpctl mask\n" in result.err


def test_people_see_masked_lines_with_carets(dlpctl):
    Path("in.txt").write_text("Dear all,\nwrite to john.doe@example.com, SSN 219-09-9998\n")
    lines = dlpctl("check", "in.txt").out.splitlines()
    at = lines.index("  in.txt:2:10")
    assert lines[at + 1 :] == [
        "    write to j***@example.com, SSN ***-**-9998",
        "             ^^^^^^^^^^^^^^^^      ^^^^^^^^^^^",
        "  masked copy: not written; -o FILE writes it",
    ]
    assert "john" not in "\n".join(lines)
    assert dlpctl("check", "in.txt", "-o", "out.txt").out.endswith("  masked copy: out.txt\n")
