"""Codes that an SVG draws are read, and block a file whose values they hold."""

from __future__ import annotations

import pytest
import zxingcpp

from dlpctl.errors import CannotMaskError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.interface import Limits

MAIL = "jane.roe@acme.example"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 99 99">{}</svg>'


def bars() -> list[tuple[int, int, int]]:
    """Return the bars of a code: column, row and width."""
    code = zxingcpp.create_barcode(f"Mail {MAIL} of hers", zxingcpp.BarcodeFormat.QRCode)
    rows = memoryview(code.to_image(scale=1)).tolist()
    found = []
    for number, row in enumerate(rows):
        starts = [at for at in range(len(row)) if row[at] == 0 and (not at or row[at - 1])]
        for start in starts:
            end = next((at for at in range(start, len(row)) if row[at]), len(row))
            found.append((start, number, end - start))
    return found


DRAWN = {
    "rectangles": lambda bar: '<rect x="{}" y="{}" width="{}mm" height="1"/>'.format(*bar),
    "paths": lambda bar: '<path d="M{},{}h{}v1H{}z"/>'.format(*bar, bar[0]),
    "strokes": lambda bar: '<path stroke="#000" d="M{} {}.5h{}"/>'.format(*bar),
    "uses": lambda bar: "".join(
        f'<use x="{bar[0] + at}" y="{bar[1]}" href="#p"/>' for at in range(bar[2])
    ),
}


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN)
def test_a_drawn_code_is_a_text_within_the_file(drawn) -> None:
    chosen = format_named("svg")
    point = '<defs><rect id="p" width="1" height="1"/></defs>'
    data = SVG.format(point + "".join(map(drawn, bars()))).encode()
    document = chosen.extract(data, Limits())
    assert [child.data.decode() for child in document.children] == [f"Mail {MAIL} of hers"]
    with pytest.raises(CannotMaskError, match="save it as PNG"):
        chosen.mask(data, document, [], {document.children[0].key: b"Mail"})


@pytest.mark.parametrize("largest", ["60", "1e300", "1e999"])
def test_a_drawing_of_bars_is_no_code(largest: str) -> None:
    heights = [*map(str, range(1, 60, 2)), largest]
    drawn = "".join(f'<rect x="{at}" y="0" width="1" height="{at}"/>' for at in heights)
    drawn += "".join(f'<rect x="{at}" y="{largest}" width="1" height="1"/>' for at in range(60))
    assert not format_named("svg").extract(SVG.format(drawn).encode(), Limits()).children
