"""Pictures: words by OCR, painted over in the pixels, and metadata, of which a masked copy keeps
none.
"""

from __future__ import annotations

import io
import re
import warnings
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats import ocr
from dlpctl.formats.interface import Document, Edit, Limits, Piece, Segment, Uninspected, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from PIL.Image import Image

_MAGICS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"GIF87a", b"GIF89a")
_BITMAPS = {size.to_bytes(4, "little") for size in (12, 40, 52, 56, 64, 108, 124)}
"""Sizes of the second header of a bitmap, by which it is recognized."""
_TOO_SMALL_FOR_TEXT = 400
# A picture was within its limits when it was read.
_READ_BEFORE = Limits(pixels=1 << 40)
_MARGIN = 3
_ENLARGED = ((1_000_000, 3), (4_000_000, 2))
"""Up to so many pixels, so many times as wide and high: a page scanned at 300 dots per inch has
more.
"""
_STRIP, _FAINT = 150, 40
"""Letters are measured in strips of so many pixels; what differs less from what is beside it is no
letter.
"""
_RUN = re.compile(rb"[^\0]{8,}")
_LOW, _ENOUGH = {18: 0.03, 14: 0.005}, 10
"""The share of runs that may be lower than a line of letters of 20 pixels, by height, and the
fewest runs that tell.
"""
_TEXT = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f\ufffd]{4,}")
_EXIF_FOLDERS = (0x8769, 0x8825, 0xA005)
_SAVE_OPTIONS: dict[str, dict[str, object]] = {
    "JPEG": {"quality": 95, "subsampling": 0},
    "WEBP": {"lossless": True},
    "TIFF": {"compression": "tiff_deflate"},
}


class _Box(NamedTuple):
    """The frame that a word is in, and the corners of its box."""

    frame: int
    left: int
    top: int
    right: int
    bottom: int


class Picture:
    name = "image"
    extensions = (".png", ".jpg", ".jpeg", ".jpe", ".tif", ".tiff", ".webp", ".gif", ".bmp")
    text_start = rb"GIF8|BM|RIFF|\xff\xd8\xff"

    def sniff(self, head: bytes, name: str) -> bool:
        if head.startswith(b"BM"):
            return name.lower().endswith(".bmp") or (
                head[6:10] == bytes(4) and head[14:18] in _BITMAPS
            )
        return head.startswith(_MAGICS) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP")

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        del password
        document = Document(self.name, [], [])
        with _opened(data, limits) as image:
            metadata = list(_metadata(image, data))
            document.segments += (Segment(text, "metadata") for text in metadata)
            parts = [
                part
                for index, text in enumerate(metadata)
                for part in (Piece(index, 0, len(text)), "\n")
            ]
            if parts:
                document.views.append(View("metadata", parts, document.segments))
            for number, words in _words_of_frames(image, limits):
                if words is None:
                    document.uninspected.append(Uninspected("picture", ocr.MISSING))
                    break
                _add_words(document, number, words)
        return document

    def mask(
        self,
        data: bytes,
        document: Document,
        edits: Sequence[Edit],
        children: Mapping[str, bytes | None],
    ) -> bytes:
        from PIL import ImageDraw

        if children:
            raise CannotMaskError("a picture holds no files")
        boxes = _boxes(document, edits)
        with _opened(data, _READ_BEFORE) as image:
            kind = image.format or "PNG"
            duration = image.info.get("duration")
            frames = []
            for number, frame in enumerate(_frames(image, _READ_BEFORE)):
                painted = _paintable(frame, kind)
                draw = ImageDraw.Draw(painted)
                for box in boxes:
                    if box.frame == number:
                        corners = (
                            box.left - _MARGIN,
                            box.top - _MARGIN,
                            box.right + _MARGIN,
                            box.bottom + _MARGIN,
                        )
                        draw.rectangle(corners, fill=_shade(painted, box))
                painted.info = {}
                frames.append(painted)
        output = io.BytesIO()
        options = dict(_SAVE_OPTIONS.get(kind, {}))
        if len(frames) > 1:
            options |= {"save_all": True, "append_images": frames[1:]}
            if duration is not None:
                options["duration"] = duration
        frames[0].save(output, kind, **options)
        return output.getvalue()

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        texts = [data.decode("latin-1"), data.decode("utf-16-le", "ignore")]
        with _opened(data, limits) as image:
            texts += (
                " ".join(word.text for word in words or ())
                for _, words in _words_of_frames(image, limits, sparse=True)
            )
        return texts


def _boxes(document: Document, edits: Sequence[Edit]) -> list[_Box]:
    """Return the boxes to paint over: words, and the room between two that follow each other, in
    which OCR may have missed a digit.
    """
    boxes: list[_Box] = []
    last: tuple[int, _Box] | None = None
    for number in sorted({edit.segment for edit in edits}):
        box = document.segments[number].anchor
        if not isinstance(box, _Box):
            continue
        if last is not None and last[0] + 1 == number and _beside(last[1], box):
            boxes.append(box._replace(left=last[1].right, right=box.left))
        boxes.append(box)
        last = number, box
    return boxes


def _beside(left: _Box, right: _Box) -> bool:
    """Return whether two words are on one line with little between them."""
    height = right.bottom - right.top
    overlap = min(left.bottom, right.bottom) - max(left.top, right.top)
    return (
        left.frame == right.frame
        and overlap * 2 > height
        and 0 < right.left - left.right < 2 * height
    )


def _shade(picture: Image, box: _Box) -> str:
    """Return a color for a box, close to the one around it: OCR takes a black bar on white paper
    for words.
    """
    if picture.mode in {"1", "CMYK"}:
        return "black"
    from PIL import ImageStat

    light = ImageStat.Stat(picture.crop(box[1:]).convert("L")).median[0]
    return "#e4e4e4" if light > 127 else "#2c2c2c"


@contextmanager
def _opened(data: bytes, limits: Limits) -> Iterator[Image]:
    import PIL.Image

    with warnings.catch_warnings():
        # Pillow's own limit is a warning; ours is checked for each frame, before it is unpacked.
        warnings.simplefilter("ignore")
        try:
            with PIL.Image.open(io.BytesIO(data)) as image:
                _require_size(image, limits)
                yield image
        except PIL.Image.DecompressionBombError as error:
            raise FormatError(_too_large(limits)) from error
        except (
            OSError,
            ValueError,
            SyntaxError,
            EOFError,
            KeyError,
            IndexError,
            TypeError,
        ) as error:
            raise FormatError("the picture is damaged") from error


def _require_size(frame: Image, limits: Limits) -> None:
    if frame.width * frame.height > limits.pixels:
        raise FormatError(_too_large(limits))


def _too_large(limits: Limits) -> str:
    return f"a frame of more than {limits.pixels / 1e6:g} megapixels: raise limits.pixels"


def _frames(image: Image, limits: Limits) -> Iterator[Image]:
    """Each frame in turn: their sizes differ in TIFF, and all of them together are no picture."""
    from PIL import ImageSequence

    for frame in ImageSequence.Iterator(image):
        _require_size(frame, limits)
        yield frame


def _words_of_frames(
    image: Image, limits: Limits, *, sparse: bool = False
) -> Iterator[tuple[int, list[ocr.Word] | None]]:
    """Give the words of each frame that may hold any; None where nothing reads them.

    A frame that repeats another one, as many of an animation do, is read once.
    """
    known: dict[bytes, list[ocr.Word]] = {}
    for number, frame in enumerate(_frames(image, limits)):
        if frame.width * frame.height < _TOO_SMALL_FOR_TEXT:
            continue
        if ocr.program() is None:
            yield number, None
            continue
        content = sha256(f"{frame.size} {frame.mode} ".encode() + frame.tobytes()).digest()
        words = known.get(content)
        if words is None:
            words = known[content] = _words(frame, sparse=sparse)
        yield number, words


def _paintable(frame: Image, kind: str) -> Image:
    """A copy in which black can be painted; JPEG knows no transparency."""
    if frame.mode in {"RGB", "L", "RGBA", "LA", "CMYK", "1"}:
        return frame.copy()
    return frame.convert(
        "RGB" if kind in {"JPEG", "BMP"} or "transparency" not in frame.info else "RGBA"
    )


def _words(frame: Image, *, sparse: bool = False) -> list[ocr.Word]:
    """The words of a frame. On a screenshot letters are ten pixels high, of which tesseract reads
    few: it is shown a larger picture.
    """
    times = next((times for pixels, times in _ENLARGED if frame.width * frame.height <= pixels), 1)
    if times > 1 and _has_large_letters(frame):
        times = 1
    return [
        word._replace(
            left=word.left // times,
            top=word.top // times,
            width=-(-word.width // times) + (times > 1),
            height=-(-word.height // times) + (times > 1),
        )
        for word in ocr.words(_png(frame, times), sparse=sparse)
    ]


def _has_large_letters(frame: Image) -> bool:
    """Return whether hardly anything on a frame is as low as a line of small letters; then a larger
    picture takes longer and shows no more.
    """
    from PIL import ImageFilter
    from PIL.Image import Resampling, Transpose

    edges = (
        _opaque(frame)
        .convert("L")
        .filter(ImageFilter.FIND_EDGES)
        .point([0] * _FAINT + [255] * (256 - _FAINT))
    )
    # Bytes of the rows of a strip: those with anything dark or light in them follow each other in
    # the lines of its text.
    strips = edges.resize((max(frame.width // _STRIP, 1), frame.height), Resampling.BOX).transpose(
        Transpose.TRANSPOSE
    )
    inked = strips.tobytes()
    heights = [
        len(run)
        for start in range(0, len(inked), frame.height)
        for run in _RUN.findall(inked[start : start + frame.height])
    ]
    return len(heights) >= _ENOUGH and all(
        sum(height < lowest for height in heights) < share * len(heights)
        for lowest, share in _LOW.items()
    )


def _opaque(frame: Image) -> Image:
    import PIL.Image

    if frame.mode not in {"RGBA", "LA", "PA"} and "transparency" not in frame.info:
        return frame.convert("RGB")
    # Text may be hidden in what is see-through: white below it shows dark text.
    layers = frame.convert("RGBA")
    picture = PIL.Image.new("RGB", frame.size, "white")
    picture.paste(layers, mask=layers.getchannel("A"))
    return picture


def _png(frame: Image, times: int) -> bytes:
    import PIL.Image

    picture = _opaque(frame)
    output = io.BytesIO()
    if times > 1:
        size = frame.width * times, frame.height * times
        picture = picture.resize(size, PIL.Image.Resampling.LANCZOS)
    picture.save(output, "PNG", compress_level=1)
    return output.getvalue()


def _add_words(document: Document, frame: int, words: Sequence[ocr.Word]) -> None:
    parts = ocr.parts_of(words, len(document.segments))
    for word in words:
        box = _Box(frame, word.left, word.top, word.left + word.width, word.top + word.height)
        document.segments.append(Segment(word.text, f"picture, at {word.left},{word.top}", box))
    if parts:
        document.views.append(View(f"words of picture {frame + 1}", parts, document.segments))


def _metadata(image: Image, data: bytes) -> Iterator[str]:
    """Texts beside the pixels: EXIF, XMP, IPTC, comments, and bytes after the end."""
    values: list[object] = [
        value for key, value in image.info.items() if key not in {"exif", "icc_profile"}
    ]
    exif = image.getexif()
    values += exif.values()
    for folder in _EXIF_FOLDERS:
        values += exif.get_ifd(folder).values()
    # What other programs put into segments of a JPEG and chunks of a PNG. Profiles of colors are no
    # words of anybody.
    for _, contents, *_ in (*getattr(image, "applist", ()), *getattr(image, "private_chunks", ())):
        if not contents.startswith((b"Exif", b"ICC_PROFILE")):
            values.append(contents)
    if rest := _after_end(data):
        values.append(rest)
    for value in values:
        for text in (value,) if isinstance(value, str) else _decodings(value):
            yield from (found[0] for found in _TEXT.finditer(text))


def _decodings(value: object) -> Iterator[str]:
    if isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
        if value.count(0) * 3 > len(value):
            yield value.decode("utf-16-le", "replace")
    elif isinstance(value, (dict, list, tuple)):
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, str):
                yield inner
            else:
                yield from _decodings(inner)


def _after_end(data: bytes) -> bytes:
    """Return the bytes after the end of a PNG or JPEG, where programs hide things."""
    if data.startswith(b"\x89PNG"):
        end = data.find(b"IEND")
        return data[end + 8 :] if end >= 0 else b""
    if data.startswith(b"\xff\xd8"):
        return data[data.rfind(b"\xff\xd9") + 2 :]
    return b""


FORMAT = Picture()
