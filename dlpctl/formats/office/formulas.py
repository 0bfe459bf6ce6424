"""Formulas: mask values in literals, and follow names that change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from dlpctl.formats.distinct import DistinctNames
from dlpctl.formats.encoding import Edit, spliced
from dlpctl.regex import lazy

_TOKEN = lazy(
    r"(?P<literal>\"(?:[^\"]|\"\")*\")"
    r"|(?P<quoted>'(?:[^']|'')*'(?=!))"
    r"|(?P<sheet>[^\W\d][\w.]*(?::[^\W\d][\w.]*)?(?=!))"
    r"|(?P<book>\[[^\[\]']+\](?=[^\W\d][\w.]*!))"
    r"|(?P<columns>\[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*\])*\])"
    r"|(?P<name>[^\W\d][\w.\\]*)"
)
_COLUMN = lazy(r"(?<=\[)(@?)((?:[^\[\]']|'.)+)(?=\])")
_PLAIN_COLUMN = lazy(r"[\w ]+")
_PLAIN_SHEET = lazy(r"[^\W\d][\w.]*")
# `@` is allowed, but `j***@example.com` without its stars would look like a real address.
_ILLEGAL = str.maketrans(
    {"[": "(", "]": ")", ":": "-", "*": "-", "?": "-", "/": "-", "\\": "-", "\n": " ", "@": "-at-"}
)
_LONGEST_SHEET, _LONGEST_NAME = 31, 255


@dataclass(slots=True)
class Renames:
    """Names that masking changes, with their old and new forms."""

    sheets: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.sheets or self.names or self.columns)


def masked(formula: str, edits: Sequence[Edit], renames: Renames) -> str | None:
    """Return a formula with edits applied and names updated; None for edits outside of literals."""
    parts: list[str] = []
    read = 0
    left = list(edits)
    for token in _TOKEN.finditer(formula):
        start, end = token.span()
        if any(edit.start < start and edit.end > read for edit in left):
            return None
        touching = [edit for edit in left if edit.start < end and edit.end > start]
        left = [edit for edit in left if edit.end > end]
        written = _token(token, touching, renames)
        if written is None:
            return None
        parts += (formula[read:start], written)
        read = end
    if any(edit.end > read for edit in left):
        return None
    parts.append(formula[read:])
    return "".join(parts)


def _token(token: re.Match[str], edits: Sequence[Edit], renames: Renames) -> str | None:
    syntax, text, at = token.lastgroup, token[0], token.start()
    if syntax == "literal":
        moved = (edit.moved(-at) for edit in edits)
        return spliced(text, moved, lambda new: new.replace('"', '""'), margin=1)
    if syntax == "book":
        moved = (edit.moved(-at) for edit in edits)
        return spliced(text, moved, lambda name: name.translate(_ILLEGAL), margin=1)
    if syntax in {"quoted", "sheet"}:
        name = text[1:-1].replace("''", "'") if syntax == "quoted" else text
        new = ":".join(renames.sheets.get(each, each) for each in name.split(":"))
        if new == name and edits:
            # A sheet of another file keeps its name.
            moved = (edit.moved(-at) for edit in edits)
            new = spliced(
                text, moved, lambda name: name.translate(_ILLEGAL).replace("'", ""), margin=0
            ).strip("'")
        return text if new == name else _quoted(new)
    if syntax == "columns" and renames.columns:
        nested = "[" in text[1:]
        text = _COLUMN.sub(lambda found: found[1] + _column(found[2], renames, nested=nested), text)
        return text if text != token[0] or not edits else None
    if syntax == "name" and text in renames.names:
        return renames.names[text]
    return None if edits else text


def sheet_name(wanted: str, names: DistinctNames) -> str:
    """Return a valid sheet name that no other sheet has."""
    base = wanted.translate(_ILLEGAL).strip("'")[:_LONGEST_SHEET] or "Sheet"
    return names.add(base, partial(_numbered, base, _LONGEST_SHEET, " ({})"))


def column_name(wanted: str, names: DistinctNames) -> str:
    """Return a header that no other column of the table has."""
    base = wanted.replace("[", "(").replace("]", ")")
    return names.add(base, partial(_numbered, base, _LONGEST_NAME, " ({})"))


def defined_name(wanted: str, names: DistinctNames) -> str:
    """Return a valid name of a range or a constant that is not taken."""
    base = "_" + re.sub(r"\W+", "_", wanted).strip("_")
    return names.add(base, partial(_numbered, base, _LONGEST_NAME, "_{}"))


def _numbered(base: str, longest: int, form: str, number: int) -> str:
    suffix = form.format(number)
    return base[: longest - len(suffix)] + suffix


def _quoted(name: str) -> str:
    return name if _PLAIN_SHEET.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def _column(escaped: str, renames: Renames, *, nested: bool) -> str:
    """Return a column in a reference; a name that is more than a word has brackets of its own."""
    name = _unescaped_column(escaped)
    if name not in renames.columns:
        return escaped
    new = _escaped_column(renames.columns[name])
    return new if nested or _PLAIN_COLUMN.fullmatch(new) else f"[{new}]"


def _escaped_column(name: str) -> str:
    return re.sub(r"([\[\]#'@])", r"'\1", name)


def _unescaped_column(name: str) -> str:
    return re.sub(r"'(.)", r"\1", name)
