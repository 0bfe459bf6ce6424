"""SVG and PostScript: texts by position, and drawings that may be letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import CannotMaskError
from dlpctl.formats.files import Files
from dlpctl.formats.spans import ViewEdit
from dlpctl.formats.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from dlpctl.formats.interface import Document

SSN = "123-45-6789"


def svg(body: str) -> bytes:
    return f"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'>{body}</svg>".encode()


def postscript(body: str) -> bytes:
    return f"%!PS-Adobe-3.0\n/Helvetica findfont 10 scalefont setfont\n{body}\nshowpage\n".encode()


SPLIT = {
    "letters.svg": svg(
        "".join(f"<text x='{10 + 9 * n}' y='20'>{letter}</text>" for n, letter in enumerate(SSN))
    ),
    "moved.svg": svg(
        "".join(
            f"<text transform='translate({10 + 9 * n} 20)'>{letter}</text>"
            for n, letter in enumerate(SSN)
        )
    ),
    "shown.ps": postscript("50 700 moveto " + " ".join(f"({letter}) show" for letter in SSN)),
    "kerned.eps": postscript(f"50 700 moveto ({SSN[:5]}) show -0.2 0 rmoveto ({SSN[5:]}) show"),
    "placed.ps": postscript(f"50 700 moveto ({SSN[:4]}) show 71.5 700 moveto ({SSN[4:]}) show"),
    "after.ps": postscript(
        f"/Q{{moveto show}}def/E{{0 rmoveto show}}def ({SSN[:4]})72 48 Q({SSN[4:]})-.15 E(x)72 60 Q"
    ),
    "escaped.ps": postscript(f"50 700 moveto ({SSN[:4]}\\064{SSN[5:]}) show"),
    "hexadecimal.ps": postscript(f"50 700 moveto <{SSN.encode().hex()}> show"),
}


@pytest.mark.parametrize("name", SPLIT)
def test_a_value_in_parts_is_found_and_goes(
    name: str, find: Callable[[Document], list[ViewEdit]]
) -> None:
    with Files() as files:
        node = files.open(SPLIT[name], name)
        assert node.document.format in {"svg", "postscript"}
        assert not list(node.uninspected())
        masked = files.masked(node, find)
    assert masked != SPLIT[name]
    assert masked.count(b"show") == SPLIT[name].count(b"show")
    assert verify(masked, name, [SSN], find).clean


LETTERS = ["M0 0L4 -9L8 0Z", "M0 0V-9H5Z", "M0 0C0 -9 5 -9 5 0Z", "M0 0L6 0L6 -9L0 -9Z",
           "M0 0C2 -9 5 -9 5 0L2 -9Z"]  # fmt: skip
WORD = "".join(
    f"<path transform='translate({20 + 9 * n},40)' d='{LETTERS[n % 5]}'/>" for n in range(12)
)
GLYPHS = "".join(f"<use href='#glyph{n % 6}' x='{20 + 6 * n}' y='40'/>" for n in range(12))
BARS = "".join(f"<path d='M{20 * n} 90L{20 * n} {n}h9V90Z'/>" for n in range(12))
DRAWN = {
    "outlines.svg": svg(f"<g transform='skewX(9)'>{WORD}</g>"),
    "glyphs.svg": svg(GLYPHS),
    "long.svg": svg("<path/>" * 20_001),
    "font.ps": postscript("/FontType 3 def (abc) show"),
    "picture.eps": postscript("8 8 1 [8 0 0 8 0 0] {<00ff00ff>} image"),
    "curves.ps": postscript("1 2 3 4 5 6 curveto\n" * 80),
}


@pytest.mark.parametrize("name", DRAWN)
def test_shapes_that_may_be_letters_are_not_inspected(name: str) -> None:
    with Files() as files:
        assert [part.location for part in files.open(DRAWN[name], name).uninspected()] == [
            "drawing"
        ]


@pytest.mark.parametrize(
    ("body", "is_text"),
    [
        ("/lcaron [612 345 678 90] put\n612\n345 678 90 re", False),
        ("612 345 678 3 { 9 string cvs show } repeat", True),
        ("(612 345 678) show", True),
        (". 5 moveto (612 345 678) show % a dot is a name", True),
    ],
)
def test_numbers_of_a_drawing_are_text_where_they_are_shown(body: str, is_text: bool) -> None:
    with Files() as files:
        node = files.open(postscript(body), "a.ps")
        assert is_text == any("345 678" in each.text for each in node.document.segments)


BULLETS = f"<defs>{WORD}</defs><path d='{LETTERS[0]}'/>"


@pytest.mark.parametrize("body", [BARS, "<circle r='4'/>" * 30, "<text>kept</text>", BULLETS])
def test_other_drawings_are_inspected(body: str) -> None:
    with Files() as files:
        assert not list(files.open(svg(body), "a.svg").uninspected())


BLOCKS = {
    "E": "M0 0v-9h6v2h-4v1.7h3v1.6h-3v1.7h4v2z", "F": "M0 0v-9h6v2h-4v2h3v2h-3v3z",
    "H": "M0 0v-9h2v3.5h3v-3.5h2v9h-2v-3.5h-3v3.5z", "I": "M0 0v-9h2v9z",
    "L": "M0 0v-9h2v7h4v2z", "T": "M2.5 0v-7h-2.5v-2h7v2h-2.5v7z",
}  # fmt: skip
"""Letters as paths."""


def blocks(text: str, *, scale: float = 1.0) -> str:
    glyphs = "".join(
        f"<symbol id='g{letter}'><path d='{BLOCKS[letter]}'/></symbol>" for letter in BLOCKS
    )
    used = "".join(
        f"<g transform='translate({20 + 9 * n} 40)'><use href='#g{letter}'/></g>"
        for n, letter in enumerate(text)
        if letter != " "
    )
    return f"<defs>{glyphs}</defs><g transform='scale({scale})'>{used}</g>"


@pytest.mark.parametrize(
    "body",
    [
        f"<g style='text-transform: none'>{blocks('THE FILE LEFT')}</g>",
        f"<g transform='rotate(-37 9 9)' opacity='0'>{blocks('THE FILE LEFT', scale=0.1)}</g>",
        blocks("THE FILE LEFT") + "<path d='M0 0H999V999H0Z'/>",
        f"<defs><clipPath>{blocks('THE FILE LEFT')}</clipPath></defs>",
    ],
)
def test_letters_that_are_shapes_are_read(body: str) -> None:
    with Files() as files:
        node = files.open(svg(body), "a.svg")
        assert not list(node.uninspected())
        texts = [view.text for each in node.walk() for view in each.document.views]
        assert any("FILE" in text for text in texts)
        with pytest.raises(CannotMaskError, match="letters that are drawn"):
            files.masked(node, edit_of("FILE"))


def edit_of(word: str) -> Callable[[Document], list[ViewEdit]]:
    """Return a function that finds a word in all views."""
    return lambda document: [
        ViewEdit(number, at, at + len(word), "*")
        for number, view in enumerate(document.views)
        if (at := view.text.find(word)) >= 0
    ]


def test_coordinates_are_no_values_unless_a_path_has_more_of_them() -> None:
    def text(path: str) -> str:
        with Files() as files:
            return files.open(svg(f"<path d='{path}'/>"), "a.svg").document.segments[0].text

    assert "4111" not in text("M 4111 1111 L 1111 1111 Z")
    assert "4111" in text("M 4111 1111 L 1111 1111 4111 1111 Z")
    assert "4111" not in text("M 4111,1111 L 1111,1111 4111,1111 1111,4111 Z")
