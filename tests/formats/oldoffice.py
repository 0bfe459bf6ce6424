"""A small writer of compound files, and of the workbooks and documents in them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

SECTOR, SMALL, SMALL_STREAM = 512, 64, 4096
FREE, END, TABLE, NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF


def padded(data: bytes, size: int, filler: bytes = b"\0") -> bytes:
    return data + filler * (-len(data) % size)


def compound(streams: Mapping[str, bytes], unused: bytes = b"", slack: bytes = b"\0") -> bytes:
    """Return a file with streams, such as `Macros/dir`, and a sector of no stream."""
    sectors: list[bytes] = []
    following: list[int] = []

    def chain(data: bytes) -> int:
        if not data:
            return END
        first = len(sectors)
        pieces = padded(data, SECTOR, slack)
        sectors.extend(pieces[at : at + SECTOR] for at in range(0, len(pieces), SECTOR))
        following.extend([*range(first + 1, len(sectors)), END])
        return first

    small, small_following = b"", []
    entries: list[tuple[str, int, int, int]] = []
    for path, data in streams.items():
        if len(data) >= SMALL_STREAM:
            first = chain(data)
        else:
            first = len(small) // SMALL if data else END
            small += padded(data, SMALL, slack)
            ends = [*range(first + 1, len(small) // SMALL), END] if data else []
            small_following += ends
        entries.append((path, 2, first, len(data)))
    directory = _directory(entries, chain(small), len(small))
    directory_start = chain(directory)
    small_table = struct.pack(f"<{len(small_following)}I", *small_following)
    small_start = chain(padded(small_table, SECTOR, b"\xff"))
    if unused:
        sectors.append(unused.ljust(SECTOR, b"\0"))
        following.append(FREE)
    tables = (len(sectors) + 1 + 126) // 127
    table_start = len(sectors)
    table = struct.pack(f"<{len(following)}I", *following) + struct.pack("<I", TABLE) * tables
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<5H6x2I", 0x3E, 3, 0xFFFE, 9, 6, 0, tables)
    header += struct.pack("<6I", directory_start, 0, SMALL_STREAM, small_start, 1, END)
    numbers = [*range(table_start, table_start + tables)]
    header += struct.pack("<I109I", 0, *numbers, *[FREE] * (109 - tables))
    return header + b"".join(sectors) + padded(table, SECTOR, b"\xff")


def _directory(entries: Sequence[tuple[str, int, int, int]], small: int, size: int) -> bytes:
    """Return the directory; each storage lists its entries from right to right."""
    made: list[list[object]] = [["Root Entry", 5, NONE, NONE, small, size]]
    numbers: dict[str, int] = {"": 0}
    last: dict[int, int] = {}

    def add(path: str, kind: int, first: int, length: int) -> None:
        folder, _, name = path.rpartition("/")
        if folder not in numbers:
            add(folder, 1, 0, 0)
        parent = numbers[folder]
        numbers[path] = len(made)
        made.append([name, kind, NONE, NONE, first, length])
        if parent in last:
            made[last[parent]][2] = numbers[path]
        else:
            made[parent][3] = numbers[path]
        last[parent] = numbers[path]

    for entry in entries:
        add(*entry)
    written = b""
    for name, kind, right, child, first, length in made:
        raw = f"{name}\0".encode("utf-16-le")
        written += raw.ljust(64, b"\0")
        written += struct.pack("<HBBIII", len(raw), kind, 1, NONE, right, child)
        written += bytes(36) + struct.pack("<IQ", first, length)
    return padded(written, SECTOR)


def record(kind: int, contents: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(contents)) + contents


def text8(text: str, length: str = "<H") -> bytes:
    """Return a text as Excel 97 writes it: compressed if it can be."""
    wide = any(ord(each) > 255 for each in text)
    codec = "utf-16-le" if wide else "latin-1"
    return struct.pack(f"{length}B", len(text), wide) + text.encode(codec)


def label(row: int, column: int, text: str) -> bytes:
    return record(0x204, struct.pack("<HHH", row, column, 0) + text8(text))


def string(row: int, column: int, index: int) -> bytes:
    return record(0xFD, struct.pack("<HHHI", row, column, 0, index))


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return record(0x203, struct.pack("<HHHd", row, column, style, value))


def packed(row: int, column: int, value: int) -> bytes:
    return record(0x27E, struct.pack("<HHHi", row, column, 0, value << 2 | 2))


def formula(row: int, column: int, value: float, tokens: bytes = b"\x1e\1\0") -> bytes:
    head = struct.pack("<HHHdHIH", row, column, 0, value, 0, 0, len(tokens))
    return record(0x06, head + tokens)


def text_formula(row: int, column: int, text: str, tokens: bytes = b"\x1e\1\0") -> bytes:
    head = struct.pack("<HHH6s2sHIH", row, column, 0, b"", b"\xff\xff", 0, 0, len(tokens))
    return record(0x06, head + tokens) + record(0x207, text8(text))


def strings(texts: Iterable[str]) -> bytes:
    made = [text8(text) for text in texts]
    return record(0xFC, struct.pack("<II", len(made), len(made)) + b"".join(made))


def stream(
    sheets: Mapping[str, bytes], head: bytes = b"", version: int = 0x600, *, unlisted: bytes = b""
) -> bytes:
    """Return the stream of a workbook; each sheet is its records."""
    names = [
        text8(name, "<B") if version == 0x600 else bytes((len(name),)) + name.encode("cp1252")
        for name in sheets
    ]
    bof = struct.pack("<HHHHII", version, 5, 0, 1997, 0, 6)
    styles = b"".join(record(0xE0, struct.pack("<HH16x", 0, each)) for each in (0, 14))
    start = record(0x809, bof) + record(0x42, struct.pack("<H", 1252)) + head + styles
    size = len(start) + sum(4 + 6 + len(name) for name in names) + 4
    listed, contents = b"", b""
    for name, cells in zip(names, sheets.values(), strict=True):
        listed += record(0x85, struct.pack("<IH", size + len(contents), 0) + name)
        contents += record(0x809, struct.pack("<HHHHII", version, 16, 0, 1997, 0, 6))
        contents += cells + record(0x0A)
    return start + listed + record(0x0A) + contents + unlisted


def workbook(sheets: Mapping[str, bytes], head: bytes = b"", **others: bytes) -> bytes:
    return compound({"Workbook": stream(sheets, head), **others})


def document(
    pieces: Sequence[tuple[str, str]],
    counts: Sequence[int] = (),
    *,
    flags: int = 0x200,
    version: int = 0xC1,
    between: bytes = b"",
) -> dict[str, bytes]:
    """Return the streams of a document: each piece is a text and its codec."""
    at, body, firsts, places = 0x400, b"", [0], b""
    for text, codec in pieces:
        raw = text.encode(codec)
        start = at + len(body)
        position = start if codec == "utf-16-le" else start * 2 | 1 << 30
        places += struct.pack("<HIH", 0, position, 0)
        firsts.append(firsts[-1] + len(text))
        body += padded(raw, 2) + between
    table = struct.pack(f"<{len(firsts)}I", *firsts) + places
    table = b"\2" + struct.pack("<I", len(table)) + table
    head = bytearray(at)
    struct.pack_into("<HH", head, 0, 0xA5EC, version)
    struct.pack_into("<H", head, 0x0A, flags)
    counts = [*counts, *[0] * (8 - len(counts))] if counts else [firsts[-1], *[0] * 7]
    struct.pack_into("<8I", head, 0x4C, *counts)
    struct.pack_into("<II", head, 0x1A2, 0, len(table))
    return {"WordDocument": bytes(head) + body, "1Table": table}


def old_document(
    text: str, codec: str = "cp1252", *, charsets: Sequence[int] = (0,), flags: int = 0
) -> dict[str, bytes]:
    """Return the stream of a document of Word 95, with a font of each character set."""
    raw, at = text.encode(codec), 0x300
    fonts = bytes(2) + b"".join(bytes((9, 0, 0, 0, charset)) + b"Font\0" for charset in charsets)
    head = bytearray(at)
    struct.pack_into("<HH", head, 0, 0xA5DC, 104)
    struct.pack_into("<H", head, 0x0A, flags)
    struct.pack_into("<II", head, 0x18, at, at + len(raw))
    struct.pack_into("<II", head, 0x34, len(raw), 0)
    struct.pack_into("<II", head, 0xD0, at + len(raw), len(fonts))
    return {"WordDocument": bytes(head) + raw + fonts}


def atom(kind: int, contents: bytes, flags: int = 0) -> bytes:
    return struct.pack("<HHI", flags, kind, len(contents)) + contents


def presentation(*atoms: bytes) -> dict[str, bytes]:
    """Return the streams of a presentation; the atoms are in containers."""
    return {"PowerPoint Document": atom(0x3E8, atom(0x3EE, b"".join(atoms), 0xF), 0xF)}


def properties(values: Mapping[int, str | bytes | int], codec: str = "cp1252") -> bytes:
    """Return a set of properties: texts, pictures (bytes) and times (numbers)."""
    page = 1200 if codec == "utf-16-le" else 1252
    offsets, body = [(1, 0)], struct.pack("<IHxx", 2, page)
    for key, value in values.items():
        offsets.append((key, len(body)))
        if isinstance(value, str):
            raw = f"{value}\0".encode(codec)
            body += struct.pack("<II", 30, len(raw)) + padded(raw, 4)
        elif isinstance(value, bytes):
            body += struct.pack("<II", 71, len(value)) + padded(value, 4)
        else:
            body += struct.pack("<IQ", 64, value)
    start = 8 + 8 * len(offsets)
    section = struct.pack("<II", start + len(body), len(offsets))
    section += b"".join(struct.pack("<II", key, start + at) for key, at in offsets) + body
    return b"\xfe\xff" + bytes(22) + struct.pack("<I16sI", 1, b"", 48) + section


def message(
    texts: Mapping[str, str | bytes], storages: Mapping[str, Mapping[str, str | bytes]] = {}
) -> bytes:
    """Return a message: properties by tag and type (`0037001F`), of it and of its storages."""
    streams: dict[str, bytes] = {}
    heads = {"": 32, "_3701000D": 24}
    for storage, values in {"": texts, **storages}.items():
        prefix = f"{storage}/" if storage else ""
        table = bytes(heads.get(storage[-9:], 8))
        for tag, value in values.items():
            codec = "utf-16-le" if tag[4:8] in ("001F", "101F") else "cp1251"
            raw = value.encode(codec) if isinstance(value, str) else value
            entry = int(tag[:8], 16).to_bytes(4, "big")
            entry = entry[2:][::-1] + entry[:2][::-1] + bytes(4)
            if tag[4:8] == "0003":
                table += entry + raw.ljust(8, b"\0")
                continue
            streams[f"{prefix}__substg1.0_{tag}"] = raw
            end = {"001F": 2, "001E": 1}.get(tag[4:8], 0)
            table += entry + struct.pack("<II", len(raw) + end, 0)
        streams[f"{prefix}__properties_version1.0"] = table
    return compound(streams)


def rich_text(text: bytes) -> bytes:
    """Return Rich Text in the compressed form of a message, without references."""
    packed = b"".join(b"\0" + text[at : at + 8] for at in range(0, len(text), 8))
    return struct.pack("<II4sI", len(packed) + 12, len(text), b"LZFu", 0) + packed
