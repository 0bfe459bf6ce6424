"""The validators of secrets by the names that pattern files use."""

from __future__ import annotations

from dlpctl.detect.validators import secrets_judge as judge
from dlpctl.detect.validators import secrets_literals as literals
from dlpctl.detect.validators import secrets_phrases as phrases
from dlpctl.detect.validators import secrets_structure as structure
from dlpctl.detect.validators.registry import validator

JUDGED = {
    "token": judge.token,
    "mixed_token": judge.mixed_token,
    "keying_material": judge.keying_material,
    "mixed_tail": judge.mixed_tail,
    "prefixed_token": judge.prefixed_token,
    "unmistakable": judge.unmistakable,
    "tail": judge.tail,
    "uuid": judge.uuid,
    "secret_or_uuid": judge.secret_or_uuid,
    "not_placeholder": judge.not_placeholder,
    "password": literals.password,
    "unquoted_password": literals.unquoted_password,
    "secret": literals.secret,
    "possible_password": literals.possible_password,
    "possible_token": literals.possible_token,
    "word_password": literals.word_password,
    "declared_password": literals.declared_password,
    "declared_secret": literals.declared_secret,
    "generated_secret": literals.generated_secret,
    "written_secret": literals.written_secret,
    "argument_password": literals.argument_password,
    "strong_password": literals.strong_password,
    "varied_password": literals.varied_password,
    "secret_or_password": literals.secret_or_password,
    "strong_or_digits": literals.strong_or_digits,
    "phrase": phrases.phrase,
    "snmp_community": literals.snmp_community,
    "url_password": structure.url_password,
    "otp_seed": structure.otp_seed,
    "basic_auth": structure.basic_auth,
    "jwt": structure.jwt,
    "discord_bot": structure.discord_bot,
    "private_key": structure.private_key,
    "private_key_body": structure.private_key_body,
    "base64_private_key": structure.base64_private_key,
    "putty_key": structure.putty_key,
    "base64_object": structure.base64_object,
    "key_bytes": structure.key_bytes,
}
PROVEN = {
    "base62_crc": structure.base62_crc,
    "gitlab_crc": structure.gitlab_routable,
    "bech32_key": structure.bech32_key,
}

for _names, _proves in ((JUDGED, False), (PROVEN, True)):
    for _name, _accepts in _names.items():
        validator(_name, proves=_proves)(_accepts)
