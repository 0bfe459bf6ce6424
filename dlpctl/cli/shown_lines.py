"""The lines of a checked text that have findings, masked, with carets below them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.cli.line_index import LineIndex
    from dlpctl.cli.render import Printer

_MOST = 5
_INDENT = "    "


class ShownLine(NamedTuple):
    position: str
    """The line and column of its first finding."""
    line: str
    marks: list[tuple[int, int]]
    """The starts and lengths of its masked values."""
    categories: list[Category]


def lines_of(text: str, findings: Sequence[Finding], index: LineIndex) -> list[ShownLine]:
    """Return the first lines with findings."""
    from dlpctl.operators.partial import sample
    from dlpctl.scan.excerpts import HIDDEN, Excerpts, printable_line
    from dlpctl.scan.places import TextPlaces

    def shown(each: Finding) -> str:
        return sample(each.type, each.category, text[each.start : each.end]) or HIDDEN

    excerpts = Excerpts(TextPlaces(text, findings), shown)
    lines: dict[str, ShownLine] = {}
    for each in findings:
        line, column = index.line_and_column(each.start)
        excerpt = excerpts.of(each)
        key = f"{line}:{excerpt.line}"
        if key not in lines and len(lines) == _MOST:
            break
        found = lines.setdefault(key, ShownLine(f"{line}:{column}", excerpt.line, [], []))
        found.marks.append((excerpt.mark, len(printable_line(shown(each)))))
        found.categories.append(each.category)
    return list(lines.values())


def print_lines(lines: Sequence[ShownLine], name: str, printer: Printer) -> None:
    from dlpctl.scan.excerpts import draw_carets

    width = shutil.get_terminal_size().columns - len(_INDENT)
    for each in lines:
        line, drawn = draw_carets(each.line, each.marks, max(width, 10))
        carets = "".join(
            gap + printer.style(below, "red" if category is Category.SECRETS else "yellow")
            for (gap, below), category in zip(drawn, each.categories, strict=True)
        )
        printer.line(f"  {printer.style(f'{name}:{each.position}', 'bold')}")
        printer.line(f"{_INDENT}{line}")
        printer.line(f"{_INDENT}{carets}")
