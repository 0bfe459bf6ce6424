"""The outputs of commands: stdout as content arrives, or a file that is complete or not written."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dlpctl.errors import OutputError


@contextmanager
def writing(file: Path | None) -> Iterator[Callable[[bytes], object]]:
    """Yield a function that writes bytes.

    A file is replaced atomically at the end, and keeps its content if anything fails.
    """
    if file is None:
        sys.stdout.flush()
        stdout = sys.stdout.buffer

        def write(data: bytes) -> None:
            stdout.write(data)
            stdout.flush()

        yield write
        return
    from dlpctl.system.newfiles import replacing

    require_place(file)
    if is_stream(file):
        try:
            with file.open("wb") as opened:
                yield opened.write
        except OSError as problem:
            raise unwritable(file, problem) from None
        return
    try:
        with replacing(file) as new:
            yield new.write
    except OSError as problem:
        raise unwritable(file, problem) from None


def discard_stdout() -> None:
    """Redirect stdout to the null device, so that flushing buffers at exit cannot fail again."""
    discard(1)


def discard(descriptor: int) -> None:
    """Redirect a stream to the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def is_stream(file: Path) -> bool:
    """Return whether a file is a device or a pipe, such as `/dev/null`, which must not be replaced.

    `/dev/stdout` is a link that must stay, even if the shell has redirected stdout to a file.
    """
    try:
        if not file.exists() or file.is_dir():
            return False
        return not file.is_file() or file.absolute().parts[1:2] in (("dev",), ("proc",))
    except OSError:
        return False


def unwritable(file: Path, problem: OSError) -> OutputError:
    """Return the error for a file that cannot be written, with advice."""
    is_full = problem.errno in (errno.ENOSPC, errno.EFBIG)
    advice = "make room for it" if is_full else "name a file that you may write"
    reason = _misplaced(file) or f"cannot be written: {problem.strerror}; {advice}"
    return OutputError(f"{file}: {reason}")


def require_place(file: Path) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    if reason := _misplaced(file):
        raise OutputError(f"{file}: {reason}")


def _misplaced(file: Path) -> str:
    folder = file.parent
    try:
        if file.is_dir():
            return "is a folder; name a file in it"
        if folder.is_dir():
            return ""
        if any(above.is_file() for above in (folder, *folder.parents)):
            return f"cannot be written, since {folder} is not a folder; name another file"
    except OSError:
        # The folder may be unreadable: trying to write tells more.
        return ""
    return f"the folder {folder} does not exist; create it or name another file"
