"""A small writer of ISO 9660 images, with the names of Rock Ridge and Joliet."""

from __future__ import annotations

import struct
from collections.abc import Mapping

BLOCK = 2048
ROOT = 20
"""The first block of directories: after the descriptors and the path tables."""


def both(number: int, form: str = "I") -> bytes:
    return struct.pack(f"<{form}", number) + struct.pack(f">{form}", number)


def record(name: bytes, block: int, size: int, flags: int = 0, fields: bytes = b"") -> bytes:
    body = both(block) + both(size) + bytes(7) + bytes((flags, 0, 0)) + both(1, "H")
    body += bytes((len(name),)) + name + bytes(1 - len(name) % 2) + fields
    body += bytes(len(body) % 2)
    return bytes((len(body) + 2, 0)) + body


def filled(contents: bytes) -> bytes:
    return contents + bytes(-len(contents) % BLOCK)


def descriptor(kind: int, root: bytes, blocks: int, joliet: bool) -> bytes:
    made = bytearray(BLOCK)
    made[:7] = bytes((kind,)) + b"CD001\1"
    made[40:72] = "A DISC".encode("utf-16-be" if joliet else "ascii").ljust(32, b"\0")
    made[80:88] = both(blocks)
    made[88:91] = b"%/E" if joliet else bytes(3)
    made[128:132] = both(BLOCK, "H")
    made[156 : 156 + len(root)] = root
    return bytes(made)


def image(files: Mapping[str, bytes], *, udf: bool = False) -> bytes:
    """Return an image of files in its root, by their long names."""
    contents = bytearray()
    primary, joliet = (
        record(b"\0", block, BLOCK, 2) + record(b"\1", block, BLOCK, 2)
        for block in (ROOT, ROOT + 1)
    )
    for number, (name, data) in enumerate(files.items()):
        block = ROOT + 2 + len(contents) // BLOCK
        contents += filled(data)
        long_name = b"NM" + bytes((5 + len(name), 1, 0)) + name.encode()
        primary += record(b"FILE%d.TXT;1" % number, block, len(data), 0, long_name)
        joliet += record(name.encode("utf-16-be"), block, len(data))
    blocks = ROOT + 2 + len(contents) // BLOCK
    roots = [record(b"\0", block, BLOCK, 2) for block in (ROOT, ROOT + 1)]
    start = bytes(16 * BLOCK)
    start += descriptor(1, roots[0], blocks, joliet=False)
    start += descriptor(2, roots[1], blocks, joliet=True)
    start += filled(b"\xffCD001\1")
    start += filled(b"\0BEA01\1" if udf else b"\0")
    return start + filled(primary) + filled(joliet) + bytes(contents)
