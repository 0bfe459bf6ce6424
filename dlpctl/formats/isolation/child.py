"""The process that reads hostile files: it answers one request after another.

A parent starts it as `python -m dlpctl.formats.isolation.child MEMORY_BYTES MODULE...` or forks it
from a server process. It has a private empty folder, an environment of its own and no open file
but its two pipes, and the system limits its memory, its processor time and its files.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from io import FileIO
from typing import TYPE_CHECKING

from dlpctl.errors import DlpctlError, FormatError
from dlpctl.formats.discovery import format_in
from dlpctl.formats.isolation import confinement, messages
from dlpctl.formats.isolation.frames import read_frame, write_frame
from dlpctl.formats.isolation.wire import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Iterable
    from multiprocessing.connection import Connection

    from dlpctl.formats.interface import Document

_KEPT_SHARE = 32
"""The part of its memory in which the process keeps documents that it may be asked to mask."""


class Reader:
    """Answers requests, and keeps the latest documents, which masking would have to read again."""

    def __init__(self, memory_bytes: int) -> None:
        self._most = memory_bytes // _KEPT_SHARE
        self._kept: list[tuple[messages.Extract, Document]] = []

    def answer(self, request: object) -> object:
        match request:
            case messages.Extract():
                document = self._extract(request)
                reading = messages.reading_of(document)
                document.views = []  # edits are of segments
                return reading
            case messages.Mask(home, name, data, limits, password, edits, children):
                extract = messages.Extract(home, name, data, limits, password)
                document = self._known(extract) or self._extract(extract)
                chosen = format_in(home, name)
                return messages.Copy(chosen.mask(data, document, edits, dict(children)))
            case messages.ReadAgain(home, name, data, limits):
                return messages.Texts(format_in(home, name).read_again(data, limits))
            case messages.Picture(home, name, data, page, limits, password):
                draw = getattr(format_in(home, name), "picture", None)
                if draw is None:
                    raise FormatError("a file of this format has no pages")
                return messages.Copy(draw(data, page, limits, password))
        raise FormatError("the request is of an unknown kind")

    def _extract(self, request: messages.Extract) -> Document:
        home, name, data, limits, password = request
        while self._kept and len(data) + sum(map(_size, self._kept)) > self._most:
            del self._kept[0]
        document = format_in(home, name).extract(data, limits, password)
        self._kept.append((request, document))
        return document

    def _known(self, request: messages.Extract) -> Document | None:
        wanted = (request.name, request.password, request.data)
        same = (
            document
            for kept, document in self._kept
            if (kept.name, kept.password, kept.data) == wanted
        )
        return next(same, None)


def _size(kept: tuple[messages.Extract, Document]) -> int:
    request, document = kept
    return len(request.data) + sum(len(segment.text) for segment in document.segments)


def main(memory_bytes: str, *modules: str) -> None:
    """Answer what comes from standard input, on standard output."""
    _serve(0, 1, int(memory_bytes), modules)


def main_forked(connection: Connection, memory_bytes: int, folder: str) -> None:
    """Answer what comes over a connection, in a fork of a server process."""
    os.setsid()
    own = confinement.environment(folder)
    os.environ.clear()
    os.environ.update(own)
    os.chdir(folder)
    _serve(connection.fileno(), connection.fileno(), memory_bytes, ())


def _serve(requests: int, replies: int, memory_bytes: int, modules: Iterable[str]) -> None:
    reading, writing = confinement.keep_only(requests, replies)
    confinement.confine(memory_bytes)
    for module in modules:
        importlib.import_module(module)
    reader = Reader(memory_bytes)
    with FileIO(reading, "rb") as incoming, FileIO(writing, "wb") as outgoing:
        while True:
            try:
                message = read_frame(incoming)
            except EOFError:
                return
            write_frame(outgoing, _answer(reader, message))


def _answer(reader: Reader, message: bytes) -> bytes:
    request = decoded(messages.REQUEST, message)
    del message  # a file and what was read from it: once is enough
    confinement.limit_processor_time(request.limits.seconds)
    # Millions of small tuples and few cycles: the collector would take a third of the time.
    gc.disable()
    try:
        return encoded(messages.REPLY, reader.answer(request))
    except DlpctlError as error:
        refusal = messages.refusal_of(error)
    except MemoryError:
        refusal = messages.refusal_of(
            FormatError("reading needs more memory than limits.memory_bytes")
        )
    except RecursionError:
        refusal = messages.refusal_of(FormatError("the file nests too deep to be read"))
    finally:
        gc.enable()
    return encoded(messages.REPLY, refusal)


if __name__ == "__main__":
    main(*sys.argv[1:])
