"""Where a command writes content: stdout as it comes, or a file that is whole or not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dlpctl.errors import OutputError


@contextmanager
def writing(file: Path | None) -> Iterator[Callable[[bytes], object]]:
    """A function that writes bytes. A file gets its content at the end, in one step, and keeps what it had if anything fails."""
    if file is None:
        sys.stdout.flush()
        stdout = sys.stdout.buffer

        def write(data: bytes) -> None:
            stdout.write(data)
            stdout.flush()

        yield write
        return
    import tempfile

    try:
        descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as problem:
        raise OutputError(f"{file}: cannot be written: {problem.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as opened:
            yield opened.write
        Path(temporary).replace(file)
    except OSError as problem:
        Path(temporary).unlink(missing_ok=True)
        raise OutputError(f"{file}: cannot be written: {problem.strerror}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
