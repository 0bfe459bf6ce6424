"""CMaps: the division of strings into codes, and the CID or text of each code."""

from __future__ import annotations

import re
from typing import NamedTuple

from dlpctl.formats.pdf.content import unhex
from dlpctl.formats.pdf.encodings import predefined_cmap

_SECTION = re.compile(
    rb"begin(codespacerange|cidrange|cidchar|bfrange|bfchar)(.*?)end\1", re.DOTALL
)
_TOKEN = re.compile(rb"<([0-9A-Fa-f\s]*)>|(\[)|(\])|([0-9]+)")
_USE = re.compile(rb"/([^\s/<>\[\]()]+)\s+usecmap")
_MOST_CODES, _MOST_RANGES = 1 << 17, 256


class CodeRange(NamedTuple):
    """Codes of one length; each byte has its own bounds."""

    low: bytes
    high: bytes

    def holds(self, code: bytes) -> bool:
        return all(
            low <= byte <= high for low, byte, high in zip(self.low, code, self.high, strict=True)
        )


class CMap:
    """A parsed or predefined CMap."""

    def __init__(self) -> None:
        self.ranges: list[CodeRange] = []
        self.cids: dict[bytes, int] = {}
        self.texts: dict[bytes, str] = {}
        self.codec = ""
        self.codes_read = 0
        """The number of codes that were read, which may repeat."""
        self.complete = True
        """True if `cids` has every code; predefined CMaps only include narrow glyphs."""

    def split(self, data: bytes) -> list[bytes]:
        lengths = sorted({len(each.low) for each in self.ranges})
        codes: list[bytes] = []
        position = 0
        while position < len(data):
            for length in lengths:
                code = data[position : position + length]
                if len(code) == length and any(
                    len(each.low) == length and each.holds(code) for each in self.ranges
                ):
                    break
            else:
                code = data[position : position + (lengths[0] if lengths else 1)]
            codes.append(code)
            position += len(code)
        return codes

    def text(self, code: bytes) -> str:
        known = self.texts.get(code)
        if known is not None or not self.codec:
            return known or ""
        try:
            if self.codec == "jis":
                return bytes(byte | 0x80 for byte in code).decode("euc_jp")
            return code.decode(self.codec)
        except UnicodeDecodeError:
            return ""


def predefined(name: str) -> CMap | None:
    """Return the CMap with a name; None if readers need not know the name."""
    entry = predefined_cmap(name)
    if entry is None:
        return None
    cmap = CMap()
    cmap.complete = False
    cmap.codec = entry["codec"]
    for text in entry["codespace"]:
        low, high = text.split("-")
        cmap.ranges.append(CodeRange(bytes.fromhex(low), bytes.fromhex(high)))
    length = 2 if name.startswith("Uni") else 1
    for low, high, cid in entry["narrow"]:
        for code in range(low, high + 1):
            cmap.cids[code.to_bytes(length, "big")] = cid + code - low
    return cmap


def _text(raw: bytes) -> str:
    if len(raw) == 1:
        return raw.decode("latin-1")
    return raw[: len(raw) // 2 * 2].decode("utf-16-be", "ignore")


def parse(data: bytes, base: CMap | None = None) -> CMap:
    """Parse the PostScript of a CMap; `base` is the CMap that the PDF says it extends."""
    cmap = CMap()
    used = _USE.search(data)
    if base is None and used is not None and used[1] not in (b"Identity-H", b"Identity-V"):
        base = predefined(used[1].decode("latin-1"))
        if base is None:
            cmap.complete = False
    if base is not None:
        cmap.ranges, cmap.codec, cmap.complete = list(base.ranges), base.codec, base.complete
        cmap.cids.update(base.cids)
        cmap.texts.update(base.texts)
    for section in _SECTION.finditer(data):
        _read_section(cmap, section[1], [match.groups() for match in _TOKEN.finditer(section[2])])
    return cmap


def _read_section(cmap: CMap, section_type: bytes, tokens: list[tuple[bytes | None, ...]]) -> None:
    position = 0

    def operand() -> bytes | int | list[bytes] | None:
        nonlocal position
        if position >= len(tokens):
            return None
        hexadecimal, opening, _closing, number = tokens[position]
        position += 1
        if hexadecimal is not None:
            return unhex(hexadecimal)
        if number is not None:
            return int(number)
        items: list[bytes] = []
        while opening and position < len(tokens):
            item = operand()
            if not isinstance(item, bytes):
                break
            items.append(item)
        return items

    while position < len(tokens):
        low = operand()
        high = operand() if section_type.endswith(b"range") else low
        value = operand() if section_type != b"codespacerange" else 0
        if (
            not isinstance(low, bytes)
            or not isinstance(high, bytes)
            or value is None
            or len(low) != len(high)
        ):
            continue
        if section_type == b"codespacerange":
            cmap.ranges.append(CodeRange(low, high))
            if len(cmap.ranges) > _MOST_RANGES:
                raise ValueError("a CMap has too many ranges of codes")
            continue
        first, count = (
            int.from_bytes(low, "big"),
            int.from_bytes(high, "big") - int.from_bytes(low, "big") + 1,
        )
        cmap.codes_read += max(count, 0)
        if cmap.codes_read > _MOST_CODES:
            raise ValueError("a CMap has too many codes")
        for offset in range(count):
            code = (first + offset).to_bytes(len(low), "big")
            if isinstance(value, int):
                cmap.cids[code] = value + offset
            elif isinstance(value, bytes):
                last = int.from_bytes(value[-2:], "big") + offset if value else 0
                cmap.texts[code] = _text(
                    value[:-2] + (last & 0xFFFF).to_bytes(min(2, len(value)) or 1, "big")[-2:]
                )
            elif offset < len(value):
                cmap.texts[code] = _text(value[offset])
