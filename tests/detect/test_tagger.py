"""The packed file, and the sums over all ways to label a text, compared with a plain
implementation.
"""

from __future__ import annotations

import itertools
from math import exp
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.detect.entities.crf.chain import Chain
from dlpctl.detect.entities.crf.crosses import class_codes, key_codes, triple_codes
from dlpctl.detect.entities.crf.model import (
    FORBIDDEN,
    LABELS,
    LANE,
    SCALE,
    SLOT,
    SLOTS,
    Model,
    pack,
)
from dlpctl.detect.entities.crf.sequence import Sequencer
from dlpctl.detect.entities.crf.words import GIVEN, SURNAME, TOKEN, shape

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("Aab", "Bbc", "Ccd")
Weights = dict[str, list[int]]


def load(
    folder: Path, weights: Weights, transitions: list[list[int]], gazetteer: dict[str, int]
) -> Model:
    """A model in which words have weights for their own labels and nothing else has any."""
    packed = pack(
        {crc32(word.encode()): flags for word, flags in gazetteer.items()},
        {
            crc32(f"w:{word.lower()}".encode()): list(enumerate(values))
            for word, values in weights.items()
        },
        transitions,
    )
    path = folder / "tagger.bin"
    path.write_bytes(packed)
    return Model.load(path)


def plain(weights: Weights, transitions: list[list[int]]) -> list[list[float]]:
    """The probabilities of the labels of WORDS, summed over every sequence of labels; the tokens
    around are outside.
    """
    sums = [[0.0] * len(LABELS) for _ in WORDS]
    for labels in itertools.product(range(len(LABELS)), repeat=len(WORDS)):
        steps = [transitions[a][b] for a, b in itertools.pairwise((0, *labels, 0))]
        if FORBIDDEN in steps:
            continue
        score = exp(
            (
                sum(steps)
                + sum(weights[word][label] for word, label in zip(WORDS, labels, strict=True))
            )
            / SCALE
        )
        for place, label in enumerate(labels):
            sums[place][label] += score
    return [[value / sum(row) for value in row] for row in sums]


values = st.integers(-60, 60)
moves = st.lists(st.lists(values, min_size=7, max_size=7), min_size=7, max_size=7)


def without_forbidden(transitions: list[list[int]]) -> list[list[int]]:
    return [
        [
            FORBIDDEN
            if LABELS[after][0] == "I" and LABELS[before][-1] != LABELS[after][-1]
            else value
            for after, value in enumerate(row)
        ]
        for before, row in enumerate(transitions)
    ]


@settings(max_examples=40, deadline=None)
@given(
    scores=st.lists(st.lists(values, min_size=7, max_size=7), min_size=3, max_size=3),
    transitions=moves,
)
def test_probabilities_are_those_of_all_sequences(
    scores: list[list[int]], transitions: list[list[int]]
) -> None:
    transitions = without_forbidden(transitions)
    chances: dict[int, list[float]] = {}
    run = list(range(len(WORDS)))
    Chain(transitions, [0] * len(LABELS)).marginals(
        run, [tuple(row) for row in scores], True, chances
    )
    for place, row in enumerate(plain(dict(zip(WORDS, scores, strict=True)), transitions)):
        if place in chances:
            assert chances[place] == pytest.approx(row, abs=0.01)
        else:
            assert row[0] > 0.8


@settings(max_examples=40, deadline=None)
@given(
    weights=st.fixed_dictionaries(
        {word: st.lists(st.integers(-120, 120), min_size=7, max_size=7) for word in WORDS}
    ),
    transitions=st.lists(
        st.lists(st.integers(-12, 12), min_size=7, max_size=7), min_size=7, max_size=7
    ),
)
def test_skipped_tokens_are_outside(
    tmp_path_factory: pytest.TempPathFactory, weights: Weights, transitions: list[list[int]]
) -> None:
    """Skipped words hardly count if ending an entity has a cost, continuing one gains nothing, and
    no word requires another before it.

    An entity on one side of a word may continue over the word and is not followed there: a place or
    a group where the outside is `exp(1)` times as likely, a person `exp(3)` times, an address
    `exp(8)` times; the same is true for the other side. An entity within skipped words has a
    probability of at most `exp(-130 / SCALE)`.
    """
    for row in weights.values():
        row[2], row[4] = min(row[1:3]), min(row[3:5])
    costs = [[0 if before in (0, after) else -150 for after in range(7)] for before in range(7)]
    costs[1][2] = costs[3][4] = 0
    transitions = without_forbidden(
        [
            [value + cost for value, cost in zip(*rows, strict=True)]
            for rows in zip(transitions, costs, strict=True)
        ]
    )
    for before, after in ((1, 1), (1, 2), (2, 2), (3, 3), (3, 4), (4, 4), (5, 5), (6, 6)):
        transitions[before][after] = min(transitions[before][after], transitions[0][0])
    onward, alone = exp(-1) + exp(-3) + exp(-8), 4 * exp(-130 / SCALE)
    reach = 1 + onward + onward**2  # over one word, and over two
    missed = 1 - 1 / (reach**2 + alone)  # from both sides, each with each
    model = load(tmp_path_factory.mktemp("model"), weights, transitions, {})
    text = " ".join(WORDS)
    (tagged,) = Sequencer(model).tag(text, [(0, len(text))])
    for place, row in enumerate(plain(weights, transitions)):
        if place in tagged.chances:
            assert tagged.chances[place] == pytest.approx(row, abs=missed)
        else:
            assert row[0] > 1 - missed


def test_a_region_is_tagged_alike_at_any_position(tmp_path: Path) -> None:
    weights = {"Aab": [0, 90, 0, 0, 0, 0, 0], "Bbc": [0, 0, 90, 0, 0, 0, 0]}
    costs = [
        [-150 if before and before != after else 0 for after in range(7)] for before in range(7)
    ]
    costs[1][2] = 0
    sequencer = Sequencer(load(tmp_path, weights, without_forbidden(costs), {}))
    text = "Aab Bbc\nxyz\nAab Bbc"
    regions = [(0, 7), (12, 19)]
    first, second = sequencer.tag(text, regions)
    again = sequencer.tag(text, regions)
    assert first.chances
    assert first.chances == second.chances == again[0].chances == again[1].chances
    assert [match.start() for match in again[1].matches] == [12, 16]


@settings(max_examples=40, deadline=None)
@given(
    scores=st.lists(st.lists(values, min_size=7, max_size=7), min_size=3, max_size=3),
    transitions=moves,
)
def test_labels_of_addresses_are_left_out_where_they_are_out_of_reach(
    scores: list[list[int]], transitions: list[list[int]]
) -> None:
    out_of_reach = [
        [-600 if LABELS[place][-2:] == "-A" else value for place, value in enumerate(row)]
        for row in scores
    ]
    transitions = without_forbidden(transitions)
    chances: dict[int, list[float]] = {}
    run = list(range(len(WORDS)))
    Chain(transitions, [0] * len(LABELS)).marginals(
        run, [tuple(row) for row in out_of_reach], False, chances
    )
    expected = plain(dict(zip(WORDS, out_of_reach, strict=True)), transitions)
    for place, row in enumerate(expected):
        if place in chances:
            assert chances[place] == pytest.approx(row, abs=0.01)
        else:
            assert row[0] > 0.8


def test_the_gazetteer_takes_the_first_key_it_knows(tmp_path: Path) -> None:
    rules = [[0] * len(LABELS) for _ in LABELS]
    model = load(tmp_path, {}, rules, {"oneill": 3 << SURNAME, "neill": 1 << GIVEN})
    assert model.flags(["oneill", "neill"]) == 3 << SURNAME
    assert model.flags(["unknown", "neill"]) == 1 << GIVEN
    assert model.flags(["unknown"]) == 0


def test_a_vote_of_each_slot_is_kept_apart(tmp_path: Path) -> None:
    rules = [[0] * len(LABELS) for _ in LABELS]
    place = SLOTS.index("+1") * len(LABELS) + 2
    path = tmp_path / "tagger.bin"
    path.write_bytes(pack({}, {crc32(b"w:dear"): [(place, -5), (0, 7)]}, rules))
    model = Model.load(path)
    assert model.votes(crc32(b"w:dear")) == 7 - (5 << SLOT * SLOTS.index("+1") + LANE * 2)
    assert model.votes(crc32(b"w:nothing")) == 0


def test_a_crossed_feature_with_the_code_of_another_kind_votes_for_its_own_token_alone(
    tmp_path: Path,
) -> None:
    rules = [[0] * len(LABELS) for _ in LABELS]
    place = SLOTS.index("+1") * len(LABELS) + 2
    path = tmp_path / "tagger.bin"
    path.write_bytes(pack({}, {7: [(place, -5), (1, 7)]}, rules))
    assert Model.load(path).vote(7) == 7 << LANE


@given(
    codes=st.sets(st.integers(0, (1 << 32) - 1), max_size=40), other=st.integers(0, (1 << 32) - 1)
)
def test_every_feature_is_found_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, codes: set[int], other: int
) -> None:
    path = tmp_path_factory.mktemp("model") / "tagger.bin"
    path.write_bytes(
        pack({}, {code: [(0, 1)] for code in codes}, [[0] * len(LABELS) for _ in LABELS])
    )
    model = Model.load(path)
    assert all(model.vote(code) == 1 for code in codes)
    assert model.vote(other) == (other in codes)


@pytest.mark.parametrize(
    ("slot", "text", "place"),
    [
        ("-1", "Aab Bbc", 1),
        ("+1", "Bbc Aab", 0),
        ("-2", "Aab Ccd Bbc", 2),
        ("+2", "Bbc Ccd Aab", 0),
        ("<", "Aab, Bbc", 2),
        (">>", "Bbc\nAab", 0),
    ],
)
def test_a_word_votes_for_its_neighbours(tmp_path: Path, slot: str, text: str, place: int) -> None:
    path = tmp_path / "tagger.bin"
    weights = {
        crc32(b"w:aab"): [(SLOTS.index(slot) * len(LABELS) + 1, 120)],
        crc32(b"w:bbc"): [(1, 60)],
    }
    path.write_bytes(pack({}, weights, [[0] * len(LABELS) for _ in LABELS]))
    (tagged,) = Sequencer(Model.load(path)).tag(text, [(0, len(text))])
    assert max(tagged.chances, key=lambda at: tagged.chances[at][1]) == place


def test_the_classes_and_words_beside_a_token_vote_for_it(tmp_path: Path) -> None:
    """With the codes that training gives their features."""
    before, here, following = (class_codes(cls) for cls in ("x", "Xx", "x"))
    left, right = before.before ^ here.own, here.own ^ following.after
    border = class_codes("NL2")
    features = (
        *triple_codes(0, left, right, here.own),
        left ^ border.far_before,
        right ^ border.far_after,
        key_codes("to")[0] ^ here.own,
        key_codes("from")[1] ^ here.own,
    )
    rules = [[0] * len(LABELS) for _ in LABELS]
    path = tmp_path / "tagger.bin"
    text = "to Xyz from"
    alone = {crc32(b"w:xyz"): [(1, 10)]}
    path.write_bytes(pack({}, alone, rules))
    (without,) = Sequencer(Model.load(path)).tag(text, [(0, len(text))])
    for feature in features:
        path = tmp_path / f"{feature}.bin"
        path.write_bytes(pack({}, alone | {feature: [(1, 40)]}, rules))
        (tagged,) = Sequencer(Model.load(path)).tag(text, [(0, len(text))])
        assert tagged.chances[1][1] > without.chances[1][1] + 0.1, feature


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("O'Neill's dog", ["O'Neill", "'s", "dog"]),
        ("first_name: x86", ["first_name", ": ", "x86"]),
        ("foo.Bar(", ["foo", ".", "Bar", "("]),
        ("foo. Bar (", ["foo", ". ", "Bar", " ("]),
        ("a\n\n b", ["a", "\n\n ", "b"]),
        ("12 Main St.", ["12", "Main", "St", "."]),
        ("Nguyễn-Müller", ["Nguyễn", "-", "Müller"]),
        ("=====", ["====="]),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert [match[0] for match in TOKEN.finditer(text)] == tokens


@pytest.mark.parametrize(
    ("token", "outline"),
    [
        ("john", "x"), ("John", "Xx"), ("JOHN", "XX"), ("J", "X1"), ("McDonald", "Xx"), ("O'Neill", "Xx"), ("getName", "xX"),
        ("1234", "d4"), ("221B", "0A"), ("SW1A", "A0A"), ("a_b", "id"), ("\n", "NL"), ("\n\n", "NL2"), (" \t", "TAB"), (". ", "p"),
    ],
)  # fmt: skip
def test_shapes(token: str, outline: str) -> None:
    assert shape(token) == outline
