"""Find the formats: every module or package of `dlpctl.formats` that defines `FORMAT` or `FORMATS`.

Run as a program, this module prints the source of `dlpctl.formats.quickcheck`.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import dlpctl.formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.formats.interface import Format


def rank(found: Format) -> int:
    """Return the rank of a format: of the formats that claim a file, the lowest reads it."""
    number = getattr(found, "rank", 50)
    assert isinstance(number, int)
    return number


@cache
def homes() -> tuple[str, ...]:
    """Return the modules in which formats may be defined."""
    return tuple(found.name for found in iter_modules(dlpctl.formats.__path__, "dlpctl.formats."))


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats, in the order in which they may claim a file."""
    found = [each for home in homes() for each in formats_in(home)]
    return tuple(sorted(found, key=lambda item: (rank(item), item.name)))


def format_named(name: str) -> Format:
    """Return the format with a name."""
    return next(found for found in formats() if found.name == name)


def home_of(name: str) -> str:
    """Return the module that defines the format with a name."""
    return next(home for home in homes() for each in formats_in(home) if each.name == name)


def format_in(home: str, name: str) -> Format:
    """Return a format of one module without importing the others."""
    return next(each for each in formats_in(home) if each.name == name)


def quick_check() -> str:
    """Return the source of `quickcheck`, from the attributes of all formats."""
    starts: dict[tuple[str, bytes, int], None] = {}
    names: dict[str, None] = {}
    for home in homes():
        for each in formats_in(home):
            if start := getattr(each, "text_start", b""):
                starts[home, start, getattr(each, "text_start_within", 0)] = None
            if not getattr(each, "shows_all", False):
                names |= dict.fromkeys(
                    extension
                    for extension in each.extensions
                    if any(each.sniff(text, f"a{extension}") for text in _TEXTS)
                )
    return _QUICK_CHECK.format(
        names="".join(f"    {name!r},\n" for name in names).replace("'", '"'),
        starts="".join(
            f"    ({home!r}, {_wrapped(start)}, {within}),\n" for home, start, within in starts
        ),
    )


def _wrapped(data: bytes) -> str:
    """Return a literal of bytes in pieces that fit a line."""
    pieces = [repr(piece) for piece in re.findall(rb"(?s).{1,60}[^|]*", data)]
    return f"({' '.join(pieces)})" if len(pieces) > 1 else pieces[0]


_TEXTS = (b"From: a\n\nb\n", b"a,b\n1,2\n", b"{}\n", b"words\n")
"""Texts that formats recognize only by the name of the file."""
_QUICK_CHECK = '''"""Signs that a text needs a format: generated from the formats.

Generate this module with `python -m dlpctl.formats.discovery`; a test compares the result.
"""

NAMES = (
{names})
"""Suffixes of texts in which a format finds more than plain text shows."""
STARTS = (
{starts})
"""Modules, the start of their formats' files, and the number of bytes that may contain it."""
'''


def formats_in(home: str) -> Sequence[Format]:
    """Return the formats that one module defines."""
    module = import_module(home)
    single = getattr(module, "FORMAT", None)
    defined: Sequence[Format] = getattr(module, "FORMATS", () if single is None else (single,))
    return defined


if __name__ == "__main__":
    sys.stdout.write(quick_check())
