"""Any text, from any thread, has one answer in linear time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import custom
from timing import assert_linear, seconds

from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.lint import examples
from dlpctl.errors import PatternError, UsageError
from tests.detect.builtin_patterns import PATTERNS

pytestmark = pytest.mark.no_cover  # much input, through lines that other tests run

any_character = st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"])


@settings(deadline=None)
@given(st.text(alphabet=any_character, max_size=300))
def test_no_text_is_refused(library: Detector, text: str) -> None:
    for finding in library.scan(text, 0.0):
        assert 0 <= finding.start < finding.end <= len(text)


# What takes hold of names, addresses, tables and messages, among digits that are none of ASCII.
MIXTURES = [
    [
        "②",
        "²",
        "٣",
        "Rue",
        "de",
        "Fulton",
        "Street",
        "Brooklyn,",
        "NY",
        "12",
        "Apt",
        "Address:",
        "\n",
    ],
    [
        "Dr.",
        "Mrs",
        "Whitfield",
        "née",
        "c/o",
        "Inc.",
        "S.L.",
        "Ⅷ",
        "²",
        "Anna",
        "-",
        "/",
        "name:",
        "\xad",
    ],
    [
        "Insert",
        "into",
        "values",
        "ssn,",
        "name",
        "|",
        "(1",
        ")",
        "<th>",
        "</th>",
        "<td>",
        "'",
        '"',
        "\n",
        "\t",
    ],
    [
        "PID|1||",
        "NM1*IL*1*",
        "^",
        "~",
        "SSN",
        "DOB",
        "٣",
        "4111",
        "@",
        "=",
        ":",
        "-----BEGIN",
        "\u200b",
    ],
]


@settings(deadline=None)
@given(
    st.sampled_from(MIXTURES).flatmap(
        lambda pieces: st.lists(st.sampled_from(pieces), max_size=12)
    ),
    st.sampled_from([" ", "", "  "]),
)
def test_no_mixture_is_refused(library: Detector, pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    for finding in library.scan(text, 0.0):
        assert 0 <= finding.start < finding.end <= len(text)


@settings(deadline=None)
@given(st.binary(max_size=150), st.binary(max_size=150))
def test_bytes_around_a_value_neither_hide_nor_move_it(
    library: Detector, before: bytes, after: bytes
) -> None:
    found = library.scan_bytes(b"%s john@example.com %s" % (before, after), 0.0)
    place = len(before) + 1, len(before) + 17
    assert place in [(one.start, one.end) for one in found]


@pytest.mark.parametrize(
    "text",
    ["", "\0", "\0" * 5000, "\ud800", "\udfff" * 5000, "\ud83d\ude00", "\ufeff", "\U0010ffff" * 500, "e\u0301" * 500, "\r" * 500],
    ids=ascii,
)  # fmt: skip
def test_strange_text_has_nothing_in_it_and_hides_nothing(library: Detector, text: str) -> None:
    assert library.scan(text) == []
    found = library.scan(f"{text} john@example.com {text}")
    assert [(one.type, one.start, one.end) for one in found] == [
        ("EMAIL", len(text) + 1, len(text) + 17)
    ]


def test_surrogates_keep_their_place(library: Detector) -> None:
    text = "\ud800 john@example.com \udc00\udc00 mary@example.com"
    assert [text[one.start : one.end] for one in library.scan(text)] == [
        "john@example.com",
        "mary@example.com",
    ]


@pytest.mark.parametrize("filling", ["a", "a ", "é", "\ud800", "0", "a@", "-----BEGIN "], ids=ascii)
def test_megabytes_on_one_line(library: Detector, filling: str) -> None:
    text = filling * (1_500_000 // len(filling)) + " john@example.com"
    assert text[(last := library.scan(text)[-1]).start : last.end] == "john@example.com"


def test_threads_share_a_detector(library: Detector) -> None:
    texts = [
        f"{'x ' * number}john{number}@example.com, 4111 1111 1111 1111" for number in range(200)
    ]
    fresh = Detector(
        [custom("mail", r"\b[a-z]+[0-9]*@example\.com\b"), custom("number", "[0-9]{4}")]
    )
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(library.scan, texts)) == [library.scan(text) for text in texts]
        assert list(pool.map(fresh.scan, texts)) == [fresh.scan(text) for text in texts]


def test_unknown_type_is_an_error(library: Detector) -> None:
    with pytest.raises(UsageError, match="'EMIAL' is not a category, type or pattern"):
        library.for_types(["EMIAL"])


def test_no_patterns_find_nothing() -> None:
    assert Detector([]).scan("john@example.com") == []


def test_extensions_of_one_detector_do_not_meddle() -> None:
    base = Detector([custom("letters", "[a-z]{3}")])
    digits = base.extended([custom("digits", "[0-9]{3}")])
    signs = base.extended([custom("signs", "[+-]{3}")])
    text = "abc 123 +-+"
    for detector, expected in [
        (digits, ["letters", "digits"]),
        (signs, ["letters", "signs"]),
        (base, ["letters"]),
    ]:
        assert [finding.pattern_id for finding in detector.scan(text)] == expected
    narrowed = base.for_types(["LETTERS"]).extended([custom("digits", "[0-9]{3}")])
    assert [finding.pattern_id for finding in narrowed.scan(text)] == ["letters", "digits"]


def test_extension_with_a_known_id_is_refused() -> None:
    with pytest.raises(
        PatternError, match="pattern 'letters': id is already used in the same file"
    ):
        Detector([custom("letters", "[a-z]{3}")]).extended([custom("letters", "[a-z]{4}")])


def test_patterns_of_a_detector_make_the_same_detector() -> None:
    detector = Detector([custom("run", "[0-9]{3,}", width=5)])
    assert Detector(detector.patterns).scan("123456789012") == detector.scan("123456789012")


CHAIN = [
    custom("one", "a1b", score=0.7),
    custom("other", "b2a", score=0.6),
    custom("both", "1b2", score=0.65),
]
NESTED = [
    custom(f"nested-{size}", f"[a-z]{{{size}}}", score=0.5 + size / 1000)
    for size in (40, 20, 10, 5, 2)
]
DECOYS = [custom("decoy", "q[^;]*;|r[^.]*[.]", width=64), custom("begun", "(?s)<.*>", width=64)]
FLOODS: dict[str, tuple[list[object] | None, Callable[[int], str]]] = {
    "digits": (None, lambda size: "1234567890" * (size // 10)),
    "one digit": (None, lambda size: "0" * size),
    "numbers": (None, lambda size: "4111 1111 1111 1111, 219-09-9999; " * (size // 34)),
    "mails": (None, lambda size: "john@example.com " * (size // 17)),
    "begun mails": (None, lambda size: "a@" * (size // 2)),
    "begun keys": (None, lambda size: "-----BEGIN RSA PRIVATE KEY-----\n" * (size // 32)),
    "ended keys": (None, lambda size: "-----BEGIN PRIVATE KEY-----" + "\n-----END PRIVATE KEY-----" * (size // 26)),
    "not ascii": (None, lambda size: "é john@example.com " * (size // 19)),
    "chain": (CHAIN, lambda size: "a1b2" * (size // 4)),
    "nested": (NESTED, lambda size: "abcdefghij" * (size // 10)),
    "decoys": (DECOYS, lambda size: "<qr" * (size // 3)),
    "ends": (DECOYS, lambda size: "<qr" + ">;." * (size // 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOODS)
def test_twice_the_input_takes_at_most_twice_the_time(library: Detector, name: str) -> None:
    patterns, make = FLOODS[name]
    detector = library if patterns is None else Detector(patterns)
    size = max(
        1 << 13, 3 * detector.widest
    )  # a match depends on text as far away as its pattern is wide

    def scan(size: int) -> Callable[[], object]:
        text = make(size)
        return lambda: detector.scan(text)

    while size < 1 << 18 and seconds(scan(size), runs=1) < 0.01:
        size *= 2
    assert_linear(scan, size, times=2, most=2.3)


def examples_cut_short(step: int) -> Iterator[str]:
    for pattern in PATTERNS[::step]:
        for text in (*examples(pattern, "match"), *examples(pattern, "skip")):
            for cut in range(1, min(len(text), 400), 7):
                yield text[:cut]
                yield text[cut:] + "\u200b\uff11%4"


def takes(library: Detector, texts: Iterable[str]) -> None:
    for text in texts:
        for finding in library.scan(text, 0.0):
            assert 0 <= finding.start < finding.end <= len(text)


def test_examples_may_be_cut_anywhere(library: Detector) -> None:
    takes(library, examples_cut_short(40))


@pytest.mark.slow
def test_every_example_may_be_cut_anywhere(library: Detector) -> None:
    takes(library, examples_cut_short(1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "char",
    [
        "a",
        "A",
        "0",
        " ",
        "-",
        "=",
        "%",
        "\\",
        '"',
        ",",
        "|",
        "\n",
        "\u200b",
        "\uff11",
        "\u00e9",
        "\0",
    ],
    ids=ascii,
)
def test_a_megabyte_of_one_character(library: Detector, char: str) -> None:
    def scan(size: int) -> Callable[[], object]:
        text = char * size
        return lambda: library.scan(text)

    assert library.scan(char * 1_000_000) == []
    assert_linear(scan, 250_000)


def test_one_pattern_a_hundred_thousand_times(library: Detector) -> None:
    assert len(library.scan("john@example.com " * 100_000)) == 100_000
