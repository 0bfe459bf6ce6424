"""Data about glyph names, built-in encodings and the 14 standard fonts, from `data/`."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

_ALIASES = {
    "Arial": "Helvetica",
    "ArialMT": "Helvetica",
    "Helvetica": "Helvetica",
    "CourierNew": "Courier",
    "CourierNewPSMT": "Courier",
    "Courier": "Courier",
    "TimesNewRoman": "Times",
    "TimesNewRomanPS": "Times",
    "TimesNewRomanPSMT": "Times",
    "Times": "Times",
    "Times-Roman": "Times",
    "Symbol": "Symbol",
    "ZapfDingbats": "ZapfDingbats",
}
_STYLED = re.compile(r"[-,](?=(?:Bold|Italic|Oblique|Roman)+(?:MT)?$)")
_COMPONENT = re.compile(r"uni((?:[0-9A-F]{4})+)|u([0-9A-F]{4,6})")


@cache
def facts(name: str) -> Any:
    return json.loads((files(__package__) / "data" / f"{name}.json").read_text(encoding="utf-8"))


def predefined_cmap(name: str) -> dict[str, Any] | None:
    """Return a CMap that readers know by name; a vertical one shares the data of its horizontal
    twin.
    """
    horizontal = name[:-1] + "H" if name.endswith("V") else name
    entry: dict[str, Any] | None = facts("cmaps").get(horizontal)
    return entry


@cache
def encoding(name: str) -> tuple[str | None, ...] | None:
    """Return glyph names by code, None for codes without one."""
    names: str | None = facts("base14")["encodings"].get(name)
    return tuple(None if glyph == "-" else glyph for glyph in names.split(" ")) if names else None


def standard_font(base: str) -> str | None:
    """Return the standard font that a name refers to: `Arial,Bold` is Helvetica-Bold."""
    base = re.sub(r"^[A-Z]{6}\+", "", base)
    family, _, style = base, "", ""
    if base not in _ALIASES and (cut := _STYLED.search(base)):
        family, style = base[: cut.start()], base[cut.end() :]
    known = _ALIASES.get(family)
    if known is None or known in ("Symbol", "ZapfDingbats", "Courier"):
        return known
    bold, slanted = "Bold" in style, "Italic" in style or "Oblique" in style
    if known == "Helvetica":
        return "Helvetica-Bold" if bold else "Helvetica"
    return {
        (False, False): "Times-Roman",
        (True, False): "Times-Bold",
        (False, True): "Times-Italic",
    }.get((bold, slanted), "Times-BoldItalic")


@cache
def glyph_widths(font: str) -> dict[str, float] | None:
    """Return widths by glyph name in thousandths; Courier's, all 600, are an empty table."""
    if font == "Courier":
        return {}
    table: str | None = facts("base14")["widths"].get(font)
    if table is None:
        return None
    words = table.split(" ")
    return {name: float(width) for name, width in zip(words[::2], words[1::2], strict=True)}


def glyph_text(name: str) -> str:
    """Return the text of a glyph by its name; empty if the name does not define it."""
    stem = name.split(".", 1)[0]
    parts = []
    for component in stem.split("_"):
        known = facts("glyphs").get(component)
        if known is not None:
            parts.append(known)
        elif match := _COMPONENT.fullmatch(component):
            digits = match[1]
            codes = (
                [int(digits[i : i + 4], 16) for i in range(0, len(digits), 4)]
                if digits
                else [int(match[2], 16)]
            )
            if any(code > 0x10FFFF or 0xD800 <= code < 0xE000 for code in codes):
                return ""
            parts.append("".join(map(chr, codes)))
        else:
            return ""
    return "".join(parts)
