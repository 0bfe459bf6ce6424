"""The vectors are samples 1 to 9 of NIST's FF1 examples for SP 800-38G."""

from __future__ import annotations

import pytest
from ffx import FF1
from hypothesis import given
from hypothesis import strategies as st

from dlpctl.operators.fpe import DigitCipher

KEY_128 = "2B7E151628AED2A6ABF7158809CF4F3C"
KEY_192 = KEY_128 + "EF4359D8D580AA4F"
KEY_256 = KEY_192 + "7F036D6F04FC6A94"
DIGITS = "0123456789"
MIXED = "0123456789abcdefghi"
TWEAK_10 = "39383736353433323130"
TWEAK_36 = "3737373770717273373737"


@pytest.mark.parametrize(
    ("key", "radix", "tweak", "plain", "cipher"),
    [
        (KEY_128, 10, "", DIGITS, "2433477484"),
        (KEY_128, 10, TWEAK_10, DIGITS, "6124200773"),
        (KEY_128, 36, TWEAK_36, MIXED, "a9tv40mll9kdu509eum"),
        (KEY_192, 10, "", DIGITS, "2830668132"),
        (KEY_192, 10, TWEAK_10, DIGITS, "2496655549"),
        (KEY_192, 36, TWEAK_36, MIXED, "xbj3kv35jrawxv32ysr"),
        (KEY_256, 10, "", DIGITS, "6657667009"),
        (KEY_256, 10, TWEAK_10, DIGITS, "1001623463"),
        (KEY_256, 36, TWEAK_36, MIXED, "xs8a0azh2avyalyzuwd"),
    ],
)
def test_the_library_reproduces_the_published_vectors(
    key: str, radix: int, tweak: str, plain: str, cipher: str
) -> None:
    ff1 = FF1(bytes.fromhex(key), radix=radix)
    assert ff1.encrypt(plain, tweak=bytes.fromhex(tweak)) == cipher
    assert ff1.decrypt(cipher, tweak=bytes.fromhex(tweak)) == plain


@given(st.from_regex(r"[0-9][0-9 .\-]{8,30}[0-9]", fullmatch=True))
def test_digits_are_decrypted_and_the_rest_stays(value: str) -> None:
    cipher = DigitCipher(b"k" * 32)
    encrypted = cipher.encrypt("SSN", value)
    if encrypted is None:
        assert sum(map(str.isdigit, value)) < 6
        return
    assert [each for each in encrypted if not each.isdigit()] == [
        each for each in value if not each.isdigit()
    ]
    assert len(encrypted) == len(value)
    assert cipher.decrypt("SSN", encrypted) == value
    assert DigitCipher(b"l" * 32).encrypt("SSN", value) != encrypted


@pytest.mark.parametrize("value", ["12345", "DE123456789", "none", "", "１２３４５６７"])
def test_letters_and_few_digits_are_not_encrypted(value: str) -> None:
    assert DigitCipher(b"k" * 32).encrypt("ID", value) is None
