"""The second reader of Office files: reads every part, of whatever type, with another parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.parsers import expat

from dlpctl.errors import FormatError
from dlpctl.formats.archive import Allowance
from dlpctl.formats.containers import zip_files
from dlpctl.formats.interface import Limits
from dlpctl.formats.office.content import is_geometry, is_telling, names_font
from dlpctl.formats.residues import CELL_END
from dlpctl.regex import lazy

_XML_STARTS = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe<", b"\xfe\xff\0<")
_TABLE_DATA = re.compile(rb"<(?:\w+:)?(?:sheetData|sst|pivotCacheRecords)\b")
_ESCAPED = lazy(r"_x([0-9A-Fa-f]{4})_")
_JOINED_LITERALS = lazy(r'"\s*&\s*"')
# Elements that end between the texts of two adjacent runs, in the list that `_characters` makes.
_RUNS = lazy(
    r"\n(?:\w+:)?t\n(?:\w+:)?r(?:\n(?:\w+:)?(?:rPr|b|i|u|strike|sz"
    r"|color|rFont|family|scheme|vertAlign|charset))*\n"
)
# Attributes that only give the position of a cell are skipped: a sheet has a million.
_ATTRIBUTES = (
    re.compile(rb"(?<!rFont val)=\"(?![A-Z]{1,3}[0-9]{1,7}\")([^\"<]{5,})\""),
    re.compile(rb"(?<!rFont val)='(?![A-Z]{1,3}[0-9]{1,7}')([^'<]{5,})'"),
)
_SIZE = 8
"""The number of digits in the width of a slide."""
_PARAGRAPHS = {"p", "si", "is", "h", "comment", "text"}
_HIDDEN = {"del", "moveFrom"}
_CELLS = {"tc", "table-cell", "covered-table-cell"}


def texts(data: bytes, limits: Limits) -> list[str]:
    """Return all text of all parts, in every spelling in which a value could still be visible."""
    allowance = Allowance(limits)
    with zip_files.opened(data) as archive:
        found = [archive.comment.decode("utf-8", "replace")]
        for info in archive.infolist():
            allowance.entry(info.file_size)
            remarks = (info.comment + b"\n" + info.extra).decode("utf-8", "replace")
            part = _part(zip_files.contents(archive, info, allowance))
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
    # Most paragraphs are the same in all spellings.
    seen: set[str] = set()
    for text in _of_elements(root):
        if text == CELL_END or text not in seen:
            seen.add(text)
            yield text


def _texts(root: ElementTree.Element) -> Iterator[str]:
    """Yield the texts of an element and its descendants, with cells of tables apart."""
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

    Sizes, shades and coordinates are numbers like salaries and dates, and font names are like
    personal names.
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
    """Yield the text of an element without deleted and hidden text."""
    if any(_local(each.tag) == "vanish" for child in element[:1] for each in child):
        return
    for child in element:
        name = _local(child.tag)
        if name in {"noBreakHyphen", "sym"}:
            yield "-" if name == "noBreakHyphen" else _symbol(child)
        elif name not in _HIDDEN:
            if name in {"t", "span", "a"}:
                yield child.text or ""
            yield from _kept(child)


def _symbol(element: ElementTree.Element) -> str:
    """Return a character of a symbol font, whose lower byte is its meaning."""
    code = next((value for name, value in element.attrib.items() if name.endswith("char")), "")
    return chr(int(code, 16) & 0xFF) if re.fullmatch("[0-9A-Fa-f]{4}", code) else ""


def _characters(data: bytes) -> Iterator[str]:
    """Yield the texts of a large part, separated by the names of the elements that
    end in between.
    """
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
        # Texts do not continue in each other.
        yield CELL_END.join(distinct)
    attributes = dict.fromkeys(value for pattern in _ATTRIBUTES for value in pattern.findall(data))
    yield unescape(CELL_END.encode().join(attributes).decode("utf-8", "replace"))


def _spellings(text: str) -> str:
    """Return a text with its variants: escapes, joined literals, percent-encoding."""
    others = (
        _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text,
        _JOINED_LITERALS.sub("", text) if '"' in text else text,
        unquote(text) if "%" in text else text,
    )
    return "\n".join((text, *(other for other in others if other != text)))
