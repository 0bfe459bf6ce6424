"""Validators: what a value must satisfy beyond its pattern. The docstring of each function
describes the values that it accepts.

Checksums of assigned numbers are tables, see `numbers`; all others are functions, each registered
by name in the module of its subject. Modules are imported when one of their validators is first
used.
"""

from __future__ import annotations

from importlib import import_module

from dlpctl.detect.validators.registry import REGISTERED, Validator

__all__ = ["Validator", "find", "names"]

_SUBJECTS = {
    "cards": "credit_card iban creditor_reference iban_shape bic card_track",
    "checksums": "luhn verhoeff mod_97",
    "crypto": (
        "base58_address ripple_address bech32_address cashaddr ethereum_address solana_address "
        "monero_address stellar_address substrate_address bip39_phrase bip39_words "
        "crypto_base58"
    ),
    "dates": "birth_count calendar_date calendar_day card_expiry",
    "devices": (
        "vin vin_shape coordinates has_digits varied_digits chosen_digits long_number plate "
        "degrees zip_code private_address reference_number"
    ),
    "national": (
        "br_cnh br_titulo in_aadhaar it_codice_fiscale pt_cartao_cidadao de_steuer_id "
        "es_cups ie_pps fi_hetu tr_vkn vat_cy vat_fr vat_nl vat_ie fr_nir loinc mrz_td3"
    ),
    "network": (
        "email_address email_international user_name no_program_word has_digit ipv4 ipv4_public "
        "ipv6 ipv6_public ipv6_whole mac_address url_secret"
    ),
    "groups": "no_series",
    "phones": (
        "phone_international phone_nanp phone_national phone_trunk phone_labelled phone_shape"
    ),
    "scripts": "script_name",
    "spoken": "spoken_card spoken_number",
    "secrets": (
        "token mixed_token keying_material mixed_tail prefixed_token unmistakable tail uuid "
        "secret_or_uuid not_placeholder "
        "password unquoted_password secret declared_password declared_secret argument_password "
        "possible_password possible_token strong_password varied_password word_password "
        "secret_or_password "
        "written_secret generated_secret snmp_community strong_or_digits phrase url_password "
        "basic_auth otp_seed "
        "jwt discord_bot private_key private_key_body base64_private_key putty_key base64_object "
        "key_bytes "
        "base62_crc gitlab_crc bech32_key"
    ),
}
"""The functions by module. A test checks that each module registers exactly these."""

_MODULES = {name: module for module, listed in _SUBJECTS.items() for name in listed.split()}


def find(name: str) -> Validator:
    """Return the validator with that name; raise `KeyError` if there is none."""
    if name in REGISTERED:
        return REGISTERED[name]
    if name in _MODULES:
        import_module(f"{__name__}.{_MODULES[name]}")
    else:
        from dlpctl.detect.validators import numbers

        REGISTERED[name] = numbers.load(name, find)
    return REGISTERED[name]


def names() -> list[str]:
    """Return the names that pattern files may use."""
    from dlpctl.detect.validators import numbers

    return [*_MODULES, *numbers.names()]
