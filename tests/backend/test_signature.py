from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from hypothesis import given, settings
from hypothesis import strategies as st

from dlpctl.backend.signature import key_id_of, verified_claims
from dlpctl.errors import LicenseError


def _pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(encoding, form).decode()


KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC = _pem(KEY)
CLAIMS = {"iss": "dlpctl", "org_id": "org_1", "n": [1, "ü"]}
TOKEN = jwt.encode(CLAIMS, KEY, algorithm="RS256", headers={"kid": "key_1"})


def _encoded(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(data).decode().rstrip("=")


def _made(header: object, signature: bytes = b"", claims: object = CLAIMS) -> str:
    return f"{_encoded(header)}.{_encoded(claims)}.{_encoded(signature)}"


def test_claims_signed_by_the_key() -> None:
    assert key_id_of(TOKEN) == "key_1"
    assert verified_claims(TOKEN, PUBLIC) == CLAIMS


@pytest.mark.parametrize("bits", [2049, 3072])
def test_keys_of_other_sizes(bits: int) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    token = jwt.encode(CLAIMS, key, "RS256", {"kid": "k"})
    assert verified_claims(token, _pem(key)) == CLAIMS


@pytest.mark.parametrize(
    "algorithm",
    ["none", "None", "NONE", "HS256", "RS512", "PS256", "ES256", "", None, 1, ["RS256"]],
)
def test_other_algorithms_are_refused_before_anything_is_verified(algorithm: object) -> None:
    with pytest.raises(LicenseError, match="RS256"):
        key_id_of(_made({"alg": algorithm, "kid": "key_1"}))


def test_a_token_that_is_signed_with_the_public_key_as_a_secret() -> None:
    head = f"{_encoded({'alg': 'HS256', 'kid': 'key_1'})}.{_encoded(CLAIMS)}"
    forged = hmac.digest(PUBLIC.encode(), head.encode(), hashlib.sha256)
    with pytest.raises(LicenseError, match="RS256"):
        verified_claims(f"{head}.{_encoded(forged)}", PUBLIC)
    with pytest.raises(LicenseError, match="was not signed"):
        verified_claims(_made({"alg": "RS256", "kid": "key_1"}, forged), PUBLIC)


def test_foreign_and_malformed_signatures() -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with pytest.raises(LicenseError):
        verified_claims(jwt.encode(CLAIMS, other, "RS256", {"kid": "key_1"}), PUBLIC)
    said, _, own = TOKEN.rpartition(".")
    signed = said.encode()
    from cryptography.hazmat.primitives import hashes

    pss = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.MAX_LENGTH)
    for signature in (
        KEY.sign(signed, padding.PKCS1v15(), hashes.SHA512()),
        KEY.sign(signed, pss, hashes.SHA256()),
        b"",
        b"\0" + urlsafe_b64decode(own + "=="),
        b"\xff" * 256,
        bytes(256),
        bytes(255) + b"\1",
    ):
        with pytest.raises(LicenseError, match="was not signed"):
            verified_claims(f"{said}.{_encoded(signature)}", PUBLIC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.b",
        "a.b.c",
        "a.b.c.d",
        TOKEN + "=",
        TOKEN.replace(".", ".."),
        "ü.ü.ü",
        _made([]),
        _made({"alg": "RS256"}),
        _made({"kid": "k"}),
        _made({"alg": "RS256", "kid": 1}),
        _made({"alg": "RS256", "kid": "k", "crit": ["exp"]}),
        _made({"alg": "RS256", "kid": "k"}, b"x" * 20_000),
        "[" * 5_000 + ".a.a",
    ],
)
def test_invalid_tokens(text: str) -> None:
    with pytest.raises(LicenseError):
        verified_claims(text, PUBLIC)


@pytest.mark.parametrize(
    "pem",
    [
        "",
        "x",
        PUBLIC[:200] + PUBLIC[-30:],
        _pem(ec.generate_private_key(ec.SECP256R1())),
        _pem(rsa.generate_private_key(public_exponent=65537, key_size=1024)),
        _pem(rsa.generate_private_key(public_exponent=3, key_size=2048)),
    ],
)
def test_untrusted_keys(pem: str) -> None:
    with pytest.raises(LicenseError, match="public key"):
        verified_claims(TOKEN, pem)


def test_invalid_claims() -> None:
    signed = jwt.api_jws.encode(b"[1]", KEY, "RS256", {"kid": "k"})
    with pytest.raises(LicenseError, match="no claims"):
        verified_claims(signed, PUBLIC)


@settings(deadline=None, max_examples=80)
@given(st.integers(0, len(TOKEN) - 1), st.sampled_from("Aa0_-.=~"))
def test_any_change_is_refused(place: int, character: str) -> None:
    changed = TOKEN[:place] + character + TOKEN[place + 1 :]
    if changed != TOKEN:
        with pytest.raises(LicenseError):
            verified_claims(changed, PUBLIC)
