"""Fonts as far as masking needs them: the codes of strings, their advances and texts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from dlpctl.formats.pdf import cmap as cmaps
from dlpctl.formats.pdf import encodings
from dlpctl.formats.pdf.lazy import Lazy
from dlpctl.formats.pdf.objects import (
    is_array,
    is_dictionary,
    is_name,
    is_stream,
    name_text,
    number,
    stream_bytes,
)

if TYPE_CHECKING:
    from pikepdf import Object

UNKNOWN = "\ufffd"
_SYMBOLIC = 4
"""The flag of a font with its own code assignment."""
_MOST_CACHED = 50_000
_ALTERNATES = 2
"""The number of glyphs that fonts have for a character."""
_LIGHT_ENCODINGS = ("StandardEncoding", "WinAnsiEncoding", "MacRomanEncoding", "MacExpertEncoding")


def _contradict(text: str, named: str) -> bool:
    # A ligature may be mapped to its letters.
    named = normalize("NFKC", named)
    return text.isalnum() and named.isalnum() and text.isascii() and text.lower() != named.lower()


class Glyph(NamedTuple):
    """One code of a font, in units of the font size."""

    text: str
    advance: float
    known: bool
    """True if the advance is certain."""
    offset: tuple[float, float] = (0.0, 0.0)
    """From the pen position to the glyph's origin: vertical writing hangs glyphs from the pen."""


class Measure(NamedTuple):
    """The measures of a complete string."""

    text: str
    advance: float
    codes: int
    spaces: int


class Font:
    """A font dictionary, read once."""

    def __init__(self, source: Object, budget: int) -> None:
        self._budget = budget
        self.vertical = False
        self.unit = 0.001
        self._length = 1
        self._cmap: cmaps.CMap | None = None
        self._unicode: cmaps.CMap | None = None
        self._widths: dict[int, float] = {}
        self._default = 0.0
        self._vertical_default = (0.88, -1.0)
        self._verticals: dict[int, tuple[float, float, float]] = {}
        self._names: list[str | None] = [None] * 256
        self._named_widths: dict[str, float] | None = None
        self._glyphs: dict[bytes, Glyph] = {}
        self._measures: dict[bytes, Measure] = {}
        self._texts = Lazy[int, str](lambda code: self.glyph(bytes((code,))).text)
        self._advances = Lazy[int, float](lambda code: self.glyph(bytes((code,))).advance)
        self.trouble = ""
        """The reason why the advances of this font are uncertain."""
        self._names_tell = False
        """True if viewers choose glyphs by their names."""
        self.contradictions: set[bytes] = set()
        """Codes for which the map to Unicode and the glyph's name give different
        letters or digits, or the map gives the character of many other glyphs.
        """
        self._glyphs_of = Counter[str]()
        mapping = source.get("/ToUnicode")
        if is_stream(mapping):
            self._unicode = cmaps.parse(stream_bytes(mapping, budget))
        font_type = name_text(source.get("/Subtype"))
        if font_type == "/Type0":
            self._read_composite(source)
        else:
            self._read_simple(source, font_type)

    # ---- reading

    def _read_simple(self, source: Object, font_type: str) -> None:
        base = name_text(source.get("/BaseFont"))[1:]
        standard = encodings.standard_font(base)
        if font_type == "/Type3":
            matrix = source.get("/FontMatrix")
            if is_array(matrix) and len(matrix):
                self.unit = number(matrix[0]) or 0.001
        descriptor = source.get("/FontDescriptor")
        self._read_names(source, standard, font_type)
        flags = int(number(descriptor.get("/Flags"))) if is_dictionary(descriptor) else 0
        self._names_tell = font_type == "/Type1" or (
            font_type == "/TrueType" and "/Encoding" in source and not flags & _SYMBOLIC
        )
        widths = source.get("/Widths")
        if is_array(widths):
            first = int(number(source.get("/FirstChar", 0)))
            self._widths = {
                first + index: number(width) * self.unit for index, width in enumerate(widths)
            }
            if is_dictionary(descriptor):
                self._default = number(descriptor.get("/MissingWidth", 0)) * self.unit
        elif standard is not None:
            self._named_widths = encodings.glyph_widths(standard)
            # A code without a glyph moves the pen like a space.
            self._default = (self._named_widths or {}).get("space", 600.0) * 0.001
        else:
            self.trouble = "a font without widths"

    def _read_names(self, source: Object, standard: str | None, font_type: str) -> None:
        given = source.get("/Encoding")
        base = name_text(given)[1:]
        if is_dictionary(given) and is_name(given.get("/BaseEncoding")):
            base = name_text(given.BaseEncoding)[1:]
        if base not in _LIGHT_ENCODINGS:
            base = standard if standard in ("Symbol", "ZapfDingbats") else "StandardEncoding"
        if font_type != "/Type3" or base in _LIGHT_ENCODINGS:
            self._names = list(encodings.encoding(base) or self._names)
        differences = given.get("/Differences") if is_dictionary(given) else None
        if is_array(differences):
            code = 0
            for item in differences:
                if is_name(item):
                    if 0 <= code < 256:
                        self._names[code] = name_text(item)[1:]
                    code += 1
                else:
                    code = int(number(item))

    def _read_composite(self, source: Object) -> None:
        given = source.get("/Encoding")
        name = name_text(given)[1:]
        self.vertical = name.endswith("V")
        if name in ("Identity-H", "Identity-V"):
            self._length = 2
        elif name:
            self._cmap = cmaps.predefined(name)
            if self._cmap is None:
                self._length, self.trouble = 2, "a CMap that is not known"
        elif is_stream(given):
            used = given.get("/UseCMap")
            below = None
            if is_name(used):
                below = cmaps.predefined(name_text(used)[1:])
            elif is_stream(used):
                below = cmaps.parse(stream_bytes(used, self._budget))
            self._cmap = cmaps.parse(stream_bytes(given, self._budget), below)
            self.vertical = int(number(given.get("/WMode", 0))) == 1
            if not self._cmap.ranges:
                self._cmap.ranges.append(cmaps.CodeRange(b"\0\0", b"\xff\xff"))
        else:
            self._length, self.trouble = 2, "a font without an encoding"
        descendants = source.get("/DescendantFonts")
        descendant = descendants[0] if is_array(descendants) and len(descendants) else None
        if not is_dictionary(descendant):
            self.trouble = "a composite font without a descendant"
            return
        self._default = number(descendant.get("/DW", 1000)) * 0.001
        for cid, (width,) in _cid_metrics(descendant.get("/W"), 1, self._budget):
            self._widths[cid] = width * 0.001
        if self.vertical:
            metrics = descendant.get("/DW2")
            if is_array(metrics) and len(metrics) == 2:
                self._vertical_default = (number(metrics[0]) * 0.001, number(metrics[1]) * 0.001)
            for cid, (down, x, y) in _cid_metrics(descendant.get("/W2"), 3, self._budget):
                self._verticals[cid] = (down * 0.001, x * 0.001, y * 0.001)

    # ---- using

    def split(self, data: bytes) -> list[bytes]:
        """Return the codes of a string; joined, they are the string."""
        if self._cmap is not None:
            return self._cmap.split(data)
        step = self._length
        return [data[i : i + step] for i in range(0, len(data), step)]

    def glyph(self, code: bytes) -> Glyph:
        known = self._glyphs.get(code)
        if known is None:
            known = self._glyphs[code] = self._read_glyph(code)
        return known

    def _read_glyph(self, code: bytes) -> Glyph:
        text = self._unicode.text(code) if self._unicode is not None else ""
        if text.isascii() and text.strip():
            self._glyphs_of[text] += 1
            if self._glyphs_of[text] > _ALTERNATES:
                self.contradictions.add(code)
        if self._length == 1 and self._cmap is None:
            value = code[0] if code else 0
            name = self._names[value]
            named = encodings.glyph_text(name) if name is not None else ""
            if self._names_tell and _contradict(text, named):
                self.contradictions.add(code)
            text = text or named
            if self._named_widths is not None:
                width = self._named_widths.get(name or "", self._default * 1000) * 0.001
            else:
                width = self._widths.get(value, self._default)
            return Glyph(text or UNKNOWN, width, not self.trouble)
        certain = not self.trouble
        if self._cmap is not None:
            text = text or self._cmap.text(code)
            cid = self._cmap.cids.get(code)
            if cid is None and not self._cmap.complete:
                # Only narrow glyphs have data; a wide glyph has the default width unless the font
                # lists wide CIDs.
                certain = certain and self._widths.keys() <= set(self._cmap.cids.values())
        else:
            cid = int.from_bytes(code, "big")
        width = self._widths.get(cid or 0, self._default) if cid is not None else self._default
        if not self.vertical:
            return Glyph(text or UNKNOWN, width, certain)
        down, x, y = self._verticals.get(
            -1 if cid is None else cid,
            (self._vertical_default[1], width / 2, self._vertical_default[0]),
        )
        return Glyph(text or UNKNOWN, down, certain, (-x, -y))

    def measure(self, data: bytes) -> Measure:
        known = self._measures.get(data)
        if known is not None:
            return known
        if self._length == 1 and self._cmap is None:
            measure = Measure(
                data.decode("latin-1").translate(self._texts),
                sum(map(self._advances.__getitem__, data)),
                len(data),
                data.count(b" "),
            )
        else:
            codes = self.split(data)
            glyphs = [self.glyph(code) for code in codes]
            measure = Measure(
                "".join([glyph.text for glyph in glyphs]),
                sum([glyph.advance for glyph in glyphs]),
                len(codes),
                codes.count(b" "),
            )
        if len(self._measures) < _MOST_CACHED:
            self._measures[data] = measure
        return measure


def _cid_metrics(array: Object | None, size: int, budget: int) -> list[tuple[int, list[float]]]:
    """Return the entries of a `/W` (size 1) or `/W2` (size 3) array."""
    entries: list[tuple[int, list[float]]] = []
    if not is_array(array):
        return entries
    items = list(array)
    index = 0
    while index + 1 < len(items):
        first = int(number(items[index]))
        if is_array(items[index + 1]):
            values = [number(value) for value in items[index + 1]]
            entries += [
                (first + offset // size, values[offset : offset + size])
                for offset in range(0, len(values) - size + 1, size)
            ]
            index += 2
        else:
            if index + 1 + size >= len(items):
                break
            last = int(number(items[index + 1]))
            if last - first > 0xFFFF or len(entries) > budget:
                raise ValueError("a font lists too many widths")
            values = [number(value) for value in items[index + 2 : index + 2 + size]]
            entries += [(cid, values) for cid in range(first, last + 1)]
            index += 2 + size
    return entries
