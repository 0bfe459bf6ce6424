"""Checksums and encodings of tokens, by values that were published or computed elsewhere."""

from __future__ import annotations

import base64
from random import Random

import pytest

from dlpctl.detect.validators import secrets_structure as structure
from dlpctl.detect.validators.secrets_examples import GENERATORS

# Computed apart from the code: the CRC-32 of the thirty characters is 0mLq17 in base 62.
BODY, CHECKSUM = "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"


@pytest.mark.parametrize("prefix", ["ghp_", "gho_", "ghs_", "npm_"])
def test_the_checksum_after_a_prefix(prefix: str) -> None:
    assert structure.base62_crc(prefix + BODY + CHECKSUM)
    assert not structure.base62_crc(prefix + BODY[::-1] + CHECKSUM)
    assert not structure.base62_crc(prefix + BODY + "0mLq18")


def test_the_age_key_of_the_specification() -> None:
    key = "AGE-SECRET-KEY-1" + "GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    assert structure.bech32_key(key)
    assert not structure.bech32_key(key[:-1] + "Q")
    assert not structure.bech32_key(key.replace("GFP", "FGP", 1))


def test_numbers_in_a_base_are_filled() -> None:
    assert structure.in_base(0, structure.BASE62, 6) == "000000"
    assert structure.in_base(61, structure.BASE62, 2) == "0z"


@pytest.mark.parametrize(
    ("header", "claims", "accepted"),
    [
        ('{"alg":"HS256"}', '{"sub":"1"}', True),
        ('{"typ":"JWT", "alg": "none"}', "{}", True),
        ('{"typ":"JWT"}', '{"sub":"1"}', False),
        ('{"alg":"HS256"}', "plain text", False),
    ],
)
def test_a_json_web_token_is_decoded(header: str, claims: str, accepted: bool) -> None:
    parts = [
        base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in (header, claims)
    ]
    assert structure.jwt(".".join([*parts, "c2lnbmF0dXJl"])) is accepted


@pytest.mark.parametrize(
    ("credentials", "accepted"),
    [
        ("ada:k33p-Th1s", True),
        ("user:password", False),
        ("no colon", False),
        ("ada:${PASS}", False),
    ],
)
def test_basic_credentials_are_decoded(credentials: str, accepted: bool) -> None:
    assert structure.basic_auth(base64.b64encode(credentials.encode()).decode()) is accepted


def test_a_key_block_needs_a_body() -> None:
    assert structure.private_key(GENERATORS["rsa_key"](Random(1)))
    assert structure.private_key(GENERATORS["pem_key_escaped"](Random(1)))
    assert not structure.private_key("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----")
    assert not structure.private_key(
        "-----BEGIN PRIVATE KEY-----" + "A" * 400 + "-----END PRIVATE KEY-----"
    )


CHECKS = {
    "gitlab_routable": structure.gitlab_routable,
    "age_key": structure.bech32_key,
    "jwt": structure.jwt,
    "basic": structure.basic_auth,
    "discord_bot": structure.discord_bot,
    "pem_key_base64": structure.base64_private_key,
    "service_account_base64": structure.base64_object,
    "npm": structure.base62_crc,
}


@pytest.mark.parametrize("name", CHECKS)
def test_examples_are_valid_and_repeat(name: str) -> None:
    make = GENERATORS[name]
    assert all(CHECKS[name](make(Random(seed))) for seed in range(50))
    assert make(Random(7)) == make(Random(7)) != make(Random(8))


@pytest.mark.parametrize(
    ("value", "is_key"),
    [
        ("0x82, 0xb7, 0x0e, 0xee, 0x7f, 0x1a, 0x50, 0x39", True),
        ("20, 32, -27, -24, -35, -28, 68, 24, -117, 56, 9, 77, -1, 0, 103, 41", True),
        (r"\x9a\x01\xad!\x9e\xb5\x9c\xf6\xa1", True),
        ("0x00, 0x01, 0x02, 0x03, 0x84, 0x85, 0x86, 0x87", False),
        ("20, 32, 227, 224", False),
        ("300, 301, 999, 4, 77, 123, 9, 8, 65, 13, 200, 7, 91, 18, 44, 5", False),
        ("72, 101, 108, 108, 111, 32, 116, 104, 101, 114, 101, 44, 32, 66, 111, 98", False),
    ],
)
def test_bytes_of_keys_are_no_series_and_no_text(value: str, is_key: bool) -> None:
    assert structure.key_bytes(value) is is_key
