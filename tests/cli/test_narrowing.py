"""The types that `scan` searches for: by flags, or else by settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TEXT = "mail jane.roe@acme-corp.com, card 4111 1111 1111 1111, 219-09-9999\n"


@pytest.fixture(autouse=True)
def _tree(_own_home):
    Path("a.txt").write_text(TEXT)


def scores(dlpctl, *arguments: str) -> dict[str, float]:
    findings = json.loads(dlpctl("scan", "a.txt", "-f", "json", *arguments).out)["findings"]
    return {one["type"]: one["score"] for one in findings}


def types(dlpctl, *arguments: str) -> set[str]:
    return {*scores(dlpctl, *arguments)}


@pytest.mark.parametrize(
    ("settings", "arguments", "expected"),
    [
        ("", [], {"EMAIL", "CREDIT_CARD", "SSN"}),
        ('types = ["EMAIL", "ssn"]', [], {"EMAIL", "SSN"}),
        ('types = ["EMAIL"]', ["--types", "SSN"], {"SSN"}),
        ("types = []", [], {"EMAIL", "CREDIT_CARD", "SSN"}),
        ('policy = "pci-dss"', [], {"CREDIT_CARD"}),
        ('policy = "pci-dss"', ["--policy", "default"], {"EMAIL", "CREDIT_CARD", "SSN"}),
        ('policy = "default"\ntypes = ["SSN", "SECRETS"]', [], {"SSN"}),
        ("min_score = 1.0", ["--min-score", "0.5"], {"EMAIL", "CREDIT_CARD", "SSN"}),
    ],
)
def test_flags_override_settings(dlpctl, settings, arguments, expected):
    Path("dlpctl.toml").write_text(settings)
    assert types(dlpctl, *arguments) == expected


@pytest.mark.parametrize("policy", ["", 'policy = "default"\n'])
def test_the_lowest_score_is_a_setting(dlpctl, policy):
    scored = scores(dlpctl)
    lowest, highest = min(scored.values()), max(scored.values())
    assert lowest < highest
    Path("dlpctl.toml").write_text(f"{policy}min_score = {highest}")
    assert types(dlpctl) == {name for name, score in scored.items() if score == highest}


def test_the_report_names_the_limits_of_the_search(dlpctl):
    Path("dlpctl.toml").write_text('types = ["SECRETS"]\npolicy = "default"\n')
    result = dlpctl("scan", "a.txt")
    assert result.status == 0
    assert "searched only for SECRETS; what the policy default masks or blocks\n" in result.out


def test_the_environment_overrides_the_project(dlpctl, monkeypatch):
    Path("dlpctl.toml").write_text('types = ["SECRETS"]\n')
    monkeypatch.setenv("DLPCTL_TYPES", "EMAIL, SSN")
    assert types(dlpctl) == {"EMAIL", "SSN"}


@pytest.mark.parametrize(
    ("settings", "arguments", "said"),
    [
        ('types = ["MAIL"]', [], "dlpctl.toml: types: 'MAIL' is not a category"),
        ('types = "EMAIL"', [], "dlpctl.toml:1: types: must be a list"),
        ('policy = "secrets-only"', ["--types", "EMAIL"], "nothing to look for"),
        ('policy = "nowhere.toml"', [], "nowhere.toml"),
    ],
)
def test_contradictory_options_are_an_error(dlpctl, settings, arguments, said):
    Path("dlpctl.toml").write_text(settings)
    result = dlpctl("scan", "a.txt", *arguments)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert said in result.err


def test_a_baseline_accepts_what_a_scan_finds(dlpctl):
    Path("dlpctl.toml").write_text('types = ["EMAIL"]\n')
    assert "1 exception (1 EMAIL)" in dlpctl("baseline", "create").out
    Path("dlpctl.toml").unlink()
    assert types(dlpctl) == {"CREDIT_CARD", "SSN"}
    Path("dlpctl.toml").write_text('types = ["SSN"]\n')
    assert "0 removed" in dlpctl("baseline", "prune", "--unused").out
