"""Where a name or an address can be: cheap patterns for the shared database, then a look at the word that was hit.

The patterns are Hyperscan's, over bytes, without a start of match: each ends exactly once at a place from which the
word in question can be read, so that a text without names costs hardly more than the scan that happens anyway.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.detect.tagger.words import (
    CALENDAR,
    COMMON,
    COMPANY,
    GIVEN,
    PARTICLE,
    PLACE,
    STREET,
    SURNAME,
    TITLE,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Region = tuple[int, int]
Hit = tuple[int, int]  # index in PATTERNS, end of the match in characters


class GatePattern(NamedTuple):
    kind: str
    regex: str


_BEFORE = r"(?:^|[^0-9A-Za-z_\x80-\xff])"
_CAPITAL = r"(?:[A-Z][a-z'\x80-\xff]|\xc3[\x80-\x9e])"
_STREETS = (
    "[Ss]treet|STREET|Str?|STR?|[Aa]venue|AVENUE|Ave?|AVE|[Rr]oad|ROAD|Rd|RD|Drive|DRIVE|Dr|DR|[Ll]ane|LANE|Ln|LN|[Bb]oulevard|BOULEVARD|[Bb]lvd|BLVD|Bd|bd|"
    "Court|COURT|Ct|CT|Place|PLACE|Pl|PL|Square|SQUARE|Sq|Terrace|Way|WAY|[Hh]ighway|HIGHWAY|Hwy|HWY|[Pp]arkway|Pkwy|PKWY|Circle|Cir|Crescent|Close|Row|Walk|"
    "Mews|Grove|Gardens|Trail|Loop|Pike|Plaza|Quay|Hill|Heights|Park|View|Ridge|Cove|Point|Crossing|Broadway|County Road|Nagar|Marg|Sokak|Sk|Caddesi|Cad|Mah|"
    "utca|út|tér|nám|náměstí|ulica|ulice|iela|gatvė|cesta|pst|tn|mnt"
)
_STREETS_FIRST = (
    "[Rr]ue|[Aa]v|[Aa]vda|[Aa]venida|[Cc]hemin|[Ii]mpasse|[Aa]ll[ée]e|[Qq]uai|[Cc]ours|[Rr]oute|[Vv]ia|[Vv]iale|[Pp]iazza|[Cc]orso|[Ll]argo|[Vv]icolo|[Ss]trada|"
    "[Cc]alle|[Pp]laza|[Pp]aseo|[Cc]amino|[Cc]arrera|[Cc]ra|[Rr]onda|[Rr]ua|[Tt]ravessa|[Pp]raça|[Aa]lameda|[Ee]strada|[Rr]odovia|[Uu]l|[Oo]s|[Aa]l|[Jj]alan|[Jj]l|"
    "[Bb]ulevardul|[Cc]alea|[Aa]leea|[Tt]rg|Am|An der|An den|Im|In der|Unter den|Auf dem|Zum|Zur"
)
_GLUED = "stra(?:ss|ß)e|str\\.?|weg|gasse|platz|allee|damm|ring|ufer|straat|laan|plein|gracht|kade|dreef|singel|gatan|gata|vägen|vej|gade|veien|vegen|katu|tie|kuja|gränd"


def _bytes(regex: str) -> str:
    """Letters outside of ASCII as the bytes that they are in UTF-8."""
    return "".join(c if c.isascii() else "".join(f"\\x{byte:02x}" for byte in c.encode()) for c in regex)


# Every string is what Hyperscan compiles: bytes mode, no flags.
PATTERNS = tuple(
    GatePattern(kind, _bytes(regex))
    for kind, regex in (
        ("capital", rf"{_BEFORE}{_CAPITAL}"),
        ("capitals", r"\b[A-Z][A-Z'.-]+,? [A-Z]{2}"),
        (
            "label",
            r"(?:[Nn]ame|[Nn]ame[Nn]?|[Nn]ombre|[Nn]om|[Nn]ome|[Nn]aam|NAME|[Pp]atient(?:in|e)?|PATIENT|[Pp]aciente|[Pp]aziente|[Oo]wner|[Cc]ontact|[Cc]ustomer|[Cc]lient|[Aa]uthor|"
            r"[Aa]ttn|[Ee]mployee|[Mm]anager|[Rr]ecipient|[Ss]ender|[Pp]assenger|[Tt]enant|[Ii]nsured|[Pp]ayee|[Ss]igned|[Uu]ser|[Aa]ssignee|[Rr]eporter|[Bb]y|[Cc]c|[Ff]rom|[Tt]o)"
            r"[\"']?\s?[:=>|]\s?[\"']?[A-Za-z\x80-\xff]",
        ),
        ("street", rf"[0-9A-Za-z.\x80-\xff] (?:{_STREETS})[^0-9A-Za-z_\x80-\xff]"),
        ("street", rf"\b(?:{_STREETS_FIRST})\.? [0-9A-Z\x80-\xffdl]"),
        ("street", rf"[a-z\x80-\xff. -](?:{_GLUED}|Stra(?:ss|ß)e|Str\.),? [0-9]"),
        ("postcode", r"[0-9],? (?:[A-Z][a-z]|[\xc3-\xc5])"),
        ("street", r"\b[A-Z]{2},? [0-9]{5}\b"),
        ("street", r"\b[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}\b"),
        ("street", r"\b[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]\b"),
        ("street", r"\b[0-9]{4} ?[A-Z]{2}\b"),
        (
            "street",
            r"\b(?:[Pp]\.? ?[Oo]\.? ?(?:[Bb]ox|BOX)|[Pp]ostfach|[Aa]partado|[Pp]ostbus|POSTFACH) [0-9]",
        ),
    )
)
_KINDS = (*(pattern.kind for pattern in PATTERNS), "lower")

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]{2,})?")
_NEXT = re.compile(r"[ ,]{1,2}(?:[A-Z]\.? )?([A-ZÀ-Þ][^\W\d_]*)|-([A-ZÀ-Þ])")
_POSTCODE = re.compile(r"(?:\d{4,6}|\d{2,5}[- ]\d{2,3}),?\s?$|\d{4} ?[A-Z]{2} $")
_LOWER = re.compile(r"\b[a-z]{3,20}\b")
_MARKS = "(){}[]=_;<>/*"  # what source code and logs are full of
_BLOCK = 4096
_CODE = 0.05
SHORT = 600  # nothing is won by looking away from less
_AROUND = 200
"""How far a region reaches from what was hit, at most; lines end it sooner."""


class Gate:
    """Turns the hits of `PATTERNS` into the regions that the tagger should see."""

    def __init__(self, flags: Callable[[str], int]) -> None:
        self._flags = flags
        self._verdicts: dict[str, int] = {}
        self._lower_verdicts: dict[str, bool] = {}

    def regions(self, text: str, hits: Iterable[Hit]) -> list[Region]:
        regions: list[list[int]] = []
        code = _code_blocks(text)
        verdicts = self._verdicts
        reach = -1
        for kind_index, end in sorted([*hits, *self._in_lower_case(text, code)], key=_end):
            if end < reach - _AROUND // 2:
                continue
            kind = _KINDS[kind_index]
            start = end - 2
            if kind == "capital":
                match = _WORD.match(text, start if text[start : start + 1].isupper() else end - 1)
                if not match:
                    continue
                verdict = verdicts.get(match[0])
                if verdict is None:
                    verdict = self._judge(match[0])
                if not verdict:
                    continue
                if verdict < 3:
                    if code[start // _BLOCK] and not (verdict == 2 and self._paired(text, match.end())):
                        continue
                reach = _add(regions, text, start, 1)
            elif kind == "street":
                if _digit_near(text, end):
                    reach = _add(regions, text, start, 3)
            elif kind == "capitals":
                line = text.rfind("\n", max(0, end - 40), end) + 1
                words = _WORD.findall(text, max(line, end - 40), end + 20)
                if any(self._known(word) for word in words):
                    reach = _add(regions, text, start, 1)
            elif kind == "postcode":
                if _POSTCODE.search(text, max(0, start - 12), start) and (
                    not code[start // _BLOCK] or self._place(text, start)
                ):
                    reach = _add(regions, text, start, 3)
            elif kind == "capitals":
                line = text.rfind("\n", max(0, end - 40), end) + 1
                words = _WORD.findall(text, max(line, end - 40), end + 20)
                if any(self._known(word) for word in words):
                    reach = _add(regions, text, start, 1)
            elif kind == "postcode":
                if _POSTCODE.search(text, max(0, start - 12), start):
                    reach = _add(regions, text, start, 3)
            elif kind == "lower":
                reach = _add(regions, text, start, 1)
            else:
                match = _WORD.match(text, end - 1)
                if match and (self._judge(match[0]) if match[0][0].isupper() else self._lower(match[0])):
                    reach = _add(regions, text, start, 1)
        return [(start, end) for start, end in regions]

    def _in_lower_case(self, text: str, code: list[bool]) -> Iterable[Hit]:
        """Given names without a capital, which no pattern can tell from other words; not looked for in source code."""
        for block, dense in enumerate(code):
            if not dense:
                piece = text[block * _BLOCK : (block + 1) * _BLOCK]
                wanted = {word for word in set(_LOWER.findall(piece)) if self._lower(word)}
                if wanted:
                    for match in _LOWER.finditer(piece):
                        if match[0] in wanted:
                            yield len(PATTERNS), block * _BLOCK + match.start() + 2

    def _judge(self, token: str) -> int:
        """0: never a name by itself; 1: perhaps, in prose; 2: part of a name if another follows; 3: always worth a look."""
        flags = self._flags(token)
        given, surname, common = flags >> GIVEN & 3, flags >> SURNAME & 3, flags >> COMMON & 3
        if flags & TITLE:
            verdict = 3 if len(token) < 5 and not common and not flags & STREET else 1
        elif flags & (CALENDAR | COMPANY) and not given:
            verdict = 0
        elif common == 3 and given < 2 and surname < 3:
            verdict = 0
        elif given >= 2 and not common:
            verdict = 3 if given == 3 and not flags >> PLACE & 3 and not flags & (COMPANY | CALENDAR) else 2
        elif given or surname:
            verdict = 2 if not common or given == 3 else 1
        else:
            known = common or flags & (COMPANY | CALENDAR | STREET) or flags >> PLACE & 3
            verdict = 0 if known or not (token[1:].islower() or token.isupper()) else 1
        if len(self._verdicts) > 50_000:
            self._verdicts.clear()
        self._verdicts[token] = verdict
        return verdict

    def _place(self, text: str, at: int) -> bool:
        match = _WORD.search(text, at, at + 30)
        return bool(match and self._flags(match[0]) >> PLACE & 3)

    def _known(self, token: str) -> bool:
        flags = self._flags(token)
        return (
            bool(flags >> GIVEN & 3 >= 2 or flags >> SURNAME & 3 >= 2)
            and not flags >> COMMON & 3
            and len(token) > 2
        )

    def _paired(self, text: str, end: int) -> bool:
        match = _NEXT.match(text, end)
        if not match:
            return False
        if match[2]:
            return True
        flags = self._flags(match[1])
        return len(match[1]) > 1 and not flags >> COMMON & 3 and not flags & (COMPANY | CALENDAR | STREET)

    def _lower(self, token: str) -> bool:
        verdict = self._lower_verdicts.get(token)
        if verdict is None:
            if len(self._lower_verdicts) > 50_000:
                self._lower_verdicts.clear()
            flags = self._flags(token)
            given, common = flags >> GIVEN & 3, flags >> COMMON & 3
            verdict = given >= 2 + common and not flags & (PARTICLE | CALENDAR | COMPANY | STREET)
            self._lower_verdicts[token] = verdict
        return verdict


def _end(hit: Hit) -> int:
    return hit[1]


def dense(text: str) -> bool:
    """Whether a piece of text is full of the marks of source code, markup or logs."""
    return sum(text.count(mark) for mark in _MARKS) > _CODE * len(text)


def _code_blocks(text: str) -> list[bool]:
    """Which blocks of a text are source code, markup or logs: by their own marks, more readily where all of the text has many."""
    if len(text) < SHORT:
        return [False]
    blocks = [text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK)]
    shares = [sum(block.count(mark) for mark in _MARKS) / len(block) for block in blocks]
    bound = _CODE / 3 if sum(shares) > _CODE * len(shares) / 2 else _CODE
    return [share > bound for share in shares]


def _digit_near(text: str, end: int) -> bool:
    piece = text[max(0, end - 60) : end + 40]
    return any(c.isdigit() for c in piece)


def _add(regions: list[list[int]], text: str, at: int, lines: int) -> int:
    """Adds the lines around a place, bounded and cut between words, and merges it with what it touches."""
    low, high = max(0, at - _AROUND), min(len(text), at + _AROUND)
    start = at
    for _ in range(lines + 1):
        found = text.rfind("\n", low, start)
        if found < 0:
            start = low
            while 0 < start < at and not text[start - 1].isspace():
                start += 1
            break
        start = found
    else:
        start += 1
    end = at
    for _ in range(lines + 1):
        found = text.find("\n", end, high)
        if found < 0:
            end = high
            while at < end < len(text) and not text[end].isspace():
                end -= 1
            break
        end = found + 1
    if end <= start:
        start, end = low, high
    if regions and start <= regions[-1][1]:
        regions[-1][0] = min(regions[-1][0], start)
        regions[-1][1] = max(regions[-1][1], end)
    else:
        regions.append([start, end])
    return regions[-1][1]
