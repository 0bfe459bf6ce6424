"""The process that reads hostile files: it answers one request after another.

A parent starts the process as `python -P -m dlpctl.formats.isolation.child MEMORY_BYTES MODULE...`,
or calls `main` in a fork. The process has a private empty folder, its own environment and no open
files except two pipes; the system limits its memory, processor time and files, and a sandbox, where
available, blocks the network, other programs and other files.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from dlpctl.errors import DlpctlError, FormatError
from dlpctl.formats.discovery import format_in
from dlpctl.formats.interface import Document
from dlpctl.formats.isolation import messages
from dlpctl.formats.ocr.seen import ReadPictures, keep
from dlpctl.processes import confinement
from dlpctl.processes.parent import Parent

_KEPT_SHARE = 32
"""The share of its memory in which the process keeps documents that it may be asked to mask."""
_OCR = "tesseract"
_LIBRARIES = {
    "dlpctl.formats.pdf": ("pikepdf", "pypdfium2", "pypdf", "PIL", "zxingcpp"),
    "dlpctl.formats.office": ("lxml",),
    "dlpctl.formats.image": ("PIL", "zxingcpp", "pi_heif"),
}
"""Packages that modules of formats import on demand."""


class RequestReader:
    """Answers requests, and caches the latest documents, which masking would have to read again."""

    def __init__(self, memory_bytes: int, sandbox: list[str], pictures: ReadPictures) -> None:
        self._most = memory_bytes // _KEPT_SHARE
        self._sandbox = sandbox
        self._pictures = pictures
        self._kept: list[tuple[messages.Extract, Document]] = []
        self._parts: Iterator[Document] | None = None

    def answer(self, request: object) -> object:
        match request:
            case messages.Extract():
                document = self._extract(request)
                reading = messages.reading_of(document)
                document.views = []  # edits refer to segments
                return reading
            case messages.ExtractParts(home, name, data, limits):
                parts = getattr(format_in(home, name), "extract_parts", None)
                if parts is None:
                    raise FormatError("a file of this format has no parts")
                self._kept.clear()
                self._parts = parts(data, limits)
                return self._next_part()
            case messages.FollowingPart() if self._parts is not None:
                return self._next_part()
            case messages.Mask(home, name, data, limits, password, changes, children):
                extract = messages.Extract(home, name, data, limits, password)
                document = self._known(extract) or self._extract(extract)
                chosen = format_in(home, name)
                edits = messages.edits_of(changes)
                return messages.Copy(chosen.mask(data, document, edits, dict(children)))
            case messages.ReadAgain(home, name, data, limits):
                return messages.Texts([*format_in(home, name).read_again(data, limits)])
            case messages.Picture(home, name, data, page, limits, password):
                draw = getattr(format_in(home, name), "picture", None)
                if draw is None:
                    raise FormatError("a file of this format has no pages")
                return messages.Copy(draw(data, page, limits, password))
            case messages.AskSandbox():
                return messages.Texts(self._sandbox)
            case messages.Recall(_, pictures):
                self._pictures.add_messages(pictures)
                return messages.Pictures([])
            case messages.AskPictures():
                return messages.Pictures(self._pictures.messages())
        raise FormatError("the request is unknown")

    def _next_part(self) -> messages.Part:
        assert self._parts is not None
        document = next(self._parts, None)
        return messages.Part(None if document is None else messages.reading_of(document))

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
    """Answer the requests of the parent until it closes its pipe."""
    parent = Parent(messages.REQUEST, messages.REPLY)
    most = int(memory_bytes)
    for module in modules:
        importlib.import_module(module)
    for package in (name for module in modules for name in (module, *_LIBRARIES.get(module, ()))):
        _write_bytecode(package)
    sandbox = confinement.confine(most, str(Path.cwd()), file_bytes=most, programs=_programs())
    pictures = ReadPictures(most // _KEPT_SHARE)
    keep(pictures)
    reader = RequestReader(most, sandbox, pictures)
    while True:
        try:
            _answer(parent, reader, parent.receive())
        except EOFError:
            return


def _answer(
    parent: Parent[messages.Request], reader: RequestReader, request: messages.Request
) -> None:
    confinement.limit_processor_time(request.limits.seconds)
    # There are millions of small tuples and few cycles: collection would take a third of the time.
    gc.disable()
    try:
        parent.send(reader.answer(request))
        return
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
    parent.send(refusal)


def _write_bytecode(package: str) -> None:
    """Compile a package before the sandbox, which prevents writing its bytecode."""
    found = importlib.util.find_spec(package)
    tag = f".{sys.implementation.cache_tag}."
    for folder in (found and found.submodule_search_locations) or ():
        sources = [name for name in os.listdir(folder) if name.endswith(".py")]  # noqa: PTH208
        with contextlib.suppress(OSError):
            compiled = os.listdir(f"{folder}/__pycache__")  # noqa: PTH208 -- fast
            if sum(tag in name for name in compiled) >= len(sources):
                continue
        if not sys.dont_write_bytecode:
            import compileall

            compileall.compile_dir(folder, quiet=2)


def _programs() -> list[str]:
    """Return the paths of the OCR program. The formats find it on the PATH in the same way."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    found = [os.path.join(folder, _OCR) for folder in folders if folder]  # noqa: PTH118 -- fast
    return [path for path in found if os.access(path, os.X_OK)][:1]


if __name__ == "__main__":
    main(*sys.argv[1:])
