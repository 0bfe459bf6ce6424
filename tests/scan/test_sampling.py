"""A sample has the mix of the tree, and its intervals contain the true number as often as they
claim.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlpctl.scan.content import Examiner
from dlpctl.scan.results import Result, Skip, Why
from dlpctl.scan.sampling import Sample, interval
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File


def drawn(share: float, seed: str, names: list[str]) -> list[str]:
    sample = Sample(share, seed)
    return [name for name in names if sample.draws(File(name, name, 1))]


@given(
    share=st.floats(0.01, 1.0),
    sizes=st.dictionaries(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["txt", "csv", ""])),
        st.integers(0, 300),
    ),
    seed=st.text(max_size=3),
)
def test_each_folder_and_format_has_its_share(
    share: float, sizes: dict[tuple[str, str], int], seed: str
) -> None:
    names = [
        f"{folder}/{number}.{suffix}" if suffix else f"{folder}/{number}"
        for (folder, suffix), size in sizes.items()
        for number in range(size)
    ]
    Random(1).shuffle(names)
    chosen = drawn(share, seed, names)
    for (folder, suffix), size in sizes.items():
        own = [
            name
            for name in chosen
            if name.startswith(f"{folder}/")
            and name.rpartition(".")[2 if "." in name else 0] == suffix
        ]
        assert abs(len(own) - share * size) < 2
    assert chosen == drawn(share, seed, names)


def test_another_seed_draws_others_and_all_is_all() -> None:
    names = [f"{number}.txt" for number in range(1000)]
    assert drawn(0.05, "1", names) != drawn(0.05, "2", names)
    assert len(drawn(0.05, "1", names)) == 50
    assert drawn(1.0, "1", names) == names


@pytest.mark.parametrize(("total", "size"), [(20, 7), (31, 30), (12, 12)])
def test_intervals_are_exact(total: int, size: int) -> None:
    def below(marked: int, count: int) -> Fraction:
        ways = sum(comb(marked, k) * comb(total - marked, size - k) for k in range(count + 1))
        return Fraction(ways, comb(total, size))

    for count in range(size + 1):
        possible = [
            marked
            for marked in range(count, total - size + count + 1)
            if below(marked, count) > Fraction(1, 40)
            and 1 - (below(marked, count - 1) if count else 0) > Fraction(1, 40)
        ]
        assert interval(total, size, count) == (possible[0], possible[-1])


def test_intervals_of_large_samples() -> None:
    low, high = interval(10_000_000, 500_000, 1_000)
    assert 18_500 < low < 20_000 < high < 21_500
    assert interval(10_000_000, 500_000, 0)[0] == 0
    assert 60 < interval(10_000_000, 500_000, 0)[1] < 90
    assert interval(10, 0, 0) == (0, 10)
    assert interval(1_000_000, 400_000, 400_000)[0] > 999_980


def test_a_scan_of_a_sample_reports_coverage(
    examiner: Examiner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(200):
        Path(f"{number:03}.txt").write_text(
            "AC-12345678 AC-12345678\n" if number % 4 == 0 else "x\n"
        )
    one = Scan(examiner, Selection(), jobs=2, sample=Sample(0.25, "7"))
    found = list(one.files(["."]))
    summary = one.summary
    assert summary.files == 50
    assert summary.skipped == {Why.SAMPLED: 150}
    assert {each.why for each in found if isinstance(each, Skip)} == {Why.SAMPLED}
    with_findings = len({each.path for each in found if isinstance(each, Result)})
    assert summary.sample is not None
    assert (summary.sample["listed"], summary.sample["read"]) == (200, 50)
    estimate = summary.sample["types"]["BADGE"]
    assert estimate["read"] == with_findings
    assert estimate["low"] <= 50 <= estimate["high"]
    assert summary.is_complete
    assert summary.remarks[0] == "A sample was scanned: 50 of 200 files (25 %), seed 7."
