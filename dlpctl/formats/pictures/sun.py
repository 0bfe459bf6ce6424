"""The writer of Sun rasters, which Pillow only reads."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

NAME = "SUN"
_MAGIC, _STANDARD, _PALETTE = 0x59A66A95, 1, 1
_MODES = {"1": (1, "1;I"), "L": (8, "L"), "P": (8, "P"), "RGB": (24, "BGR")}


def written(image: Image) -> bytes:
    """Return a picture as a raster without compression."""
    if image.mode not in _MODES:
        image = image.convert("RGB")
    depth, mode = _MODES[image.mode]
    row = (image.width * depth + 15) // 16 * 2
    pixels = image.tobytes("raw", mode, row, 1)
    palette = (image.getpalette() or []) if image.mode == "P" else []
    planes = bytes(palette[0::3] + palette[1::3] + palette[2::3])
    map_type = _PALETTE if planes else 0
    sizes = image.width, image.height, depth, len(pixels), _STANDARD, map_type, len(planes)
    return struct.pack(">8I", _MAGIC, *sizes) + planes + pixels
