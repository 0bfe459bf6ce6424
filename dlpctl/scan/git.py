"""Read the index, the history and the changes of a git repository as streams of any length.

A repository is untrusted data: nothing in its configuration is executed, and nothing is fetched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, NamedTuple

from dlpctl.errors import InputError, UsageError
from dlpctl.scan.results import Skip, Why
from dlpctl.system.tempfiles import temporary_root

_SAFE = (
    "--no-pager",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.quotePath=false",
)
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_ALIKE = ("--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
_RAW = ("--raw", "-z", "--no-abbrev", *_ALIKE)
_HUNK = re.compile(rb"@@ -[0-9,]+ \+([0-9]+)(?:,([0-9]+))? @@")
_NO_REPOSITORY = "not a git repository"
_SUBMODULE, _LINK = b"160000", b"120000"
_READ = 1 << 16
_LONGEST_ERROR = 4096


class Blob(NamedTuple):
    """A content in the repository, with a path that it has or had."""

    id: str
    path: str
    commit: str = ""
    date: str = ""
    lines: tuple[tuple[int, int], ...] | None = None
    """The lines whose findings count; None for all lines."""


class Repository:
    def __init__(self, folder: str) -> None:
        """Raise `InputError` if git is missing, or cannot read a repository at the folder."""
        if shutil.which("git") is None:
            raise InputError(
                "git is not installed, or not found on PATH; folders can be scanned without it"
            )
        self._folder = folder
        self.root = ""
        try:
            with self._stream("rev-parse", "--is-bare-repository", "--absolute-git-dir") as stream:
                message = os.fsdecode(stream.read())
        except InputError as problem:
            if _NO_REPOSITORY not in problem.message:
                raise
            raise InputError(
                f"{folder}: is not in a git repository; --staged, --history and --diff need one"
            ) from None
        bare, git_folder = message.rstrip("\n").split("\n", 1)
        self.root = git_folder if bare == "true" else self._answer("rev-parse", "--show-toplevel")

    @property
    def is_shallow(self) -> bool:
        return self._answer("rev-parse", "--is-shallow-repository") == "true"

    @property
    def head(self) -> str:
        """The commit that is checked out; empty before the first commit."""
        return self._answer("rev-parse", "--verify", "--quiet", "HEAD")

    def staged(self, paths: Sequence[str]) -> Iterator[Blob | Skip]:
        """Yield the contents of the index that differ from the last commit."""
        base = "HEAD" if self._exists("HEAD") else self._empty_tree()
        command = ("diff-index", "--cached", *_RAW, "--diff-filter=ACMRT", base, "--", *paths)
        with self._stream(*command) as stream:
            for change in _raw_changes(stream):
                yield from _blobs(change)

    def added(self, base: str, paths: Sequence[str]) -> Iterator[Blob | Skip]:
        """Yield the changes since this branch left `base`, with their new lines.

        An invalid `base` raises immediately.
        """
        if not self._exists(base):
            raise UsageError(f"{base}: no such commit here; in a shallow clone, fetch it first")
        since = self._answer("merge-base", base, "HEAD")
        if not since:
            raise UsageError(
                f"{base}: has no commit in common with HEAD; in a shallow clone, fetch more of it"
            )
        return self._added(since, paths)

    def _added(self, since: str, paths: Sequence[str]) -> Iterator[Blob | Skip]:
        trees = (since, "HEAD", "--", *paths)
        patch = ("-p", "-U0", "--no-color", "--text", "--diff-filter=ACMR", *_ALIKE)
        with (
            self._stream("diff-tree", "-r", *_RAW, "--diff-filter=ACMRT", *trees) as raw,
            self._stream("diff-tree", "-r", *patch, *trees) as patches,
        ):
            added = _added_lines(patches)
            for change in _raw_changes(raw):
                # All lines of a former link or submodule are new; the patch of such a change has no
                # ranges.
                lines = None if change.status.startswith(b"T") else next(added)
                for blob in _blobs(change):
                    yield blob._replace(lines=lines) if isinstance(blob, Blob) else blob

    def history(self, ranges: Sequence[str], paths: Sequence[str]) -> Iterator[Blob | Skip]:
        """Yield every blob under each of its paths, oldest commit first: of all refs, or of ranges.

        An invalid range raises immediately.
        """
        for each in ranges:
            if not self._answer("rev-list", "-n1", "--end-of-options", each, "--"):
                raise UsageError(f"{each}: is neither a file nor a range with commits")
        return self._history(ranges, paths)

    def _history(self, ranges: Sequence[str], paths: Sequence[str]) -> Iterator[Blob | Skip]:
        if not ranges and not self._answer("rev-list", "-n1", "--all"):
            return
        # Parents come first, whatever their timestamps; merges show only differences from all
        # parents.
        how = (
            "--reverse",
            "--topo-order",
            "--diff-merges=combined",
            "--root",
            "--diff-filter=ACMRT",
        )
        which = ("--end-of-options", *ranges) if ranges else ("--all",)
        with self._stream(
            "log", *_RAW, *how, "--format=tformat:%x01%H %aI", *which, "--", *paths
        ) as stream:
            for change in _raw_changes(stream):
                yield from _blobs(change)

    def contents(self) -> Contents:
        return Contents(self._command("cat-file", "--batch"))

    def within(self, location: Path) -> str:
        """Return a path relative to the root of the repository, as git writes it."""
        try:
            return location.resolve().relative_to(Path(self.root).resolve()).as_posix()
        except ValueError:
            raise UsageError(f"{location}: is not in the repository {self.root}") from None

    def has_path(self, inside: str) -> bool:
        """Return whether the index or the last commit has a file at or below this path."""
        listed = self._answer("ls-files", "--", inside)
        return bool(listed or self._answer("ls-tree", "--name-only", "HEAD", "--", inside))

    def _exists(self, revision: str) -> bool:
        return bool(
            self._answer(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
        )

    def _empty_tree(self) -> str:
        return self._answer("hash-object", "-t", "tree", "--stdin")

    def _command(self, *arguments: str) -> list[str]:
        return ["git", "-C", self.root or self._folder, *_SAFE, *arguments]

    def _answer(self, *arguments: str) -> str:
        """Return the line that git prints; empty if git fails."""
        done = subprocess.run(
            self._command(*arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=_environment(),
            check=False,
        )
        return os.fsdecode(done.stdout).strip("\n") if done.returncode == 0 else ""

    @contextmanager
    def _stream(self, *arguments: str) -> Iterator[BufferedReader]:
        """Yield the output of a command as a stream; raise `InputError` if the command fails."""
        with (
            tempfile.TemporaryFile(dir=temporary_root()) as errors,
            subprocess.Popen(
                self._command(*arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment(),
            ) as process,
        ):
            assert isinstance(process.stdout, BufferedReader)
            try:
                yield process.stdout
            except BaseException:
                process.kill()
                raise
            if process.wait():
                raise InputError(f"git {arguments[0]}: {_first_line(errors)}")


class Contents:
    """Reads the contents of blobs through one git process."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)
        self._process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def read(self, names: Sequence[str]) -> Iterator[tuple[int, BufferedReader | None]]:
        """Yield size and stream of each blob, which must be consumed; None if git cannot read the
        blob.
        """
        waiting = list(names)
        while waiting:
            stream = self._ask(waiting)
            while waiting:
                waiting.pop(0)
                head = stream.readline().split()
                if len(head) != 3:
                    yield 0, None
                    if not head:  # git stopped at a damaged object
                        self.close()
                        break
                    continue
                yield int(head[2]), stream
                stream.read(1)

    def _ask(self, names: Iterable[str]) -> BufferedReader:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                bufsize=_READ,
            )
        process = self._process
        assert process.stdin is not None
        assert isinstance(process.stdout, BufferedReader)
        process.stdin.write("".join(f"{name}\n" for name in names).encode())
        process.stdin.flush()
        return process.stdout


class _Change(NamedTuple):
    """A path with new content."""

    mode: bytes
    id: str
    status: bytes
    path: str
    commit: str = ""
    date: str = ""


def _raw_changes(stream: BufferedReader) -> Iterator[_Change]:
    """Parse the format of `--raw -z`, in which `git log` adds a line for each commit."""
    commit = date = ""
    tokens = _tokens(stream)
    for token in tokens:
        entry = token.lstrip(b"\n")
        if entry.startswith(b"\x01"):
            commit, _, date = entry[1:].decode("ascii", "replace").partition(" ")
        elif entry.startswith(b":"):
            parents = len(entry) - len(entry.lstrip(b":"))
            fields = entry[parents:].split()
            path = os.fsdecode(next(tokens))
            yield _Change(
                fields[parents], fields[2 * parents + 1].decode(), fields[-1], path, commit, date
            )


def _tokens(stream: BufferedReader) -> Iterator[bytes]:
    rest = b""
    while data := stream.read1(_READ):
        *full, rest = (rest + data).split(b"\0")
        yield from full
    if rest:
        yield rest


def _blobs(change: _Change) -> Iterator[Blob | Skip]:
    if change.mode == _SUBMODULE:
        yield Skip(change.path, Why.SUBMODULE)
    elif change.mode == _LINK:
        yield Skip(change.path, Why.LINK)
    else:
        yield Blob(change.id, change.path, change.commit, change.date)


def _added_lines(stream: BufferedReader) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield the ranges of added lines for each file of a patch without context."""
    ranges: list[tuple[int, int]] | None = None
    at_start = True
    while line := stream.readline(_READ):
        if at_start and line.startswith(b"diff --git "):
            if ranges is not None:
                yield tuple(ranges)
            ranges = []
        elif at_start and ranges is not None and (hunk := _HUNK.match(line)):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            if count:
                ranges.append((first, first + count - 1))
        at_start = line.endswith(b"\n")
    if ranges is not None:
        yield tuple(ranges)


def _environment() -> dict[str, str]:
    return os.environ | _ENVIRONMENT


def _first_line(errors: IO[bytes]) -> str:
    """Return the first line of git's error."""
    errors.seek(0)
    message = errors.read(_LONGEST_ERROR).decode("utf-8", "replace").strip()
    return message.split("\n")[0].removeprefix("fatal: ").removeprefix("error: ") or "failed"
