"""GZ, ZLIB, BZ2, XZ, LZMA, ZST and others: one compressed file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import zlib
from importlib.util import find_spec
from typing import TYPE_CHECKING

from dlpctl.errors import FormatError
from dlpctl.formats import lzw
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, decodings, kept, renamed
from dlpctl.formats.containers.unpacking import Unpacker, in_amounts, pieces
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits
from dlpctl.formats.recognition import CONTROLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from zstandard import ZstdDecompressionObj

_CHUNK = 1 << 20
_SIP = 1 << 10
_LZIP_HEADER, _LZIP_TRAILER = 6, 20
_HEADER_CHECK, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
# An XZ or LZMA file may request a dictionary of gigabytes.
_LZMA_MEMORY = 256 << 20


class Inflater:
    """zlib's decompressor with the interface of the others."""

    def __init__(self, wbits: int) -> None:
        self._unpacker = zlib.decompressobj(wbits)

    @property
    def eof(self) -> bool:
        return self._unpacker.eof

    @property
    def unused_data(self) -> bytes:
        return self._unpacker.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._unpacker.decompress(self._unpacker.unconsumed_tail + data, max(max_length, 0))


class Compressed(BinaryFormat):
    """One compressed file, in one or several consecutive streams."""

    rank = 55
    archive = True

    def __init__(
        self,
        name: str,
        magic: tuple[bytes, ...],
        extensions: tuple[str, ...],
        unpacker: Callable[[], Unpacker],
        pack: Callable[[bytes], bytes],
        *,
        in_pieces: bool = True,
    ) -> None:
        """`in_pieces` is true if the decompressor accepts its input piece by piece."""
        self.name = name
        self.in_pieces = in_pieces
        self.extensions = extensions
        # A magic with a control character shows on its own that the file is not text.
        self.text_start = b"|".join(
            re.escape(start) for start in magic if not set(start) & set(CONTROLS)
        )
        self.magic = magic
        self.unpacker = unpacker
        self.pack = pack

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        contents, rest = self._unpacked(data, limits)
        names = Names()
        inner = ""
        if self.name == "gzip":
            inner, comment, extra = _gzip_header(data)
            names.add("name", inner, "name in the header")
            names.add("comment", comment, "comment in the header")
            names.add("extra", extra, "extra field of the header")
        children = [Child("content", inner, contents)]
        if rest.strip(b"\0"):
            children.append(Child("end", "bytes after the end", rest, spare=True))
        return names.document(self.name, children)

    def unpacking(self, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
        """Return a function that reads the decompressed content in bounded memory."""
        return in_amounts(pieces(self.name, self.magic, self.unpacker, read))

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        contents = kept(children, "content", document.children[0].data) or b""
        if self.name != "gzip":
            return self.pack(contents)
        name = renamed(document, edits).get("name", _gzip_header(data)[0])
        output = io.BytesIO()
        (time,) = struct.unpack_from("<L", data, 4)
        with gzip.GzipFile(
            name.encode("latin-1", "replace").decode("latin-1"), "wb", 6, output, mtime=time
        ) as packed:
            packed.write(contents)
        return output.getvalue()

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        contents, rest = self._unpacked(data, limits)
        return [*decodings(contents), *decodings(rest), str(data[:512])]

    def _unpacked(self, data: bytes, limits: Limits) -> tuple[bytes, bytes]:
        allowance = Allowance(limits)
        chunks: list[bytes] = []
        pending = data
        size = 0
        try:
            while pending and pending.startswith(self.magic):
                unpacker = self.unpacker()
                fed = pending
                while not unpacker.eof:
                    chunk = unpacker.decompress(fed, _CHUNK)
                    if not chunk and not fed and not unpacker.eof:
                        raise FormatError(f"the {self.name} file is cut off")
                    fed = b""
                    size += len(chunk)
                    allowance.expanded(len(chunk))
                    allowance.ratio(size, len(data))
                    chunks.append(chunk)
                pending = unpacker.unused_data
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
            raise FormatError(f"the {self.name} file is damaged") from error
        return b"".join(chunks), pending


def _gzip_header(data: bytes) -> tuple[str, str, str]:
    flags, at = data[3], 10
    extra = b""
    if flags & _EXTRA:
        (size,) = struct.unpack_from("<H", data, at)
        extra = data[at + 2 : at + 2 + size]
        at += 2 + size
    texts = []
    for flag in (_NAME, _COMMENT):
        end = data.find(b"\0", at) if flags & flag else at
        texts.append(data[at:end].decode("latin-1"))
        at = end + 1 if flags & flag else at
    return texts[0], texts[1], extra.decode("latin-1")


def _zstd() -> list[Compressed]:
    if find_spec("zstandard") is None:
        return []

    def unpacker() -> Unpacker:
        import zstandard

        return _Frames(zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj())

    def pack(data: bytes) -> bytes:
        import zstandard

        return zstandard.ZstdCompressor().compress(data)

    return [Compressed("zstd", (b"\x28\xb5\x2f\xfd",), (".zst", ".tzst"), unpacker, pack)]


class _Frames:
    """A Zstandard frame with the interface of the others; its decompressor has no size limit."""

    def __init__(self, unpacker: ZstdDecompressionObj) -> None:
        self._unpacker = unpacker
        self._waiting = memoryview(b"")

    @property
    def eof(self) -> bool:
        return self._unpacker.eof

    @property
    def unused_data(self) -> bytes:
        return self._unpacker.unused_data + bytes(self._waiting)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        import zstandard

        self._waiting = memoryview(data) if data else self._waiting
        chunk = b""
        try:
            while self._waiting and not chunk and not self._unpacker.eof:
                chunk = self._unpacker.decompress(bytes(self._waiting[:_SIP]))
                self._waiting = self._waiting[_SIP:]
        except zstandard.ZstdError as error:
            raise ValueError("damaged") from error
        return chunk


class _Lzip:
    """A member of an lzip file: raw LZMA between a header and a trailer."""

    def __init__(self) -> None:
        self._unpacker: lzma.LZMADecompressor | None = None
        self._checksum = self._size = 0
        self._rest = b""

    @property
    def eof(self) -> bool:
        """Return whether a member has ended, including its trailer."""
        return (
            self._unpacker is not None
            and self._unpacker.eof
            and len(self._unpacker.unused_data) + len(self._rest) >= _LZIP_TRAILER
        )

    @property
    def unused_data(self) -> bytes:
        rest = (self._unpacker.unused_data if self._unpacker else b"") + self._rest
        checksum, size, member = struct.unpack("<LQQ", rest[:_LZIP_TRAILER].ljust(_LZIP_TRAILER))
        if (checksum, size) != (self._checksum, self._size) or not member:
            raise ValueError("the trailer does not fit")
        return rest[_LZIP_TRAILER:]

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if self._unpacker is None:
            if len(data) < _LZIP_HEADER or data[4] != 1:
                raise ValueError("no header")
            size = 1 << (data[5] & 0x1F)
            if size > _LZMA_MEMORY:
                raise ValueError("a dictionary that is too large")
            raw = [{"id": lzma.FILTER_LZMA1, "dict_size": max(size, 1 << 12)}]
            self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=raw)
            data = data[_LZIP_HEADER:]
        if self._unpacker.eof:
            self._rest += data
            return b""
        chunk = self._unpacker.decompress(data, max_length)
        self._checksum = zlib.crc32(chunk, self._checksum)
        self._size += len(chunk)
        return chunk


def _lzip(data: bytes) -> bytes:
    raw = [{"id": lzma.FILTER_LZMA1, "preset": 6, "dict_size": 1 << 23}]
    packed = lzma.compress(data, lzma.FORMAT_RAW, filters=raw)
    size = _LZIP_HEADER + len(packed) + _LZIP_TRAILER
    return b"LZIP\1\x17" + packed + struct.pack("<LQQ", zlib.crc32(data), len(data), size)


class _Lz4Frame:
    """A frame of LZ4 with the errors of the others."""

    def __init__(self) -> None:
        from lz4.frame import LZ4FrameDecompressor

        self._unpacker = LZ4FrameDecompressor()

    @property
    def eof(self) -> bool:
        return bool(self._unpacker.eof)

    @property
    def unused_data(self) -> bytes:
        return self._unpacker.unused_data or b""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        try:
            chunk: bytes = self._unpacker.decompress(data, max_length)
        except RuntimeError as error:
            raise ValueError("damaged") from error
        return chunk


class _BrotliStream:
    """A Brotli stream, which has no magic and nothing after its end."""

    unused_data = b""

    def __init__(self) -> None:
        import brotli

        self._unpacker = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._unpacker.is_finished())

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        import brotli

        try:
            chunk: bytes = self._unpacker.process(data, output_buffer_limit=max_length)
        except brotli.error as error:
            raise ValueError("damaged") from error
        return chunk


class _Brotli(Compressed):
    """Brotli, recognized only by the name of the file."""

    def sniff(self, head: bytes, name: str) -> bool:
        return name.lower().endswith(self.extensions)


def _lz4() -> list[Compressed]:
    if find_spec("lz4") is None:
        return []

    def pack(data: bytes) -> bytes:
        import lz4.frame

        packed: bytes = lz4.frame.compress(data)
        return packed

    return [Compressed("lz4", (b"\x04\x22\x4d\x18",), (".lz4",), _Lz4Frame, pack)]


def _brotli() -> list[Compressed]:
    if find_spec("brotli") is None:
        return []

    def pack(data: bytes) -> bytes:
        import brotli

        packed: bytes = brotli.compress(data, quality=6)
        return packed

    return [_Brotli("brotli", (b"",), (".br",), _BrotliStream, pack)]


FORMATS = (
    Compressed("gzip", (b"\x1f\x8b\x08",), (".gz", ".tgz"), lambda: Inflater(31), gzip.compress),
    Compressed(
        "zlib",
        (b"\x78\x01", b"\x78\x9c", b"\x78\xda"),
        (".zz", ".zlib"),
        lambda: Inflater(15),
        zlib.compress,
    ),
    Compressed("bzip2", (b"BZh",), (".bz2", ".tbz2"), bz2.BZ2Decompressor, bz2.compress),
    Compressed(
        "xz",
        (b"\xfd7zXZ\0",),
        (".xz", ".txz"),
        lambda: lzma.LZMADecompressor(memlimit=_LZMA_MEMORY),
        lzma.compress,
    ),
    Compressed(
        "lzma",
        (b"\x5d\0\0",),
        (".lzma", ".tlz"),
        lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, _LZMA_MEMORY),
        lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    ),
    Compressed("lzip", (b"LZIP\1",), (".lz", ".tlz"), _Lzip, _lzip),
    Compressed("compress", (lzw.MAGIC,), (".z", ".taz"), lzw.Unpacker, lzw.pack, in_pieces=False),
    *_zstd(),
    *_lz4(),
    *_brotli(),
)
