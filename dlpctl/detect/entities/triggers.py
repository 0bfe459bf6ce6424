"""Triggers: patterns for possible names and addresses, cheap to search.

Hyperscan compiles them with its flag for UTF-8 and without a start of match, so only the end of a
match counts: after the second letter of a capitalized word, or within or after the word that
indicates an address.
"""

from __future__ import annotations

from typing import NamedTuple

from dlpctl.detect.entities import replies, roles
from dlpctl.detect.entities.lexicon import alternatives


class Trigger(NamedTuple):
    evidence: str
    regex: str


_STREETS = alternatives("street_words")
_STREETS_FIRST = alternatives("street_openers")
_STREETS_GLUED = alternatives("street_endings")
_LABELS = alternatives("name_labels")
_HEADERS = alternatives("column_headers")
_ADDITION = r"(?:[ _-]?[0-9]{1,2})?(?: \([^()\n]{1,20}\))?"
"""The addition to the label of a column: `name 2`, `contact name (new)`."""
_RESIDENCES = alternatives("residence_cues")
_CUES = alternatives("name_cues")
_BOX = alternatives("box_cues")
_ACCENTED = "[À-ž]"  # Latin letters with marks
_BEFORE = "(?:^|[^0-9A-Za-z_À-ž])"
_CAPITAL_WORD = "\\b[A-ZÀ-ÞĀ-Ž][a-z'À-ž]{1,30}"
_CAPITAL = "(?:[A-Z][a-z'À-ž]|[À-ÞĀ-Ž][a-z])"

PATTERNS = tuple(
    Trigger(evidence, regex)
    for evidence, regex in (
        ("capital", rf"{_BEFORE}{_CAPITAL}"),
        ("capitals", r"[A-Z][A-Z'.-],? (?:[A-Z]\.? ){0,2}[A-Z]{2}"),
        (
            "label",
            rf"(?:{_LABELS})\\?[\"']?\)?(?:\s?[:=>|]| [-–])\s?\\?[\"']?(?:[A-Za-z]|{_ACCENTED})",
        ),
        ("label", rf"(?:{_LABELS})</[a-z]+>\s*<[a-z]+>(?:<[a-z]+>)?(?:[A-Z]|{_ACCENTED})"),
        *(("role", trigger) for trigger in roles.TRIGGERS),
        ("mail", roles.MAIL_TRIGGER),
        ("question", replies.TRIGGER),
        ("cue", rf"\b(?:{_CUES})\.?,?\s[a-z]"),
        ("header", rf"(?:{_HEADERS}){_ADDITION}[\"']? ?[,;\t|│┃][^0-9\n]"),
        ("header", rf"(?:{_HEADERS}) {{2,40}}[|│┃A-Za-z]"),
        ("header", rf"(?:[,;\t|│┃] ?|  )[\"']?(?:{_HEADERS}){_ADDITION}[\"']? ?\r?\n"),
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
IN_PROSE = tuple(index for index, pattern in enumerate(PATTERNS) if pattern.evidence != "pair")
IN_CODE = tuple(
    index
    for index, pattern in enumerate(PATTERNS)
    if pattern.evidence not in ("capital", "cue", "residence")
)
"""Source code has forty times as many capitalized words as pairs of them, and a single word is
seldom a name there.
"""
