"""Shell commands of agents: which files they name, and whether they can send data elsewhere.

A command is local only if every part of it is understood.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dlpctl.regex import lazy

_LOCAL_PROGRAMS = (
    "[ cat cd cmp cut diff echo egrep false fgrep grep head jq ls mkdir printf pwd rm tail tee test"
    " touch tr true wc"
)
"""Programs that show text or write files, and whose options can neither send data nor run another
program.
"""
_SENDING_PROGRAMS = (
    "aria2c aws az curl docker ftp gcloud gh git glab gsutil helm http https httpie kubectl lftp"
    " mail mailx mutt nc ncat netcat npm openssl podman rclone rsync s3cmd scp sendmail sftp socat"
    " ssh telnet twine wget xh"
)
_RUNNING_PROGRAMS = "command env exec nice nohup sudo time timeout xargs"
"""Programs that run the program named by an argument."""
_LOCAL = frozenset(_LOCAL_PROGRAMS.split())
_SENDING = frozenset(_SENDING_PROGRAMS.split())
_RUNNING = frozenset(_RUNNING_PROGRAMS.split())
_ASSIGNMENT = lazy(r"[A-Za-z_]\w*=.*", re.DOTALL)
_EXPANDED = lazy(r"\$\(|`|[<>]\(|/dev/(?:tcp|udp)")
_HEREDOC = lazy(r"<<-?[ \t]*(?P<quote>['\"]?)(?P<word>[A-Za-z_]\w*)(?P=quote)")
_OPERATORS = "();<>|&\n"
_GLOB = lazy(r"[*?\[]")
_MOST_FILES = 100
_MENTION = lazy(r"(?<![^\s(\[{,;:'\"])@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<plain>[^\s\"]+))")
_LINES = lazy(r"#L?\d+(?:-L?\d+)?\Z")


class Part(NamedTuple):
    """A part of a command line."""

    text: str
    is_document: bool = False
    """True for the text of a here-document, which is not a command."""
    is_literal: bool = False
    """True if the shell leaves the text unchanged: the here-document is quoted."""


class ShellCommand(NamedTuple):
    """A command before it is run."""

    parts: tuple[Part, ...]
    is_local: bool
    sends: bool
    words: tuple[str, ...]
    """All words that may name files; empty if the command cannot be parsed."""

    def files(self, folder: Path) -> list[Path]:
        """Return the existing files that the words name, with glob patterns expanded."""
        found: dict[Path, None] = {}
        for word in self.words:
            for path in _paths(word, folder):
                if len(found) < _MOST_FILES and _is_file(path):
                    found[path] = None
        return list(found)


def parse_command(command: str) -> ShellCommand:
    parts = tuple(_without_heredocs(command))
    plain = "".join(part.text for part in parts if not part.is_document)
    expanded = "".join(part.text for part in parts if not part.is_literal)
    lexer = shlex.shlex(plain, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:  # an unclosed quote
        programs = {Path(word).name for word in re.split(r"[\s;|&()]+", plain)}
        return ShellCommand(parts, is_local=False, sends=bool(programs & _SENDING), words=())
    run = list(_programs(words))
    return ShellCommand(
        parts,
        is_local=all(name in _LOCAL for name in run) and not _EXPANDED.search(expanded),
        sends=any(Path(name).name in _SENDING for name in run)
        or "/dev/tcp/" in plain
        or "/dev/udp/" in plain,
        words=tuple(word for word in words if not _is_operator(word)),
    )


def _without_heredocs(command: str) -> Iterator[Part]:
    """Yield the parts of a command, with the texts of quoted here-documents as literal parts."""
    rest = command
    while (match := _HEREDOC.search(rest)) is not None:
        line_end = rest.find("\n", match.end())
        if line_end < 0:
            break
        ending = re.compile(rf"^\t*{match['word']}[ \t]*$", re.MULTILINE)
        end = ending.search(rest, line_end + 1)
        if end is None:
            break
        yield Part(rest[: line_end + 1])
        text = rest[line_end + 1 : end.end()]
        yield Part(text, is_document=True, is_literal=bool(match["quote"]))
        rest = rest[end.end() :]
    yield Part(rest)


def _programs(words: list[str]) -> Iterator[str]:
    """Yield the name of the program of each simple command."""
    expected, redirected = True, False
    for word in words:
        if _is_operator(word):
            redirected = word[-1] in "<>"
            expected = expected if redirected else True
        elif redirected:
            redirected = False
        elif expected and not _ASSIGNMENT.fullmatch(word):
            yield word
            # The program that `sudo` or `env` runs may be preceded by their own options.
            expected = Path(word).name in _RUNNING


def _is_operator(word: str) -> bool:
    return bool(word) and all(char in _OPERATORS for char in word)


def _paths(word: str, folder: Path) -> Iterator[Path]:
    """Yield the paths that a word may name: `FILE`, `@FILE`, `--data=@FILE`, `name=@FILE`."""
    candidates = {word, word.rpartition("=")[2], word.partition("@")[2], word.partition(":")[2]}
    for each in sorted(filter(None, (candidate.lstrip("@<") for candidate in candidates))):
        yield from resolve(each, folder)


def resolve(name: str, folder: Path) -> Iterator[Path]:
    """Yield the path that a name means in a folder, or all that match if it is a glob pattern."""
    try:
        path = folder / Path(name).expanduser()
    except (RuntimeError, ValueError):
        return
    if not _GLOB.search(name) or _is_file(path):
        yield path
        return
    from glob import iglob

    for found, _ in zip(iglob(str(path)), range(_MOST_FILES), strict=False):  # noqa: PTH207
        yield Path(found)


def mentioned_files(prompt: str, folder: Path) -> list[Path]:
    """Return the files that a prompt names as `@path`, whose content the agent adds to it."""
    found: dict[Path, None] = {}
    for match in _MENTION.finditer(prompt):
        name = match["quoted"] or match["plain"]
        for each in (name, _LINES.sub("", name), name.rstrip(".,;:!?)]}'\"")):
            path = next((path for path in resolve(each, folder) if _is_file(path)), None)
            if path is not None:
                found[path] = None
                break
    return list(found)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
