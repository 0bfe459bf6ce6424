"""The engine finds exactly what the reference implementation finds, in any text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from definitions import only_the_text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from limits import limited, limited_width
from mixtures import chunked, texts
from reference import Reference
from streaming import in_pieces
from synthetic import ALPHABET, WORDS, matching, synthetic

from dlpctl.detect.engine import Detector
from tests.detect.builtin_patterns import PATTERNS

pytestmark = pytest.mark.no_cover  # much input, through lines that other tests run

# Of every file, and few enough for the reference, which knows nothing of tokens.
BUILTIN = [pattern for pattern in PATTERNS if not pattern.token][::12]
SYNTHETIC = synthetic()
SLOWLY = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

few_characters = st.lists(st.sampled_from(ALPHABET), min_size=2, max_size=6).flatmap(
    lambda some: st.text(alphabet=some, max_size=60)
)
builtin_texts = texts(BUILTIN)
strained_texts = st.lists(
    st.one_of(
        few_characters,
        st.sampled_from(WORDS),
        st.sampled_from(SYNTHETIC).flatmap(matching),
        st.sampled_from(["qr;.", "a1", "0", "01", "ab-", ",a"]).flatmap(
            lambda some: st.text(alphabet=some, max_size=60)
        ),
    ),
    max_size=8,
).map("".join)
scores = st.sampled_from([0.0, 0.3, 0.5, 0.7, 0.95])


@pytest.fixture(scope="module", autouse=True)
def text_as_it_is() -> Iterator[None]:
    """The definition is of the text itself, not of what is derived from it."""
    with only_the_text():
        yield


@pytest.fixture(scope="module")
def builtin() -> Detector:
    return Detector(BUILTIN)


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(BUILTIN)


@pytest.fixture(scope="module")
def strained() -> Detector:
    return Detector(SYNTHETIC)


@pytest.fixture(scope="module")
def strained_reference() -> Reference:
    return Reference(SYNTHETIC)


@pytest.fixture(scope="module")
def each_by_itself() -> list[tuple[Detector, Reference]]:
    return [(Detector([pattern]), Reference([pattern])) for pattern in SYNTHETIC]


@settings(SLOWLY, max_examples=200)
@given(text=builtin_texts, min_score=scores)
def test_library_on_mixtures(
    builtin: Detector, reference: Reference, text: str, min_score: float
) -> None:
    assert builtin.scan(text, min_score) == reference.scan(text, min_score)


@settings(SLOWLY, max_examples=250)
@given(text=strained_texts, min_score=scores)
def test_straining_patterns(
    strained: Detector, strained_reference: Reference, text: str, min_score: float
) -> None:
    assert strained.scan(text, min_score) == strained_reference.scan(text, min_score)


@settings(SLOWLY, max_examples=60)
@given(text=strained_texts)
def test_each_straining_pattern_by_itself(
    each_by_itself: list[tuple[Detector, Reference]], text: str
) -> None:
    for alone, expected in each_by_itself:
        assert alone.scan(text, 0.0) == expected.scan(text, 0.0)


@settings(SLOWLY, max_examples=150)
@given(data=st.data())
def test_for_types_gives_the_same_of_those_types(
    builtin: Detector, strained: Detector, data: st.DataObject
) -> None:
    detector, patterns, content = data.draw(
        st.sampled_from([(builtin, BUILTIN, builtin_texts), (strained, SYNTHETIC, strained_texts)])
    )
    wanted = data.draw(
        st.sets(
            st.sampled_from(sorted({pattern.type for pattern in patterns})), min_size=1, max_size=4
        )
    )
    text, min_score = data.draw(content), data.draw(scores)
    everything = detector.scan(text, min_score)
    assert detector.for_types(wanted).scan(text, min_score) == [
        one for one in everything if one.type in wanted
    ]


@settings(SLOWLY, max_examples=150)
@given(data=st.data())
def test_bytes(
    builtin: Detector,
    reference: Reference,
    strained: Detector,
    strained_reference: Reference,
    data: st.DataObject,
) -> None:
    # A name, since a report of a failure prints what is drawn.
    detector, expected, content = {
        "library": (builtin, reference, builtin_texts),
        "strained": (strained, strained_reference, strained_texts),
    }[data.draw(st.sampled_from(["library", "strained"]))]
    noise = data.draw(st.binary(max_size=10))
    raw = (
        data.draw(content).encode("utf-8", "surrogatepass")
        + noise
        + data.draw(content).encode("utf-8", "replace")
    )
    assert detector.scan_bytes(raw) == expected.scan_bytes(raw)


@settings(SLOWLY, max_examples=80)
@given(data=st.data())
def test_pieces(
    builtin: Detector, strained: Detector, strained_reference: Reference, data: st.DataObject
) -> None:
    detector = data.draw(
        st.sampled_from(
            [strained, strained.for_types({"PROVEN", "CHAIN", "NEAR", "UNBOUNDED_RUN"})]
        )
    )
    raw = "".join(data.draw(st.lists(strained_texts, max_size=8))).encode("utf-8", "replace")
    raw += data.draw(st.binary(max_size=4)) + raw[::-1]
    with (
        limited("dlpctl.detect.stream.CHUNK", data.draw(st.integers(1, 200))),
        limited("dlpctl.detect.stream._PATIENCE", 1 << 20),
    ):
        assert in_pieces(detector, data.draw(chunked(raw))) == (raw, detector.scan_bytes(raw))


@settings(SLOWLY, max_examples=60)
@given(text=strained_texts, part=st.integers(1, 60))
def test_parts_of_a_text_that_is_too_long_for_hyperscan(
    strained: Detector, text: str, part: int
) -> None:
    expected = strained.scan(text)
    with limited("dlpctl.detect.automaton.first_pass.PART", part), limited_width(strained, 40):
        assert strained.scan(text) == expected
