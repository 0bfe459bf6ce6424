from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlpctl.config.locations import EXCEPTIONS_FILE
from dlpctl.errors import BaselineError
from dlpctl.scan.baseline import KEY_VARIABLE, Acceptance, Baseline, Entry, expiry, merged_by_union
from dlpctl.scan.results import Result
from dlpctl.types import Category
from dlpctl.values import fingerprint

TODAY = date(2026, 6, 1)
SECRET_KEY = "ab" * 32


def entry(baseline: Baseline, value: str, **fields: object) -> Entry:
    made = Entry(named(baseline, value), "EMAIL", "jane", date(2026, 12, 31), "test data")
    return made._replace(**fields)


def named(baseline: Baseline, value: str) -> str:
    return " ".join(fingerprint(key, "EMAIL", value, Category.PII) for key in baseline.keys)


def result(baseline: Baseline, value: str, path: str = "a.txt", type_name: str = "EMAIL") -> Result:
    return Result(
        path,
        1,
        1,
        1,
        9,
        0,
        8,
        type_name,
        "PII",
        0.9,
        "email",
        "E-mail",
        None,
        "",
        named(baseline, value),
    )


def begun(folder: Path, **environ: str) -> Baseline:
    return Baseline.start(folder / EXCEPTIONS_FILE, environ)


def test_a_baseline_is_unchanged_after_writing_and_reading(tmp_path: Path) -> None:
    baseline = begun(tmp_path)
    entries = [entry(baseline, f"person{number}@example.com") for number in range(20)]
    entries.append(
        entry(baseline, "x@example.com", path="docs/a b/*", reason='says "no"\n\t\\', expires=None)
    )
    baseline = baseline.with_entries(entries)
    baseline.save()
    written = baseline.file.read_text()
    again = Baseline.load(baseline.file, {})
    assert again == baseline
    again.with_entries(reversed(again.entries)).save()
    assert baseline.file.read_text() == written
    lines = [
        line for line in written.splitlines() if line[0] != "#" and not line.startswith("salt")
    ]
    assert lines == sorted(lines)
    assert len(lines) == 21
    assert "example.com" not in written


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, owner: str, reason: str
) -> None:
    baseline = begun(tmp_path_factory.mktemp("any"))
    baseline = baseline.with_entries([entry(baseline, "a@example.com", owner=owner, reason=reason)])
    if any("\ud800" <= character <= "\udfff" for character in owner + reason):
        return
    baseline.save()
    assert Baseline.load(baseline.file, {}) == baseline


def test_an_exception_applies_only_to_its_value_and_type(tmp_path: Path) -> None:
    baseline = begun(tmp_path)
    baseline = baseline.with_entries([entry(baseline, "jane@example.com")])
    acceptance = Acceptance(baseline, TODAY)
    assert acceptance.accepts(result(baseline, "JANE@example.com", "elsewhere/b.txt"))
    assert not acceptance.accepts(result(baseline, "john@example.com"))
    assert not acceptance.accepts(result(baseline, "jane@example.com", type_name="USERNAME"))
    other = begun(tmp_path)
    assert not acceptance.accepts(result(other, "jane@example.com"))
    assert acceptance.remarks() == []


def test_findings_of_expired_exceptions_count_again_and_are_named(tmp_path: Path) -> None:
    baseline = begun(tmp_path)
    old = entry(baseline, "jane@example.com", expires=date(2026, 5, 31))
    last_day = entry(baseline, "john@example.com", expires=TODAY)
    baseline = baseline.with_entries([old, last_day])
    acceptance = Acceptance(baseline, TODAY)
    assert not acceptance.accepts(result(baseline, "jane@example.com"))
    assert not acceptance.accepts(result(baseline, "jane@example.com"))
    assert acceptance.accepts(result(baseline, "john@example.com"))
    (note,) = acceptance.remarks()
    assert old.fingerprint[:12] in note
    assert "of jane for EMAIL expired on 2026-05-31: 2 findings count again" in note


def test_an_exception_may_be_bound_to_paths_and_a_destination(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline = begun(tmp_path)
    baseline = baseline.with_entries(
        [
            entry(baseline, "a@example.com", path="tests/*"),
            entry(baseline, "b@example.com", destination="VENDOR"),
        ]
    )
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path / "tests")
    for path, destination, value, accepted in (
        ("tests/deep/x.txt", None, "a@example.com", True),
        ("../tests/x.txt", None, "a@example.com", True),
        (str(tmp_path / "tests" / "x.txt"), None, "a@example.com", True),
        ("../src/x.txt", None, "a@example.com", False),
        ("x.txt", "VENDOR", "b@example.com", True),
        ("x.txt", "AI_TOOL", "b@example.com", False),
        ("x.txt", None, "b@example.com", False),
    ):
        found = result(baseline, value, path)
        assert Acceptance(baseline, TODAY, destination).accepts(found) is accepted, (
            path,
            destination,
        )


def test_with_a_separate_key_the_file_alone_is_useless(tmp_path: Path) -> None:
    baseline = begun(tmp_path, **{KEY_VARIABLE: SECRET_KEY})
    baseline = baseline.with_entries([entry(baseline, "a@example.com")])
    baseline.save()
    assert SECRET_KEY not in baseline.file.read_text()
    assert Acceptance(Baseline.load(baseline.file, {KEY_VARIABLE: SECRET_KEY}), TODAY).accepts(
        result(baseline, "a@example.com")
    )
    with pytest.raises(BaselineError, match=f"set {KEY_VARIABLE}"):
        Baseline.load(baseline.file, {})
    with pytest.raises(BaselineError, match="must be 32 bytes"):
        Baseline.load(baseline.file, {KEY_VARIABLE: "short"})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense EMAIL owner=a", ":2: must start with a fingerprint"),
        ("{f}", ":2: must start with a fingerprint"),
        ("{f} EMAIL owner=a reason=b", ":2: expires is missing"),
        ("{f} EMAIL owner=a expires=tomorrow reason=b", ":2: expires is neither"),
        ("{f} EMAIL owner=a expires=never reasn=b", "did you mean 'reason'?"),
        ("{f} EMAIL owner=a owner=b", "owner occurs twice"),
        ("{f} EMAIL owner=a expires=never reason=b destination=VENDORS", "did you mean 'VENDOR'?"),
        ('{f} EMAIL owner="a', "must continue with fields"),
        ('{f} EMAIL owner="\\q" expires=never reason=b', "a backslash"),
        ("<<<<<<< ours", "merge conflict"),
        ("salt 00", "the salt must be 32 bytes"),
    ],
)
def test_mistakes_are_reported_with_their_line(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / EXCEPTIONS_FILE
    file.write_text(f"salt {'0' * 64}\n{line.format(f='0' * 32)}\n")
    with pytest.raises(BaselineError) as raised:
        Baseline.load(file, {})
    assert said in raised.value.message
    assert EXCEPTIONS_FILE in raised.value.message


def test_days_of_expiry() -> None:
    assert expiry("90d", TODAY) == date(2026, 8, 30)
    assert expiry("2027-01-31", TODAY) == date(2027, 1, 31)
    assert expiry("never", TODAY) is None
    for wrong in ("soon", "d", "-", "99999999999d", "2027-13-01"):
        with pytest.raises(ValueError, match="neither"):
            expiry(wrong, TODAY)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [
            "git",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "commit.gpgsign=false",
            *arguments,
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout


def commit_with(folder: Path, *values: str) -> None:
    file = folder / EXCEPTIONS_FILE
    baseline = Baseline.load(file, {}) if file.exists() else Baseline.start(file, {})
    added = [
        entry(baseline, value, fingerprint=named(baseline, value).split()[0]) for value in values
    ]
    baseline.with_entries([*baseline.entries, *added]).save()
    merged_by_union(file)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "exceptions")


@pytest.mark.parametrize(
    "before", [(), ("one@example.com",), tuple(f"{n}@example.com" for n in range(40))]
)
def test_branches_that_both_add_lines_merge(tmp_path: Path, before: tuple[str, ...]) -> None:
    git(tmp_path, "init", "-qb", "main")
    (tmp_path / ".gitattributes").write_text("*.png binary")
    if before:
        commit_with(tmp_path, *before)
    else:
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", "begin")
    for branch, mine in (("ours", "left"), ("theirs", "right")):
        git(tmp_path, "switch", "-qc", branch, "main")
        commit_with(
            tmp_path, "both@example.com", *(f"{mine}{number}@example.com" for number in range(5))
        )
    git(tmp_path, "merge", "-q", "ours")
    merged = Baseline.load(tmp_path / EXCEPTIONS_FILE, {})
    acceptance = Acceptance(merged, TODAY)
    sides = [f"{side}{number}@example.com" for side in ("left", "right") for number in range(5)]
    for value in (*before, "both@example.com", *sides):
        assert acceptance.accepts(result(merged, value)), value
    assert (
        tmp_path / ".gitattributes"
    ).read_text() == f"*.png binary\n{EXCEPTIONS_FILE} merge=union\n"
    merged.save()
    assert Baseline.load(tmp_path / EXCEPTIONS_FILE, {}) == merged
