"""Find the glyphs of the characters to remove, and the area that they leave."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, groupby, islice, pairwise

from dlpctl.errors import CannotMaskError
from dlpctl.formats.pdf.align import Alignment, ContentText, OwnersInOrder, near
from dlpctl.formats.pdf.canvas import CanvasText
from dlpctl.formats.pdf.drawing import Mark
from dlpctl.formats.pdf.glyphs import GlyphAt
from dlpctl.formats.pdf.matrix import Matrix, apply, inverse, multiply
from dlpctl.formats.pdf.nearby import GlyphIndex, around
from dlpctl.formats.pdf.places import MaskPlace, Removal
from dlpctl.formats.pdf.reading import Box

_ASCENT, _DESCENT = 0.95, -0.25
_MISPLACED_SHARE = 0.02
_SAMPLE = 7
_MARGIN = 0.02
_LEAST_WIDTH = 4.0
_STEP = 2.0
_TWIN_HEIGHT = 0.7
"""The maximum height above the baseline, in em, of the middle of a glyph at the same position."""
_SAME_LINE = 0.9
"""The maximum distance from a baseline, in em, of a glyph on the same line."""
_FEW_SHOWS = 3 * _SAMPLE


class Locator:
    """Finds glyphs on one canvas."""

    def __init__(self, found: CanvasText) -> None:
        self._found = found
        self._alignment: Alignment = found.align()
        self._content: ContentText | None = None
        self._checked = False
        self._near = GlyphIndex(self._alignment.glyphs, found.drawing.shows)

    @cached_property
    def _marked(self) -> list[int]:
        """Return the glyphs that words replace."""
        glyphs = self._alignment.glyphs
        return [
            glyph
            for index, show in enumerate(self._found.drawing.shows)
            if show.mark is not None
            for glyph in range(*glyphs.first[index : index + 2])
        ]

    def of_characters(self, start: int, end: int) -> list[set[int]]:
        """Return the glyphs of characters as pdfium counts them, one set for each visible
        character.
        """
        self._check_geometry()
        glyphs = self._alignment.glyphs
        groups = []
        for index in range(start, end):
            character = self._found.raw[index : index + 1]
            owned = set(self._alignment.by_char[index])
            if owned and self._found.in_order:
                origin = self._found.reader.origin(index)
                for each in owned:
                    # Words that replace glyphs may be anywhere; the order determines the glyph.
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
        """Return the glyphs of characters in content order."""
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
            f"{self._found.canvas.location}: {reason}; remove the value in the program that made "
            "the PDF"
        )

    def _check_geometry(self) -> None:
        """Check that both readers agree on the positions of glyphs, before any
        position is trusted.
        """
        if self._checked:
            return
        self._checked = True
        total = wrong = 0
        if isinstance(self._alignment.by_char, OwnersInOrder):
            origin = self._found.reader.origin
            for index, glyph in self._sample(self._alignment.by_char):
                total += 1
                wrong += math.dist(origin(index), glyph.origin) > near(glyph)
        else:
            for index, char in enumerate(self._found.chars or ()):
                if char.text.strip() and not char.generated:
                    total += 1
                    wrong += not self._alignment.by_char[index] and not self._replaced(index)
        if wrong > max(1, _MISPLACED_SHARE * total):
            self._fail(f"two readers see {wrong} of {total} characters in different places")

    def _sample(self, owners: OwnersInOrder) -> Iterable[tuple[int, GlyphAt]]:
        """Return characters with their glyphs: of many operators, those of some."""
        shows = self._found.drawing.shows
        step = _SAMPLE if len(owners) > 400 else 1
        is_many = len(shows) >= _FEW_SHOWS
        chosen = [
            index
            for index in range(0, len(shows), step if is_many else 1)
            if shows[index].mark is None
        ]
        sample = chain.from_iterable(map(owners.chars_of, chosen))
        return sample if is_many else islice(sample, 0, None, step)

    def _replaced(self, index: int) -> set[int]:
        """Return all glyphs of the marks below a character of their `/ActualText`."""
        box, origin = self._found.reader.box(index), self._found.reader.origin(index)
        glyphs = self._alignment.glyphs
        return {
            each
            for each in self._marked
            if box.holds(self._near.middles[each])
            or math.dist(glyphs[each].origin, origin) <= near(glyphs[each])
        }

    def _twins(self, chosen: set[int]) -> set[int]:
        """Return the glyphs at the same position: bold drawn twice, a shadow, hidden text below."""
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
                for index in self._near.middles_within(around(corners, 0.0))
                if index not in chosen
            ]
            for frame, right in rooms if candidates else ():
                back = inverse(frame)
                if back is None:
                    continue
                for index in candidates:
                    x, y = apply(back, *self._near.middles[index])
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
        """Add glyphs to a removal, with a box for each line; `ink` gets exact boxes."""
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
        """Add the glyphs below a place that OCR found, which a box would only cover."""
        back = inverse(location.frame)
        if back is None:
            return
        below = set()
        for index in self._near.middles_within(around(location.corners(), 0.0)):
            x, y = apply(back, *self._near.middles[index])
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
        """Return the spaces and hyphens that join the removed glyphs."""
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

    def _extent(self, line: list[int], back: Matrix) -> Box:
        """Return the area of a line's glyphs, in the space of its first glyph."""
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
        """Widen a box in steps into the free space: its width would reveal the length of short
        values.
        """
        wanted = max(_LEAST_WIDTH, math.ceil((right - left) / _STEP) * _STEP)
        before, after = left - wanted, right + wanted
        reach = [
            apply(first.frame, x, y) for x in (before, after) for y in (-_SAME_LINE, _SAME_LINE)
        ]
        xx, xy, yx, yy, dx, dy = back
        strokes = self._near.strokes
        for index in self._near.glyphs_near(around(reach, 0.0)):
            stroke = strokes[index]
            if stroke is None or index in chosen:
                continue
            start_x, start_y, end_x, end_y = stroke
            if not -_SAME_LINE < start_x * xy + start_y * yy + dy < _SAME_LINE:
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
