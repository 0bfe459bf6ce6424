"""Remove the part of a picture below a box: the box alone would only cover it."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import CannotMaskError
from dlpctl.formats.pdf.drawing import Drawing
from dlpctl.formats.pdf.matrix import Point, apply, inverse
from dlpctl.formats.pdf.objects import is_name, is_stream, is_true, number
from dlpctl.formats.pdf.places import MaskPlace
from dlpctl.formats.pdf.source import ObjectNumber

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pikepdf
    from PIL.Image import Image


_IMAGE_OBJECT = 3
"""pdfium's number for an image."""
_COVERS_PAGE = 0.5
_MOST_SIDE = 14_400
"""The maximum side of a page, and so of a picture that is drawn on one."""


class Page(NamedTuple):
    """The page with the pictures."""

    area: float
    """Zero for canvases that are not pages."""
    pixels: int
    location: str
    shared: set[ObjectNumber]
    """Pictures that several pages use, and that therefore do not show a value above them."""


def paint(pdf: pikepdf.Pdf, drawing: Drawing, locations: list[MaskPlace], page: Page) -> None:
    """Blacken everything that may show the value too: a scan below text, a picture
    above, a page.
    """
    for picture in drawing.pictures:
        back = inverse(picture.matrix)
        if back is None:
            continue
        size = abs(picture.matrix[0] * picture.matrix[3] - picture.matrix[1] * picture.matrix[2])
        shared = picture.source is not None and picture.source.objgen in page.shared
        whole_page = page.area > 0 and size > _COVERS_PAGE * page.area and not shared
        shapes = []
        for each in locations:
            shape = [apply(back, x, y) for x, y in each.corners()]
            touches = (
                max(x for x, _ in shape) > 0
                and min(x for x, _ in shape) < 1
                and max(y for _, y in shape) > 0
                and min(y for _, y in shape) < 1
            )
            if touches and (each.invisible or whole_page or picture.order > each.order):
                shapes.append(shape)
        if not shapes:
            continue
        if picture.source is None:
            raise CannotMaskError(
                f"{page.location}: an inline picture below a value cannot be painted over"
            )
        paint_one(pdf, picture.source, shapes, page.pixels, page.location)


def paint_one(
    pdf: pikepdf.Pdf,
    image: pikepdf.Object,
    shapes: Sequence[Sequence[Point]],
    pixels: int,
    location: str,
    shade: int = 0,
) -> None:
    """Paint over shapes in the unit square of a picture, in its samples and its masks.

    A soft mask becomes opaque there, so that a page shows what is painted.
    """
    from PIL import Image, ImageDraw

    width, height = size_of(image)
    if width < 1 or height < 1 or width * height > pixels:
        raise CannotMaskError(f"{location}: a picture below a value is beyond the limit for pixels")
    painted = Image.new("1", (width, height), 0)
    draw = ImageDraw.Draw(painted)
    for shape in shapes:
        draw.polygon([(x * width, (1 - y) * height) for x, y in shape], fill=1, outline=1)
    if not _paint_samples(image, painted, shade):
        _paint_rendered(pdf, image, painted, shade)
    for key in ("/SMask", "/Mask"):
        mask = image.get(key)
        if is_stream(mask):
            paint_one(pdf, mask, shapes, pixels, location, 255 if key == "/SMask" else 0)
    if "/Alternates" in image:
        del image["/Alternates"]


def _paint_samples(image: pikepdf.Object, painted: Image, shade: int) -> bool:
    """Paint in the samples, if they are whole bytes, so that every other pixel stays."""
    import pikepdf

    colors = image.get("/ColorSpace")
    if isinstance(colors, pikepdf.Array) and len(colors) and colors[0] == pikepdf.Name.Indexed:
        return False  # the sample 0 may be any color
    bits = 1 if is_true(image.get("/ImageMask")) else int(number(image.get("/BitsPerComponent", 8)))
    filters = image.get("/Filter")
    names = [str(filters)] if is_name(filters) else [str(each) for each in filters or ()]
    if bits != 8 or any(
        name not in ("/FlateDecode", "/LZWDecode", "/RunLengthDecode", "/ASCII85Decode")
        for name in names
    ):
        return False
    try:
        data = bytearray(image.read_bytes())
    except pikepdf.PdfError:
        return False
    width, height = painted.size
    components = len(data) // (width * height)
    if components not in (1, 3, 4) or len(data) != components * width * height:
        return False
    paint = b"\xff\xff\xff\xff" if components == 4 else bytes([shade]) * components
    flags = painted.tobytes("raw", "1")
    row_bytes = (width + 7) // 8
    for row in range(height):
        line = flags[row * row_bytes : (row + 1) * row_bytes]
        if not any(line):
            continue
        for column in range(width):
            if line[column >> 3] & (0x80 >> (column & 7)):
                at = (row * width + column) * components
                data[at : at + components] = paint
    _store(image, bytes(data))
    return True


def _paint_rendered(pdf: pikepdf.Pdf, image: pikepdf.Object, painted: Image, shade: int) -> None:
    """Paint in the pixels that pdfium decodes: any filter, any color space."""
    import pikepdf
    from PIL import Image as Images

    soft, hard = image.get("/SMask"), image.get("/Mask")
    stencil = is_true(image.get("/ImageMask"))
    pixels = decoded(pdf, image)
    if pixels is None:
        raise CannotMaskError("a picture that holds a value cannot be decoded")
    pixels.paste((shade,) * 3, mask=painted)
    if stencil or image.get("/ColorSpace") == pikepdf.Name.DeviceGray:
        pixels = pixels.convert("L")
    if stencil:
        # A stencil paints where its samples are 0, and pdfium showed that in black.
        pixels = pixels.point(lambda value: 255 if value > 127 else 0).convert(
            "1", dither=Images.Dither.NONE
        )
    _store(image, pixels.tobytes())
    for key in ("/DecodeParms", "/Decode", "/Intent"):
        if key in image:
            del image[key]
    if not stencil:
        image.ColorSpace = pikepdf.Name.DeviceGray if pixels.mode == "L" else pikepdf.Name.DeviceRGB
    image.BitsPerComponent = 1 if stencil else 8
    for key, mask in (("/SMask", soft), ("/Mask", hard)):
        if is_stream(mask):
            image[key] = mask


def size_of(image: pikepdf.Object) -> tuple[int, int]:
    return int(number(image.get("/Width"))), int(number(image.get("/Height")))


def decoded(pdf: pikepdf.Pdf, image: pikepdf.Object) -> Image | None:
    """Return the picture as pdfium shows it, pixel by pixel; None if it cannot be drawn."""
    import pikepdf
    import pypdfium2

    width, height = size_of(image)
    if not 0 < min(width, height) <= max(width, height) <= _MOST_SIDE:
        return None
    alone = pikepdf.new()
    alone.add_blank_page()
    copy = alone.copy_foreign(image if image.is_indirect else pdf.make_indirect(image))
    for key in ("/SMask", "/Mask"):
        if is_stream(copy.get(key)):
            del copy[key]
    page = alone.pages[0]
    page.obj.MediaBox = pikepdf.Array([0, 0, width, height])
    page.obj.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Im=copy))
    page.obj.Contents = alone.make_stream(b"q %d 0 0 %d 0 0 cm /Im Do Q" % (width, height))
    buffer = io.BytesIO()
    alone.save(buffer)
    document = pypdfium2.PdfDocument(buffer.getvalue())
    try:
        if not any(document[0].get_objects(filter=(_IMAGE_OBJECT,))):
            return None
        shown: Image = document[0].render(scale=1, no_smoothimage=True).to_pil()
        return shown.convert("RGB")
    finally:
        document.close()


def _store(image: pikepdf.Object, data: bytes) -> None:
    import pikepdf

    image.write(zlib.compress(data), filter=pikepdf.Name.FlateDecode)
