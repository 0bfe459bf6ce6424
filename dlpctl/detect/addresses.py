"""Postal addresses: the tagger's spans, judged by the structure that addresses have in most
countries.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dlpctl.detect.resolve import NEXT_VALUES
from dlpctl.detect.tagger.words import CALENDAR, COMMON, COMPANY, PARTICLE, PLACE, STREET
from dlpctl.regex import lazy
from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dlpctl.detect.tagger.sequence import Tagged, Word

_ODD = 0.3  # the most that a span without the structure of an address is worth
_LONGEST = 250
_MOST_LINES = 8
_MOST_NUMBERS = 8
_LONGEST_NUMBER = 7  # digits: of a postal code

# Street words that are glued to a name: Lindenstraße, Keizersgracht, Storgatan.
_GLUED = lazy(
    r"[^\W\d_]{2,}(?:stra(?:ß|ss)e|str|weg|gasse|platz|allee|damm|ring|ufer|steig|hof|straat|laan|plein|gracht|kade|"
    r"dreef|steenweg|singel|gatan|gata|gaten|gränd|vägen|vagen|vej|gade|veien|vegen|stræde|katu|kuja|tie|stræti|parken|"
    r"stien)\b",
    re.IGNORECASE,
)
_POSTCODE = lazy(
    r"\b(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d|(?:[A-Z]{1,2}[- ])?\d{4,6}|\d{5}-\d{3,4}|"
    r"\d{4}-\d{3}|\d{4} ?[A-Z]{2}|\d{2}-\d{3}|\d{3} \d{2})\b",
    re.IGNORECASE,
)
_BESIDE = ("am", "im", "sur", "sous", "upon")
_STATES_LISTED = (
    "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa ri sc sd tn tx ut "
    "vt va wa wv wi wy dc"
)
STATES = frozenset(_STATES_LISTED.split())
_UNITS_LISTED = "flat unit apt apartment suite ste lot plot room shop office no #"
_UNITS = frozenset(_UNITS_LISTED.split())
_CODES = ("d5", "d6")
_LONGEST_STREET = 4  # words
_ABBREVIATED = 3  # letters of a word that a stop may belong to: St. Gallen
_LONGEST_LABEL = 4  # tokens
_MOST_PLACES = 3
_BEFORE_PLACE = (",", "/")
_FARTHEST = 8  # words and marks between a street and a postal code
_PREMISES_LISTED = "wohnung haus filiale büro wohnhaft logement vivienda woning appartamento"
_PREMISES = frozenset(_PREMISES_LISTED.split())
_ELSEWHERE_LISTED = (
    "rfc iso iec nist cfr usc gdpr hipaa vlan mtu pnr sku isbn ean upc cpu gpu ram ssd tcp udp http https ipv4 ipv6 subnet kernel flight "
    "bnp spo spo2 wt bun wbc hgb inr ekg ecg bmi crp tsh ldl hdl egfr troponin vitals labs "
    "pan gstin iban respondent petitioner plaintiff defendant chapter paragraph figure appendix version release revision invoice docket patent serial eur usd gbp chf"
)
_ELSEWHERE = frozenset(_ELSEWHERE_LISTED.split())
"""What stands beside numbers that are no address."""
_ELSEWHERE_SMALL = frozenset(
    ("port", "seat", "server", "build", "page", "table", "clause", "row", "gate", "line", "step")
)
_KINDS = frozenset(("addr", "address", "service", "residence", "mailing", "billing"))
_LIVES_LISTED = "bor på mieszkam mieszka przy zamieszkały zamieszkała bydlím bydlí bytem adrese asun asuu osoitteessa locuiesc stanujem živim"
_LIVES = frozenset(_LIVES_LISTED.split())
_NUMBER = lazy(r"\d+")
_YEAR = lazy(r"(?:19|20)\d\d")
_YEARS = lazy(r"(?:19|20)\d\d(?:, ?| ?[-–] ?)(?:19|20)\d\d")  # of a copyright
_FILE = lazy(
    r"(?:bar|case|docket|cause|claim|policy|invoice|order|ticket|file|permit|licen[cs]e|account|acct|ref)\b\.? ?(?:id|no\b|num|nr|#)",
    re.IGNORECASE,
)
_BOX = lazy(
    r"\b(?:p\.? ?o\.? ?box|post office box|postfach|apartado|casella postale|caixa postal|postbus|"
    r"boîte postale|bp)\b[ .:#]*\d",
    re.IGNORECASE,
)
# Behind a postal code: another field of a form or of a message.
_NEXT_COLUMN = lazy(r"(?<=[ ,^]\d{5})(?: {3,}|\t|\|\|)")
_HOUSE = lazy(
    r"(?:^|[\s,(/])\d{1,5}[a-zA-Z]?(?:[-/]\d{1,4}[a-zA-Z]?)?(?:st|nd|rd|th|bis|ter)?[ ,.]+[^\W\d_]|"
    r"[^\W\d_][ ,.]+(?:n[º°o]\.? ?|no[:.]? ?|№ ?|# ?)?\d{1,5} ?[a-zA-Z]?\b",
    re.IGNORECASE,
)


def find(text: str, region: Tagged, spans: Iterable[tuple[int, int, float]]) -> list[Finding]:
    """The addresses of a region; `spans` are the tagger's runs of tokens with their scores."""
    found = []
    for opening, last, score in spans:
        ended = _unlabelled(region.words, opening, _ended(region.words, opening, last))
        behind = _lengthened(region, opening, _shortened(region, opening, ended))
        behind = _before_label(region.words, opening, behind)
        first = _begun(region.words, opening, behind)
        start, end = _edges(text, region.places[first].start(), region.places[behind - 1].end())
        if end - start < 6 or end - start > _LONGEST:
            continue
        kept = (
            (1 + score) / 2 if _shaped(text[start:end], region, first, behind) else min(score, _ODD)
        )
        found.append(Finding("ADDRESS", Category.PII, start, end, round(kept, 4), "address"))
    return found


def _begun(words: Sequence[Word], first: int, behind: int) -> int:
    """The start behind what the address is that of: die Wohnung Hauptstr. 5."""
    if first + 2 < behind and words[first].key in _PREMISES and words[first + 1].outline == "Xx":
        return first + 1
    if (
        first > 2 and words[first - 1].key == ", " and words[first - 3].key in _UNITS
    ):  # Flat 3, 27 Albert Road
        return first - 3 if words[first - 2].outline[0] in "d0AX" else first
    if (
        first > 1 and words[first - 1].key in ("/", "-") and words[first - 2].outline[0] in "d0A"
    ):  # 12/45 Main Road
        return first - 2
    while first + 2 < behind and words[first].key in _KINDS and words[first].outline == "x":
        first += 1
    return (
        _from_number(words, first) if words[first].flags & STREET else _spoken(words, first, behind)
    )


def _spoken(words: Sequence[Word], first: int, behind: int) -> int:
    """The start behind "I live at" of some languages."""
    said = (place for place in range(behind - 2, first - 1, -1) if words[place].key in _LIVES)
    return next(said, first - 1) + 1


def _from_number(words: Sequence[Word], first: int) -> int:
    """The house number before the name of a street of which the tagger has the last word alone:
    1600 PENNSYLVANIA | AVE.
    """
    place = first
    while place and first - place < _LONGEST_STREET and words[place - 1].outline[0] == "X":
        place -= 1
    return place - 1 if 0 < place < first and words[place - 1].outline[0] in "d0" else first


def _ended(words: Sequence[Word], first: int, behind: int) -> int:
    """The end before what follows the postal code and its place: a sentence, a remark, the label of
    another value.
    """
    codes = [place for place in range(first + 1, behind - 1) if _is_code(words, place)]
    if not codes or not any(word.outline == "Xx" for word in words[first : codes[0]]):
        return behind
    # A long house number looks like a code, but then a code with its place follows.
    code = max((place for place in codes if words[place + 1].outline[0] == "X"), default=codes[0])
    for place in range(code + 1, behind - 1):
        before, mark, following = words[place - 1 : place + 2]
        sentence = mark.key == ". " and following.kind == 1
        if sentence and (before.kind != 1 or len(before.key) > _ABBREVIATED):
            return place
        if (
            mark.key == ", "
            and following.outline == "x"
            and not following.flags & (PARTICLE | STREET)
        ):
            return place
        if mark.kind == 2 and following.outline == "XX" and not following.flags >> PLACE & 3:
            return behind if following.key in STATES else place
    return behind


def _unlabelled(words: Sequence[Word], first: int, behind: int) -> int:
    """The end before a last line of which the first words are a label: Berlin | Steuer-ID: 65 929."""
    line = next((place for place in range(behind - 1, first, -1) if words[place].kind == 2), 0)
    if not line or behind - line > _LONGEST_LABEL:
        return behind
    for word in words[behind : line + _LONGEST_LABEL + 1]:
        if word.key.strip() == ":":
            return line
        if word.kind == 2:
            break
    return behind


def _before_label(words: Sequence[Word], first: int, behind: int) -> int:
    """The end before the name of a value that follows: Sparkasse Leipzig | , IBAN DE02."""
    last = behind - 1
    if last <= first or words[last].key not in NEXT_VALUES:
        return behind
    while (
        last > first + 1 and words[last - 1].kind != 1 and words[last - 1].outline[0] not in "d0A"
    ):
        last -= 1
    return last


def _is_code(words: Sequence[Word], place: int) -> bool:
    """Whether the postal code, or its last part, stands here: it is long, or the place follows it."""
    outline = words[place].outline
    return outline in _CODES or (outline in ("d3", "d4") and words[place + 1].outline[0] == "X")


def _shortened(region: Tagged, first: int, behind: int) -> int:
    """The end without everyday words in lower case, where the address itself has capitals."""
    words = region.words
    if not any(word.outline[0] == "X" for word in words[first:behind]):
        return behind
    last = behind
    while last > first + 1 and words[last - 1].kind != 0:
        word = words[last - 1]
        if word.kind == 1 and (
            word.outline != "x" or word.flags & STREET or not word.flags >> COMMON & 3
        ):
            break
        last -= 1
        behind = last
        while last > first + 1 and words[last - 1].outline == "p":
            last -= 1
    return behind


def _lengthened(region: Tagged, first: int, behind: int) -> int:
    """The end behind what still belongs to the place: its state, its district, its postal code."""
    words = region.words
    behind = _placed(words, first, _coded(words, first, behind))
    if behind == len(words) or words[behind - 1].outline != "Xx":
        return behind
    following = words[behind]
    if _coded_place(words, behind):
        return behind + 3
    coded = sum(word.outline[0] in "d0" for word in words[first:behind]) > 1
    if following.outline == "XX" and following.key in STATES:
        zipped = behind + 1 < len(words) and words[behind + 1].outline == "d5"
        return behind + 2 if zipped else behind + 1
    last = behind + 1 == len(words) or words[behind + 1].kind != 1
    if (
        coded and not last and following.key in _BESIDE and words[behind + 1].outline == "Xx"
    ):  # am Main
        return behind + 2
    if coded and last and following.outline in ("d1", "X1"):  # Praha 1, København K
        return behind + 1
    return behind if coded or following.outline != "d6" else behind + 1  # Karnataka 560001


def _placed(words: Sequence[Word], first: int, behind: int) -> int:
    """The end behind the places that follow, and a postal code of four digits: Victoria Island | ,
    Lagos; Cape Town | , 8001.
    """
    for _ in range(_MOST_PLACES):
        if behind + 1 >= len(words) or words[behind].key.strip() not in _BEFORE_PLACE:
            break
        town = behind + 1
        while (
            town < len(words) and words[town].outline == "Xx" and words[town].flags >> PLACE & 3 > 1
        ):
            town += 1
        if town == behind + 1 or (town < len(words) and words[town].outline[0] == "X"):
            break
        behind = town
    if behind + 1 >= len(words) or words[behind + 1].outline != "d4":
        return behind
    parted = words[behind].kind == 2 or words[behind].key == ", "
    last = behind + 2 == len(words) or words[behind + 2].kind == 2
    coded = any(word.outline in ("d4", *_CODES) for word in words[first + 1 : behind])
    return (
        behind + 2
        if parted and last and not coded and not _YEAR.fullmatch(words[behind + 1].key)
        else behind
    )


def _coded(words: Sequence[Word], first: int, behind: int) -> int:
    """The end behind the places and the postal code that follow an address without one: Drive | ,
    Chicago, Illinois 60606.
    """
    if any(word.outline in _CODES for word in words[first + 1 : behind]):
        return behind
    placed = words[behind - 1].flags >> PLACE & 3 > 0
    for at in range(behind, min(behind + _FARTHEST, len(words))):
        word = words[at]
        if word.outline in _CODES:
            return at + 1 if placed else behind
        if word.outline not in ("Xx", "XX") and word.key != ", " and word.outline != "NL":
            return behind
        placed = placed or word.flags >> PLACE & 3 > 0
    return behind


def _coded_place(words: Sequence[Word], place: int) -> bool:
    """Whether a comma or a line break, a postal code and a place stand here."""
    if place + 2 >= len(words) or not (words[place].kind == 2 or words[place].key == ", "):
        return False
    code, city = words[place + 1], words[place + 2]
    return (
        code.outline in ("d4", "d5", "d6") and city.outline == "Xx" and city.flags >> PLACE & 3 > 0
    )


def _edges(text: str, start: int, end: int) -> tuple[int, int]:
    column = _NEXT_COLUMN.search(text[start:end])
    if column:
        end = start + column.start()
    while start < end and not (text[start].isalnum() or text[start] == "#"):
        start += 1
    while end > start and not (text[end - 1].isalnum() or text[end - 1] in ".)"):
        end -= 1
    if end > start and text[end - 1] == ")" and "(" not in text[start:end]:
        end -= 1
    if (
        end > start
        and text[end - 1] == "."
        and not re.search(r"\b[^\W\d_]{1,5}\.$", text[start:end])
    ):
        end -= 1
    return start, end


def _elsewhere(word: Word) -> bool:
    if word.key.endswith("nummer"):
        return word.key != "hausnummer"
    return word.key in _ELSEWHERE or (word.outline == "x" and word.key in _ELSEWHERE_SMALL)


def _shaped(value: str, region: Tagged, first: int, behind: int) -> bool:
    numbers = _NUMBER.findall(value)
    if value.count("\n") > _MOST_LINES or "\t" in value or not numbers:
        return False
    if (
        _YEARS.search(value)
        or len(numbers) > _MOST_NUMBERS
        or max(map(len, numbers)) > _LONGEST_NUMBER
    ):
        return False
    made = first + 1 < behind and bool(region.words[first + 1].flags & COMPANY)
    if _FILE.match(value) or (made and _YEAR.match(value)):  # 2019 Honda Civic
        return False
    if any(map(_elsewhere, region.words[first:behind])):
        return False
    if _BOX.search(value):
        return True
    words = [word for word in region.words[first:behind] if word.kind == 1]
    if not any(len(word.key) > 2 for word in words):
        return False
    street = any(word.flags & STREET for word in words) or bool(_GLUED.search(value))
    house = bool(_HOUSE.search(value))
    if house and street:
        return True
    place = any(word.flags >> PLACE & 3 for word in words)
    capitals = sum(word.outline[0] == "X" for word in words)
    if not street and any(word.flags & CALENDAR for word in words):
        return False
    if not street and all(_YEAR.fullmatch(number) for number in numbers):
        return False
    return bool(_POSTCODE.search(value)) and (house or street) and (place or capitals >= 2)
