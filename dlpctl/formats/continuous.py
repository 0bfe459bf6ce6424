"""Texts of markup that continue across tags: in blocks of HTML, runs and mixed content of XML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from dlpctl.formats.interface import APART
from dlpctl.regex import lazy

Parts = Callable[[str], Iterable[tuple[str, int, int]]]
"""Divides a source into its parts: the syntax, start and end of each."""
Continuous = list[tuple[int, int] | str]
"""Ranges of a source that read as one text, and the line ends and spaces between them."""
_NAME = lazy(r"</?([^\s/>]+)")
# A search for a first character that is fixed takes a tenth of the time.
_MIXED = tuple(map(lazy, (r"<(?<=[^\s>]<)\w", r"<(?<=[^\s>]\s<)\w", r"</[^<>]*+>\s?(?!\s)[^<]")))
"""Texts beside tags: a part without them has no mixed content."""
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "caption", "cell", "center", "col",
    "colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "entry", "fieldset",
    "figcaption", "figure", "footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5",
    "h6", "head", "header", "hgroup", "hr", "html", "iframe", "legend", "li", "link", "main",
    "menu", "meta", "nav", "noframes", "noscript", "ol", "optgroup", "option", "p", "pre",
    "row", "script", "search", "section", "select", "style", "summary", "table", "table-cell",
    "tbody", "td", "template", "text", "textarea", "tfoot", "th", "thead", "title", "tr", "ul"
))  # fmt: skip
"""Elements of HTML that start and end lines, and cells; others, known or not, are within one."""
_RUNS = frozenset((
    "bookmark", "characterstylerange", "content", "textpath", "bookmark-end", "bookmark-start",
    "em", "emphasis", "font", "hi", "phrase", "run", "soft-page-break", "span", "strong", "t",
    "tspan"
))  # fmt: skip
"""XML elements that divide a text into runs of one style."""
_OFFICE, _BLOCKS_OF_OFFICE = (
    ("w", "a", "aml", "字"),
    frozenset(("p", "tc", "tr", "tbl", "txbody", "txbxcontent", "段落", "单元格", "行", "文字表")),
)
"""The usual prefixes of texts in the XML of Office and of Uniform Office Format, and the elements
that are more than runs.
"""
_DIGIT = lazy(r"[0-9]")
_CELL = lazy(r"<t[dh]\b", re.IGNORECASE)
_LONGEST_LINES = 100
"""The characters of a block that is lines rather than a paragraph."""
_GAPS = {"br": "\n", "lb": "\n", "line-break": "\n", "s": " ", "tab": " "}
"""Elements that show a line end or a space."""


def continuous_texts(source: str, parts: Parts, *, html: bool) -> Iterator[Continuous]:
    """Yield runs of continuous text: between blocks of HTML, across elements of XML."""
    text: Continuous = []
    signs, are_runs = "", True
    mixed = set() if html else _mixed_elements(source, parts)
    within = 0
    """The number of open elements from the outermost one of mixed content on."""
    for syntax, start, end in parts(source):
        if syntax in {"text", "cdata"}:
            # In XML a child between other children is data of its own: `>1</a><b>2<`; text
            # beside a tag is not.
            blank = not source[start:end].strip()
            if not (html or within) and (blank or ("/<" in signs and not are_runs)):
                yield text
                text = []
            if text and blank and html:
                text.append(" ")  # as a line end is shown
            elif text or not blank:
                text.append((start, end))
            signs, are_runs = "", True
        elif syntax == "tag":
            found = _NAME.match(source, start)
            prefix, _, name = (found[1] if found else "").lower().rpartition(":")
            is_empty = source[end - 2] == "/"
            gap = _GAPS.get(name) if (name == "br" if html else is_empty) else None
            is_end = source[start + 1] == "/"
            signs += "/" if is_end else "<"
            is_run = prefix in _OFFICE and name not in _BLOCKS_OF_OFFICE
            are_runs = are_runs and (is_run or name in _RUNS or name in _GAPS)
            if (within or start in mixed) and not is_empty:
                within += -1 if is_end else 1
            is_outermost = within == 1 and start in mixed
            if ((html or within > 1) and name in _BLOCKS) or (is_outermost and not are_runs):
                yield text
                text = []
            elif gap and text:
                text.append(gap)
        elif syntax not in {"comment", "instruction"}:
            yield text
            text = []
    yield text


def short_lines(source: str, texts: Iterable[Continuous]) -> Iterator[tuple[int, int] | str]:
    """Yield the short texts of blocks that follow each other, as the lines that a reader sees: a
    postal address has a block for each. Lines without any digit read the same apart.
    """
    for lines in _blocks_in_a_row(source, texts):
        spans = (item for item in lines if not isinstance(item, str))
        if lines.count("\n") > 1 and any(_DIGIT.search(source, *span) for span in spans):
            yield from lines
            yield APART


def _blocks_in_a_row(source: str, texts: Iterable[Continuous]) -> Iterator[Continuous]:
    """Yield runs of short texts, each with a line end; cells of a table are not lines."""
    lines: Continuous = []
    last = 0
    for text in texts:
        spans = [item for item in text if not isinstance(item, str)]
        if not spans:
            continue
        is_short = sum(end - start for start, end in spans) <= _LONGEST_LINES
        if not is_short or _CELL.search(source, last, spans[0][0]):
            yield lines
            lines = []
        if is_short:
            lines += (*text, "\n")
        last = spans[-1][1]
    yield lines


def _mixed_elements(source: str, parts: Parts) -> set[int]:
    """Return the starts of the elements that have both text of their own and elements."""
    found: set[int] = set()
    if not any(pattern.search(source) for pattern in _MIXED):
        return found
    opened: list[tuple[int, bool, bool]] = []
    """The start of each open element, and whether it has text and elements."""
    for syntax, start, end in parts(source):
        if syntax in {"text", "cdata"}:
            if opened and source[start:end].strip():
                opened[-1] = (opened[-1][0], True, opened[-1][2])
        elif syntax == "tag" and source[start + 1] == "/":
            at, has_text, has_elements = opened.pop() if opened else (0, False, False)
            if has_text and has_elements:
                found.add(at)
        elif syntax == "tag":
            if opened:
                opened[-1] = (*opened[-1][:2], True)
            if source[end - 2] != "/":
                opened.append((start, False, False))
    return found
