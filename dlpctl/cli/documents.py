"""Files on the command line that are not plain text: their passwords, masked copies and
progress.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from dlpctl.cli import inputs
from dlpctl.cli.inputs import STDIN
from dlpctl.cli.outputs import is_stream, require_place, unwritable, writing
from dlpctl.errors import FormatError, InputError, OutputError, UsageError
from dlpctl.formats.recognition import (
    ZIP_END,
    ends_with_zip,
    is_source_text,
    is_utf8,
)
from dlpctl.regex import lazy
from dlpctl.system.forked import mark_harmless
from dlpctl.system.regular import open_file, read_secret
from dlpctl.texts.deflated import starts_of_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dlpctl.files.report import FileReport
    from dlpctl.formats.contents import FileBytes
    from dlpctl.preflight import Checker

_PLAIN = {
    ".txt", ".text", ".log", ".md", ".markdown", ".rst", ".adoc", ".diff", ".patch",
    ".css", ".scss", ".py", ".pyi", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".java", ".kt", ".scala",
    ".groovy", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".go", ".rs", ".rb", ".php", ".pl",
    ".lua", ".swift", ".r", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat",
}  # fmt: skip
"""Suffixes of files that are read as plain text. All others are read by their format."""
_MAYBE_PLAIN = frozenset(("", ".txt", ".text"))
_MARKUP = lazy(rb"\s*[\[{<]")
_ARCHIVED = frozenset((".gz", ".bz2", ".xz", ".zst"))
_NOT_IN_FILE_NAMES = lazy(r'[*?"<>|:/\\]')
_SHOWN_AFTER, _SHOWN_EVERY = 1.0, 0.25
_VARIABLE = "DLPCTL_PASSWORD"


def is_plain(name: str, head: bytes) -> bool:
    """Return whether content is plain text, which may be read as a stream."""
    path = PurePath("" if name == STDIN else name)
    suffix = path.suffix.lower()
    if path.name.startswith(".") or (suffix and suffix not in _PLAIN):
        return False
    if not is_source_text(head, path.name):
        return name == STDIN and _is_legacy_text(head)
    if _holds_files(head):
        return False
    if name == STDIN:
        return True
    if not is_utf8(_complete_characters(head)):
        return False
    return not (suffix in _MAYBE_PLAIN and _MARKUP.match(head)) and not _hides_archive(name, head)


def _complete_characters(head: bytes) -> bytes:
    """Return the data without a UTF-8 character that is cut off at its end."""
    for size in (1, 2, 3):
        last = head[-size : len(head) - size + 1] or b"x"
        if last[0] >= 0xC0:
            wanted = 2 if last[0] < 0xE0 else 3 if last[0] < 0xF0 else 4
            return head[:-size] if wanted > size else head
        if last[0] < 0x80:
            break
    return head


def _is_legacy_text(head: bytes) -> bool:
    """Return whether content is text in an older encoding, whose bytes are kept."""
    if b"\0" in head:
        return False
    from dlpctl.formats.recognition import recognize

    return bool(getattr(recognize(head, ""), "shows_all", False))


def _holds_files(head: bytes) -> bool:
    """Return whether the start of a text holds files in base64."""
    if next(starts_of_runs(head), None) is None:
        return False
    from dlpctl.formats.embedded import embedded_files

    return bool(embedded_files(head.decode("utf-8", "ignore")))


def _hides_archive(name: str, head: bytes) -> bool:
    """Return whether a file ends with a ZIP archive after a first chunk of text."""
    if len(head) < inputs.CHUNK:
        return False
    with open_file(name) as opened:
        opened.seek(-ZIP_END, os.SEEK_END)
        return ends_with_zip(opened.read())


def read_all(chunks: Iterable[bytes], most: int) -> bytes:
    """Return the content, or slightly more than the limit, which the format then refuses."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > most:
            break
    return b"".join(parts)


def read_file(chunks: Iterable[bytes], most: int) -> FileBytes:
    """Return the same of a file that is not plain text, whose bytes a check may free."""
    from dlpctl.formats.contents import FileBytes

    return FileBytes(read_all(chunks, most))


def within(chunks: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yield the chunks of a content; raise `FormatError` if it exceeds the limit."""
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > most:
            raise FormatError(f"larger than {most:,} bytes: raise limits.input_bytes")
        yield chunk


def password(*, ask: bool, file: Path | None) -> str | None:
    """Return the password of an encrypted file: from a prompt, a file or the environment.

    It is not an argument, since other users can see the arguments of a process.
    """
    if file is not None:
        try:
            lines = read_secret(file).decode("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise InputError(f"{file}: no password can be read from it") from None
        return lines[0] if lines else ""
    if ask:
        if not sys.stdin.isatty():
            raise UsageError(
                f"--password needs a terminal to ask on; use --password-file or {_VARIABLE}"
            )
        from getpass import getpass

        return getpass("Password of the file: ", sys.stderr)
    return os.environ.get(_VARIABLE) or None


def without_values(name: str, checker: Checker) -> str:
    """Return the name of a file with sensitive values masked."""
    from dlpctl.files.names import PlaceNames

    return PlaceNames(checker.scan).shown([name])[0]


def beside(name: str, shown: str) -> Path:
    """Return the default path of the masked copy: `a.pdf` becomes `a.masked.pdf`.

    `shown` is the name without sensitive values.
    """
    safe = PurePath(_NOT_IN_FILE_NAMES.sub("_", shown))
    suffix = safe.suffix
    if suffix.lower() in _ARCHIVED:
        suffix = PurePath(safe.stem).suffix + suffix
    stem = safe.name.removesuffix(suffix) or "file"
    return Path(name).parent / f"{stem}.masked{suffix}"


def copy_line(copy: object) -> str:
    """Return the line of a report about the masked copy; `copy` is its path, if it is written."""
    return f"  masked copy: {copy or 'not written; -o FILE writes it'}"


def save(data: bytes, target: Path, *, force: bool) -> None:
    """Write a masked copy atomically; keep an existing file, unless it is identical or `force`."""
    from dlpctl.system.newfiles import write_whole

    if is_stream(target):
        with writing(target) as write:
            write(data)
        return
    try:
        if (
            not force
            and target.is_file()
            and target.stat().st_size == len(data)
            and target.read_bytes() == data
        ):
            return
        write_whole(target, data, overwrite=force)
    except InputError as problem:
        raise OutputError(problem.message) from None
    except OSError as problem:
        raise unwritable(target, problem) from None


def remove_stale(target: Path | None, name: str) -> None:
    """Remove the copy of an earlier run if none of this content is written there: it would be taken
    for a current one. The input itself is never removed.
    """
    if target is None or is_stream(target) or not target.is_file():
        return
    try:
        if name != STDIN and target.samefile(name):
            return
        target.unlink()
    except OSError as problem:
        raise unwritable(target, problem) from None
    sys.stderr.write(f"dlpctl: removed {target}: a copy of earlier content\n")


def refuse_unwritable(target: Path | None, *, force: bool) -> None:
    """Refuse a target that cannot be written, before any work is done."""
    if target is None:
        return
    if str(target) == STDIN:
        raise UsageError("--output needs a file; 'dlpctl mask' without it writes to stdout")
    require_place(target)
    if not force and target.exists() and not is_stream(target):
        raise OutputError(f"{target} exists: name another file with -o or pass --force")


def refuse_other_format(target: Path | None, name: str, head: bytes) -> None:
    """Refuse a target whose extension names another format than the copy will have."""
    if target is None or is_stream(target):
        return
    suffix, own = target.suffix.lower(), PurePath("" if name == STDIN else name).suffix.lower()
    if suffix in ("", own) or (suffix in _PLAIN and is_source_text(head, target.name)):
        return
    from dlpctl.formats.discovery import formats
    from dlpctl.formats.recognition import extensions_of

    fitting = extensions_of(head, target.name)
    if suffix in fitting or not any(suffix in each.extensions for each in formats()):
        return
    other = own if own in extensions_of(head, name) else next(iter(fitting), "")
    advice = f"name a file that ends with {other}" if other else "name a file without an extension"
    raise OutputError(f"{target}: a copy keeps its format, and this one is not {suffix}: {advice}")


def save_pictures(
    report: FileReport, data: bytes, name: str, folder: Path, secret: str | None
) -> list[Path]:
    """Write the pages that masking changed as pictures, before and after."""
    from dlpctl.files.pictures import before_and_after
    from dlpctl.system.newfiles import write_whole

    written: list[Path] = []
    if report.masked is None:
        return written
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for page, before, after in before_and_after(data, report.masked, report.pages, secret):
            for what, picture in (("before", before), ("after", after)):
                target = (
                    folder
                    / f"{PurePath(_NOT_IN_FILE_NAMES.sub('_', name)).stem}.page-{page}.{what}.png"
                )
                write_whole(target, picture)
                written.append(target)
    except OSError as problem:
        raise OutputError(
            f"{folder}: cannot write pictures: {problem.strerror}; name another folder"
        ) from None
    return written


@contextmanager
def progress(name: str) -> Iterator[Callable[[str], None]]:
    """Show the current stage on a terminal if the work takes long."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    import threading
    import time

    began = time.monotonic()
    doing = [""]
    ended = threading.Event()

    def show() -> None:
        if ended.wait(_SHOWN_AFTER):
            return
        while not ended.wait(_SHOWN_EVERY):
            passed = time.monotonic() - began
            sys.stderr.write(f"\r\x1b[Kdlpctl: {name}: {doing[0]} ... {passed:.0f} s")
            sys.stderr.flush()
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    def stage(what: str) -> None:
        doing[0] = what

    thread = threading.Thread(target=show, daemon=True)
    mark_harmless(thread)
    thread.start()
    try:
        yield stage
    finally:
        ended.set()
        thread.join()


@contextmanager
def cleaning_up() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exit that ends the worker and removes temporary files."""
    import signal

    from dlpctl.system.signals import end

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [(number, signal.signal(number, end)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
