"""The validators of secrets by the names that pattern files use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dlpctl.detect.validators import secrets_judge as judge
from dlpctl.detect.validators import secrets_literals as literals
from dlpctl.detect.validators import secrets_structure as structure


@dataclass(frozen=True, slots=True)
class Validator:
    name: str
    accepts: Callable[[str], bool]
    proves: bool = False


_ALL = (
    Validator("token", judge.token),
    Validator("tail", judge.tail),
    Validator("uuid", judge.uuid),
    Validator("secret-or-uuid", lambda value: judge.uuid(value) if judge.is_uuid(value) else judge.token(value)),
    Validator("password", literals.password),
    Validator("unquoted-password", literals.unquoted_password),
    Validator("secret", literals.secret),
    Validator("url-password", structure.url_password),
    Validator("basic-auth", structure.basic_auth),
    Validator("base62-crc", structure.base62_crc, proves=True),
    Validator("gitlab-crc", structure.gitlab_routable, proves=True),
    Validator("bech32-key", structure.bech32_key, proves=True),
    Validator("jwt", structure.jwt),
    Validator("discord-bot", structure.discord_bot),
    Validator("private-key", structure.private_key),
    Validator("putty-key", structure.putty_key),
    Validator("base64-object", structure.base64_object),
)
VALIDATORS = {validator.name: validator for validator in _ALL}
