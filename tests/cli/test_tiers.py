"""The sensitivity of each use, and the line about values that were left out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

TRIED = {
    "password": "DB_PASS=greenhouse\n",
    "quoted password": 'password: "sunflower"\n',
    "password with a sign": "pw = gr$enhouse\n",
    "number of an advertisement": "SSN: 987-65-4320\n",
    "number that is never given": "SSN: 123-00-6789\n",
    "mistyped card": "card number 4111 1111 1111 1112\n",
    "example of a key": f"AKIA{'IOSFODNN7'}EXAMPLE\n",
    "counted key": f"token: {'ghp_'}abcdefghijklmnopqrstuvwxyz0123456789\n",
    "short key": f"{'sk-'}1234567890abcdef\n",
    "counted secret": "api key: abcdef123456\n",
    "invented account": "my iban is DE00 1234 5678 9012 3456 78\n",
    "counted phone": "my phone number is 123-456-7890\n",
}
NOTE = "possible finding below the threshold: --sensitivity high"
POSSIBLE = ("number that is never given", "mistyped card")
INVENTED = tuple(TRIED)[6:]


@pytest.mark.parametrize("text", TRIED.values(), ids=TRIED)
def test_prompts_are_masked_even_for_possible_values(dlpctl, text):
    Path("prompt.txt").write_text(text)
    result = dlpctl("mask", "prompt.txt")
    assert result.status == 0
    assert result.out != text
    assert result.err == ""


@pytest.mark.parametrize("name", POSSIBLE)
def test_scan_and_check_report_how_many_values_they_left_out(dlpctl, name):
    Path("a.txt").write_text(TRIED[name])
    assert f"\n1 {NOTE}\n" in dlpctl("scan", "a.txt").out
    assert f"  1 {NOTE}\n" in dlpctl("check", "a.txt").out
    assert json.loads(dlpctl("scan", "a.txt", "-f", "json").out)["summary"]["possible"] == 1
    assert NOTE in dlpctl("mask", "a.txt", "--destination", "VENDOR").err
    high = dlpctl("scan", "a.txt", "--sensitivity", "high")
    assert high.status == 10
    assert NOTE not in high.out


def test_invented_values_are_possible(dlpctl):
    Path("a.txt").write_text("".join(f"{TRIED[name]}\n" for name in INVENTED))
    assert (
        f"  {len(INVENTED)} {NOTE.replace('finding', 'findings')}\n" in dlpctl("check", "a.txt").out
    )


def test_a_policy_file_sets_its_sensitivity(dlpctl):
    rule = 'dataTypes = ["PII"]\ndestinations = ["AI_TOOL"]\naction = "MASK"\n'
    Path("own.toml").write_text(f'name = "own"\n[[rules]]\n{rule}')
    Path("a.txt").write_text(TRIED[POSSIBLE[0]])
    result = dlpctl("mask", "a.txt", "--policy", "own.toml")
    assert result.out == TRIED[POSSIBLE[0]]
    assert NOTE in result.err


def test_the_hook_stops_only_for_likely_secrets(dlpctl):
    subprocess.run(["git", "init", "-q"], check=True)
    Path("a.txt").write_text("ada@acme.io / K9!abqx371\n")
    subprocess.run(["git", "add", "a.txt"], check=True)
    result = dlpctl("hook", "run")
    assert result.status == 0
    assert f"1 {NOTE}" in result.out
    assert dlpctl("scan", "a.txt", "--types", "SECRETS").status == 20
    Path("dlpctl.toml").write_text('sensitivity = "balanced"\n')
    assert dlpctl("hook", "run").status == 20


def test_many_files_are_counted_in_part(dlpctl):
    for number in range(70):
        Path(f"{number:02}.txt").write_text(TRIED[POSSIBLE[0]])
    assert f"at least 64 {NOTE.replace('finding', 'findings')}" in dlpctl("scan", ".").out
    for jobs in "12":
        answer = dlpctl("scan", ".", "-f", "json", "--jobs", jobs).out
        assert json.loads(answer)["summary"]["possible"] is None
