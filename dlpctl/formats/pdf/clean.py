"""Mask text that no page draws, and remove data that a masked copy must not contain."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dlpctl.errors import CannotMaskError
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.encoding import spliced
from dlpctl.formats.interface import Children, Edit
from dlpctl.formats.pdf.drawing import Budget
from dlpctl.formats.pdf.model import (
    CoveredText,
    JpegNotes,
    NameText,
    PdfDocument,
    StreamText,
    StringAt,
    XmlStream,
)
from dlpctl.formats.pdf.objects import (
    before_last_filter,
    is_array,
    is_dictionary,
    is_stream,
    is_string,
    name_text,
    stream_bytes,
)
from dlpctl.formats.pdf.strings import TRAILER
from dlpctl.formats.pdf.xmltext import XmlText, decode
from dlpctl.formats.pictures import jpeg

if TYPE_CHECKING:
    import pikepdf

_PRIVATE_KEYS = ("/PieceInfo", "/Thumb", "/LastModified")
"""Private data of programs, often a copy of the page, and thumbnails."""
_RESOURCE_KINDS = (
    "/Font",
    "/XObject",
    "/ExtGState",
    "/Properties",
    "/ColorSpace",
    "/Pattern",
    "/Shading",
)


def apply(
    pdf: pikepdf.Pdf, document: PdfDocument, stored: Mapping[object, Sequence[Edit]], budget: Budget
) -> None:
    """Apply the edits of strings, streams and names."""
    from pikepdf import Name

    names: list[pikepdf.Array] = []
    for anchor, edits in stored.items():
        segment = document.segments[edits[0].segment]
        if isinstance(anchor, StringAt):
            names += _string(pdf, anchor, segment.text, edits, segment.location)
        elif isinstance(anchor, StreamText | XmlStream):
            _stream(pdf, anchor, edits, budget)
        elif isinstance(anchor, JpegNotes):
            image = pdf.get_object(anchor.owner)
            parameters = image.get("/DecodeParms")
            if is_array(parameters) and len(parameters):
                parameters = parameters[-1]
            image.write(
                jpeg.without_notes(before_last_filter(image, budget.expanded)),
                filter=Name.DCTDecode,
                decode_parms=parameters if is_dictionary(parameters) else None,
            )
        elif isinstance(anchor, CoveredText):
            _cover(pdf, anchor, segment.text, edits, budget)
        elif isinstance(anchor, NameText):
            _rename(pdf, anchor.name, "/" + edited(segment.text, edits), segment.location)
        else:
            raise CannotMaskError(f"{segment.location}: this part of a PDF cannot be changed")
    for changed in names:  # not before, since the other edits refer to the old order
        _sort_names(changed)


def edited(text: str, edits: Sequence[Edit]) -> str:
    return spliced(text, [TextEdit(*each[1:]) for each in sorted(edits)])


def _string(
    pdf: pikepdf.Pdf, anchor: StringAt, text: str, edits: Sequence[Edit], location: str
) -> list[pikepdf.Array]:
    """Edit a string; return the list of names that it belongs to, if any."""
    from pikepdf import String

    container: pikepdf.Object = (
        pdf.trailer if anchor.owner == TRAILER else pdf.get_object(anchor.owner)
    )
    for step in anchor.path[:-1]:
        container = container[step]
    last = anchor.path[-1]
    if isinstance(last, str) and last not in container:
        return []  # words of a mark that were removed with the glyphs that they are read for
    current = container[last]
    if not is_string(current):
        raise CannotMaskError(f"{location}: the text is not what it was when the file was checked")
    # Of a binary value, such as a signature, only readable parts were shown: replace it completely.
    replacement = edited(text, edits) if str(current) == text else ""
    container[last] = String(replacement)
    is_name = isinstance(last, int) and last % 2 == 0 and "/Names" in anchor.path
    return [container] if is_name and is_array(container) else []


def _sort_names(names: pikepdf.Array) -> None:
    """Restore the order of names after a change: readers use binary search."""
    items = list(names)
    pairs = sorted(zip(items[::2], items[1::2], strict=False), key=lambda pair: bytes(pair[0]))
    for index, (key, value) in enumerate(pairs):
        names[2 * index], names[2 * index + 1] = key, value


def _stream(
    pdf: pikepdf.Pdf, anchor: StreamText | XmlStream, edits: Sequence[Edit], budget: Budget
) -> None:
    stream = pdf.get_object(anchor.owner)
    text, codec = decode(stream_bytes(stream, budget.expanded))
    if isinstance(anchor, XmlStream):
        text = XmlText(text).replaced([(each.start, each.end, each.replacement) for each in edits])
    else:
        text = edited(text, edits)
    stream.write(text.encode(codec, "replace"))


def _cover(
    pdf: pikepdf.Pdf, anchor: CoveredText, text: str, edits: Sequence[Edit], budget: Budget
) -> None:
    """Cover values in a technical stream, whose parts keep their positions."""
    stream = pdf.get_object(anchor.owner)
    data = stream_bytes(stream, budget.expanded)
    for value in {line for each in edits for line in text[each.start : each.end].splitlines()}:
        data = data.replace(value.encode(), b"*" * len(value))
    stream.write(data)


def _rename(pdf: pikepdf.Pdf, old: str, new: str, location: str) -> None:
    """Rename a name everywhere, as key and as value: destinations are referenced by it."""
    from pikepdf import Name

    new = "".join(
        character if character.isalnum() or character in "/-_.*" else "_" for character in new
    )

    def visit(item: pikepdf.Object, resources: bool) -> None:
        members = (
            list(item.items()) if is_dictionary(item) or is_stream(item) else list(enumerate(item))
        )
        for key, value in members:
            if key == old:
                if resources:
                    raise CannotMaskError(
                        f"{location}: a name that the drawing refers to cannot be changed"
                    )
                del item[key]
                item[new] = value
            if name_text(value) == old:
                item[new if key == old else key] = Name(new)
            elif (is_dictionary(value) or is_array(value)) and not value.is_indirect:
                visit(value, key in _RESOURCE_KINDS)

    for item in pdf.objects:
        if is_dictionary(item) or is_array(item) or is_stream(item):
            visit(item, False)


def replace_children(pdf: pikepdf.Pdf, children: Children) -> None:
    """Replace the contents of embedded files; None removes a file."""
    from pikepdf import Dictionary, String

    for key, data in children.items():
        number, generation = (int(part) for part in key.split("."))
        stream = pdf.get_object((number, generation))
        if data is None:
            _unlink(pdf, stream)
            continue
        stream.write(data)
        stream.Params = Dictionary(
            Size=len(data), CheckSum=String(hashlib.md5(data, usedforsecurity=False).digest())
        )


def _unlink(pdf: pikepdf.Pdf, stream: pikepdf.Object) -> None:
    for item in pdf.objects:
        if not is_dictionary(item):
            continue
        for holder in (item, *[value for value in item.values() if is_dictionary(value)]):
            embedded = holder.get("/EF")
            if is_dictionary(embedded) and any(
                value.objgen == stream.objgen for value in embedded.values()
            ):
                del holder["/EF"]
    stream.write(b"")


def sanitize(pdf: pikepdf.Pdf) -> None:
    """Remove data that would disclose the original, whether or not anything was found in it."""
    shown = {page.obj.objgen for page in pdf.pages}
    for item in pdf.objects:
        if not (is_dictionary(item) or is_stream(item)):
            continue
        for key in _PRIVATE_KEYS:
            if key in item:
                del item[key]
        if not is_dictionary(item):
            continue
        if name_text(item.get("/Type")) == "/Page" and item.objgen not in shown:
            for key in ("/Contents", "/Annots"):
                if key in item:
                    del item[key]
        if name_text(item.get("/FT")) == "/Sig" and "/V" in item:
            del item["/V"]
        elif "/ByteRange" in item and "/Contents" in item:
            for key in list(item.keys()):
                if key not in ("/Type", "/Filter", "/SubFilter"):
                    del item[key]
    if "/Perms" in pdf.Root:
        del pdf.Root["/Perms"]
    form = pdf.Root.get("/AcroForm")
    if is_dictionary(form) and "/SigFlags" in form:
        del form["/SigFlags"]


def drop_metadata(pdf: pikepdf.Pdf) -> None:
    """Take out who made the document and its parts, with what and when."""
    if "/Info" in pdf.trailer:
        del pdf.trailer["/Info"]
    for item in pdf.objects:
        if (is_dictionary(item) or is_stream(item)) and "/Metadata" in item:
            del item["/Metadata"]
