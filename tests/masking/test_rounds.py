from __future__ import annotations

from collections.abc import Iterator

import pytest

from dlpctl.masking.rounds import (
    ROUNDS,
    Residue,
    Round,
    keeps_shape,
    mask_in_rounds,
    mask_until_clean,
)

NOTHING, FINDING, VALUE, UNKNOWN = Residue


@pytest.mark.parametrize(
    ("residues", "copies", "last"),
    [
        ([NOTHING], ["a"], NOTHING),
        ([FINDING, FINDING, NOTHING], ["a", "ab", "abc"], NOTHING),
        ([FINDING, VALUE, FINDING, NOTHING], ["a", "ab", "over", "a", "ab"], NOTHING),
        ([VALUE, VALUE], ["a", "over", "a"], VALUE),
        ([VALUE, UNKNOWN], ["a", "over", "a"], UNKNOWN),
        ([UNKNOWN], ["a"], UNKNOWN),
        ([FINDING] * ROUNDS, ["a", "ab", "abc", "abcd", "abcde", "abcdef"], FINDING),
    ],
)
def test_a_copy_is_masked_again_and_the_original_once_more(
    residues: list[Residue], copies: list[str], last: Residue
) -> None:
    made: list[str] = []
    remaining: Iterator[Residue] = iter(residues)

    def mask(copy: str | None, number: int) -> Round[str, None]:
        made.append((copy or "") + "abcdef"[number])
        return Round(made[-1], next(remaining), None)

    done = mask_until_clean(mask, lambda: made.append("over"))
    assert made == copies
    assert done == (copies[-1], last, None)
    assert not list(remaining)


def test_only_later_rounds_redact_whatever_the_policy_names() -> None:
    kept = [keeps_shape(number) for number in range(ROUNDS)]
    assert kept[0]
    assert not kept[-1]
    assert kept == sorted(kept, reverse=True)


def test_columns_do_not_start_over() -> None:
    assert mask_in_rounds(lambda *_: Round("", VALUE, None)) == ("", VALUE, None)
