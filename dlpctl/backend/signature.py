"""License tokens from the server: signed with RS256, and verified once, on arrival.

Importing a cryptography library takes longer than a check, so later commands rely on a seal of the
verified answer; see `licensing`.
"""

from __future__ import annotations

from typing import Any

from dlpctl.errors import LicenseError

ALGORITHM = "RS256"
_MAX_TOKEN = 16_384
_MIN_BITS = 2_048
_MAX_BITS = 8_192
_EXPONENT = 65_537
_TIMES = ("exp", "iat", "nbf", "aud", "iss", "sub", "jti")
"""Claims that `licensing` checks by its own clock, or that have no meaning here."""


def key_id_of(token: str) -> str:
    """Return the id of the key that a token names, before the token is verified."""
    import jwt

    try:
        header = jwt.get_unverified_header(token) if len(token) <= _MAX_TOKEN else {}
    except (jwt.PyJWTError, ValueError, RecursionError):
        header = {}
    if "alg" not in header or "kid" not in header:
        raise LicenseError("the license token is not a signed token")
    if header["alg"] != ALGORITHM or "crit" in header:
        raise LicenseError(f"the license token is not signed with {ALGORITHM}; it was rejected")
    key_id: str = header["kid"]
    if not key_id.isprintable():
        raise LicenseError("the license token names no key")
    return key_id


def verified_claims(token: str, public_key: str) -> dict[str, Any]:
    """Return the claims of a token that was signed with the private key of a public key (PEM)."""
    import jwt

    key_id_of(token)
    key = _trusted(public_key)
    options: Any = {f"verify_{name}": False for name in _TIMES}
    try:
        claims: dict[str, Any] = jwt.decode(token, key, algorithms=[ALGORITHM], options=options)
    except jwt.InvalidSignatureError:
        raise LicenseError(
            "the license token was not signed by the server's key; it was rejected"
        ) from None
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise LicenseError("the license token has no claims") from None
    return claims


def _trusted(pem: str) -> Any:
    """Return a public RSA key that is neither too short to trust nor too long to use."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(pem.encode())
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPublicKey) or key.public_numbers().e != _EXPONENT:
        raise LicenseError("the server's public key is not an RSA key in PEM format")
    if not _MIN_BITS <= key.key_size <= _MAX_BITS:
        raise LicenseError(f"the server's public key has {key.key_size} bits; it was rejected")
    return key
