"""Functions that judge a value which a regex found: checksums, structure, plausibility.

A validator takes any text, never raises, takes time in proportion to the text's length at most, and
tolerates the separators that the regexes let through. The modules are imported when one of their
validators is asked for, since a run needs few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

_THEMES = {
    "americas": (
        "us_ssn us_itin ca_sin mx_curp br_cpf br_cnh br_pis br_titulo ar_cuit cl_rut co_nit pe_ruc ec_cedula "
        "uy_ci ve_rif do_cedula gt_cui sv_dui py_ruc cu_ni"
    ),
    "asia_pacific": (
        "cn_ric hk_hkid tw_national_id jp_my_number kr_rrn th_pin sg_nric my_nric id_nik in_aadhaar pk_cnic "
        "lk_nic kz_iin uz_pinfl ir_national_code il_id tr_tckn ae_emirates_id sa_national_id kw_civil_id "
        "eg_national_id za_id au_tfn au_abn au_acn nz_ird in_pan"
    ),
    "cards": "credit_card iban bic aba_routing mx_clabe es_ccc card_track",
    "checksums": "luhn verhoeff mod_97",
    "crypto": (
        "base58_address ripple_address bech32_address cashaddr ethereum_address solana_address monero_address "
        "stellar_address substrate_address bip39_phrase crypto_base58"
    ),
    "dates": "calendar_date card_expiry",
    "devices": "vin vin_shape imei iccid coordinates has_digits varied_digits plate degrees zip_code",
    "documents": "mrz_td3",
    "europe": (
        "es_dni es_nie it_codice_fiscale pt_cartao_cidadao de_steuer_id de_id_card de_rvnr at_svnr "
        "be_rijksregister nl_bsn lu_matricule ch_ahv gb_nino gb_driver ie_pps dk_cpr se_personnummer se_orgnr "
        "no_fodselsnummer fi_hetu is_kennitala baltic_personal_code lv_personas_kods pl_pesel pl_id_card "
        "pl_passport cz_rodne_cislo hu_personal_number hu_tax_id ro_cnp bg_egn hr_oib jmbg gr_amka al_nid "
        "ru_inn ru_snils ua_rnokpp md_idnp"
    ),
    "health": (
        "us_mbi us_npi dea_number gb_nhs gb_chi au_medicare au_ihi ca_on_health ca_bc_health ca_qc_health "
        "de_kvnr fr_nir ie_ihi hu_taj br_cns nz_nhi in_abha de_lanr loinc"
    ),
    "national": "national_europe national_americas national_asia_pacific tax_europe tax_americas tax_asia_pacific",
    "network": (
        "email_address email_international user_name no_program_word has_digit ipv4 ipv4_public ipv6 ipv6_public ipv6_whole mac_address "
        "url_secret"
    ),
    "phones": "phone_international phone_nanp phone_national phone_trunk phone_labelled",
    "secrets": (
        "token mixed_token tail uuid secret_or_uuid not_placeholder password unquoted_password secret env_password "
        "strong_password mixed_password varied_password secret_or_password snmp_community strong_or_digits phrase url_password basic_auth jwt discord_bot private_key "
        "private_key_body base64_private_key putty_key base64_object base62_crc gitlab_crc bech32_key"
    ),
    "taxes": (
        "us_ein br_cnpj br_cpf_or_cnpj mx_rfc mx_rfc_checked in_gstin gb_utr fr_spi fr_siren it_partita_iva "
        "pt_nif gr_afm pl_nip pl_regon es_cif tr_vkn no_orgnr ch_uid kr_brn tw_ubn eu_vat"
    ),
}
"""The module of each validator. A test holds that each module registers exactly these."""


class Validator(NamedTuple):
    """`accepts` judges a value; `proves` says that a value hardly passes by chance, since a
    checksum is computed.
    """

    name: str
    accepts: Callable[[str], bool]
    proves: bool


_MODULES = {name: theme for theme, listed in _THEMES.items() for name in listed.split()}
_REGISTERED: dict[str, Validator] = {}


def validator(
    name: str, *, proves: bool = False
) -> Callable[[Callable[[str], bool]], Callable[[str], bool]]:
    """Registers a function under the name that pattern files use."""

    def register(accepts: Callable[[str], bool]) -> Callable[[str], bool]:
        _REGISTERED[name] = Validator(name, accepts, proves)
        return accepts

    return register


def find(name: str) -> Validator:
    """The validator of that name; KeyError where there is none."""
    if name not in _REGISTERED:
        import_module(f"{__name__}.{_MODULES[name]}")
    return _REGISTERED[name]


def names() -> list[str]:
    """What pattern files may name."""
    return list(_MODULES)
