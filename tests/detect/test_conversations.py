"""Chats, calls and tickets, and the logs, pages and wrapped paragraphs that quote them."""

from __future__ import annotations

import json
import textwrap

import pytest

from dlpctl.detect.engine import Detector

CHAT = """\
caio: qual a senha do roteador
thainá: Pitanga#2020
caio: e o zap do síndico
thainá: 21 98555 0147
caio: teu cpf pra eu botar na portaria
thainá: 036.148.468-22
caio: placa do carro
thainá: RIO4C82
"""
CALL = """\
Agent: And your date of birth please
Caller: ninth of February seventy four
Agent: Best number to reach you on
Caller: oh seven nine double one, four three two, one oh six
Operadora: Un teléfono de contacto
Cliente: seis uno siete, cinco cinco, cero nueve, cuarenta y uno
Operatore: Mi dice il suo cognome
Cliente: Quattrocchi
Operadora: Algo más
Cliente: no
"""
TABLE = """\
 full_name          | dob        | mobile
--------------------+------------+----------------
 Rosalind Achterberg | 1979-03-22 | (503) 555-0148
 Deshawn Whitlock    | 1991-11-05 | (971) 555-0191
"""
ROWS = """\
full_name,work_email,bank_account,sort_code,home_address
Rosalind Achterberg,r.achterberg@acme.example,31926819,08-99-99,"14 Cadogan Wynd, Perth PH1"
Deshawn Whitlock,deshawn@acme.example,66374958,10-79-99,"Flat 2, 90 Tannery Road, Leeds"
"""
THREAD = """\
Wilhelmina (Support)  2:14 PM
What was the code in the text we sent? It has six digits.
Guest_2291  2:15 PM
its 330 718
Wilhelmina (Support)  2:15 PM
And the answer to your secret question, favourite teacher?
Guest_2291  2:16 PM
it's Dunlevy
"""
CODES = """\
Backup codes from GitHub, cross out when used:
1. a91f3-77c0e
2. 5d2b8-e4f19
The grocery list:
- 4 onions
- 2 leeks
"""
WRAPPED = """\
The export is protected, as the office has asked us: the password is
Kaulquappe-8417 and will change in May. Please call the claimant, Solveig
Brinkmann, who was born on the twelfth of June nineteen sixty
eight, before noon.
"""


def found(detector: Detector, text: str) -> set[str]:
    return {" ".join(text[each.start : each.end].split()) for each in detector.scan(text)}


def logged(text: str) -> str:
    lines = enumerate(text.splitlines(keepends=True))
    return "".join(f"2026-09-14T06:12:{n:02}.118Z INFO  [worker-3] {line}" for n, line in lines)


CARRIERS = {
    "plain": str,
    "log": logged,
    "page": lambda text: f"<p>\n{text}</p>".replace("\n", "<br>\n"),
    "string": lambda text: json.dumps({"role": "user", "content": text}, ensure_ascii=False),
}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_answers_follow_what_was_asked_for(library: Detector, carrier: str) -> None:
    of_chat = {"caio", "Pitanga#2020", "21 98555 0147", "036.148.468-22", "RIO4C82"}
    assert of_chat <= found(library, CARRIERS[carrier](CHAT))
    of_call = {
        "ninth of February seventy four",
        "oh seven nine double one, four three two, one oh six",
        "seis uno siete, cinco cinco, cero nueve, cuarenta y uno",
        "Quattrocchi",
    }
    assert of_call <= found(library, CARRIERS[carrier](CALL))


def test_speakers_in_lower_case_are_names_beside_a_given_name(library: Detector) -> None:
    assert {"caio", "thainá"} <= found(library, CHAT)
    assert "operadora" not in found(library, CHAT.replace("thainá", "operadora"))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "9:12 - Iratxe: hola, la clave del almacén?\n9:14 - Gonzalo Taller: 5183\n9:15 - Iratxe: vale",
            {"Gonzalo", "5183"},
        ),
        (
            "Maëlys — aujourd'hui à 14:12\nle PIN du coffre ?\nCorentin — aujourd'hui à 14:15\n7162",
            {"Maëlys", "Corentin"},
        ),
        ("14:01 - Ilde: ciao\n14:02 - Saverio: e il PIN?\n14:03 - Ilde: 2907", {"Ilde", "2907"}),
    ],
)
def test_short_chats_are_read(library: Detector, text: str, values: set[str]) -> None:
    assert values <= found(library, text)


def test_tables_are_read_in_logs_and_pages(library: Detector) -> None:
    cells = {"Rosalind Achterberg", "1979-03-22", "Deshawn Whitlock", "(971) 555-0191"}
    assert cells <= found(library, logged(TABLE))
    assert cells <= found(library, CARRIERS["page"](TABLE))


@pytest.mark.parametrize("carrier", ["plain", "string", "page"])
def test_rows_are_read_wrapped_and_from_the_start_of_a_string_on(
    library: Detector, carrier: str
) -> None:
    values = {"31926819", "08-99-99", "66374958", "10-79-99"}
    for rows in (ROWS, "\n".join(textwrap.fill(row, 72) for row in ROWS.splitlines())):
        assert values <= found(library, CARRIERS[carrier](rows).replace("<p><br>\n", "<p>"))


def test_headers_are_read_in_two_lines_above_a_rule(library: Detector) -> None:
    wide = TABLE.replace(" | ", f"{'':20} | ")
    cut = wide.replace("| dob", "|\n dob", 1).replace("| (", "|\n(")
    assert {"1979-03-22", "(503) 555-0148", "1991-11-05"} <= found(library, cut)


def test_answers_follow_speakers_in_a_line_of_their_own(library: Detector) -> None:
    assert {"330 718", "Dunlevy"} <= found(library, THREAD)


def test_lists_are_read_in_logs(library: Detector) -> None:
    assert any("5d2b8-e4f19" in value for value in found(library, logged(CODES)))


def test_entries_of_a_log_are_not_joined(library: Detector) -> None:
    entries = "".join(
        f"2026-09-14 06:12:{n:02} {level} [auth] {text}\n"
        for n, (level, text) in enumerate(
            [("INFO", "password changed"), ("WARN", "greenhouse"), ("INFO", "ok 4.12.7")]
        )
    )
    assert not found(library, entries)


def test_values_go_on_after_the_line_ends_of_paragraphs(library: Detector) -> None:
    values = {
        "Kaulquappe-8417",
        "Solveig Brinkmann",
        "the twelfth of June nineteen sixty eight",
    }
    for width in (66, 70, 78):
        assert values <= found(library, textwrap.fill(WRAPPED, width)), width


def test_keys_of_a_configuration_are_no_speakers(library: Detector) -> None:
    assert not found(library, "password: changed\nhost: greenhouse\nuser: none\nport: 4417\n")


def test_numbers_in_pairs_are_read_as_digits(library: Detector) -> None:
    card = "quarante et un" + ", onze" * 7
    assert card in found(library, f"ma carte : {card}")
    assert card.replace("onze", "douze") not in found(library, f"ma carte : {card}")
