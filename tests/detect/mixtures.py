"""Random texts in which there is something to find, and all that a text can be made of besides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

from dlpctl.detect.patterns.lint import examples
from dlpctl.detect.patterns.model import Pattern
from dlpctl.detect.patterns.prose import plain_prose

_DELIMITERS = [
    " ",
    "\n",
    "\r\n",
    "\t",
    ",",
    ", ",
    ";",
    ":",
    "=",
    '"',
    "'",
    "(",
    ")",
    "<",
    ">",
    "-",
    ".",
    "_",
    "/",
    "|",
    "\0",
    "\v",
    "\x1a",
    "\x1c",
    "",
]
_STRANGE = [
    "\u017f", "\u212a", "\u0130", "\u00e9", "e\u0301", "\u200b", "\u200f", "\ufeff", "\ufffd", "\u2028", "\u0661\u0662\u0663", "\uff11\uff12\uff13",
    "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627", "\u6f22\u5b57", "\U0001f600", "\U0001f1e9\U0001f1ea", "\U0010ffff", "\ud800", "\udfff", "\ud83d\ude00",
]  # fmt: skip
_SENTENCES = [sentence for sentence in plain_prose().split(". ") if len(sentence) < 200]


def texts(patterns: Sequence[Pattern]) -> st.SearchStrategy[str]:
    """Texts of some hundred characters, with the patterns' own examples and words."""
    found = [
        text
        for pattern in patterns
        for kind in ("match", "skip")
        for text in examples(pattern, kind)
    ]
    words = [
        word.replace("*", "hepat")
        for pattern in patterns
        if (context := pattern.context)
        for entry in (*context.words, *context.against, *context.around, *context.not_around)
        for word in entry.split("|")
    ]
    words += [word for pattern in patterns for word in pattern.keywords]
    piece = st.one_of(
        st.sampled_from(found),
        st.sampled_from(found).flatmap(_damaged),
        st.sampled_from(words or ["word"]),
        st.sampled_from(_DELIMITERS),
        st.sampled_from(_STRANGE),
        st.sampled_from(_SENTENCES),
        st.text(max_size=8),
        st.text(alphabet="0123456789 -.", max_size=20),
        st.binary(max_size=12).map(lambda data: data.decode("latin-1")),
        st.binary(max_size=12).map(lambda data: data.decode("utf-8", "surrogateescape")),
    )
    return st.lists(st.tuples(piece, st.sampled_from(_DELIMITERS)), max_size=14).map(
        lambda pairs: "".join(text + delimiter for text, delimiter in pairs)
    )


def _damaged(example: str) -> st.SearchStrategy[str]:
    """A part of an example, or one in which something was exchanged."""
    place = st.integers(0, len(example))
    strange = st.one_of(st.sampled_from(_STRANGE), st.characters(), st.sampled_from(_DELIMITERS))
    return st.one_of(
        st.tuples(place, place).map(lambda ends: example[min(ends) : max(ends)]),
        st.tuples(place, strange).map(
            lambda change: example[: change[0]] + change[1] + example[change[0] + 1 :]
        ),
        st.tuples(place, strange).map(
            lambda change: example[: change[0]] + change[1] + example[change[0] :]
        ),
    )


def chunked(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """The data in pieces, in the order they come; none is empty, since that would be a pause."""
    return st.lists(st.integers(0, len(data)), max_size=6).map(
        lambda cuts: [data[a:b] for a, b in pairwise([0, *sorted(cuts), len(data)]) if a < b]
    )
