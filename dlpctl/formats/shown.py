"""Texts with marks that a reader does not see: subtitles, drawings, LaTeX and other markup.

Such a file is searched as it is written, and once more as it is shown: without its marks, so that a
value is found that they part. Masking leaves the marks where they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from dlpctl.formats.encoding import Edit, on_one_line, spliced
from dlpctl.formats.interface import Limits, Piece, Segment, View
from dlpctl.formats.source import Readable, Resolved, TextFormat, Token
from dlpctl.regex import lazy

Marks = Callable[[str], Iterable[Resolved]]
"""Returns the marks of a source and what each of them shows, in order."""

# The numbers and times between two texts, and tags within one.
_SUBTITLE_MARKS = lazy(
    r"(?P<line>(?<![\r\n])\r?\n(?:(?:\r?\n)++(?:(?![^\r\n]*-->)[^\r\n]++\r?\n)?+)?+"
    r"(?:[^\r\n]*-->[^\r\n]*+|[0-9:.]++,[0-9:.]++)\r?\n|\\[Nn]"
    r"|(?<![\r\n])(?:\r?\n)++Dialogue:(?:[^,\r\n]*+,){9})"
    r"|(?P<blank>\\h)"
    r"|</?[A-Za-z0-9:.][^<>\r\n]*+>|\{\\[^{}\r\n]*+\}|\[[0-9]++:[0-9][0-9:.]*+\]"
)
_LATEX_MARKS = lazy(
    r"(?P<line>\\\\(?:\[[^\]\r\n]{0,80}+\])?+)"
    r"|(?P<blank>~|\\[ ,;:!>]|\\(?:thinspace|nobreakspace|space|enspace|q?quad)\b(?:\{\})?+"
    r"|\\hspace\*?\{[^{}\r\n]{0,80}+\})"
    r"|\\(?P<char>[%&_#$])|(?P<hyphen>--++)"
    r"|(?<!\\)%[^\r\n]*+(?:\r?\n[ \t]*+|\Z)|\\[A-Za-z]++\*?[ ]?|\\[-/@]|[{}$]"
)
_DRAWING_MARKS = lazy(
    r"(?P<line>\\[PNX])|(?P<blank>\\[~S]|\^[IJM])|\\(?P<char>[\\{}])|\\U\+(?P<code>[0-9A-Fa-f]{4})"
    r"|%%(?P<number>[0-9]{3})|\\[LlOoKk]|\\[ACcFfHQTWp][^;\\{}\r\n]*+;|%%[A-Za-z]|[{}]"
)
_MANUAL_MARKS = lazy(
    r"(?P<blank>\\[ ~0])|(?P<hyphen>\\-|\\\(hy)|\\(?:f(?:\(..|\[[^\]\r\n]{0,40}\]|.)"
    r"|s[-+]?[0-9]{1,2}|[&|^%/,:]|c\r?\n)"
)
_POD_MARKS = lazy(r"(?P<blank>E<nbsp>)|[A-DF-Z]<+|(?<!=)>+")
_ASCIIDOC_MARKS = lazy(
    r"(?P<blank>\{nbsp\})|(?:pass:[a-z,]{0,20}|\[[^\[\]\r\n]{0,40}\](?=#))\[?|\]|\+{2,3}|[*_`#]{2}"
    r"|[*`](?=\S)|(?<=\S)[*`]|\{(?:empty|zwsp|wj)\}"
)
_REST_MARKS = lazy(r":[a-z][a-z-]{0,30}:`|\*{1,2}(?=\S)|(?<=\S)\*{1,2}|`{1,2}_{0,2}|\\[ ]?")
_PAIR = lazy(r"^[ \t]*+([0-9]{1,4})[ \t]*+\r?\n([^\r\n]*+)(?:\r?\n|\Z)", re.MULTILINE)
"""A value of a drawing after the number of its group."""
_TEXT, _TEXT_GOES_ON = "1", "3"
_OF_VALUES = (" ", "-", "@")
_SHOWN = {"line": "\n", "blank": " ", "hyphen": "-"}
"""The characters that marks show, by their names; all others show nothing."""


class ShownText(TextFormat):
    """A format of texts with marks."""

    shows_all = False

    def __init__(self, name: str, extensions: tuple[str, ...], start: bytes, marks: Marks) -> None:
        self.name = name
        self.extensions = extensions
        self.text_start = start
        self._marks = marks
        self._start = lazy(start)

    def sniff(self, head: bytes, name: str) -> bool:
        named = super().sniff(head, name)
        return named or (bool(self.text_start) and self._start.match(head) is not None)

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        del readable
        parts: list[Piece | str] = []
        read = 0
        for start, end, shown in self._marks(source):
            # A gap that a value has anyway is no other one.
            is_gap = shown == " " and source.endswith(_OF_VALUES, 0, start)
            parts += (Piece(0, read, start), "" if is_gap else shown)
            read = end
        if parts:
            yield View("as shown", [*parts, Piece(0, read, len(source))], segments)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        source = self.decoded(data).text
        shown = Readable(source, self._marks(source))
        return [*super().read_again(data, limits), shown.text]


class Drawing(ShownText):
    """Values of one line each, after the numbers of their groups."""

    def tokens(self, source: str) -> Iterator[Token]:
        for pair in _PAIR.finditer(source):
            yield Token(*pair.span(2), pair[1])

    def write(self, group: str, token: str, edits: Sequence[Edit]) -> str:
        return spliced(token, edits, on_one_line)


def _marks_by(regex: re.Pattern[str], source: str) -> Iterator[Resolved]:
    return _marks_within(regex, source, 0, len(source))


def _marks_within(regex: re.Pattern[str], source: str, start: int, end: int) -> Iterator[Resolved]:
    for found in regex.finditer(source, start, end):
        yield Resolved(*found.span(), _meaning(found))


def _meaning(found: re.Match[str]) -> str:
    name = found.lastgroup or ""
    if name == "char":
        return found[name]
    if name in ("code", "number"):
        return chr(int(found[name], 16 if name == "code" else 10))
    return _SHOWN.get(name, "")


def _drawing_marks(source: str) -> Iterator[Resolved]:
    """Yield all but the texts of a drawing, and the marks within those."""
    read, goes_on = 0, False
    for pair in _PAIR.finditer(source):
        if pair[1] in (_TEXT, _TEXT_GOES_ON):
            yield Resolved(read, pair.start(2), "" if goes_on else "\n\n")
            yield from _marks_within(_DRAWING_MARKS, source, *pair.span(2))
            read = pair.end(2)
        goes_on = pair[1] == _TEXT_GOES_ON
    if read:
        yield Resolved(read, len(source), "\n")


FORMATS = (
    ShownText(
        "subtitles",
        (".srt", ".vtt", ".sbv", ".ass", ".ssa", ".lrc"),
        rb"(?:\xef\xbb\xbf)?(?:WEBVTT\b|\[Script Info\])",
        partial(_marks_by, _SUBTITLE_MARKS),
    ),
    ShownText(
        "latex",
        (".tex", ".ltx", ".latex", ".bib"),
        rb"\\document(?:class|style)\b",
        partial(_marks_by, _LATEX_MARKS),
    ),
    ShownText(
        "manual",
        (".man", ".roff", ".mdoc", ".ms"),
        rb"(?:\.|')\\\"|\.(?:TH|Dd|so)[ \t]",
        partial(_marks_by, _MANUAL_MARKS),
    ),
    ShownText("pod", (".pod",), rb"=(?:pod|head1)\b", partial(_marks_by, _POD_MARKS)),
    ShownText("asciidoc", (".adoc", ".asciidoc"), b"", partial(_marks_by, _ASCIIDOC_MARKS)),
    ShownText("restructured text", (".rst",), b"", partial(_marks_by, _REST_MARKS)),
    Drawing("dxf", (".dxf",), rb"\s*0\r?\nSECTION\r?\n", _drawing_marks),
)
