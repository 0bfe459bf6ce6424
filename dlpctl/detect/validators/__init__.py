"""Validators by name. The modules behind them are imported when a pattern that names one is hit, not before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import NamedTuple


class Validator(NamedTuple):
    name: str
    accepts: Callable[[str], bool]
    proves: bool
    """Whether it computes a checksum: what it accepts is then hardly ever there by chance."""


_SECRETS = (
    "token mixed_token tail uuid secret_or_uuid not_placeholder password unquoted_password secret "
    "env_password strong_password secret_or_password snmp_community strong_or_digits phrase url_password "
    "basic_auth jwt discord_bot private_key private_key_body base64_private_key putty_key base64_object "
    "base62_crc gitlab_crc bech32_key "
)

MODULES = {
    "luhn": "checksums",
    "iban": "checksums",
    "us_ssn": "checksums",
    **dict.fromkeys(_SECRETS.split(), "secrets"),
}


def names() -> Sequence[str]:
    return tuple(MODULES)


@cache
def find(name: str) -> Validator:
    module = import_module(f"dlpctl.detect.validators.{MODULES[name]}")
    validator: Validator = module.VALIDATORS[name]
    return validator
