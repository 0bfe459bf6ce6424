"""The gate's patterns: where a name or an address can be. Every one is cheap and ends once at each
place.

They are what Hyperscan compiles with its flag for UTF-8 and without a start of match, so the place
that counts is the end: behind the second letter of a capitalized word, or inside of or behind the
word that gives an address away.
"""

from __future__ import annotations

from typing import NamedTuple


class GatePattern(NamedTuple):
    kind: str
    regex: str


_STREETS = (
    r"[Ss]treet|STREET|Str?|STR?|[Aa]venue|AVENUE|Ave?|AVE|[Rr]oad|ROAD|Rd|RD|Drive|DRIVE|Dr|DR|"
    r"[Ll]ane|LANE|Ln|LN|[Bb]oulevard|BOULEVARD|[Bb]lvd|BLVD|Bd|bd|Court|COURT|Ct|CT|Place|PLACE|Pl|"
    r"PL|Square|SQUARE|Sq|Terrace|Way|WAY|[Hh]ighway|HIGHWAY|Hwy|HWY|[Pp]arkway|Pkwy|PKWY|Circle|Cir|"
    r"Crescent|Close|Row|Walk|Mews|Grove|Gardens|Trail|Loop|Pike|Plaza|Quay|Hill|Heights|Park|View|"
    r"Ridge|Cove|Point|Crossing|Broadway|County Road|Nagar|Marg|Sokak|Sk|Caddesi|Cad|Mah|utca|út|tér|"
    r"nám|náměstí|ulica|ulice|iela|gatvė|cesta|pst|tn|mnt"
)
_STREETS_FIRST = (
    r"[Rr]ue|[Aa]v|[Aa]vda|[Aa]venida|[Cc]hemin|[Ii]mpasse|[Aa]llée|[Aa]llee|[Qq]uai|[Cc]ours|"
    r"[Rr]oute|[Vv]ia|[Vv]iale|[Pp]iazza|[Cc]orso|[Ll]argo|[Vv]icolo|[Ss]trada|[Cc]alle|[Pp]laza|"
    r"[Pp]aseo|[Cc]amino|[Cc]arrera|[Cc]ra|[Rr]onda|[Rr]ua|[Tt]ravessa|[Pp]raça|[Aa]lameda|[Ee]strada|"
    r"[Rr]odovia|[Uu]l|[Oo]s|[Aa]l|[Jj]alan|[Jj]l|[Bb]ulevardul|[Cc]alea|[Aa]leea|[Tt]rg|Am|An der|"
    r"An den|Im|In der|Unter den|Auf dem|Zum|Zur"
)
_STREETS_GLUED = (
    r"straße|strasse|str\.?|weg|gasse|platz|allee|damm|ring|ufer|straat|laan|plein|gracht|kade|dreef|"
    r"singel|gatan|gata|vägen|vej|gade|veien|vegen|katu|tie|kuja|gränd|Straße|Strasse|Str\."
)
_LABELS = (
    r"[Nn]ame|[Nn]ame[Nn]|[Nn]ombre|[Nn]om|[Nn]ome|[Nn]aam|NAME|[Pp]atient|[Pp]atientin|[Pp]atiente|"
    r"PATIENT|[Pp]aciente|[Pp]aziente|[Oo]wner|[Cc]ontact|[Cc]ustomer|[Cc]lient|[Aa]uthor|[Aa]ttn|"
    r"[Ee]mployee|[Mm]anager|[Rr]ecipient|[Ss]ender|[Pp]assenger|[Tt]enant|[Ii]nsured|[Pp]ayee|"
    r"[Cc]laimant|[Hh]older|HOLDER|[Ss]tudent|[Gg]uest|[Aa]gent|[Ww]itness|[Dd]river|[Ss]igned|[Uu]ser|[Aa]ssignee|[Rr]eporter|[Bb]y|[Cc]c|[Ff]rom|[Tt]o"
)
_HEADERS = (
    r"[Nn]ames?|NAME|[Nn]ame[Nn]|[Nn]ombre|[Nn]om|[Nn]ome|[Nn]aam|[Pp]atient|PATIENT|[Oo]wner|[Cc]ustomer|[Cc]lient|"
    r"[Ee]mployee|[Cc]ontact|[Mm]ember|[Mm]anager|[Aa]uthor|[Uu]ser|[Aa]ssignee|[Rr]eporter|[Ss]tudent|[Tt]enant|"
    r"[Aa]ddress|ADDRESS|[Ss]treet|[Aa]dresse|[Aa]nschrift|[Dd]irecci[oó]n|[Ii]ndirizzo|[Ee]ndere[cç]o|[Aa]dres"
)
_RESIDENCES = (
    r"[Aa]ddress|ADDRESS|[Aa]dresse?|ADRES|[Aa]nschrift|[Dd]irecci|[Dd]omicilio|[Ii]ndirizzo|[Ee]ndere|[Mm]orada|"
    r"[Dd]eliver|[Ss]hip(?:ped)? to|SHIP TO|[Bb]ill to|[Ll]ocated (?:at|in)|[Ll]ives? (?:at|in|on)|[Rr]esid|"
    r"[Oo]ffices? at|[Ll]ocation|[Vv]enue|[Pp]ick ?up|[Dd]rop ?off|[Mm]ove[ds]? (?:to|from)|[Ww]ohn|"
    r"[Hh]abit[eo]|[Vv]ivo en|[Mm]oro|[Ww]oon"
)
_CUES = (
    r"[Ii]['’]?m|[Ii] am|name is|name['’]s|this is|call me|mr|mrs|ms|dr|miss|dear|regards|sincerely|thanks|patient|"
    r"client|customer|colleague|named|called|signed|met(?: with)?|spoke (?:to|with)|talk(?:ed)? (?:to|with)|ask(?:ed|ing)?(?: for)?|tell|"
    r"email|contact|call|hi|hey|yours|cheers|love|(?:assigned|reported|approved|signed|owned|written) (?:to|by)|claimant|tenant|insured|"
    r"payee|employee|student|husband|wife|son|daughter|brother|sister|boss|friend"
)
_BOX = r"[Pp]\.? ?[Oo]\.? ?(?:[Bb]ox|BOX)|[Pp]ostfach|[Aa]partado|[Pp]ostbus|POSTFACH"
_ACCENTED = "[À-ž]"  # Latin letters with marks
_BEFORE = "(?:^|[^0-9A-Za-z_À-ž])"
_CAPITAL_WORD = "\\b[A-ZÀ-ÞĀ-Ž][a-z'À-ž]{1,30}"
_CAPITAL = "(?:[A-Z][a-z'À-ž]|[À-ÞĀ-Ž][a-z])"

PATTERNS = tuple(
    GatePattern(kind, regex)
    for kind, regex in (
        ("capital", rf"{_BEFORE}{_CAPITAL}"),
        ("capitals", r"[A-Z][A-Z'.-],? [A-Z]{2}"),
        (
            "label",
            rf"(?:{_LABELS})\\?[\"']?(?:\s?[:=>|]| [-–])\s?\\?[\"']?(?:[A-Za-z]|{_ACCENTED})",
        ),
        ("cue", rf"\b(?:{_CUES})\.?,?\s[a-z]"),
        ("header", rf"(?:{_HEADERS})[\"']? ?[,;\t|][^0-9\n]"),
        ("header", rf"[,;\t|] ?[\"']?(?:{_HEADERS})[\"']? ?\r?\n"),
        ("street", rf"[0-9A-Za-z.À-ž] (?:{_STREETS})[ ,.;\n]"),
        ("street", rf"\b(?:{_STREETS_FIRST})\.? [0-9A-Zdl]"),
        ("street", rf"[a-z. À-ž-](?:{_STREETS_GLUED}),? [0-9]"),
        ("residence", rf"(?:{_RESIDENCES})[^0-9\n]"),
        ("postcode", r"[0-9],? [A-Z][a-zÀ-ž]"),
        ("street", r"\b[A-Z]{2},? [0-9]{5}\b"),
        ("street", r"\b[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}\b"),
        ("street", r"\b[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]\b"),
        ("street", r"\b[0-9]{4} ?[A-Z]{2}\b"),
        ("street", rf"\b(?:{_BOX}) [0-9]"),
        ("pair", rf"{_CAPITAL_WORD}(?:,? |-|\. ?| [A-Z]\.? (?:[A-Z]\.? )?){_CAPITAL}"),
    )
)
IN_PROSE = tuple(place for place, pattern in enumerate(PATTERNS) if pattern.kind != "pair")
IN_CODE = tuple(
    place
    for place, pattern in enumerate(PATTERNS)
    if pattern.kind not in ("capital", "cue", "residence")
)
"""Source code has forty times as many capitalized words as pairs of them, and a word alone is
seldom a name there.
"""
