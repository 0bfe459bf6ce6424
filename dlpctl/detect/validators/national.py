"""Numbers that any of the countries of a region would take: for patterns that cover all of them by
their labels.
"""

from __future__ import annotations

from collections.abc import Callable

from dlpctl.detect.validators import americas, asia_pacific, europe, taxes, validator
from dlpctl.detect.validators.checksums import digits, luhn, varied

_Check = Callable[[str], bool]

_EUROPE: dict[int, tuple[_Check, ...]] = {
    9: (europe.nl_bsn,),
    10: (
        europe.at_svnr,
        europe.bg_egn,
        europe.cz_rodne_cislo,
        europe.dk_cpr,
        europe.is_kennitala,
        europe.se_personnummer,
        europe.ua_rnokpp,
    ),
    11: (
        europe.baltic_personal_code,
        europe.be_rijksregister,
        europe.gr_amka,
        europe.hr_oib,
        europe.hu_personal_number,
        europe.lv_personas_kods,
        europe.no_fodselsnummer,
        europe.pl_pesel,
        europe.ru_snils,
    ),
    12: (europe.se_personnummer,),
    13: (europe.jmbg, europe.lu_matricule, europe.md_idnp, europe.ro_cnp),
}
_AMERICAS: dict[int, tuple[_Check, ...]] = {
    8: (americas.uy_ci,),
    9: (americas.ca_sin, americas.sv_dui),
    10: (americas.ec_cedula,),
    11: (luhn, americas.br_pis, americas.cu_ni),
    12: (americas.br_titulo,),
    13: (americas.gt_cui,),
}
_ASIA_PACIFIC: dict[int, tuple[_Check, ...]] = {
    9: (asia_pacific.il_id,),
    10: (asia_pacific.ir_national_code, asia_pacific.sa_national_id),
    11: (asia_pacific.tr_tckn,),
    12: (
        asia_pacific.in_aadhaar,
        asia_pacific.jp_my_number,
        asia_pacific.kw_civil_id,
        asia_pacific.kz_iin,
        asia_pacific.my_nric,
    ),
    13: (asia_pacific.kr_rrn, asia_pacific.pk_cnic, asia_pacific.th_pin, asia_pacific.za_id),
    14: (asia_pacific.eg_national_id, asia_pacific.uz_pinfl),
    16: (asia_pacific.id_nik,),
}


def _any(checks: dict[int, tuple[_Check, ...]], value: str) -> bool:
    bare = digits(value.replace("+", "-"))
    if not varied(bare):
        return False
    for check in checks.get(len(bare), ()):
        if check(bare):
            return True
    return False


@validator("national_europe", proves=True)
def national_europe(value: str) -> bool:
    return _any(_EUROPE, value)


@validator("national_americas", proves=True)
def national_americas(value: str) -> bool:
    return _any(_AMERICAS, value)


@validator("national_asia_pacific", proves=True)
def national_asia_pacific(value: str) -> bool:
    return _any(_ASIA_PACIFIC, value)


_TAX_EUROPE: dict[int, tuple[_Check, ...]] = {
    9: (taxes.fr_siren, taxes.gr_afm, taxes.no_orgnr, taxes.pl_regon, taxes.pt_nif),
    10: (taxes.gb_utr, europe.hu_tax_id, taxes.pl_nip, europe.ru_inn, taxes.tr_vkn),
    11: (europe.de_steuer_id, taxes.it_partita_iva),
    12: (europe.ru_inn,),
    13: (taxes.fr_spi,),
    14: (taxes.fr_siren, taxes.pl_regon),
}
_TAX_AMERICAS: dict[int, tuple[_Check, ...]] = {
    7: (americas.py_ruc,),
    8: (americas.py_ruc,),
    9: (taxes.us_ein, americas.us_itin, americas.py_ruc, americas.co_nit),
    10: (americas.co_nit,),
    11: (americas.br_cpf, americas.ar_cuit, americas.pe_ruc),
    14: (taxes.br_cnpj,),
}
_TAX_ASIA_PACIFIC: dict[int, tuple[_Check, ...]] = {
    8: (asia_pacific.nz_ird, taxes.tw_ubn),
    9: (asia_pacific.au_acn, asia_pacific.au_tfn, asia_pacific.nz_ird, asia_pacific.il_id),
    10: (taxes.kr_brn,),
    11: (asia_pacific.au_abn,),
}


@validator("tax_europe", proves=True)
def tax_europe(value: str) -> bool:
    return _any(_TAX_EUROPE, value)


@validator("tax_americas", proves=True)
def tax_americas(value: str) -> bool:
    return _any(_TAX_AMERICAS, value)


@validator("tax_asia_pacific", proves=True)
def tax_asia_pacific(value: str) -> bool:
    return _any(_TAX_ASIA_PACIFIC, value)
