"""The differences between generated and written values."""

from __future__ import annotations

import random
import string

import pytest

from dlpctl.detect.validators import names, secrets
from dlpctl.detect.validators import secrets_judge as judge

ALPHABETS = {
    "base62": string.ascii_letters + string.digits,
    "url-safe": string.ascii_letters + string.digits + "-_",
    "lower and digits": string.ascii_lowercase + string.digits,
    "upper and digits": string.ascii_uppercase + string.digits,
    "hexadecimal": "0123456789abcdef",
    "base32": string.ascii_uppercase + "234567",
}
WRITTEN_TEXT = (
    "getUserAccessTokenById2 my_database_password_name BackendServiceConfiguration user.profile.display_name "
    "application-default-credentials TOKEN_EXPIRATION_SECONDS handleAuthenticationCallback com.acme.service.Name "
    "authorization_code projects/acme/secrets/database bert-base-uncased UsernamePasswordCredentials x_request_identifier "
    "kubernetes-dashboard-token the-quick-brown-fox AES256GCMEncryption oauth2AuthorizedClientManager "
    "_ZN4acme6parser9TokenizerC2ERKNS_6ConfigE RNvNtCs8ZKwes1zzDd_3std4path9is_absolute"
)
WRITTEN = WRITTEN_TEXT.split()
MADE_UP_TEXT = (
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 00000000000000000000000000000000 1234567890abcdef1234567890abcdef abcdefghijklmnopqrstuvwxyz "
    "your_api_key_goes_here YOUR-ACCESS-TOKEN-HERE a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6 changemechangemechangeme foobarfoobarfoobarfoobar "
    "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY deadbeefdeadbeefdeadbeefdeadbeef qwertyuiopasdfghjklzxcvbnm123456"
)
MADE_UP = MADE_UP_TEXT.split()


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("length", [20, 32, 40])
def test_generated_values_are_tokens(alphabet: str, length: int) -> None:
    source = random.Random(f"{alphabet} {length}")
    drawn = ["".join(source.choices(ALPHABETS[alphabet], k=length)) for _ in range(500)]
    assert sum(map(judge.token, drawn)) >= 497
    assert sum(judge.tail(f"sk_live_{value}") for value in drawn) >= 497


@pytest.mark.parametrize("value", [*WRITTEN, *MADE_UP])
def test_written_values_are_none(value: str) -> None:
    assert not judge.token(value)


def test_identifiers_of_a_program_are_none() -> None:
    import keyword
    import subprocess

    identifiers = [
        name
        for name in (*dir(subprocess), *dir(random), *dir(string), *keyword.kwlist)
        if len(name) > 7
    ]
    assert [name for name in identifiers if judge.token(name)] == []


@pytest.mark.parametrize(
    "value",
    [
        "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx",
        "xoxb-your-token-here",
        "sk-ant-api03-example",
        "key-" + "0" * 32,
        "",
    ],
)
def test_a_prefix_does_not_save_a_placeholder(value: str) -> None:
    assert not judge.tail(value)


def test_well_known_uuids_are_none() -> None:
    assert judge.uuid("3f2b8a91-6c4d-4e7f-9a05-d1c8b2e64f73")
    for value in ("00000000-0000-0000-0000-000000000000", "123e4567-e89b-12d3-a456-426614174000"):
        assert not judge.uuid(value)


def test_the_path_of_an_object_is_none() -> None:
    value = "6dc6d336e3fc4c0a951b5698cd1236ee"
    assert judge.secret_or_uuid(value)
    assert not judge.secret_or_uuid(f"v1/nodes/{value}")


def test_every_validator_is_registered() -> None:
    assert {*secrets.JUDGED, *secrets.PROVEN} <= set(names())
