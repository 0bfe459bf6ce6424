"""The structures of ISO 9660 images: volume descriptors, directories and what refers to them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dlpctl.errors import FormatError
from dlpctl.formats.archive import Allowance

Span = tuple[int, int]

_FIRST, _SECTOR = 16, 2048
_STANDARD, _END = b"CD001", 255
_PRIMARY, _SUPPLEMENTARY = 1, 2
_JOLIET = (b"%/@", b"%/C", b"%/E")
_UCS2, _PLAIN = "utf-16-be", "utf-8"
_FIELDS = {
    "system": (8, 40), "volume": (40, 72), "set": (190, 318), "publisher": (318, 446),
    "preparer": (446, 574), "application": (574, 702), "copyright": (702, 739),
    "abstract": (739, 776), "bibliography": (776, 813),
}  # fmt: skip
"""The texts of volume descriptors."""
_ROOT, _DATES_END = 156, 882
_IS_FOLDER, _GOES_ON = 2, 0x80
_SPECIAL = (b"\0", b"\1")
"""The names of a folder itself and of the one above it."""
_NAME, _LINK, _CONTINUED, _PACKED = b"NM", b"SL", b"CE", b"ZF"
_WITHOUT_TEXT = frozenset(
    (_NAME, _LINK, _CONTINUED, _PACKED, b"PX", b"PN", b"TF", b"SP", b"ST", b"RR", b"RE", b"CL",
     b"PL", b"SF", b"ES")
)  # fmt: skip
"""The fields of Rock Ridge that are read, or that only have numbers."""
_MOST_CONTINUED = 32
_DAMAGED = "the ISO image is damaged or cut off"


@dataclass(slots=True)
class ImageText:
    """A name or another text of an image, and where it is written."""

    text: str
    location: str
    folder: str
    codec: str
    copies: list[list[Span]]
    """For each time that it is written, the parts in which it is."""
    is_short: bool = False
    """True for a name in the few characters that the standard allows."""

    @property
    def width(self) -> int:
        return 2 if self.codec == _UCS2 else 1


@dataclass(slots=True)
class ImageFile:
    """A file of an image, which several trees may name."""

    path: str
    parts: tuple[Span, ...]
    records: list[list[int]]
    """For each part, the positions of the directory records that refer to it."""


@dataclass(slots=True)
class _Entry:
    """A directory record, with what the records before it say of the same file."""

    at: int
    span: Span
    flags: int
    name: list[Span]
    is_alternative: bool = False
    """True if the name is the one of Rock Ridge."""
    links: list[Span] = field(default_factory=list)
    is_packed: bool = False


class Image:
    """An image that has been read."""

    def __init__(self, data: bytes, allowance: Allowance | None = None) -> None:
        self._data = data
        self._allowance = allowance
        self.block = _SECTOR
        self.descriptors: list[int] = []
        self.texts: list[ImageText] = []
        self.files: list[ImageFile] = []
        self.packed: list[str] = []
        """The paths of files that programs unpack as they read them."""
        self._used: list[Span] = []
        self._by_parts: dict[tuple[Span, ...], ImageFile] = {}
        self._folders: dict[tuple[int, bytes], ImageText] = {}
        """The names of folders, by the start of their contents and as they are written."""
        self._in_folders = 0
        self._sizes: list[int] = []
        self._more_slack: list[Span] = []
        try:
            self._read()
        except (struct.error, IndexError) as error:
            raise FormatError(_DAMAGED) from error

    def slack(self) -> Iterator[Span]:
        """Yield the ranges that no structure accounts for and that are not empty."""
        end = 0
        for first, last in sorted([*self._used, (len(self._data), len(self._data))]):
            if first > end and self._data[end:first].strip(b"\0"):
                yield end, first
            end = max(end, last)
        yield from self._more_slack

    def resize(self, copy: bytearray) -> None:
        """Write the size of a longer image to its volume descriptors."""
        if len(copy) > len(self._data):
            for at in self._sizes:
                struct.pack_into("<I", copy, at, len(copy) // self.block)
                struct.pack_into(">I", copy, at + 4, len(copy) // self.block)

    def _read(self) -> None:
        data = self._data
        trees: list[tuple[int, str]] = []
        at = _FIRST * _SECTOR
        while True:
            if at + _SECTOR > len(data):
                raise FormatError(_DAMAGED)
            purpose, standard = data[at], data[at + 1 : at + 6]
            self.descriptors.append(at)
            if standard == _STANDARD and purpose in (_PRIMARY, _SUPPLEMENTARY):
                is_joliet = purpose == _SUPPLEMENTARY and data[at + 88 : at + 91] in _JOLIET
                trees.append((at, _UCS2 if is_joliet else _PLAIN))
            self._used.append((at, at + (_DATES_END if purpose in (1, 2, 3) else 7)))
            at += _SECTOR
            if standard == _STANDARD and purpose == _END:
                break
            if standard != _STANDARD and not data[at + 1 : at + 6].strip(b"\0"):
                break
        # The recognition sequence of UDF follows.
        while data[at + 1 : at + 6] in (b"BEA01", b"NSR02", b"NSR03", b"TEA01", b"BOOT2"):
            self.descriptors.append(at)
            at += _SECTOR
        for number, (descriptor, codec) in enumerate(trees):
            self._read_tree(number, descriptor, codec)
        self.files = list(self._by_parts.values())

    def _read_tree(self, number: int, at: int, codec: str) -> None:
        data = self._data
        (self.block,) = struct.unpack_from("<H", data, at + 128)
        if self.block not in (512, 1024, 2048):
            raise FormatError("the ISO image has blocks of a size that is not supported")
        self._sizes.append(at + 80)
        for what, (first, end) in _FIELDS.items():
            last = end - (end - first) % (2 if codec == _UCS2 else 1)
            self._add([(at + first, at + last)], codec, f"{what} of the image", f"{at}")
        root = self._extent(at + _ROOT)
        self._folders = {}
        waiting = [(root, "")]
        seen = {root[0]}
        while waiting:
            span, path = waiting.pop()
            for entries in self._files_of(span):
                texts, name = self._names(entries, codec, f"{number}/{path}")
                entry = entries[0]
                inner = f"{path}{name}"
                if entry.flags & _IS_FOLDER:
                    for text in texts:
                        written = self._data[slice(*text.copies[0][0])]
                        self._folders.setdefault((entry.span[0], written), text)
                    if entry.span[0] not in seen:
                        seen.add(entry.span[0])
                        waiting.append((entry.span, f"{inner}/"))
                else:
                    self._add_file(inner, entries, is_better=codec == _UCS2)
        self._read_path_tables(at, codec)

    def _files_of(self, span: Span) -> Iterator[list[_Entry]]:
        """Yield the records of each file or folder in a folder."""
        self._in_folders += span[1] - span[0]
        if self._in_folders > 2 * len(self._data):
            raise FormatError("the folders of the ISO image overlap")
        self._used.append(span)
        parts: list[_Entry] = []
        at, end = span
        while at < end:
            length = self._data[at]
            sector_end = min(at - (at - span[0]) % _SECTOR + _SECTOR, end)
            if not length:
                if self._data[at:sector_end].strip(b"\0"):
                    self._more_slack.append((at, sector_end))
                at = sector_end
                continue
            if length < 34 or at + length > sector_end:
                raise FormatError(_DAMAGED)
            entry = self._entry(at, length)
            at += length
            if entry is None:
                continue
            if self._allowance is not None:
                self._allowance.entry()
            parts.append(entry)
            if not entry.flags & _GOES_ON:
                yield parts
                parts = []
        if parts:
            raise FormatError(_DAMAGED)

    def _entry(self, at: int, length: int) -> _Entry | None:
        """Return what a directory record describes; None for a folder itself and its parent."""
        data = self._data
        flags, unit, size_of_name = data[at + 25], data[at + 26], data[at + 32]
        name = at + 33, at + 33 + size_of_name
        if name[1] > at + length:
            raise FormatError(_DAMAGED)
        if unit:
            raise FormatError("the ISO image has interleaved files, which are not supported")
        is_special = data[slice(*name)] in _SPECIAL and flags & _IS_FOLDER
        span = (0, 0) if is_special else self._extent(at)
        entry = _Entry(at, span, flags, [name])
        self._read_fields(entry, (name[1] + (size_of_name + 1) % 2, at + length))
        return None if is_special else entry

    def _read_fields(self, entry: _Entry, area: Span) -> None:
        """Read what Rock Ridge says of a file."""
        data = self._data
        for _ in range(_MOST_CONTINUED):
            at, end = area
            following: Span | None = None
            while at + 4 <= end and data[at + 2] >= 4:
                tag, last = data[at : at + 2], at + data[at + 2]
                if last > end:
                    break
                if tag == _NAME and last > at + 5:
                    entry.name = entry.name if entry.is_alternative else []
                    entry.is_alternative = True
                    entry.name.append((at + 5, last))
                elif tag == _LINK:
                    entry.links += _components(data, at + 5, last)
                elif tag == _CONTINUED:
                    block, offset, size = (
                        struct.unpack_from("<I", data, at + 4 + 8 * each)[0] for each in range(3)
                    )
                    first = block * self.block + offset
                    following = self._within(first, first + size)
                entry.is_packed = entry.is_packed or tag == _PACKED
                if tag not in _WITHOUT_TEXT:
                    self._more_slack.append((at + 4, last))
                at = last
            if data[at:end].strip(b"\0"):
                self._more_slack.append((at, end))
            if following is None:
                return
            self._used.append(following)
            area = following
        raise FormatError("the names of the ISO image never end")

    def _names(
        self, entries: Sequence[_Entry], codec: str, folder: str
    ) -> tuple[list[ImageText], str]:
        """Add the names of a file; return those that path tables repeat, and the one to show."""
        texts: list[ImageText] = []
        shown = ""
        for entry in entries:
            at = entry.at + 33
            short = self._add(
                [(at, at + self._data[entry.at + 32])], codec, self._location(), folder
            )
            short.is_short = codec == _PLAIN
            texts.append(short)
            shown = short.text.partition(";")[0]
            if entry.is_alternative:
                shown = self._add(entry.name, _PLAIN, self._location(), f"{folder}*").text
            for link in entry.links:
                self._add([link], _PLAIN, f"link of {self._location()}", f"{link}")
        return texts, shown

    def _location(self) -> str:
        return f"name {len(self.texts) + 1}"

    def _add(self, spans: list[Span], codec: str, location: str, folder: str) -> ImageText:
        text = b"".join(self._data[start:end] for start, end in spans).decode(codec, "replace")
        added = ImageText(text.rstrip(" \0"), location, folder, codec, [spans])
        self.texts.append(added)
        return added

    def _add_file(self, path: str, entries: Sequence[_Entry], *, is_better: bool) -> None:
        parts = tuple(entry.span for entry in entries if entry.span != (0, 0))
        if not parts:
            return
        if any(entry.is_packed for entry in entries):
            self.packed.append(path)
        file = self._by_parts.get(parts)
        if file is None:
            if self._allowance is not None:
                self._allowance.expanded(sum(end - start for start, end in parts))
            file = self._by_parts[parts] = ImageFile(path, parts, [[] for _ in parts])
            self._used += parts
        elif is_better and not any(entry.is_alternative for entry in entries):
            file.path = max(path, file.path, key=len)
        used = [entry for entry in entries if entry.span != (0, 0)]
        for records, entry in zip(file.records, used, strict=True):
            records.append(entry.at)

    def _read_path_tables(self, at: int, codec: str) -> None:
        """Add the names of folders in path tables, as copies of those in directories."""
        data = self._data
        (size,) = struct.unpack_from("<I", data, at + 132)
        for order, pointers in (("<", (140, 144)), (">", (148, 152))):
            for pointer in pointers:
                (block,) = struct.unpack_from(f"{order}I", data, at + pointer)
                if not block or not size:
                    continue
                position, end = table = self._span(block, size)
                self._used.append(table)
                while position + 8 <= end and data[position]:
                    name = position + 8, position + 8 + data[position]
                    (extent,) = struct.unpack_from(f"{order}I", data, position + 2)
                    self._add_copy(name, extent * self.block, codec)
                    position = name[1] + data[position] % 2

    def _add_copy(self, name: Span, folder: int, codec: str) -> None:
        written = self._data[slice(*self._within(*name))]
        if text := self._folders.get((folder, written)):
            text.copies.append([name])
        elif written not in _SPECIAL:
            self._add([name], codec, self._location(), f"{name}")

    def _extent(self, at: int) -> Span:
        """Return the contents to which a directory record refers; (0, 0) for none."""
        (block,) = struct.unpack_from("<I", self._data, at + 2)
        (size,) = struct.unpack_from("<I", self._data, at + 10)
        return self._span(block + self._data[at + 1], size) if size else (0, 0)

    def _span(self, block: int, size: int) -> Span:
        return self._within(block * self.block, block * self.block + size)

    def _within(self, first: int, last: int) -> Span:
        if last > len(self._data):
            raise FormatError("the ISO image is cut off, or says so")
        return first, last


def point(copy: bytearray, record: int, block: int, size: int) -> None:
    """Make a directory record refer to other blocks, all of which are contents."""
    copy[record + 1] = 0
    struct.pack_into("<I", copy, record + 2, block)
    struct.pack_into(">I", copy, record + 6, block)
    struct.pack_into("<I", copy, record + 10, size)
    struct.pack_into(">I", copy, record + 14, size)


def _components(data: bytes, at: int, end: int) -> Iterator[Span]:
    """Yield the parts of the path to which a link leads."""
    while at + 2 <= end:
        last = at + 2 + data[at + 1]
        if data[at + 1] and last <= end:
            yield at + 2, last
        at = last
