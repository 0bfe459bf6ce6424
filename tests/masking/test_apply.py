from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import assert_linear

from dlpctl.errors import MaskingError
from dlpctl.masking.already_masked import is_already_masked
from dlpctl.masking.apply import Masked, mask_text, replacements, resolve
from dlpctl.masking.leaks import Value, find_leaks
from dlpctl.masking.masker import Masker
from dlpctl.masking.unmask import unmask
from dlpctl.operators import OPERATORS, Operator
from dlpctl.policy.model import Policy
from dlpctl.types import Category, Finding

KEY = b"k" * 32
VALUES = {
    "EMAIL": (Category.PII, "john.doe@mail.example.org"),
    "SSN": (Category.PII, "123-45-6789"),
    "PHONE": (Category.PII, "+1 415 555 2671"),
    "PERSON_NAME": (Category.PII, "Amara Okafor"),
    "CREDIT_CARD": (Category.FINANCIAL, "4111 1111 1111 1111"),
    "IBAN": (Category.FINANCIAL, "DE89370400440532013000"),
    "MEDICAL_RECORD_NUMBER": (Category.PHI, "0044821109"),
    "API_KEY": (Category.SECRETS, "zk_" + "a1B2" * 8),
    "DATE_OF_BIRTH": (Category.PII, "1985-03-12"),
    "BADGE": (Category.CUSTOM, "AC-12345678"),
}
# `encrypt` returns other digits of the same form, which only the holder of the key can tell from
# real ones.
RECOGNIZED = [name for name in OPERATORS if name not in {"encrypt", "replace", "remove"}]
operators = st.sampled_from([*(name for name in OPERATORS if name != "replace"), "replace:[gone]"])


def finding(start: int, end: int, type_name: str = "EMAIL", score: float = 0.9) -> Finding:
    category = VALUES[type_name][0] if type_name in VALUES else Category.PII
    return Finding(type_name, category, start, end, score, "p")


def spelled(name: str) -> str:
    return "replace:[gone]" if name == "replace" else name


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[Finding]]:
    """Texts with values at known positions."""
    parts: list[str] = []
    found: list[Finding] = []
    for name in draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=6)):
        parts.append(draw(st.text(max_size=8)) + " ")
        start = sum(map(len, parts))
        parts.append(VALUES[name][1])
        found.append(finding(start, start + len(VALUES[name][1]), name))
    return "".join(parts) + draw(st.text(max_size=8)), found


@given(documents(), st.lists(operators, min_size=6, max_size=6))
def test_nothing_outside_the_spans_changes(
    document: tuple[str, list[Finding]], names: list[str]
) -> None:
    text, found = document
    masked = mask_text(text, zip(found, names, strict=False), Masker(KEY))
    at = 0
    for place, each in enumerate(found):
        gap = text[found[place - 1].end if place else 0 : each.start]
        assert masked.startswith(gap, at)
        replaced = Masker(KEY)
        width = len(
            replaced.replacement(
                names[place], each.type, each.category, text[each.start : each.end]
            )
        )
        at += len(gap) + (
            width
            if names[place] != "token"
            else masked.index(">", at + len(gap)) + 1 - at - len(gap)
        )
    assert masked[at:] == text[found[-1].end if found else 0 :]


spans = st.builds(
    lambda start, length, name, score: finding(start, start + length, name, score),
    st.integers(0, 40),
    st.integers(0, 12),
    st.sampled_from(sorted(VALUES)),
    st.sampled_from([0.5, 0.9]),
)


@given(
    st.text(min_size=60, max_size=60),
    st.lists(st.tuples(spans, operators), max_size=8),
    st.randoms(use_true_random=False),
)
def test_overlapping_findings_never_corrupt_each_other(
    text: str, masked: list[Masked], random: object
) -> None:
    resolved = resolve(masked)
    assert all(one.end <= other.start for one, other in itertools.pairwise(resolved))
    covered = {place for each, _ in masked for place in range(each.start, each.end)}
    assert covered == {place for span in resolved for place in range(span.start, span.end)}
    shuffled = list(masked)
    random.shuffle(shuffled)
    assert mask_text(text, shuffled, Masker(KEY)) == mask_text(text, masked, Masker(KEY))
    kept = [text[place] for place in range(len(text)) if place not in covered]
    assert "".join(kept) == mask_text(text, [(each, "remove") for each, _ in masked], Masker())


def test_the_stronger_of_two_operators_on_a_span_wins() -> None:
    text = "see https://x.example/?user=ann@mail.example now"
    inner = finding(28, 44)
    outer = finding(4, 44, "URL")
    masker = Masker(KEY)
    assert text[inner.start : inner.end] == "ann@mail.example"
    assert mask_text(text, [(inner, "redact"), (outer, "partial")], masker) == "see [URL] now"
    assert mask_text(text, [(inner, "partial"), (outer, "redact")], masker) == "see [URL] now"
    assert (
        mask_text(text, [(outer, "partial"), (inner, "partial")], masker)
        == "see https://x.example/*** now"
    )
    assert (
        mask_text(text, [(finding(4, 30, "URL"), "partial"), (inner, "partial")], masker)
        == "see [URL] now"
    )
    assert (
        mask_text(text, [(finding(4, 30, "URL"), "token"), (inner, "partial")], masker)
        == "see <URL_1> now"
    )


@given(documents(), st.sampled_from(RECOGNIZED))
def test_a_masked_text_has_no_value_and_every_mask_is_recognized(
    document: tuple[str, list[Finding]], name: str
) -> None:
    text, found = document
    made = replacements(text, [(each, spelled(name)) for each in found], Masker(KEY))
    for each, replacement in zip(found, made, strict=True):
        assert is_already_masked(each.type, each.category, replacement.text)
    masked = mask_text(text, [(each, spelled(name)) for each in found], Masker(KEY))
    values = [Value(each.type, each.category, text[each.start : each.end]) for each in found]
    assert find_leaks(masked, values) == []


@given(documents())
def test_tokens_restore_the_text(document: tuple[str, list[Finding]]) -> None:
    text, found = document
    masker = Masker()
    masked = mask_text(text, [(each, "token") for each in found], masker)
    assert unmask(masked, masker.tokens) == text


def test_a_text_that_looks_like_tokens_is_restored_too() -> None:
    text = "<EMAIL_1> [EMAIL_2] `EMAIL_3` a@b.example \\c@d.example <e@f.example>"
    found = [
        finding(text.index(each), text.index(each) + 11)
        for each in ("a@b.example", "c@d.example", "e@f.example")
    ]
    masker = Masker()
    masked = mask_text(text, [(each, "token") for each in found], masker)
    assert masked == "<EMAIL_1> [EMAIL_2] `EMAIL_3` <EMAIL_4> \\<EMAIL_5> <<EMAIL_6>>"
    assert unmask(masked, masker.tokens) == text


@pytest.mark.parametrize(
    ("operator", "masked"),
    [
        ("partial", "mail j***@mail.example.org."),
        ("redact", "mail [EMAIL]."),
        ("remove", "mail ."),
        ("replace:the:writer", "mail the:writer."),
        ("token", "mail <EMAIL_1>."),
        ("hash", "mail [EMAIL#58a7064f2d11]."),
        ("encrypt", "mail [EMAIL]."),
    ],
)
def test_each_operator(operator: str, masked: str) -> None:
    text = "mail john.doe@mail.example.org."
    made = mask_text(text, [(finding(5, 30), operator)], Masker(KEY))
    assert made == (masked if operator != "hash" else made)
    if operator == "hash":
        upper = mask_text(text.upper(), [(finding(5, 30), operator)], Masker(KEY))
        assert made.split("#")[1] == upper.split("#")[1]
        assert made != mask_text(text, [(finding(5, 30), operator)], Masker(b"l" * 32))
        assert len(made) == len(masked)


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        ("hash", "operator 'hash' needs a key"),
        ("surrogate", "operator 'surrogate' needs a key"),
        ("encrypt", "operator 'encrypt' needs a key"),
        ("replace", "'replace' needs its text"),
        ("shred", "there is no masking operator 'shred'; there are: remove, redact"),
        ("redact:x", "there is no masking operator 'redact:x'"),
    ],
)
def test_an_operator_that_cannot_work_is_refused(operator: str, message: str) -> None:
    with pytest.raises(MaskingError, match=message):
        mask_text("abcdef", [(finding(0, 5), operator)], Masker())


def test_an_operator_is_one_row(add_operator: Callable[[str, Operator], None]) -> None:
    capitals = Operator(
        "capital letters", lambda _setup: lambda _type, _category, value: value.upper()
    )
    add_operator("capitals", capitals)
    assert mask_text("abcdef", [(finding(0, 3), "capitals")], Masker()) == "ABCdef"
    rule = {"id": "a", "action": "MASK", "dataTypes": ["PII"], "destinations": ["VENDOR"]}
    rule["masking"] = {"EMAIL": "capitals"}
    policy = Policy.from_dict({"name": "p", "rules": [rule]})
    assert policy.rules[0].masking == (("EMAIL", "capitals"),)


@pytest.mark.no_cover
def test_masking_is_linear() -> None:
    def mask(count: int) -> Callable[[], object]:
        text = "lorem ipsum dolor john.doe@mail.example.org " * count
        found = [(finding(place * 44 + 18, place * 44 + 43), "partial") for place in range(count)]
        return lambda: mask_text(text, found, Masker())

    assert_linear(mask, 10_000)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("EMAIL", ["to j", "***@mail.example.org", "", " now"]),
        ("CREDIT_CARD", ["to *", "*** **** **** 1", "111", " now"]),
        ("API_KEY", ["to zk_a********", "", "", " now"]),
    ],
)
def test_a_value_in_several_records_is_masked_within_them(name: str, texts: list[str]) -> None:
    value = VALUES[name][1]
    parts = [f"to {value[:1]}", value[1:-3], value[-3:], " now"]
    text = "".join(f'event: {n}\ndata: {{"n":{n},"text":"{x}"}}\n\n' for n, x in enumerate(parts))
    found = finding(text.index(value[:1] + '"}'), text.index(value[-3:] + '"}') + 3, name)
    masked = mask_text(text, [(found, "partial")], Masker())
    records = [json.loads(line[6:]) for line in masked.splitlines() if line.startswith("data: ")]
    assert [record["n"] for record in records] == [0, 1, 2, 3]
    assert "".join(record["text"] for record in records) == "".join(texts)


def test_lines_with_quotes_are_no_records() -> None:
    text = 'a: "x1"\nb: "x2"\nc: "x3"\n'
    masked = mask_text(text, [(finding(4, len(text) - 2, "API_KEY"), "redact")], Masker())
    assert masked == 'a: "[API_KEY]"\n'


def test_what_records_have_beside_a_value_is_masked_with_it() -> None:
    card, user = VALUES["CREDIT_CARD"][1], VALUES["EMAIL"][1]
    parts = [card[:5], card[5:11], card[11:]]
    text = "".join(f'{{"user":"{user}","text":"{part}"}}\n' for part in parts)
    card_end = text.index(parts[2]) + len(parts[2])
    found = [
        finding(9, 9 + len(user)),
        finding(text.index(parts[0]), card_end, "CREDIT_CARD"),
    ]
    assert user not in mask_text(text, [(each, "partial") for each in found], Masker())
