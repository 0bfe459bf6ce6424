"""A set of texts by their hashes."""

from __future__ import annotations

from dlpctl.texts.texthashes import NewTexts, TextHashes


def test_hashes_are_a_set_of_texts() -> None:
    hashes = TextHashes(["a", "b", "a"])
    hashes.add([hash("c"), hash("b")])
    assert len(hashes) == 3
    assert all(text in hashes for text in "abc")
    assert "d" not in hashes
    hashes.add([hash("d")])
    assert "d" in hashes


def test_equal_texts_take_no_memory() -> None:
    hashes = TextHashes()
    for _ in range(100):
        hashes.add(map(hash, map(str, range(2_000))))
    assert sum(map(len, hashes._parts)) < 1 << 17
    assert len(hashes) == 2_000


def test_texts_from_before_are_left_out() -> None:
    new = NewTexts()
    assert new.among({"a", "b"}) == {"a", "b"}
    assert new.among({"b", "c"}) == {"c"}
    for first in range(0, 1 << 18, 1 << 12):
        texts = set(map(str, range(first, first + (1 << 12))))
        assert new.among(texts) == texts
    assert new.among({"a", "7", "x"}) == {"x"}
    assert len(new._known) < 1 << 17
