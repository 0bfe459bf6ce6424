"""Convert changed leaves to edits of the source: escapes, preserved white space, typed values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import quote

from dlpctl.errors import CannotMaskError
from dlpctl.formats.encoding import Edit
from dlpctl.formats.office.flow import ATTRIBUTES, HYPHENS, NUMBER, REMARKS, SYMBOL
from dlpctl.formats.office.reading import Leaf
from dlpctl.formats.office.xmltext import ATTRIBUTE, TOKEN, escaped, local, unescaped

# In these elements, white space at either end counts only if an attribute preserves it.
_SPACED = {"t", "delText", "instrText", "delInstrText"}
_TYPED = {
    "i1", "i2", "i4", "i8", "int", "ui1", "ui2", "ui4", "ui8", "uint", "r4", "r8", "decimal",
    "bool", "date", "filetime", "cy",
}  # fmt: skip
_TYPED_VALUES, _BOUNDS = {"n", "d"}, {"minValue", "maxValue", "minDate", "maxDate"}
_INTERNAL = {"Override@PartName", "Default@Extension", "Relationship@Type", "Relationship@Id"}


def source_edits(source: str, layer: str, changed: Iterable[tuple[Leaf, str]]) -> Iterator[Edit]:
    """Yield the edits of a part that give leaves of one layer new texts."""
    if layer == ATTRIBUTES:
        yield from _attribute_edits(source, changed)
    else:
        for leaf, text in changed:
            yield from (
                _remark_edits(leaf, text) if layer == REMARKS else _text_edits(source, leaf, text)
            )


def _text_edits(source: str, leaf: Leaf, text: str) -> Iterator[Edit]:
    if leaf.element in HYPHENS or leaf.element == SYMBOL:
        opening = source[leaf.start + 1 : leaf.end].split(maxsplit=1)[0].rstrip("/>")
        prefix = opening[: -len(leaf.element)]
        yield Edit(leaf.start, leaf.end, f"<{prefix}t>{escaped(text)}</{prefix}t>" if text else "")
        return
    if leaf.element == NUMBER:
        text = "0"
    yield Edit(leaf.start, leaf.end, escaped(text))
    if leaf.element in _SPACED and text != text.strip():
        opening = source[source.rfind("<", 0, leaf.start) : leaf.start]
        if opening.endswith(">") and "xml:space" not in opening and not opening.endswith("/>"):
            yield Edit(leaf.start - 1, leaf.start - 1, ' xml:space="preserve"')
    elif leaf.element in _TYPED:
        yield from _as_text(source, leaf)


def _as_text(source: str, leaf: Leaf) -> Iterator[Edit]:
    """Turn a property that was a number or a date into a text."""
    opening = source.rfind("<", 0, leaf.start)
    closing = source.find(">", leaf.end)
    if source[leaf.start - 1] != ">" or not source.startswith("</", leaf.end):
        raise CannotMaskError("a property holds a value among other elements")
    name = source[leaf.end + 2 : closing].strip()
    prefix = name[: -len(leaf.element)]
    yield Edit(opening, leaf.start, f"<{prefix}lpwstr>")
    yield Edit(leaf.end, closing + 1, f"</{prefix}lpwstr>")


def _remark_edits(leaf: Leaf, text: str) -> Iterator[Edit]:
    """Replace a comment, without the sequence that would end it."""
    safe = text.replace("--", "- -").replace("?>", "? >")
    yield Edit(leaf.start, leaf.end, safe + " " if safe.endswith("-") else safe)


def _attribute_edits(source: str, changed: Iterable[tuple[Leaf, str]]) -> Iterator[Edit]:
    """Replace a value in all attributes of that name, so that references remain valid."""
    wanted: dict[tuple[str, str], str] = {}
    for leaf, text in changed:
        if leaf.element in _INTERNAL:
            raise CannotMaskError(
                "the name of a part of the file holds a value: rename it at its source"
            )
        wanted[local(leaf.element.rpartition("@")[2]), source[leaf.start : leaf.end]] = text
    if not wanted:
        return
    for found in TOKEN.finditer(source):
        tag = found["attributes"]
        if not tag:
            continue
        for attribute in ATTRIBUTE.finditer(tag):
            quotes = "double" if attribute["double"] is not None else "single"
            name, raw = local(attribute["name"]), attribute[quotes]
            if (name, raw) not in wanted:
                continue
            text = wanted[name, raw]
            if name == "v" and found["name"] in _TYPED_VALUES:
                # A cached number or date becomes a cached text.
                yield Edit(*found.span("name"), "s")
            if name in _BOUNDS:
                text = "0"
            if name == "Target":
                if "External" not in tag:
                    raise CannotMaskError(
                        "the name of a part of the file holds a value: rename it at its source"
                    )
                text = _as_address(unescaped(raw), text)
            start, end = attribute.span(quotes)
            at = found.start("attributes")
            yield Edit(
                at + start, at + end, escaped(text).replace("'", "&apos;").replace("\n", "&#10;")
            )


def _as_address(before: str, after: str) -> str:
    """Return an address that is still valid: masked characters are percent-encoded."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return after[:same] + quote(after[same:], safe="/:?#&=@%+;,~!$()*'")
