"""The messages between a worker process and its parent, with documents as messages.

A document is sent as texts, locations and numbers. The anchors of segments, by which a format finds
a location again, stay in the worker: the parent never sees them and never sends them back.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, chain, islice
from operator import add, le, ne, sub
from typing import NamedTuple

from dlpctl.config.settings import FileLimits
from dlpctl.errors import CannotMaskError, DlpctlError, FormatError
from dlpctl.formats.editcolumns import EditColumns
from dlpctl.formats.interface import (
    Child,
    Document,
    Edit,
    Edits,
    NotThisFormatError,
    Segment,
    Uninspected,
    View,
    ViewColumns,
)
from dlpctl.formats.locators import Cells, Escapes, Items, Lines, Units
from dlpctl.formats.ocr.seen import ReadPicture
from dlpctl.processes.schema import InvalidMessageError, Line, ListOf, OneOf, Optional, Record

Locator = Units | Cells | Items | Lines
_REFUSALS: tuple[type[FormatError], ...] = (FormatError, CannotMaskError, NotThisFormatError)


class Extract(NamedTuple):
    """Read a file; the answer is a `Reading`."""

    home: str
    """The module that defines the format."""
    name: str
    data: bytes
    limits: FileLimits
    password: str | None


class Replacement(NamedTuple):
    """The new contents of a file within the file; None drops the file."""

    key: str
    data: bytes | None


class ExtractParts(NamedTuple):
    """Read a file part by part; the answer is the first `Part`."""

    home: str
    name: str
    data: bytes
    limits: FileLimits


class FollowingPart(NamedTuple):
    """Read the next part of the file; the answer is a `Part`."""

    limits: FileLimits


class Changes(NamedTuple):
    """The edits of a file, as columns."""

    segments: array[int]
    starts: array[int]
    ends: array[int]
    replacements: list[str]


class Mask(NamedTuple):
    """Make a copy of a file; the answer is a `Copy`. An unknown file is read again."""

    home: str
    name: str
    data: bytes
    limits: FileLimits
    password: str | None
    changes: Changes
    children: Sequence[Replacement]


class ReadAgain(NamedTuple):
    """Read a file by its second reader; the answer is `Texts`."""

    home: str
    name: str
    data: bytes
    limits: FileLimits


class Picture(NamedTuple):
    """Draw a page; the answer is a `Copy`."""

    home: str
    name: str
    data: bytes
    page: int
    limits: FileLimits
    password: str | None


class AskSandbox(NamedTuple):
    """List what the system denies the worker; the answer is `Texts`."""

    limits: FileLimits


class Recall(NamedTuple):
    """Keep what other workers read on pictures; the answer is `Pictures` without any."""

    limits: FileLimits
    pictures: list[ReadPicture]


class AskPictures(NamedTuple):
    """Return what was read on pictures; the answer is `Pictures`."""

    limits: FileLimits


Request = (
    Extract
    | ExtractParts
    | FollowingPart
    | Mask
    | ReadAgain
    | Picture
    | AskSandbox
    | Recall
    | AskPictures
)


class Located(NamedTuple):
    """The locator of one segment."""

    segment: int
    locator: Locator


class Joined(NamedTuple):
    """A view: ranges of segments, and the separators before, between and after them."""

    name: str
    context: str
    repeats: bool
    segments: array[int]
    starts: array[int]
    ends: array[int]
    separators: list[str]


class Reading(NamedTuple):
    """A document."""

    texts: list[str]
    """The text of each segment."""
    locations: list[str]
    contexts: list[str]
    located: list[Located]
    views: list[Joined]
    uninspected: list[Uninspected]
    children: list[Child]
    remarks: list[str]


class Part(NamedTuple):
    """A part of a file, or None after the last one."""

    reading: Reading | None


class Copy(NamedTuple):
    """A file or a picture."""

    data: bytes


class Texts(NamedTuple):
    texts: list[str]


class Pictures(NamedTuple):
    pictures: list[ReadPicture]


class Refusal(NamedTuple):
    """The error of a file that cannot be read or masked."""

    error: int
    """The index of the error's class."""
    message: Line


LIMITS = Record(FileLimits)
_LOCATOR = OneOf(
    l=Record(Lines, escapes=Record(Escapes)),
    u=Record(Units),
    c=Record(Cells),
    i=Record(Items),
)
_PICTURES = ListOf(Record(ReadPicture))
REQUEST = OneOf(
    e=Record(Extract, limits=LIMITS),
    f=Record(ExtractParts, limits=LIMITS),
    n=Record(FollowingPart, limits=LIMITS),
    m=Record(
        Mask,
        limits=LIMITS,
        changes=Record(Changes),
        children=ListOf(Record(Replacement)),
    ),
    r=Record(ReadAgain, limits=LIMITS),
    p=Record(Picture, limits=LIMITS),
    s=Record(AskSandbox, limits=LIMITS),
    k=Record(Recall, limits=LIMITS, pictures=_PICTURES),
    a=Record(AskPictures, limits=LIMITS),
)
_READING = Record(
    Reading,
    located=ListOf(Record(Located, locator=_LOCATOR)),
    views=ListOf(Record(Joined)),
    uninspected=ListOf(Record(Uninspected)),
    children=ListOf(Record(Child)),
)
REPLY = OneOf(
    d=_READING,
    p=Record(Part, reading=Optional(_READING)),
    c=Record(Copy),
    t=Record(Texts),
    k=Record(Pictures, pictures=_PICTURES),
    x=Record(Refusal),
)


def reading_of(document: Document) -> Reading:
    """Return the part of a document that the parent gets."""
    located = []
    for number, segment in enumerate(document.segments):
        locator = getattr(segment.anchor, "locator", None)
        found = locator() if locator is not None else None
        if found is not None:
            located.append(Located(number, found))
    texts, locations, _, contexts = (
        zip(*document.segments, strict=True) if document.segments else ((),) * 4
    )
    return Reading(
        list(texts),
        list(locations),
        list(contexts),
        located,
        [_joined(view) for view in document.views],
        document.uninspected,
        document.children,
        document.remarks,
    )


def document_of(name: str, reading: Reading, most: int) -> Document:
    """Return the document from a message; its views must not show more than `most` characters."""
    anchors: dict[int, Locator] = {}
    for number, locator in reading.located:
        _check(locator)
        anchors[number] = locator
    count = len(reading.texts)
    if not count == len(reading.locations) == len(reading.contexts):
        raise InvalidMessageError("the columns of segments do not fit each other")
    segments = list(
        map(
            Segment,
            reading.texts,
            reading.locations,
            map(anchors.get, range(count)),
            reading.contexts,
        )
    )
    if not all(all(map(le, view.starts, view.ends)) for view in reading.views):
        raise InvalidMessageError("a piece of a view ends before it starts")
    if sum(sum(view.ends) - sum(view.starts) for view in reading.views) > most:
        raise InvalidMessageError("views repeat the text too often")
    if any(not -1 <= part.segment < count for part in reading.uninspected):
        raise InvalidMessageError("a part is that of an unknown segment")
    views = [_view(view, reading.texts) for view in reading.views]
    return Document(name, segments, views, reading.uninspected, reading.children, reading.remarks)


def changes_of(edits: Edits) -> Changes:
    """Return edits as their columns."""
    if not isinstance(edits, EditColumns):
        edits = EditColumns.holding(Edit, 3, edits)
    segments, starts, ends = edits.numbers
    return Changes(segments, starts, ends, edits.replacements)


def edits_of(changes: Changes) -> Edits:
    """Return the edits of columns."""
    *numbers, replacements = changes
    return EditColumns.of(Edit, numbers, replacements)


def refusal_of(error: DlpctlError) -> Refusal:
    """Return the answer for a file that a format refused."""
    index = next((at for at, each in enumerate(_REFUSALS) if type(error) is each), 0)
    return Refusal(index, error.message)


def error_of(refusal: Refusal) -> FormatError:
    """Return the error to raise for a refusal."""
    if not 0 <= refusal.error < len(_REFUSALS):
        raise InvalidMessageError("the error of a refusal is unknown")
    return _REFUSALS[refusal.error](refusal.message)


def _joined(view: View) -> Joined:
    offsets, segments, starts, ends = view.columns
    after = map(add, offsets, map(sub, ends, starts))
    between = zip(chain((0,), after), chain(offsets, (len(view.text),)), strict=True)
    separators = [view.text[start:end] for start, end in between]
    return Joined(view.name, view.context, view.repeats, segments, starts, ends, separators)


def _view(joined: Joined, texts: Sequence[str]) -> View:
    name, context, repeats, segments, starts, ends, separators = joined
    if not len(segments) == len(starts) == len(ends) == len(separators) - 1:
        raise InvalidMessageError("the parts of a view do not fit each other")
    if max(segments, default=-1) >= len(texts):
        raise InvalidMessageError("a view shows a segment that does not exist")
    pieces = [
        texts[segment][start:end]
        for segment, start, end in zip(segments, starts, ends, strict=True)
    ]
    if any(map(ne, map(len, pieces), map(sub, ends, starts))):
        raise InvalidMessageError("a view shows more than its segment holds")
    parts = separators * 2
    parts[::2], parts[1::2] = separators, [*pieces, ""]
    offsets = array("q", islice(accumulate(map(len, parts)), 0, len(parts) - 2, 2))
    columns = ViewColumns(offsets, segments, starts, ends)
    return View.of_columns(name, "".join(parts), columns, context, repeats=repeats)


def _check(locator: Locator) -> None:
    match locator:
        case Cells(_, starts, rows, columns):
            fits = len(starts) == len(rows) == len(columns) > 0
        case Items(_, starts, numbers, _):
            fits = len(starts) == len(numbers) > 0
        case Lines(escapes):
            fits = len({len(column) for column in escapes}) == 1
        case _:
            fits = True
    if not fits:
        raise InvalidMessageError("the numbers of a locator do not fit each other")
