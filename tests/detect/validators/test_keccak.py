"""Keccak-256 against the digests in Ethereum's documentation."""

from __future__ import annotations

import pytest

from dlpctl.detect.validators.keccak import keccak_256


@pytest.mark.parametrize(
    ("message", "digest"),
    [
        (b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
        (b"abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
        (b"a" * 136, None),
    ],
)
def test_digests(message: bytes, digest: str | None) -> None:
    found = keccak_256(message).hex()
    assert len(found) == 64
    assert digest is None or found == digest
