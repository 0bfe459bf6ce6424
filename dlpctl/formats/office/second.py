"""The second reader of Office files: every part by another parser, without regard to what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.parsers import expat

from dlpctl.errors import FormatError
from dlpctl.formats import zipfiles
from dlpctl.formats.archive import Allowance
from dlpctl.formats.interface import Limits
from dlpctl.formats.needles import CELL_END
from dlpctl.formats.office.content import is_geometry, is_telling, names_font
from dlpctl.regex import lazy

_XML_STARTS = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe<", b"\xfe\xff\0<")
_TABLE_DATA = re.compile(rb"<(?:\w+:)?(?:sheetData|sst|pivotCacheRecords)\b")
_ESCAPED = lazy(r"_x([0-9A-Fa-f]{4})_")
_JOINED_LITERALS = lazy(r'"\s*&\s*"')
# What ends between the text of a run and that of the next one, in the list of all that
# `_characters` meets.
_RUNS = lazy(
    r"\n(?:\w+:)?t\n(?:\w+:)?r(?:\n(?:\w+:)?(?:rPr|b|i|u|strike|sz"
    r"|color|rFont|family|scheme|vertAlign|charset))*\n"
)
# Those of cells that say nothing but their place are left out: a sheet has a million.
_ATTRIBUTES = (
    re.compile(rb"(?<!rFont val)=\"(?![A-Z]{1,3}[0-9]{1,7}\")([^\"<]{5,})\""),
    re.compile(rb"(?<!rFont val)='(?![A-Z]{1,3}[0-9]{1,7}')([^'<]{5,})'"),
)
_SIZE = 8
"""So many digits has the width of a slide."""
_PARAGRAPHS = {"p", "si", "is", "h", "comment", "text"}
_HIDDEN = {"del", "moveFrom"}
_CELLS = {"tc", "table-cell", "covered-table-cell"}


def texts(data: bytes, limits: Limits) -> list[str]:
    """All text of all parts, each in every spelling in which a value could still be seen."""
    allowance = Allowance(limits)
    with zipfiles.opened(data) as archive:
        found = [archive.comment.decode("utf-8", "replace")]
        for info in archive.infolist():
            allowance.entry(info.file_size)
            remarks = (info.comment + b"\n" + info.extra).decode("utf-8", "replace")
            part = _part(zipfiles.contents(archive, info, allowance))
            found += (info.filename, remarks, _spellings("\n".join(part)))
    return found


def _part(data: bytes) -> Iterator[str]:
    if not data.lstrip()[:6].startswith(_XML_STARTS):
        yield data.decode("utf-8", "replace")
        if b"\0" in data[:4096]:
            yield data.decode("utf-16-le", "replace")
        return
    if _TABLE_DATA.search(data):
        yield from _characters(data)
        return
    remarks: list[str] = []
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.CommentHandler = remarks.append
    parser.ProcessingInstructionHandler = lambda target, rest: remarks.append(f"{target} {rest}")
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(data, True)
    except expat.ExpatError:
        yield data.decode(
            "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8", "replace"
        )
        return
    root = builder.close()
    yield from remarks
    yield "".join(_texts(root))
    # Most paragraphs read the same in all ways.
    seen: set[str] = set()
    for text in _of_elements(root):
        if text == CELL_END or text not in seen:
            seen.add(text)
            yield text


def _texts(root: ElementTree.Element) -> Iterator[str]:
    """Yield the texts of an element and all within it, cells of tables apart."""
    pending: list[ElementTree.Element | str] = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
            continue
        yield item.text or ""
        if _local(item.tag) in _CELLS:
            pending.append(CELL_END)
        for child in reversed(item):
            pending += (child.tail or "", child)


def _of_elements(root: ElementTree.Element) -> Iterator[str]:
    parents = {id(child): _local(element.tag) for element in root.iter() for child in element}
    for element in root.iter():
        if _local(element.tag) in _CELLS:
            yield CELL_END
        yield from map(CELL_END.__add__, _of_attributes(element, parents.get(id(element), "")))
        yield " ".join(filter(None, (element.text, element.tail)))
        if _local(element.tag) in _PARAGRAPHS:
            yield "".join(element.itertext())
            yield "".join(_kept(element))


def _of_attributes(element: ElementTree.Element, parent: str) -> Iterator[str]:
    """Yield the values of attributes, without coordinates and names of fonts.

    Sizes, shades and coordinates are the same numbers as salaries and dates, and fonts have the
    names of people.
    """
    name = _local(element.tag)
    for full_name, value in element.attrib.items():
        attribute = _local(full_name)
        if (value.isdigit() and len(value) <= _SIZE) or is_geometry(attribute, value):
            continue
        is_font = names_font(name, attribute) or (parent == "font" and name == "name")
        if not is_font or is_telling(value):
            yield value


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _kept(element: ElementTree.Element) -> Iterator[str]:
    """The text of an element without what was deleted in it."""
    for child in element:
        name = _local(child.tag)
        if name in {"noBreakHyphen", "sym"}:
            yield "-" if name == "noBreakHyphen" else _symbol(child)
        elif name not in _HIDDEN:
            if name in {"t", "span", "a"}:
                yield child.text or ""
            yield from _kept(child)


def _symbol(element: ElementTree.Element) -> str:
    """A character of a font of symbols, whose lower byte is its meaning."""
    code = next((value for name, value in element.attrib.items() if name.endswith("char")), "")
    return chr(int(code, 16) & 0xFF) if re.fullmatch("[0-9A-Fa-f]{4}", code) else ""


def _characters(data: bytes) -> Iterator[str]:
    """Yield the texts of a large part, with the names of the elements that end between them."""
    from html import unescape

    pieces: list[str] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.CharacterDataHandler = pieces.append
    parser.EndElementHandler = pieces.append
    parser.CommentHandler = pieces.append
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise FormatError("a part cannot be read a second time") from error
    distinct = dict.fromkeys(pieces)
    if "r" in distinct or any(name.endswith(":r") for name in distinct):
        text = "\n".join(pieces)
        yield text
        yield _RUNS.sub("", text)
    else:
        # No text goes on in the next one.
        yield CELL_END.join(distinct)
    attributes = dict.fromkeys(value for pattern in _ATTRIBUTES for value in pattern.findall(data))
    yield unescape(CELL_END.encode().join(attributes).decode("utf-8", "replace"))


def _spellings(text: str) -> str:
    """Return a text with its readings: escapes, joined literals, percent-encoding."""
    others = (
        _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text,
        _JOINED_LITERALS.sub("", text) if '"' in text else text,
        unquote(text) if "%" in text else text,
    )
    return "\n".join((text, *(other for other in others if other != text)))
