"""Find the glyphs that show the characters to remove, and the place that they leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby, pairwise

from dlpctl.errors import CannotMaskError
from dlpctl.formats.pdf.align import Alignment, ContentText, near
from dlpctl.formats.pdf.canvas import CanvasText
from dlpctl.formats.pdf.drawing import Mark
from dlpctl.formats.pdf.glyphs import GlyphAt, pen_end
from dlpctl.formats.pdf.grid import Grid
from dlpctl.formats.pdf.matrix import Matrix, Point, apply, inverse, multiply
from dlpctl.formats.pdf.places import MaskPlace, Removal
from dlpctl.formats.pdf.reading import Box

_ASCENT, _DESCENT = 0.95, -0.25
_MISPLACED_SHARE = 0.02
_SAMPLE = 7
_MARGIN = 0.02
_LEAST_WIDTH = 4.0
_STEP = 2.0
_TWIN_HEIGHT = 0.7
"""Up to this height above the baseline, in em, the middle of a glyph at the same place may be."""
_GLYPH_CELL, _SHOW_CELL = 8.0, 32.0


class Locator:
    """Finds glyphs on one canvas."""

    def __init__(self, found: CanvasText) -> None:
        self._found = found
        self._alignment: Alignment = found.align()
        self._content: ContentText | None = None
        self._checked = False
        self._marked = [
            index
            for index, glyph in enumerate(self._alignment.glyphs)
            if found.drawing.shows[glyph.show].mark is not None
        ]
        self._first: list[int] = []
        """The index of the first glyph of each show."""
        boxes: list[Box] = []
        position = 0
        for show in found.drawing.shows:
            self._first.append(position)
            position += show.glyphs
            em = abs(show.state.size) * (
                math.hypot(*show.matrix[:2]) + math.hypot(*show.matrix[2:4])
            )
            boxes.append(_around([apply(show.matrix, 0.0, 0.0), pen_end(show)], em))
        self._first.append(position)
        self._shows = Grid(boxes, _SHOW_CELL)

    def _glyphs_near(self, region: Box) -> list[int]:
        """Glyphs of the operators that show something in a region, or close to it."""
        return [
            glyph
            for index in self._shows.touching(region)
            for glyph in range(self._first[index], self._first[index + 1])
        ]

    def of_characters(self, start: int, end: int) -> list[set[int]]:
        """The glyphs of characters as pdfium counts them, a set for each that is visible."""
        self._check_geometry()
        glyphs = self._alignment.glyphs
        groups = []
        for index in range(start, end):
            character = self._found.raw[index : index + 1]
            owned = set(self._alignment.by_char[index])
            if owned and self._found.in_order:
                origin = self._found.reader.origin(index)
                for each in owned:
                    # Words that replace glyphs lie where they like; the order tells which glyph is
                    # meant.
                    marked = self._found.drawing.shows[glyphs[each].show].mark is not None
                    if not marked and math.dist(glyphs[each].origin, origin) > near(glyphs[each]):
                        self._fail("a character that must go is not where its glyph is")
            elif not owned and character.strip():
                owned = self._replaced(index)
            if not owned:
                if character.strip():
                    self._fail("a character that must go is shown by no glyph that can be found")
                continue
            groups.append(owned)
        return groups

    def of_content(self, start: int, end: int) -> list[set[int]]:
        """The glyphs of characters in content order."""
        if self._content is None:
            self._content = self._found.content(self._alignment)
        content = self._content
        groups = []
        for position in range(start, end):
            index = content.glyph_at(position)
            if index < 0 or position >= content.starts[index] + len(
                self._alignment.glyphs[index].text
            ):
                continue
            groups.append({index})
        return groups

    def of_mark(self, mark: Mark) -> list[set[int]]:
        return [
            {index}
            for index, glyph in enumerate(self._alignment.glyphs)
            if self._found.drawing.shows[glyph.show].mark is mark
        ]

    def _fail(self, reason: str) -> None:
        raise CannotMaskError(
            f"{self._found.canvas.place}: {reason}; remove the value in the program that made "
            "the PDF"
        )

    def _check_geometry(self) -> None:
        """Both readers must agree where the glyphs are before a place can be trusted."""
        if self._checked:
            return
        self._checked = True
        total = wrong = 0
        glyphs = self._alignment.glyphs
        if self._found.in_order:
            for index in range(
                0, len(self._found.raw), _SAMPLE if len(self._found.raw) > 400 else 1
            ):
                owned = self._alignment.by_char[index]
                if owned and self._found.drawing.shows[glyphs[owned[0]].show].mark is None:
                    total += 1
                    glyph = glyphs[owned[0]]
                    wrong += math.dist(self._found.reader.origin(index), glyph.origin) > near(glyph)
        else:
            for index, char in enumerate(self._found.chars or ()):
                if char.text.strip() and not char.generated:
                    total += 1
                    wrong += not self._alignment.by_char[index] and not self._replaced(index)
        if wrong > max(1, _MISPLACED_SHARE * total):
            self._fail(f"two readers see {wrong} of {total} characters in different places")

    def _replaced(self, index: int) -> set[int]:
        """Return all glyphs of the marks below a character of their `/ActualText`."""
        box, origin = self._found.reader.box(index), self._found.reader.origin(index)
        glyphs = self._alignment.glyphs
        return {
            each
            for each in self._marked
            if box.holds(_middle(glyphs[each]))
            or math.dist(glyphs[each].origin, origin) <= near(glyphs[each])
        }

    @cached_property
    def _middles(self) -> list[Point]:
        return [_middle(glyph) for glyph in self._alignment.glyphs]

    @cached_property
    def _middle_grid(self) -> Grid:
        return Grid((Box(x, y, x, y) for x, y in self._middles), _GLYPH_CELL)

    def _twins(self, chosen: set[int]) -> set[int]:
        """Return the glyphs at the same place: bold drawn twice, a shadow, hidden text below."""
        glyphs = self._alignment.glyphs
        twins: set[int] = set()
        for _, group in groupby(sorted(chosen), key=lambda index: glyphs[index].show):
            rooms = [(glyphs[index].frame, self._width(glyphs[index])) for index in group]
            corners = [
                apply(frame, x, y)
                for frame, right in rooms
                for x in (0.0, right)
                for y in (0.0, _TWIN_HEIGHT)
            ]
            candidates = [
                index
                for index in self._middle_grid.touching(_around(corners, 0.0))
                if index not in chosen
            ]
            for frame, right in rooms if candidates else ():
                back = inverse(frame)
                if back is None:
                    continue
                for index in candidates:
                    x, y = apply(back, *self._middles[index])
                    if 0.0 <= x <= right and 0.0 <= y <= _TWIN_HEIGHT:
                        twins.add(index)
        return twins

    def _width(self, glyph: GlyphAt) -> float:
        return 1.0 if self._vertical(glyph) else abs(glyph.advance)

    def _vertical(self, glyph: GlyphAt) -> bool:
        return self._found.drawing.shows[glyph.show].font.vertical

    # ---- what is taken away

    def remove(
        self, removal: Removal, groups: Sequence[set[int]], label: str, ink: Sequence[int]
    ) -> None:
        """Add glyphs to a removal, with a place for each line; `ink` gets exact boxes."""
        chosen = set().union(*groups) if groups else set()
        chosen |= self._between(chosen)
        chosen |= self._twins(chosen)
        self._drop(removal, chosen)
        for line in self._by_line(sorted(chosen)):
            location = self._mask_place(line, label, chosen, ink)
            if location is not None:
                removal.boxes.append(location)
                label = ""

    def remove_below(self, removal: Removal, location: MaskPlace) -> None:
        """Add the glyphs below a place that OCR saw, which its box would only hide."""
        back = inverse(location.frame)
        if back is None:
            return
        below = set()
        for index in self._middle_grid.touching(_around(location.corners(), 0.0)):
            x, y = apply(back, *self._middles[index])
            if location.left <= x <= location.right and location.bottom <= y <= location.top:
                below.add(index)
        self._drop(removal, below)

    def _drop(self, removal: Removal, chosen: set[int]) -> None:
        glyphs, shows = self._alignment.glyphs, self._found.drawing.shows
        for index in chosen:
            glyph = glyphs[index]
            show = shows[glyph.show]
            if not glyph.known or show.font.trouble:
                self._fail(f"{show.font.trouble or 'a font whose widths are not known'}")
            removal.glyphs.setdefault((show.stream, show.start), set()).add(
                (glyph.item, glyph.code)
            )
            if show.mark is not None and show.mark not in removal.marks:
                removal.marks.append(show.mark)

    def _between(self, chosen: set[int]) -> set[int]:
        """Spaces and hyphens that join what goes."""
        glyphs = self._alignment.glyphs
        ordered = sorted(chosen)
        bridges: set[int] = set()
        for left, right in pairwise(ordered):
            if 1 < right - left <= 4 and all(
                not glyphs[i].text.strip(" \u00a0\u00ad-") for i in range(left + 1, right)
            ):
                bridges.update(range(left + 1, right))
        return bridges

    def _by_line(self, ordered: list[int]) -> list[list[int]]:
        lines: list[list[int]] = []
        for index in ordered:
            glyph = self._alignment.glyphs[index]
            for line in reversed(lines[-8:]):
                if self._continues(self._alignment.glyphs[line[-1]], glyph):
                    line.append(index)
                    break
            else:
                lines.append([index])
        return lines

    def _continues(self, before: GlyphAt, glyph: GlyphAt) -> bool:
        back = inverse(before.frame)
        if back is None:
            return inverse(glyph.frame) is None
        x, y = apply(back, *glyph.origin)
        if self._vertical(before):
            return abs(x) < 0.3 and abs(y) < 3.0
        return abs(y) < 0.3 and -3.0 < x - before.advance < 3.0

    def _mask_place(
        self, line: list[int], label: str, chosen: set[int], ink: Sequence[int]
    ) -> MaskPlace | None:
        glyphs, shows = self._alignment.glyphs, self._found.drawing.shows
        first = glyphs[line[0]]
        back = inverse(first.frame)
        if back is None:
            return None
        left, bottom, right, top = self._extent(line, back)
        a, b, c, d = first.frame[:4]
        if abs(b * c) < 1e-6 * abs(a * d) or abs(a * d) < 1e-6 * abs(b * c):
            members = set(line)
            for index in ink:
                if members.isdisjoint(self._alignment.by_char[index]):
                    continue
                box = self._found.reader.box(index)
                for point in ((box.left, box.bottom), (box.right, box.top)):
                    x, y = apply(back, *point)
                    if left - 2 < x < right + 2 and bottom - 1 < y < top + 1:
                        left, right = min(left, x), max(right, x)
                        bottom, top = min(bottom, y), max(top, y)
        if not self._vertical(first):
            left, right = self._widened(first, back, left, right, chosen)
        return MaskPlace(
            first.frame,
            left - _MARGIN,
            right + _MARGIN,
            bottom - _MARGIN,
            top + _MARGIN,
            label,
            max(glyphs[index].show for index in line),
            any(shows[glyphs[index].show].state.mode in (3, 7) for index in line),
        )

    @cached_property
    def _strokes(self) -> list[tuple[float, float, float, float] | None]:
        """The origins of glyphs and of what follows them; None for blanks."""
        return [
            (*glyph.origin, *apply(glyph.frame, glyph.advance, 0.0)) if glyph.text.strip() else None
            for glyph in self._alignment.glyphs
        ]

    def _extent(self, line: list[int], back: Matrix) -> Box:
        """Return the room of a line's glyphs, in the space of its first one."""
        xs: list[float] = []
        ys: list[float] = [_ASCENT, _DESCENT]
        glyphs = self._alignment.glyphs
        is_vertical = self._vertical(glyphs[line[0]])
        for index in line:
            xx, xy, yx, yy, dx, dy = multiply(glyphs[index].frame, back)
            for x in (0.0, 1.0 if is_vertical else glyphs[index].advance):
                for y in (_DESCENT, _ASCENT):
                    xs.append(xx * x + yx * y + dx)
                    ys.append(xy * x + yy * y + dy)
        return Box(min(xs), min(ys), max(xs), max(ys))

    def _widened(
        self, first: GlyphAt, back: Matrix, left: float, right: float, chosen: set[int]
    ) -> tuple[float, float]:
        """Widen a box in steps into the free room: its width would tell short values apart."""
        wanted = max(_LEAST_WIDTH, math.ceil((right - left) / _STEP) * _STEP)
        before, after = left - wanted, right + wanted
        reach = [apply(first.frame, x, y) for x in (before, after) for y in (-0.5, 1.0)]
        xx, xy, yx, yy, dx, dy = back
        strokes = self._strokes
        for index in self._glyphs_near(_around(reach, 0.0)):
            stroke = strokes[index]
            if stroke is None or index in chosen:
                continue
            start_x, start_y, end_x, end_y = stroke
            if not -0.9 < start_x * xy + start_y * yy + dy < 0.9:
                continue
            low, high = start_x * xx + start_y * yx + dx, end_x * xx + end_y * yx + dx
            if high < low:
                low, high = high, low
            if low >= right - 0.05:
                after = min(after, low - 0.15)
            elif high <= left + 0.05:
                before = max(before, high + 0.15)
            else:
                return left, right
        right = max(right, min(after, left + wanted))
        left = min(left, max(before, right - wanted))
        return left, right


def _middle(glyph: GlyphAt) -> Point:
    return apply(glyph.frame, glyph.advance / 2 if abs(glyph.advance) < 3 else 0.3, 0.25)


def _around(points: list[Point], margin: float) -> Box:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Box(min(xs) - margin, min(ys) - margin, max(xs) + margin, max(ys) + margin)
