"""Tests of which words are a passphrase."""

from __future__ import annotations

import pytest

from dlpctl.detect.validators import secrets_phrases as phrases


def test_phrases_are_not_sentences() -> None:
    assert phrases.phrase("correct horse battery staple")
    assert not phrases.phrase("enter the passphrase for this key")


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ("correct horse battery staple", True),
        ("Marigold Thunder Bluewhale Carousel", True),
        ("marigold thunder bluewhale", True),
        ("sunflower", True),
        ("Enter your password", False),
        ("must be at least eight characters", False),
        ("Passwort wiederholen oder schließen", False),
        ("Marigold thunder bluewhale carousel", False),
        ("marigold marigold thunder", False),
        ("connection pool timeout", False),
        ("server error handler module", False),
    ],
)
def test_phrases_are_no_messages(value: str, accepted: bool) -> None:
    assert phrases.password_or_phrase(value) is accepted
