from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dlpctl.masking.unmask import Unmasker, unmask
from dlpctl.operators.tokens import TokenStore, token_type


def store() -> TokenStore:
    return TokenStore(
        {"EMAIL_1": "ann@x.example", "US_MBI_12": 'a"<b\n', "EMAIL_2": "bob@x.example"}
    )


@pytest.mark.parametrize(
    ("written", "restored"),
    [
        ("<EMAIL_1>", "ann@x.example"),
        ("<email_1>", "ann@x.example"),
        ("<Email_1>", "ann@x.example"),
        ("< EMAIL_1 >", "ann@x.example"),
        ("<EMAIL 1>", "ann@x.example"),
        ("<EMAIL-1>", "ann@x.example"),
        (r"<EMAIL\_1>", "ann@x.example"),
        (r"\<EMAIL\_1\>", "ann@x.example"),
        (r"\<EMAIL\_1>", "ann@x.example"),
        (r"\<EMAIL_1>", r"\ann@x.example"),
        ("&lt;EMAIL_1&gt;", "ann@x.example"),
        ("&lt;US_MBI_12&gt;", "a&quot;&lt;b\n"),
        ("&#60;EMAIL_1&#62;", "ann@x.example"),
        ("%3CEMAIL_1%3E", "ann%40x.example"),
        ("%3cEMAIL_1%3e", "ann%40x.example"),
        (r"\u003cUS_MBI_12\u003e", r"a\"<b\n"),
        ("＜EMAIL_1＞", "ann@x.example"),
        ("[EMAIL_1]", "ann@x.example"),
        (r"\[EMAIL\_1\]", "ann@x.example"),
        ("`EMAIL_1`", "`ann@x.example`"),
        ("`<EMAIL_1>`", "`ann@x.example`"),
        ("<`EMAIL_1`>", "ann@x.example"),
        ("**<EMAIL_1>**", "**ann@x.example**"),
        ("<<EMAIL_1>>", "<ann@x.example>"),
        ("<EMA<EMAIL_1>", "<EMAann@x.example"),
        ("<US MBI 12>", 'a"<b\n'),
        ("[<EMAIL_1>](mailto:<EMAIL_2>)", "[ann@x.example](mailto:bob@x.example)"),
    ],
)
def test_a_token_is_found_however_a_model_writes_it(written: str, restored: str) -> None:
    assert unmask(f"a {written} b", store()) == f"a {restored} b"


@pytest.mark.parametrize(
    "text",
    [
        "<EMAIL_3>",
        "<EMAIL_01x>",
        "EMAIL_1",
        "<b>EMAIL_1</b>",
        "<EMAIL_1",
        "[EMAIL_1>",
        "<PHONE_1>",
        "<EMAIL_>",
        "<_1>",
        "",
    ],
)
def test_unknown_tokens_stay(text: str) -> None:
    unmasker = Unmasker(store())
    assert unmasker.feed(text) + unmasker.finish() == text
    assert unmasker.restored == 0


pieces = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "<EMAIL_1>",
                r"\<EMAIL\_2\>",
                "&lt;email 1&gt;",
                "%3CEMAIL_1%3E",
                r"\u003cEMAIL_1\u003e",
                "`EMAIL_1`",
                "[EMAIL_1]",
                "<EMAIL_9>",
                "<`EMAIL_1`>",
                "<",
                ">",
                "\\",
                "`",
                "&l",
                "[",
                "EMAIL_1",
                " " * 5,
                "<" + "a" * 250,
            ]
        ),
        st.text(max_size=4),
    ),
    max_size=12,
).map("".join)


@given(pieces, st.lists(st.integers(0, 200), max_size=8))
@example("`EMAIL_1`>", [9])
@example("<`EMAIL_1`>", [10])
def test_chunk_boundaries_make_no_difference(text: str, borders: list[int]) -> None:
    cuts = [0, *sorted(border for border in borders if border < len(text)), len(text)]
    chunks = [text[start:end] for start, end in itertools.pairwise(cuts)]
    whole = unmask(text, store())
    for pieces in (chunks, text):
        unmasker = Unmasker(store())
        assert "".join(map(unmasker.feed, pieces)) + unmasker.finish() == whole


def test_only_what_may_be_a_token_is_held_back() -> None:
    unmasker = Unmasker(store())
    assert unmasker.feed("Dear <EMA") == "Dear "
    assert unmasker.feed("IL_1>, the") == "ann@x.example, the"
    assert unmasker.feed(" sum is 3 < 4 ") == " sum is 3 < 4 "
    assert unmasker.feed("<" + "a" * 300) == "<" + "a" * 300
    assert unmasker.finish() == ""
    assert unmasker.restored == 1


@given(st.lists(st.tuples(st.sampled_from(["EMAIL", "SSN"]), st.text(max_size=3)), max_size=20))
def test_each_value_has_a_token_of_its_own(
    values: list[tuple[str, str]],
) -> None:
    tokens = TokenStore()
    given_out = [tokens.token(*each) for each in values]
    assert given_out == [tokens.token(*each) for each in values]
    assert len(set(given_out)) == len(set(values)) == len(tokens)
    assert [tokens.value(each.strip("<>")) for each in given_out] == [value for _, value in values]
    again = TokenStore(dict(tokens.items()))
    assert [again.token(*each) for each in values] == given_out


def test_a_store_does_not_show_its_values() -> None:
    assert repr(store()) == "<TokenStore of 3 values>"


@pytest.mark.parametrize(
    ("name", "token"),
    [("EMAIL", "EMAIL"), ("acme badge-no", "ACME_BADGE_NO"), ("9", "VALUE"), ("", "VALUE")],
)
def test_every_type_has_a_name_for_tokens(name: str, token: str) -> None:
    assert token_type(name) == token
