"""A set of texts by their hashes."""

from __future__ import annotations

from dlpctl.texthashes import TextHashes


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
