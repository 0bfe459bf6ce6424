"""Findings as columns of numbers."""

from __future__ import annotations

import random

from dlpctl.detect.packed import PackedFindings
from dlpctl.types import Category, Finding

SORTS = ["EMAIL", "PHONE", "IBAN"]


def finding(start, end, score=0.5, sort="EMAIL"):
    return Finding(sort, Category.PII, start, end, score, f"{sort.lower()}-1")


def packed(findings):
    found = PackedFindings(lambda pattern: finding(0, 1, sort=SORTS[pattern]), 1_000)
    for one in findings:
        found.append(one.start, one.end, one.score, SORTS.index(one.type))
    return found


def merged(mine, others):
    together, replaced = mine.with_others(others)
    return list(together), replaced


def in_order(findings):
    return sorted(findings, key=lambda one: (one.start, -one.score))


def test_others_are_put_in_their_places():
    found = packed([finding(0, 3), finding(10, 12, sort="PHONE")])
    others = [finding(4, 6, sort="IBAN"), finding(12, 14), finding(20, 21, sort="NAME")]
    assert merged(found, others)[0] == [
        finding(0, 3),
        finding(4, 6, sort="IBAN"),
        finding(10, 12, sort="PHONE"),
        finding(12, 14),
        finding(20, 21, sort="NAME"),
    ]


def test_the_better_score_of_a_finding_counts():
    found = packed([finding(0, 3, 0.5), finding(5, 8, 0.9)])
    others = [finding(0, 3, 0.7), finding(5, 8, 0.6)]
    assert merged(found, others) == ([finding(0, 3, 0.7), finding(5, 8, 0.9)], [])


def test_of_findings_that_overlap_the_surest_and_then_the_longest_is_kept():
    found = packed([finding(0, 3), finding(4, 9, 0.9), finding(20, 22)])
    others = [
        finding(1, 2, 0.4),  # within a surer one
        finding(4, 9, sort="PHONE"),  # the same place
        finding(19, 25, sort="IBAN"),  # longer
        finding(20, 22, 0.4),
        finding(30, 33, sort="PHONE"),
        finding(30, 33),  # no better than the one before
    ]
    kept = [
        finding(0, 3),
        finding(4, 9, 0.9),
        finding(19, 25, sort="IBAN"),
        finding(30, 33, sort="PHONE"),
    ]
    assert merged(found, others) == (kept, [])


def test_a_finding_that_surer_ones_replace_is_returned_if_it_spans_them():
    cells = [finding(0, 4, 0.9), finding(5, 8, 0.8)]
    across = finding(0, 9, 0.6, "IBAN")
    assert merged(packed([across, finding(20, 22)]), cells) == ([*cells, finding(20, 22)], [across])
    assert packed([finding(0, 7, 0.6), finding(20, 22)]).with_others(cells) is None


def test_random_findings_are_merged_as_their_sorted_union():
    chance = random.Random(3)
    for _ in range(300):
        cells = [(10 * number, 10 * number + 5) for number in range(20)]
        mine = [
            finding(*cell, 0.5, chance.choice(SORTS)) for cell in cells if chance.random() < 0.5
        ]
        taken = {one.start for one in mine}
        more = [finding(*cell, 0.6) for cell in cells if cell[0] not in taken]
        more = [one for one in more if chance.random() < 0.5]
        assert merged(packed(mine), more) == (in_order([*mine, *more]), [])


def test_any_findings_can_be_packed():
    findings = [finding(0, 3), finding(4, 6, 0.7, "NAME"), finding(9, 12, 0.7, "PHONE")]
    found = PackedFindings.of(findings, 20)
    assert list(found) == found[:] == findings
    assert [found[at] for at in range(3)] == findings
    moved = [one._replace(start=one.start - 4, end=one.end - 4) for one in findings[1:]]
    assert list(found.between(1, 3, 4)) == moved


def test_packed_findings_of_a_child_are_added():
    found, others = (
        packed([finding(0, 3, 0.7)]),
        packed([finding(1, 4), finding(6, 8, sort="IBAN")]),
    )
    found.add_bytes(others.to_bytes())
    found.move(1, 10)
    expected = [finding(0, 3, 0.7), finding(11, 14), finding(16, 18, sort="IBAN")]
    assert list(found) == expected
    elsewhere = PackedFindings.of([finding(0, 2, sort="NAME")], 1 << 40)
    elsewhere.extend(found, 1 << 33)
    moved = [one._replace(start=one.start + (1 << 33), end=one.end + (1 << 33)) for one in expected]
    assert list(elsewhere) == [finding(0, 2, sort="NAME"), *moved]
    assert (found.starts.itemsize, found.sorts.itemsize) == (4, 1)


def test_more_sorts_of_findings_than_a_byte_counts():
    findings = [finding(2 * at, 2 * at + 1, at / 1_000) for at in range(300)]
    found = packed(findings[:200])
    found.add_bytes(packed(findings[200:]).to_bytes())
    assert list(found) == findings
    found.replace(0, 10, packed(findings[:10]))
    assert list(found) == findings
    assert merged(packed(findings[:250]), findings[250:]) == (findings, [])


def test_an_end_of_two_blocks_is_replaced():
    found = packed([finding(0, 3), finding(5, 8), finding(9, 11)])
    found.replace(1, 2, packed([finding(4, 5, 0.9, "PHONE"), finding(6, 7, sort="IBAN")]))
    assert [(one.start, one.type, one.score) for one in found] == [
        (0, "EMAIL", 0.5), (4, "PHONE", 0.9), (6, "IBAN", 0.5), (9, "EMAIL", 0.5)
    ]  # fmt: skip
