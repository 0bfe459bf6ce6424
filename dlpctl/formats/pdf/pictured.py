"""A page as a picture."""

from __future__ import annotations

import io

from dlpctl.errors import FormatError
from dlpctl.formats.interface import Limits

_SCALE = 1.5
"""Pixels a point: 108 to an inch."""


def picture(data: bytes, page: int, limits: Limits, password: str | None) -> bytes:
    """The page, counted from 1, as PNG."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data, password=password)
    except pypdfium2.PdfiumError as error:
        raise FormatError(f"the PDF cannot be opened ({error})") from error
    try:
        found = document[page - 1]
        width, height = found.get_size()
        scale = min(_SCALE, (limits.pixels / max(width * height, 1.0)) ** 0.5)
        output = io.BytesIO()
        found.render(scale=scale).to_pil().save(output, "PNG", compress_level=3)
        return output.getvalue()
    finally:
        document.close()
