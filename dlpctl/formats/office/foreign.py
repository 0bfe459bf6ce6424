"""Files within foreign parts of a package, such as pictures and queries in custom XML."""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.errors import CannotMaskError
from dlpctl.formats.embedded import embedded_files
from dlpctl.formats.encoding import Edit
from dlpctl.formats.interface import Child, Children
from dlpctl.formats.office.xmltext import decoded


def without_files(source: str) -> str:
    """Return a part with spaces instead of the files within it."""
    parts: list[str] = []
    read = 0
    for file in embedded_files(source):
        parts += (source[read : file.start], " " * (file.end - file.start))
        read = file.end
    return "".join((*parts, source[read:]))


def files_within(part: str, data: bytes) -> Iterator[Child]:
    source = decoded(data, part, doctype=True, strict=False).text
    for number, file in enumerate(embedded_files(source)):
        yield Child(_key(part, number), file.name, file.data)


def with_files(part: str, data: bytes, children: Children) -> bytes:
    """Return a part in which the files that are in `children` have new contents."""
    source = decoded(data, part, doctype=True, strict=False)
    files = embedded_files(source.text)
    keys = [_key(part, number) for number in range(len(files))]
    wanted = {key for key in children if key.startswith(_key(part, ""))}
    if not wanted <= set(keys):
        raise CannotMaskError("a file within a part cannot be told apart in a masked copy")
    return source.encoded(
        Edit(file.start, file.end, file.write(children[key] or b""))
        for key, file in zip(keys, files, strict=True)
        if key in wanted
    )


def part_of(key: str) -> str:
    """Return the part that contains a file, given the key of the file; empty for other keys."""
    part, found, _ = key.partition("\0")
    return part if found else ""


def _key(part: str, number: int | str) -> str:
    return f"{part}\0{number}"
