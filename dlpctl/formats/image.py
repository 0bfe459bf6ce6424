"""Pictures: words by OCR, painted over in the pixels; a masked copy keeps no metadata."""

from __future__ import annotations

import io
import math
import re
import time
import warnings
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import chain, islice
from typing import TYPE_CHECKING

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats import ocr
from dlpctl.formats.binary import strings_in
from dlpctl.formats.interface import (
    APART,
    Child,
    Children,
    Document,
    Edits,
    Limits,
    Piece,
    Segment,
    Uninspected,
    View,
)
from dlpctl.formats.ocr.ink import has_more_ink
from dlpctl.formats.ocr.passes import look, look_sparsely
from dlpctl.formats.ocr.views import add_unread, add_words
from dlpctl.formats.pictures import heif, jpeg, sun, xpm
from dlpctl.formats.pictures.kinds import (
    BESIDE,
    BY_PILLOW,
    EXACT,
    KINDS,
    extensions_of_kind,
    icons_of,
)
from dlpctl.formats.pictures.metadata import hidden_strings, metadata_of
from dlpctl.formats.pictures.painting import PlacedWord, marked_shapes, paint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from PIL.Image import Image

    from dlpctl.formats.ocr.seen import Corners, Seen, SeenWord

_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_MAGICS = {
    (".png",): (b"\x89PNG\r\n\x1a\n",),
    (".jpg", ".jpeg", ".jpe"): (b"\xff\xd8\xff",),
    (".tif", ".tiff"): _TIFF,
    (".gif",): (b"GIF87a", b"GIF89a"),
    (".bmp",): (b"BM",),
}
_WEBP, _AVIF, _HEIF = (".webp",), (".avif", ".avifs"), (".heic", ".heif", ".hif")
_BITMAPS = {size.to_bytes(4, "little") for size in (12, 40, 52, 56, 64, 108, 124)}
"""The sizes of a bitmap's second header, by which the bitmap is recognized."""
_TOO_SMALL_FOR_TEXT = 400
"""A picture with fewer pixels cannot show text."""
_ICON_SIDE = 32
"""A picture with sides up to this length has room for five of the smallest readable letters."""
# The limits were checked when the picture was first read.
_READ_BEFORE = Limits(pixels=1 << 40)
_DAMAGE = (OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, NotImplementedError)
_ORIENTATION = 0x112
_WITH_THUMBNAILS = ("JPEG", "PNG", "WEBP")
_WITH_ORIENTATION = (*_WITH_THUMBNAILS, "AVIF")
_MOST_WITHIN = 16
_JPEG_START = re.compile(rb"\xff\xd8\xff")
_SHARE_OF_TIME = 0.5
_STRINGS = "strings"
_ICON = "ICO"
_HEIC = "HEIF"
_READ = ("PNG", "JPEG", "TIFF", "GIF", "BMP", "DIB", "WEBP", "AVIF", *BY_PILLOW)
"""Formats by their names in Pillow, without those of a plugin that is loaded when it is needed."""
_SAVE_OPTIONS: dict[str, dict[str, object]] = {
    "JPEG": {"quality": 95, "subsampling": 0},
    "WEBP": {"lossless": True},
    "TIFF": {"compression": "tiff_deflate"},
    "AVIF": {"quality": 100, "subsampling": "4:4:4"},
}


class Picture:
    name = "image"
    extensions = (
        *chain.from_iterable((*_MAGICS, _WEBP, _AVIF, _HEIF)),
        *(extension for picture_kind in KINDS for extension in picture_kind.extensions),
    )
    metadata = "metadata"
    text_start = rb"GIF8|BM|RIFF|\xff\xd8\xff|P[1-6]\s|\s*(?:/\* XPM|#define \w+_w)|DDS |icns"

    def sniff(self, head: bytes, name: str) -> bool:
        if head.startswith(b"BM") and not name.lower().endswith(".bmp"):
            return head[6:10] == bytes(4) and head[14:18] in _BITMAPS
        return bool(self.extensions_of(head, name))

    def extensions_of(self, head: bytes, name: str) -> tuple[str, ...]:
        """Return the extensions of the kind of picture that a file is."""
        if found := extensions_of_kind(head, name):
            return found
        if heif.is_avif(head):
            return _AVIF
        if heif.is_heic(head):
            return _HEIF
        if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
            return _WEBP
        return next((found for found, magics in _MAGICS.items() if head.startswith(magics)), ())

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        document = Document(self.name, [], [])
        with _opened(data, limits) as image:
            metadata = dict.fromkeys(metadata_of(image, data))
            document.segments += (Segment(text, "metadata") for text in metadata)
            document.segments += (
                Segment(text, _STRINGS)
                for text in hidden_strings(image, data)
                if text not in metadata
            )
            parts = [
                part
                for index, (text, location, *_) in enumerate(document.segments)
                for part in (Piece(index, 0, len(text)), APART if location == _STRINGS else "\n")
            ]
            if parts:
                document.views.append(View("metadata", parts, document.segments))
            for number, seen in _looks(image, limits):
                if seen is None:
                    document.uninspected.append(Uninspected("picture", ocr.MISSING))
                    break
                _add_words(document, number, seen)
            _account(document, image, data)
        if image.format in _WITH_THUMBNAILS:
            document.children += _pictures_within(data)
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        marked = marked_shapes(document, edits)
        with _opened(data, _READ_BEFORE) as image:
            orientation = _orientation(image)
            if image.format == "JPEG" and not marked:
                plain = jpeg.without_notes(data)
                return jpeg.with_orientation(plain, orientation) if orientation else plain
            if image.format == _HEIC:
                return _without_notes(data, is_marked=bool(marked))
            picture_kind = BY_PILLOW.get(image.format or "")
            if picture_kind is not None and not (picture_kind.is_written and image.mode in EXACT):
                raise CannotMaskError(
                    f"{picture_kind.pillow} pictures cannot be written: save it as PNG"
                )
            return _copy(image, marked, orientation)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        texts = [data.decode("latin-1"), data.decode("utf-16-le", "ignore")]
        with _opened(data, limits) as image:
            if ocr.program() is not None:
                texts += (" ".join(look_sparsely(shown)) for _, shown in _shown(image, limits))
        return texts


def _without_notes(data: bytes, *, is_marked: bool) -> bytes:
    if is_marked or not heif.picture_count(data):
        raise CannotMaskError("HEIC pictures cannot be written: save it as JPEG or PNG")
    return heif.without_notes(data)


def _copy(image: Image, marked: Mapping[int, list[Corners]], orientation: bytes = b"") -> bytes:
    """Return the picture encoded again, with shapes on its frames painted over."""
    file_format = image.format or "PNG"
    duration = image.info.get("duration")
    frames = []
    for number, frame in enumerate(_frames(image, _READ_BEFORE)):
        painted = _paintable(frame, file_format, is_marked=number in marked)
        paint(painted, marked.get(number, ()))
        painted.info = {}
        frames.append(painted)
    if file_format == sun.NAME:
        return sun.written(frames[0])
    output = io.BytesIO()
    options = dict(_SAVE_OPTIONS.get(file_format, {}))
    if orientation and file_format in _WITH_ORIENTATION:
        options["exif"] = orientation
    if file_format == _ICON:
        options |= {"sizes": [frame.size for frame in frames], "append_images": frames[1:]}
    elif len(frames) > 1:
        options |= {"save_all": True, "append_images": frames[1:]}
        if duration is not None:
            options["duration"] = duration
    frames[0].save(output, file_format, **options)
    return output.getvalue()


def _account(document: Document, image: Image, data: bytes) -> None:
    """Report content beside the pixels of a file that should have only pixels."""
    picture_kind = BY_PILLOW.get(image.format or "")
    if image.format == "AVIF" and not heif.is_plain(data):
        _report_beside(document)
    if image.format == _HEIC and getattr(image, "n_frames", 1) != heif.picture_count(data):
        document.uninspected.append(Uninspected("picture", BESIDE))
    if picture_kind is None:
        return
    # Pixels may be text characters as well: a copy that still has them is not clean.
    if text := APART.join(strings_in(data)):
        document.segments.append(Segment(text, _STRINGS))
        full = Piece(len(document.segments) - 1, 0, len(text))
        document.views.append(View("strings", [full], document.segments))
    is_exact = picture_kind.is_written and image.mode in EXACT
    if is_exact and _copy(image, {}) != data:
        _report_beside(document)
    elif not is_exact and not (image.format == "XPM" and xpm.is_plain(data, *image.size)):
        document.uninspected.append(Uninspected("picture", BESIDE))


def _report_beside(document: Document) -> None:
    """Report bytes beside the pixels, which a copy does not have."""
    document.uninspected.append(Uninspected("picture", BESIDE, len(document.segments)))
    document.segments.append(Segment("\ufffd", "picture"))


def _orientation(image: Image) -> bytes:
    """Return Exif with only the orientation of the picture; empty if it is upright."""
    import PIL.Image

    turn = image.getexif().get(_ORIENTATION, 1)
    if turn not in range(2, 9):
        return b""
    exif = PIL.Image.Exif()
    exif[_ORIENTATION] = turn
    return exif.tobytes()


def _pictures_within(data: bytes) -> Iterator[Child]:
    """Yield pictures in the metadata or after the end: thumbnails, earlier states."""
    for number, found in enumerate(islice(_JPEG_START.finditer(data, 2), _MOST_WITHIN), 1):
        inner = data[found.start() :]
        with suppress(FormatError), _opened(inner, _READ_BEFORE) as image:
            image.load()
            yield Child(
                str(number), f"thumbnail {number}.jpg", inner[: jpeg.end_of(inner)], spare=True
            )


@contextmanager
def _opened(data: bytes, limits: Limits) -> Iterator[Image]:
    import PIL.Image

    readers: tuple[str, ...] = _READ
    if heif.is_heic(data):
        import pi_heif

        pi_heif.register_heif_opener()
        readers, data = (_HEIC,), heif.all_shown(data)
    if data.startswith(xpm.START):
        data = xpm.respelled(data)
    with warnings.catch_warnings():
        # Pillow's own limit is only a warning; ours is checked for each frame, before decoding.
        warnings.simplefilter("ignore")
        try:
            with PIL.Image.open(io.BytesIO(data), formats=readers) as image:
                _require_size(image, limits)
                yield image
        except PIL.Image.DecompressionBombError as error:
            raise FormatError(_too_large(limits)) from error
        except _DAMAGE as error:
            raise FormatError("the picture is damaged") from error


def _require_size(frame: Image, limits: Limits) -> None:
    if frame.width * frame.height > limits.pixels:
        raise FormatError(_too_large(limits))


def _too_large(limits: Limits) -> str:
    return f"a frame of more than {limits.pixels / 1e6:g} megapixels: raise limits.pixels"


def _frames(image: Image, limits: Limits) -> Iterator[Image]:
    """Yield the frames: in TIFF, their sizes differ, and together they are not a picture."""
    from PIL import ImageSequence

    is_icon = image.format == _ICON
    for frame in icons_of(image) if is_icon else ImageSequence.Iterator(image):
        _require_size(frame, limits)
        # Pillow converts shades that alpha has darkened to these only.
        yield frame.convert("LA") if frame.mode == "La" else frame


def _shown(image: Image, limits: Limits) -> Iterator[tuple[int, Image]]:
    """Yield each frame that may show words, and what it shows only without alpha or on black."""
    for number, frame in enumerate(_frames(image, limits)):
        if frame.width * frame.height < _TOO_SMALL_FOR_TEXT or max(frame.size) <= _ICON_SIDE:
            continue
        layers = frame.convert("RGBA")
        bare = _gray(frame) or layers.convert("RGB")
        if layers.getchannel("A").getextrema() == (255, 255):
            yield number, bare
            continue
        shown = _on(layers, "white")
        yield number, shown
        light = shown.convert("L")
        for hidden in (bare, _on(layers, "black")):
            if has_more_ink(hidden.convert("L"), light):
                yield number, hidden
                break


def _looks(image: Image, limits: Limits) -> Iterator[tuple[int, Seen | None]]:
    """Yield what OCR reads on each frame, or None without OCR; a repeated frame is read once."""
    known: dict[bytes, Seen] = {}
    until = time.monotonic() + limits.seconds * _SHARE_OF_TIME
    for number, picture in _shown(image, limits):
        if ocr.program() is None:
            yield number, None
            continue
        content = sha256(f"{picture.size} ".encode() + picture.tobytes()).digest()
        seen = known.get(content)
        if seen is None:
            seen = known[content] = look(picture, until=until)
        yield number, seen


def _gray(frame: Image) -> Image | None:
    """Return a picture of more than 256 shades scaled to 256, from its darkest to its lightest.

    Pillow would turn all shades above 255 into white.
    """
    if frame.mode.partition(";")[0] not in {"I", "F"}:
        return None
    shades = frame.convert("I").convert("F") if frame.mode.startswith("I") else frame
    low, high = map(float, shades.getextrema())  # type: ignore[arg-type]
    if not math.isfinite(high - low):
        raise FormatError("the picture has shades that are no numbers")
    scale = 255 / ((high - low) or 1)
    return shades.point(lambda shade: shade * scale - low * scale).convert("L")


def _paintable(frame: Image, file_format: str, *, is_marked: bool) -> Image:
    """Return a copy in which black can be painted; JPEG has no transparency."""
    if frame.mode in {"RGB", "L", "RGBA", "LA", "CMYK", "1"}:
        return frame.copy()
    if (gray := _gray(frame)) is not None:
        return gray if is_marked else frame.copy()
    return frame.convert(
        "RGB" if file_format in {"JPEG", "BMP"} or "transparency" not in frame.info else "RGBA"
    )


def _on(layers: Image, paper: str) -> Image:
    import PIL.Image

    picture = PIL.Image.new("RGB", layers.size, paper)
    picture.paste(layers, mask=layers.getchannel("A"))
    return picture


def _add_words(document: Document, frame: int, seen: Seen) -> None:
    def segment_of(word: SeenWord, text: str) -> Segment:
        x, y = (max(int(min(axis)), 0) for axis in zip(*word.corners, strict=True))
        return Segment(text, f"picture, at {x},{y}", PlacedWord(frame, *word[1:]))

    add_unread(document, seen.unread, "picture", segment_of)
    name = f"words of picture {frame + 1}"
    document.views += add_words(name, seen.words, document.segments, segment_of)


FORMAT = Picture()
