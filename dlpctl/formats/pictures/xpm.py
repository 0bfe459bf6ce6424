"""XPM: pictures as C source, of which Pillow reads only one spelling."""

from __future__ import annotations

from dlpctl.regex import lazy

START = b"/* XPM */"
_PART = lazy(rb'"([^"\n]*)"|/\*[^\n]*?\*/')
_FRAME = lazy(rb"[\w\s*]{1,100}\[\]\s*=\s*\{[\s,]*\};?\s*")
_COLOR = lazy(rb"(?:^|\s)(?:c|g4?|m)\s+(#[0-9A-Fa-f]{3,12}|[A-Za-z]+)([0-9]{0,3})")
_CHANNELS = 3


def respelled(data: bytes) -> bytes:
    """Return the source without comments, and with colors of six digits."""
    strings = _strings(data)
    header = strings[0].split() if strings else []
    if len(header) < 4 or not all(map(bytes.isdigit, header)):
        return data
    colors, letters = int(header[2]), int(header[3])
    lines = [b" ".join(header[:4])]
    for line in strings[1 : 1 + colors]:
        found = _COLOR.search(line, letters)
        color = _six_digits(found[1].decode(), found[2].decode()) if found else "?"
        lines.append(line[:letters] + b" c " + color.encode())
    lines += strings[1 + colors :]
    return b"".join((START, b'\n"', b'",\n"'.join(lines), b'"};\n'))


def is_plain(data: bytes, width: int, height: int) -> bool:
    """Return whether the source has only texts, colors and the pixels."""
    strings = _strings(data)
    header = strings[0].split()
    colors, letters = int(header[2]), int(header[3])
    rows = strings[1 + colors :]
    return (
        len(rows) == height
        and all(len(row) == width * letters for row in rows)
        and _FRAME.fullmatch(_PART.sub(b"", data)) is not None
    )


def _strings(data: bytes) -> list[bytes]:
    return [found[1] for found in _PART.finditer(data) if found[1] is not None]


def _six_digits(name: str, number: str) -> str:
    from PIL import ImageColor

    if name.startswith("#"):
        size = len(name) // _CHANNELS
        channels = (name[1 + size * each :][: min(size, 2)] for each in range(_CHANNELS))
        return "#" + "".join(2 * each if size == 1 else each for each in channels)
    if name.lower() == "none":
        return "None"
    if number and name.lower() in {"gray", "grey"}:
        return "#" + _CHANNELS * f"{round(int(number) * 2.55) & 255:02x}"
    try:
        return f"#{bytes(ImageColor.getrgb(name + number)[:_CHANNELS]).hex()}"
    except ValueError:
        return "?"
