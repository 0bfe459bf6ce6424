"""Keys: labels made for programs, such as those of JSON and of columns, and what they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from dlpctl.detect.entities.crf.words import normalize
from dlpctl.regex import lazy


def set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


OWNERS = set_of(
    "first last middle given family full maiden birth legal preferred display contact customer "
    "client patient employee member owner holder cardholder account_holder beneficiary recipient "
    "sender guest tenant student teacher parent guardian spouse applicant candidate manager doctor "
    "physician provider author agent driver passenger insured payee payer buyer seller person "
    "signer signatory billing shipping reporter assignee admin administrator"
)
_NAMES_ALONE = set_of(
    "cardholder policyholder surname forename lastname firstname vorname nachname familienname "
    "prenom apellidos paterno materno cognome sobrenome voornaam achternaam kundenname klantnaam "
    "patientenname patientnaam kontaktname contactnaam"
)
"""Labels that precede only names, even if a person has written the label."""
PERSON_KEYS = frozenset((*_NAMES_ALONE, *(f"{who}_name" for who in OWNERS))) | set_of(
    "fullname nom_de_famille nom nombre apellido nome apelido naam imie nazwisko fornamn efternamn "
    "fornavn efternavn etternavn etunimi sukunimi jmeno prijmeni meno priezvisko prenume "
    "keresztnev vezeteknev prezime fname lname last_first patient "
    "owner customer client employee assignee reporter author recipient sender cardholder "
    "beneficiary tenant attending physician policyholder policy_holder "
    "account_holder named_insured subscriber guarantor claimant plaintiff defendant respondent "
    "petitioner decedent borrower co_borrower lessee lessor grantor grantee payee"
)
_NAMES_AFTER_OTHERS = _NAMES_ALONE | set_of(
    "first_name last_name middle_name given_name family_name full_name maiden_name legal_name "
    "contact_name patient_name employee_name guardian_name applicant_name spouse_name holder_name "
    "student_name teacher_name tenant_name insured_name beneficiary_name cardholder_name"
)
"""The ends of keys for names, with any words before them: `emergency_contact_name`."""
ADDRESS_KEYS = set_of(
    "address street street_address address1 address2 address_1 address_line1 address_line_1 addr "
    "home_address mailing_address postal_address shipping_address billing_address delivery_address "
    "work_address residence residential_address location_address adresse anschrift strasse "
    "direccion domicilio calle indirizzo via endereco morada rua adres straat adress gatuadress "
    "gateadresse osoite katuosoite ulica ulice adresa lakcim full_address "
    "customer_address patient_address"
)
NAMES_OF_ANYTHING = set_of("name names nom nombre nome naam")
COLUMNS_OF_NAMES = PERSON_KEYS | set_of(
    "name names contact contacts member manager doctor person user guest"
)
LABELS_OF_THINGS = set_of(
    "city town country state province region county origin destination product sku brand model "
    "make vendor supplier company employer organization organisation department team project "
    "category type status color colour currency month day weekday language airport station bank "
    "hospital stadt land ort ville pays ciudad pais citta paese cidade plaats warehouse carrier "
    "codename package application app device chassis cpu theme font font_family typeface species "
    "genus common_name scientific_name timezone time_zone locale continent river lake"
)
COLUMNS_OF_OTHERS = LABELS_OF_THINGS | set_of("place item description title subject")
BESIDE_THINGS = set_of(
    "lat lon lng latitude longitude population elevation altitude area capital continent iso iso2 "
    "iso3 timezone time_zone block script codepoint unicode genus species version license licence "
    "price stock quantity sku"
)
"""Labels of columns beside the names of places, characters, species, programs or goods."""
_COLUMNS = COLUMNS_OF_NAMES | ADDRESS_KEYS | COLUMNS_OF_OTHERS | BESIDE_THINGS
_ADDITION = lazy(r"(?:[ _-]?\d{1,2}| ?\([^()]*\))+$")  # name 2, contact name (new)
_WRITTEN = lazy(r"[A-ZÀ-Þ](?:[^\WA-ZÀ-Þ\d_]+|[A-ZÀ-Þ]+)")  # as in a letter
_LABEL = lazy(r"(?<!\w)([^\W\d_]\w{3,40}+)[\"']?\)?\s?\Z")  # also lower(name) = '...'
_LONGEST = 44
"""The most characters of a label, with what may be between it and its mark."""
_MARK = lazy(r"[:=]|</(?=\w{1,16}>\s{0,32}(?:<\w{1,16}>){1,2}[^\n<>]{2,60}</)|>(?=[^\n<>]{2,60}</)")
_KEY = lazy(r"[^\W_]+")


def labels(text: str, first: int, stop: int) -> Iterator[re.Match[str]]:
    """Yield the labels before a colon or an equals sign in a part of a text, or in a tag."""
    for mark in _MARK.finditer(text, first, stop):
        low = max(first, mark.start() - _LONGEST)
        if label := _LABEL.search(text, low, mark.start()):
            yield label


@lru_cache(maxsize=1024)  # texts and columns repeat their labels
def key_of(label: str) -> str:
    """Return a label without case, accents and separators: `FIRST-NAME` is `first_name`."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label)
    return "_".join(_KEY.findall(normalize(spaced.casefold())))


def names_person(key: str) -> bool:
    """Return whether a key is one for names of persons."""
    words = key.split("_")
    return key in PERSON_KEYS or not _NAMES_AFTER_OTHERS.isdisjoint(
        "_".join(words[first:]) for first in range(1, len(words))
    )


def column_key(label: str) -> str:
    """Return the key of a column, without an addition unless it is part of the key."""
    keys = key_of(label), key_of(_ADDITION.sub("", label))
    return next((key for key in keys if key in _COLUMNS or names_person(key)), keys[0])


@lru_cache(maxsize=1024)
def is_key(label: str) -> bool:
    """Return whether the tagger needs help with the value after a label; after a label that a
    person wrote, it mostly does not.
    """
    key = key_of(_ADDITION.sub("", label))
    if _WRITTEN.fullmatch(label):
        return key in _NAMES_ALONE
    return names_person(key) or key in ADDRESS_KEYS
