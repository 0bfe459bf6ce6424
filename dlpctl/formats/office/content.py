"""Distinguish the attributes and texts of Office parts that people write from structure.

Structure is full of numbers that look like identifiers: sizes, random ids, coordinates. Searching
them would cause false findings.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from dlpctl.regex import lazy


@cache
def _vocabulary() -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(
        (files(__package__) / "data" / "vocabulary.json").read_text(encoding="utf-8")
    )
    return found


def words(key: str) -> frozenset[str]:
    """Return a list of the vocabulary in `data/`."""
    return frozenset(_vocabulary()[key])


# Words of a person, whatever they look like.
_CONTENT = words("attributes with words")
# `val` is a word only in these elements.
_VALUED = words("elements whose val is a word")
# Numbers, names of fonts and of types, geometry, and ids that no person wrote.
_STRUCTURE = words("attributes of the structure")
# Their names read like personal names: Cambria Math.
_FONTS = words("elements that name fonts and themes")
_FONT_ATTRIBUTES = words("attributes that name fonts")
# Programs name styles; a person's name is also in a text.
_STYLES = words("elements that define styles")
_STYLE_ATTRIBUTES = words("attributes that name styles")
_GEOMETRY = words("attributes with geometry")
_COORDINATE = r"[-+]?\d{1,7}(?:\.\d*)?(?:[eE][-+]?\d{1,3})?"
_POINTS = lazy(rf"\s*(?:{_COORDINATE},\s*{_COORDINATE}(?:\s+|\Z))++")
_PATH = lazy(
    rf"\s*[Mm](?:{_COORDINATE}|\.\d+|[A-Za-z](?![A-Za-z])|[?]f\d{{1,4}}|\$\d{{1,3}}|[\s,]|(?!))*+"
)
# Default names of shapes.
_NUMBERED = lazy(
    r"(?:(?:Title|Subtitle|Content|Text|Picture|Image|Date|Footer|Header|Slide"
    r"|Number|Notes|Vertical|Placeholder|TextBox|Box|Table"
    r"|Chart|Group|Shape|Object|Rectangle|Oval|Line|Arrow"
    r"|Connector|Straight|Graphic|Diagram|Media)[ ]?)+\d*"
)
_NAMES_OF_PARTS = {"Target", "PartName"}
STRUCTURAL_TEXTS = words("texts of the structure")
_NUMBER = lazy(
    r"[-+]?[\d.,]*(?:[eE][-+]?\d+)?(?:[a-z]{1,3}|%)?|[0-9A-Fa-f]{6,8}"
    r"|[0-9A-F]{20}|\{?[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?"
)
_TELLING = lazy(r"@|%40|(?:\d[ \-./()]?){7,}|://|\S\s+\S|[A-Za-z0-9_+/=-]{20,}|mailto:")
# Number formats are full of zeros.
_NO_ZEROES = lazy(r"[1-9@%]")
_VALUE = lazy(r"@|%40|(?:\d[ \-./()]?){7,}|[A-Z]{4}[A-Z0-9]{12}|[a-z]{2}_[A-Za-z0-9_]{12}")
# Ids and addresses of the structure are full of short numbers.
_IN_STRUCTURE = lazy(r"\w(?:@|%40)\w|\d{13}|(?<![A-Za-z0-9])[A-Z]{2}\d{2}[A-Z0-9]{11}")
_STANDARD = lazy(
    r"(?:https?://)?(?:schemas|purl|www)\.(?:openxmlformats|microsoft|w3|oclc|openoffice|oasis)"
    r"|urn:(?:oasis|schemas)|https?://(?:purl\.o|docs\.oasis)"
)


def is_content(element: str, attribute: str, value: str) -> bool:
    """Return whether an attribute of a known part may contain a value."""
    if attribute in _NAMES_OF_PARTS:
        return ":" in value or value.startswith("#") or is_telling(value)
    if len(value) < 2 or element == "compatSetting" or _STANDARD.match(value):
        return False
    if is_geometry(attribute, value):
        return False
    if (
        names_font(element, attribute)
        or _names_style(element, attribute)
        or (attribute == "name" and _NUMBERED.fullmatch(value))
    ):
        return is_telling(value)
    if (
        attribute in _CONTENT
        or (attribute == "val" and element in _VALUED)
        or (attribute == "id" and value.isalpha())  # programs number theirs
    ):
        return True
    if _NUMBER.fullmatch(value):
        return False
    structural = attribute in _STRUCTURE or attribute.startswith("rsid")
    return bool((_IN_STRUCTURE if structural else _TELLING).search(value))


def names_font(element: str, attribute: str) -> bool:
    return element in _FONTS or attribute in _FONT_ATTRIBUTES


def _names_style(element: str, attribute: str) -> bool:
    return attribute in _STYLE_ATTRIBUTES or (
        element in _STYLES and attribute in {"name", "display-name"}
    )


def is_geometry(attribute: str, value: str) -> bool:
    """Return whether an attribute contains coordinates, which read like any other numbers."""
    return attribute in _GEOMETRY and bool(_POINTS.fullmatch(value) or _PATH.fullmatch(value))


def is_telling(value: str) -> bool:
    """Return whether the name of a font, style or part contains a value after all."""
    return (
        bool(_VALUE.search(value) and _NO_ZEROES.search(value))
        and not _STANDARD.match(value)
        and not _NUMBER.fullmatch(value)
    )


def is_settings_content(element: str, attribute: str, value: str) -> bool:
    """Return whether an attribute of styles and settings, which name sheets, contains a value."""
    names_sheet = element == "config-item-map-entry" and attribute == "name"
    return (names_sheet and len(value) >= 2) or is_telling(value)


def is_foreign_content(value: str) -> bool:
    """Return whether an attribute of a foreign part, such as custom XML, may contain a value."""
    return len(value) >= 2 and not _STANDARD.match(value) and not value.startswith("{")
