"""Values whose label is a level above, dictated, or written as chats and abbreviations write them."""

from __future__ import annotations

import pytest

from dlpctl.detect.engine import Detector

FOUND = {
    "nested YAML": ("ssn:\n  value: {}\n", "536904399"),
    "section of TOML": ('[passport]\nnumber = "{}"\n', "536904399"),
    "nested JSON": ('{{\n  "ssn": {{\n    "value": "{}"\n  }}\n}}', "536904399"),
    "label with dots": ("K.v.K. nr. {}", "74938805"),
    "header with blanks": ("id,reg no.,note\n1,{},new\n", "TX86 PKY"),
    "letter of Turkish": ("MERSİS no: {}", "3305040217285275"),
    "header with dots": ("id,B.S.N.,note\n1,{},new\n", "111222333"),
    "lower case": ("ifsc code {}", "sbci08o5dqa"),
    "wrong check digit": ("BSN: {}", "111222334"),
    "machine": ("Accepted password for root from {} port 22", "10.2.31.4"),
    "abbreviated word for number": ("Abgabenkontonr. {}", "71-808/3272"),
    "aside after the label": ("PESEL (11 digits): {}", "44051401458"),
    "person after a short label": ("CNP pacient: {}", "1821106347049"),
    "aside after a number's noun": ("kt. nr (required): {}", "020875-9769"),
    "leaders of a form": ("[ ] kt. ....... {}", "020875-9769"),
    "abbreviated header": ("name,Abgabenkontonr.,city\nAnn,{},Graz\n", "71-808/3272"),
    "abbreviation in brackets": ("{} (no. cukai)", "OG 6971612036"),
    "letters at the end": ("{} (plaque d'immatriculation)", "IB-729-XW"),
    "supply point without a label": ("for {} since May", "ES1234123456789012JY"),
    "land register without a label": ("for {} since May", "9872023VH5797S0001WX"),
    "particle of another script": ("RRN는 {}", "900101-1234567"),
    "particle before the value": ("My Numberは{}です", "123456789018"),
    "letters beyond ASCII": ("účet č. {}", "4703234178/0100"),
    "short label beyond ASCII": ("nuo 2019 ŘP: {}", "EK 482715"),
    "letters of Vietnamese after a label": ("CCCD số {}", "001099482715"),
    "wide gap of a form": ("B.I.                          {}", "48271530"),
    "whose number after an article": ("IFU de la société : {}", "48271530K"),
    "plate with a dot in its middle": ("车牌：{}", "沪B·48K27"),
    "plate of eleven letters": ("رقم السيارة {}", "148 تونس 2715"),
    "number sign right before the value": ("Policy #{} covers", "48271530"),
    "number's noun with dots": ("B.I. n.º {}", "004827153LA046"),
    "further date with its month": ("Dates of birth: 3 May 1991; {}", "17 August 1989"),
    "label in brackets": ("Ann Lee, {} (NHS number of the patient)", "943 476 5919"),
    "groups after letters": ("Policy no.           {}", "PV-7719 203 44"),
    "letters of Cyrillic in a number": ("клиент, договор № {}", "Д-4471/26"),
    "docket after an abbreviation": ("Klägerin: Eva Roe\nGeschäfts-Nr.: {}", "14 C 388/26"),
    "leaders before a number": ("Claim number ....... {}", "2026-3011-88472-00"),
    "noun after the word for number": ("Szanowna Pani, nr pisma {}", "ZK/HR/1182/26"),
    "given name after a surname": (
        "Name, Vorname:   {}    Alter: 30\nOrt, Land:    Ulm\n",
        "Wüstefeld, Torge",
    ),
    "name after a role": ("Kontrolli.\n---\nPotilas {}, tulosyy avoin.", "Aarne Lehtovaara"),
    "month of birth": ("Geburtsdatum: {}", "05/1988"),
    "numbered box": ("| 3. MI | 4. DATE OF BIRTH |\n| R     | {} |\n", "08 / 23 / 1969"),
    "town below its label": ("Address line 1\nTy Roe\nTown\n{}\n", "Llandeilo"),
    "star before a date of birth": ("Frau Hella Roe, *{}, wh. in Ulm", "17.04.1944"),
    "name after a question": ("Bot: Your surname, please?\n[09:02] Visitor: {}\n", "Deshmukh"),
    "label after a verb": ("{} is her social security number.", "536-90-4399"),
    "label with an ending after a value": ("Merhaba. {} müşteri numaram.", "55017722"),
    "date in a reply after a number": (
        "PPS number and date of birth?\n8804456V, {}\n",
        "9 March 1968",
    ),
    "misread label": ("Bank Acc0unt N0: {}", "4471182047"),
    "misread date": ("Date 0f Birth: {}", "O2/l4/1981"),
    "misread telephone": ("Phone: {}", "(334) 555-0l47"),
    "label after an arrow": ("{}  <- PESEL", "44051401458"),
    "card in words": ("card: {}.", "four one one one" + ", one one one one" * 3),
    "telephone in words": (
        "meine Nummer ist {}",
        "null eins sieben eins drei vier fünf neun zwei acht",
    ),
    "telephone": ("Ask Ito, {}, about it", "079 123 45 67"),
    "telephone without 0": ("Write to Eva, {}, today", "612 345 678"),
    "path of a URL": (
        "open https://acme.example/reset-password/{} now",
        "Zk3x9QpL7mVt2RwY8sBn4HcD",
    ),
    "key after a person": ('{{"memberTaxId": "{}", "ok": true}}', "912704418"),
    "key after a person, escaped": ('{{\\"patientSsn\\":\\"{}\\"}}', "536904399"),
    "key with a number": ("cust_dob_1: {}\n", "1974-08-30"),
    "key with a word for its value": ("obj.userSsnValue = '{}';", "536904399"),
    "key of an annotated variable": ('spousePhone: str = "{}"', "5035550142"),
    "method for a key": ('person.setPatientSsn("{}")', "536904399"),
    "element after a person": ("<row><guardianPhone>{}</guardianPhone></row>", "5035550142"),
    "column after a person": ("id,coApplicantSsn,qty\n1,{},3\n", "536904399"),
    "noun of a person": ("Dienstausweis Nr. {}", "A-20441"),
    "number before its noun": ("N° de bail : {}", "2026-B-04418"),
    "compound by its head": ("Stromkundennummer {}", "4418207"),
    "clause after a label": ("the claim reference I was given by Ada is {}.", "CLM/26/118441"),
    "unknown noun near a person": ("geb. 04.02.1991\nZEMIS-Nr.: {}", "020.441.882-7"),
    "user among fields": ('audit: acct="{}" action=export', "svc_klaus"),
    "user from an address": ("login failed for user {} from 198.51.100.7", "rvasquez"),
    "column of capitals within a word": ("id,KvK,qty\n1,{},3\n", "74938805"),
    "hidden field": ('<input name="csrf_token" value="{}">', "Zk3x9QpL7mVt2RwY8sBn4HcD"),
    "date in a letter of discharge": (
        "Patient: J. Doe\nHistory of asthma. Came in on {}.",
        "Nov 3",
    ),
    "month in a letter of discharge": (
        "Paciente, antecedentes: gota. Operada en {}",
        "marzo de 2021",
    ),
    "day in a doctor's letter": (
        "Klinikum Musterstadt, Entlassungsbrief: in Behandlung vom {} an",
        "28.10.",
    ),
    "date next to doses": ("Herr J. Doe, Examplolol 50mg, kommt am {}", "11.12.2026"),
    "condition by its ending": ("Epikris. Läkemedel: Waran. Inkom med {}", "lunginflammation"),
    "condition with its organ": ("Patiente hospitalisée pour {}", "embolie pulmonaire"),
}
NONE = (
    "one two three four five six seven eight nine zero",
    "call one two three four five six seven eight nine",
    "total: 612 345 679",
    "tif_fax3: better fix for CVE-2011-0192",
    "retryCount: 74938805, mobileWidth: 1024, blockSize1: 536904399",
    "it took 5369043 (see the card) and 20261126 is the date of the passport check",
    "upgraded server from 10.2.31.4 to 11",
    "https://acme.example/hooks/use-previous-state-of-component",
    "password = getpass()",
    'iv = unhexlify("9ce5a948ec64774b3f9525e6b0fd7b23")',
    "the password is case-sensitive",
    "customer_id: 48271530",
    "CLIENT_ID=482715",
    "account_id: 48271530",
    "order number 48271530",
    "error code 10054 (issue no. 48271530)",
    "Worker 4324 started, policy 2024-11-02, case (f964b72), cases: 15000",
    "hotel, flight no. 44812, page number 48271",
    "test case number 482715",
    '{"run_id": 9876543210, "job_id": 40123}',
    "const ID = 44182077",
    "the patient process came in on Nov 3",
    "patient diagnosis 2026-11-02 10:11:12 started",
)


@pytest.mark.parametrize(("form", "value"), FOUND.values(), ids=FOUND)
def test_a_label_is_read_where_people_write_it(library: Detector, form: str, value: str) -> None:
    text = form.format(value)
    assert value in [text[one.start : one.end] for one in library.scan(text, 0.4)]


@pytest.mark.parametrize("text", NONE)
def test_similar_texts_are_not_values(library: Detector, text: str) -> None:
    assert library.scan(text, 0.4) == []
