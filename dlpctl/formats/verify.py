"""Verify that a masked file is clean: read it again with two readers, and search its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Files, Node, ViewEditsOf, is_in_process
from dlpctl.formats.interface import Document, Limits, Uninspected, View, described
from dlpctl.formats.locators import Cells
from dlpctl.formats.ocr.seen import ReadPicture
from dlpctl.formats.residues import StrictMatcher, with_rows_apart
from dlpctl.formats.spans import ViewEdit
from dlpctl.formats.worker import Method
from dlpctl.texts.written import Written

_DETECTION = "detection"
_UNREADABLE = "it cannot be read again"


class Leak(NamedTuple):
    """A location where something remains, and the check that found it, without the value."""

    location: str
    shown_by: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The parts that were inspected, and the values that remain."""

    values: int
    files: int
    leaks: tuple[Leak, ...]
    uninspected: tuple[Uninspected, ...]
    metadata: tuple[str, ...] = ()
    """The locations of metadata."""

    @property
    def clean(self) -> bool:
        return not self.leaks

    @property
    def only_detected(self) -> bool:
        """Return whether nothing remains but findings, whose values are not searched for yet."""
        return all(leak.shown_by == _DETECTION for leak in self.leaks)

    @property
    def unreadable(self) -> bool:
        """Return whether it is unknown what remains."""
        return any(leak.shown_by.startswith(_UNREADABLE) for leak in self.leaks)

    def summary(self) -> str:
        """Return one line for the report."""
        remain = len({leak.location for leak in self.leaks})
        within = f" in {self.files} files" if self.files > 1 else ""
        remaining = f"{remain} of {self.values} values remain"
        text = f"re-read by two extractors and as bytes{within}, {remaining}"
        return "; ".join(filter(None, (text, described(self.uninspected))))


class Verifier:
    """Inspects one masked file; in commands, both readers work concurrently."""

    def __init__(
        self,
        format_name: str,
        limits: Limits | None = None,
        method: Method = "adaptive",
        pictures: Sequence[ReadPicture] = (),
    ) -> None:
        """`format_name` is the format of the original, whose reader starts immediately."""
        self.pictures = pictures
        """The words of known pictures, in the end those of the copy too."""
        self._format_name = format_name
        self.files = Files(limits, method)
        """The first reader, which can mask what it reads."""
        self.node: Node | None = None
        """The file, once it was read."""
        self._second = self.files if method == "forkserver" else Files(limits, method)
        for files in {self.files, self._second}:
            files.worker.recall(pictures)
            files.prepare(format_name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.files.close()
        self._second.close()

    def verify(
        self,
        masked: bytes,
        name: str,
        values: Iterable[str],
        view_edits_of: ViewEditsOf,
        *,
        words: Iterable[str] = (),
        replacements: Iterable[str] = (),
        password: str | None = None,
        until: float | None = None,
    ) -> Verification:
        """Search the file for values, and detect in it again.

        `words` are values that match only as they are written, or in capitals. `view_edits_of` is
        the detection that masked the file; a finding within `replacements` is not a leak, since a
        masked e-mail address may still look like one.
        """
        matcher = StrictMatcher(values, words)
        written = Written.of(replacements)
        look = partial(_by_second_reader, self._second, matcher)
        try:
            with self._aside() as begun:
                self._second.reset(until)
                expected = begun(look, self._format_name, "", masked)
                self.node = node = self.files.open(masked, name, password, until=until)
                nodes = list(node.walk())
                looks = [
                    begun(look, each.document.format, each.trail, each.data) for each in nodes[1:]
                ]
                if node.document.format != self._format_name:
                    expected = begun(look, node.document.format, "", masked)
                leaks = [
                    leak
                    for each in nodes
                    for leak in _by_first_reader(each, matcher, view_edits_of, written)
                ]
                leaks += [leak for ended in (expected, *looks) for leak in ended()]
                self.pictures = [
                    picture
                    for files in dict.fromkeys((self.files, self._second))
                    for picture in files.worker.pictures_read()
                ]
        except FormatError as error:
            return Verification(
                count_values(matcher), 1, (Leak("", f"{_UNREADABLE}: {error.message}"),), ()
            )
        return Verification(
            count_values(matcher),
            len(nodes),
            tuple(dict.fromkeys(leaks)),
            tuple(node.uninspected()),
            tuple(node.metadata()),
        )

    @contextmanager
    def _aside(self) -> Iterator[Callable[..., Callable[[], list[Leak]]]]:
        """Yield a function that starts the second reader and returns a function that waits for its
        result.
        """
        if self._second is self.files or is_in_process(self._format_name):
            # A thread would keep the detection from forking.
            yield partial
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            try:
                yield lambda *arguments: pool.submit(*arguments).result
            finally:
                # After an error, nobody waits for the result.
                pool.shutdown(wait=False, cancel_futures=True)
                self._second.close()


def verify(
    masked: bytes,
    name: str,
    values: Iterable[str],
    view_edits_of: ViewEditsOf,
    *,
    replacements: Iterable[str] = (),
    limits: Limits | None = None,
    method: Method = "adaptive",
    password: str | None = None,
) -> Verification:
    """Verify a file without a prepared verifier."""
    with Verifier("text", limits, method) as verifier:
        return verifier.verify(
            masked, name, values, view_edits_of, replacements=replacements, password=password
        )


def _by_second_reader(
    files: Files, matcher: StrictMatcher, format_name: str, trail: str, data: bytes
) -> list[Leak]:
    leaks = (
        [Leak(trail, "the second reader")]
        if matcher.in_text("\n".join(files.read_again(format_name, data)))
        else []
    )
    return [*leaks, Leak(trail, "a search of the bytes")] if matcher.in_bytes(data) else leaks


def _by_first_reader(
    node: Node, matcher: StrictMatcher, view_edits_of: ViewEditsOf, written: Written
) -> Iterator[Leak]:
    for document in node.documents():
        for view_edit in view_edits_of(document):
            if not written.touches(
                document.views[view_edit.view].text, view_edit.start, view_edit.end
            ):
                segment, start = _first_place(document, view_edit)
                yield Leak(node.location_of(document, segment, start), _DETECTION)
        for view in document.views:
            for start, end in () if view.repeats else matcher.spans(searched_text(document, view)):
                pieces = view.pieces_of(start, end)
                if pieces:
                    yield Leak(
                        node.location_of(document, pieces[0].segment, pieces[0].start),
                        "the first reader",
                    )
        # Text of views was already searched.
        searched = {view.text for view in document.views}
        rest = [
            (index, each.text)
            for index, each in enumerate(document.segments)
            if each.text not in searched
        ]
        for index, text in rest if matcher.in_text("\n".join(text for _, text in rest)) else ():
            if matcher.in_text(text):
                yield Leak(node.location_of(document, index, 0), "the first reader")


def searched_text(document: Document, view: View) -> str:
    """Return the text of a view for a search for values; in a table, rows end as cells do."""
    segments = view.columns.segments
    is_table = getattr(format_named(document.format), "is_table", False) or (
        segments and isinstance(document.segments[segments[0]].anchor, Cells)
    )
    return with_rows_apart(view.text) if is_table else view.text


def _first_place(document: Document, view_edit: ViewEdit) -> tuple[int, int]:
    pieces = document.views[view_edit.view].pieces_of(view_edit.start, view_edit.end)
    return (pieces[0].segment, pieces[0].start) if pieces else (0, 0)


def count_values(matcher: StrictMatcher) -> int:
    """Return the number of values that are searched, including those that are too short."""
    return len(matcher.values) + len(matcher.words) + matcher.too_short
