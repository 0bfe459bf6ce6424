"""Anchors of a PDF's segments, and the document with the data that masking needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from dlpctl.formats.interface import Document, Limits
from dlpctl.formats.ocr.seen import Corners
from dlpctl.formats.pdf.drawing import StreamKey
from dlpctl.formats.pdf.source import ObjectNumber


@dataclass(frozen=True, slots=True)
class DrawnText:
    """Characters of a canvas as pdfium counts them."""

    canvas: StreamKey


@dataclass(frozen=True, slots=True)
class ContentOrder:
    """Characters of a canvas in the order of its content stream."""

    canvas: StreamKey


@dataclass(frozen=True, slots=True)
class MarkText:
    """Replacement words of marked content: `/ActualText`, `/Alt` or `/E`."""

    canvas: StreamKey
    index: int


@dataclass(frozen=True, slots=True)
class StrayText:
    """Text in a content stream that no operator shows: a comment, a string without an operator."""

    canvas: StreamKey
    index: int


@dataclass(frozen=True, slots=True)
class SeenText:
    """A word that OCR finds on a picture, and its position on the page."""

    canvas: StreamKey
    corners: Corners


@dataclass(frozen=True, slots=True)
class StoredWord:
    """A word that OCR finds in a stored picture, and its position in the unit square."""

    owner: ObjectNumber
    corners: Corners


@dataclass(frozen=True, slots=True)
class StringAt:
    """A string object: the indirect object that contains it and the path inside."""

    owner: ObjectNumber
    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class StreamText:
    """A text stream: JavaScript, an unknown type."""

    owner: ObjectNumber


@dataclass(frozen=True, slots=True)
class XmlStream:
    """A stream of XML: XMP, XFA. The segment has its texts and attributes, with
    entities resolved.
    """

    owner: ObjectNumber


@dataclass(frozen=True, slots=True)
class JpegNotes:
    """Text in the application segments of a JPEG picture: Exif, XMP, comments."""

    owner: ObjectNumber


@dataclass(frozen=True, slots=True)
class CoveredText:
    """The strings with a value in a color profile or a character map, one per line."""

    owner: ObjectNumber


@dataclass(frozen=True, slots=True)
class NameText:
    """A name that is more than a technical term."""

    name: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that a complete save drops, such as an earlier revision."""


@dataclass(slots=True)
class PdfDocument(Document):
    """A PDF that has been read."""

    limits: Limits = field(default_factory=Limits)
    password: str | None = field(default=None, repr=False)
    signed: bool = False
    drawn: bytes = field(default=b"", repr=False)
    """The file with pictures as its pages, if the document was read from these."""
