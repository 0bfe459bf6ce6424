"""Valid values of formats with a checksum or an encoding, for `{{make:NAME}}` in examples."""

from __future__ import annotations

import base64
import json
import string
import zlib
from collections.abc import Callable
from random import Random

from dlpctl.detect.validators.bech32 import CHARACTERS, bech32
from dlpctl.detect.validators.secrets_structure import (
    BASE36,
    BASE62,
    in_base,
)

_URL_SAFE = string.ascii_letters + string.digits + "-_"
_BASE64 = string.ascii_letters + string.digits + "+/"
_HEX = string.hexdigits[:16]


def _draw(source: Random, alphabet: str, count: int) -> str:
    return "".join(source.choices(alphabet, k=count))


def _with_crc(prefix: str, length: int = 30) -> Callable[[Random], str]:
    def make(source: Random) -> str:
        body = _draw(source, BASE62, length)
        return prefix + body + in_base(zlib.crc32(body.encode()), BASE62, 6)

    return make


def gitlab_routable(source: Random) -> str:
    payload = _draw(source, _URL_SAFE.replace("-", "").replace("_", ""), 36)
    signed = f"glpat-{payload}.{in_base(len(payload), BASE36, 2)}"
    return signed + in_base(zlib.crc32(signed.encode()), BASE36, 7)


def age_key(source: Random) -> str:
    prefix = "age-secret-key-"
    data = [source.randrange(32) for _ in range(52)]
    checksum = bech32(prefix, [*data, *[0] * 6]) ^ 1
    data += [checksum >> 5 * (5 - at) & 31 for at in range(6)]
    return f"{prefix}1{''.join(CHARACTERS[number] for number in data)}".upper()


def _base64_json(claims: dict[str, object]) -> str:
    return (
        base64.urlsafe_b64encode(json.dumps(claims, separators=(",", ":")).encode())
        .decode()
        .rstrip("=")
    )


def jwt(source: Random) -> str:
    header = _base64_json({"alg": "HS256", "typ": "JWT"})
    claims = _base64_json(
        {
            "sub": _draw(source, string.digits, 10),
            "iat": 1_700_000_000,
            "jti": _draw(source, _HEX, 16),
        }
    )
    return f"{header}.{claims}.{_draw(source, _URL_SAFE, 43)}"


def basic(source: Random) -> str:
    return base64.b64encode(f"deploy:{_draw(source, BASE62, 14)}".encode()).decode()


def discord_bot(source: Random) -> str:
    identity = base64.b64encode(str(source.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
    return f"{identity}.{_draw(source, _URL_SAFE, 6)}.{_draw(source, _URL_SAFE, 38)}"


def pem_body(source: Random) -> str:
    text = "MIIEpAIBAAKCAQEA" + _draw(source, _BASE64, 624)
    return "\n".join(text[at : at + 64] for at in range(0, len(text), 64))


def rsa_key(source: Random) -> str:
    return f"-----BEGIN RSA PRIVATE KEY-----\n{pem_body(source)}\n-----END RSA PRIVATE KEY-----"


def pem_key(source: Random) -> str:
    return f"-----BEGIN PRIVATE KEY-----\n{pem_body(source)}\n-----END PRIVATE KEY-----"


def pem_key_escaped(source: Random) -> str:
    return pem_key(source).replace("\n", "\\n")


def pem_key_base64(source: Random) -> str:
    return base64.b64encode(pem_key(source).encode()).decode()


def openssh_key(source: Random) -> str:
    text = "b3BlbnNzaC1rZXktdjEAAAAA" + _draw(source, _BASE64, 416)
    body = "\n".join(text[at : at + 70] for at in range(0, len(text), 70))
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----"


def service_account_base64(source: Random) -> str:
    account = {"type": "service_account", "project_id": "acme", "private_key": pem_key(source)}
    return base64.b64encode(json.dumps(account, separators=(",", ":")).encode()).decode()


def cloudflare_tunnel(source: Random) -> str:
    tunnel = {
        "a": _draw(source, _HEX, 32),
        "t": _draw(source, _HEX, 36),
        "s": _draw(source, _BASE64, 44),
    }
    return base64.b64encode(json.dumps(tunnel, separators=(",", ":")).encode()).decode()


GENERATORS: dict[str, Callable[[Random], str]] = {
    **{f"dlpctl_{prefix}": _with_crc(f"dlp_{prefix}_", 43) for prefix in ("pk", "lk", "at")},
    **{
        f"github_{prefix}": _with_crc(f"{prefix}_")
        for prefix in ("ghp", "gho", "ghu", "ghs", "ghr")
    },
    "npm": _with_crc("npm_"),
    "gitlab_routable": gitlab_routable,
    "age_key": age_key,
    "jwt": jwt,
    "basic": basic,
    "discord_bot": discord_bot,
    "rsa_key": rsa_key,
    "pem_key": pem_key,
    "pem_key_escaped": pem_key_escaped,
    "pem_key_base64": pem_key_base64,
    "openssh_key": openssh_key,
    "service_account_base64": service_account_base64,
    "cloudflare_tunnel": cloudflare_tunnel,
}
