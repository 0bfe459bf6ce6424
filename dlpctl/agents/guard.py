"""Decide on the events of agents: pass, replace or refuse."""

from __future__ import annotations

import stat
from collections import Counter
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlpctl.agents.attachments import attachments, with_attachments, without_attachments
from dlpctl.agents.commands import ShellCommand, mentioned_files, parse_command, resolve
from dlpctl.agents.events import PASSED, Action, Event, EventKind, Outcome, ToolClass
from dlpctl.agents.inspection import Inspected, inspect, restored, summary_of
from dlpctl.errors import DlpctlError, OutputError, StillExposedError
from dlpctl.regex import lazy
from dlpctl.system.newfiles import write_whole
from dlpctl.system.regular import open_file
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dlpctl.agents.audit import AuditLog
    from dlpctl.agents.sessions import SessionVault, SessionVaults
    from dlpctl.files.checking import FileChecker
    from dlpctl.preflight import Checker, Report

_PATH_FIELDS = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file")
_NEW_TEXTS = ("content", "file_text", "new_str", "new_string", "newString", "insert_text")
"""Arguments that become file content."""
_COMMAND_FIELDS = ("command", "cmd", "command_line")
_LISTED_FILES = 5
_HEAD = 1 << 16
_STRUCTURED = (".csv", ".eml", ".htm", ".html", ".rtf", ".svg", ".tsv", ".xml")
"""Suffixes of text files that a format of dlpctl reads better than plain text."""
_SHELL_SAFE = lazy(r"[\w@%+=:,./-]+")
_UNFAILING = '(\n{}\n) || echo "(exit status $?)"'
_WITHHELD = "[withheld by dlpctl: {}]"


class _UnsafeValueError(Exception):
    """A value that a shell would interpret."""


class _ShellStore:
    """The tokens of a session whose values mean the same everywhere in a shell command."""

    def __init__(self, vault: SessionVault) -> None:
        self._vault = vault

    def value(self, name: str) -> str | None:
        value = self._vault.value(name)
        if value is not None and not _SHELL_SAFE.fullmatch(value):
            raise _UnsafeValueError
        return value


class Guard:
    """Decide on events by one policy. Thread-safe."""

    def __init__(
        self,
        checker: Checker,
        files: Callable[[], FileChecker],
        vaults: SessionVaults,
        audit: AuditLog,
        *,
        restore_in: Iterable[str] = (),
        largest_file: int,
    ) -> None:
        """`files` makes the checker of files when there is a file; `restore_in` holds patterns of
        more tools in which tokens are restored.
        """
        self._checker = checker
        self._files = cache(files)
        self._vaults = vaults
        self._audit = audit
        self._restore_in = tuple(restore_in)
        self._largest_file = largest_file
        self._decide: Mapping[EventKind, Callable[[Event, SessionVault], Outcome]] = {
            EventKind.PROMPT: self._prompt,
            EventKind.INPUT: self._input,
            EventKind.RESULT: self._result,
            EventKind.FAILURE: self._failure,
            EventKind.FILE: self._file,
            EventKind.DISPLAY: self._restored,
        }

    def decide(self, event: Event) -> Outcome:
        """Return the decision on the event; raise `DlpctlError` if it cannot be made."""
        if event.purpose is EventKind.NOTHING:
            return PASSED
        vault = self._vaults.open(event.agent, event.session)
        return self._decide[event.purpose](event, vault)

    def _prompt(self, event: Event, vault: SessionVault) -> Outcome:
        files = mentioned_files(str(event.content), event.folder)
        files += [path for name in event.files if (path := event.folder / name).is_file()]
        if refused := self._refuse_files(event, files):
            return refused
        found = self._refusable(event, event.content, vault)
        if found is None:
            return PASSED
        if found.decision is Decision.BLOCKED:
            return _refused(f"the prompt has {found.summary}, which may not be sent; remove it")
        if event.can_replace:
            return Outcome(Action.REPLACE, found.content)
        return _refused(
            f"the prompt has {found.summary}; nothing was sent. Send this instead, which the agent"
            f" can work with:\n{found.content}"
        )

    def _result(self, event: Event, vault: SessionVault) -> Outcome:
        if event.keeps_arguments and event.tool_class is ToolClass.WRITES:
            self._restore_file(event, vault)
        for data, name in attachments(event.content):
            report = self._files().check(data, name)
            if report.decision is not Decision.ALLOWED:
                self._record(event, "refused", {"attachments": 1})
                return _refused(_WITHHELD.format(report.summary))
        try:
            found = inspect(self._checker, without_attachments(event.content), vault)
        except StillExposedError as problem:
            return _refused(_WITHHELD.format(problem.message))
        if found.content is None:
            if found.decision is Decision.BLOCKED:
                return _refused(_WITHHELD.format(found.summary))
            return PASSED
        self._record(event, "masked", found.counts)
        if event.can_replace:
            return Outcome(Action.REPLACE, with_attachments(found.content, event.content))
        return _refused(f"the output of {event.tool or 'the tool'} has {found.summary}")

    def _failure(self, event: Event, vault: SessionVault) -> Outcome:
        found = self._refusable(event, event.content, vault)
        if found is None:
            return PASSED
        return _refused(
            f"the error of {event.tool} has {found.summary}, and nothing can take that out of this"
            " conversation: go back to before it, or start a new one"
        )

    def _file(self, event: Event, vault: SessionVault) -> Outcome:
        """Decide on a file that an agent is about to read, whose content cannot be replaced."""
        content = event.content
        if isinstance(content, Path):
            return self._refuse_files(event, [event.folder / content]) or PASSED
        found = self._refusable(event, content, vault)
        if found is None:
            return PASSED
        return _refused(f"the file has {found.summary}")

    def _input(self, event: Event, vault: SessionVault) -> Outcome:
        if event.tool_class is ToolClass.WRITES or self._restores(event.tool):
            return self._restored(event, vault)
        if event.tool_class in (ToolClass.SHELL, ToolClass.READS):
            if not isinstance(event.content, dict):
                return _refused(f"the arguments of {event.tool} are not an object")
            is_shell = event.tool_class is ToolClass.SHELL
            return self._shell(event, vault) if is_shell else self._read(event)
        if event.tool_class is ToolClass.LOCAL:
            return PASSED
        found = self._refusable(event, event.content, vault)
        if found is None:
            return PASSED
        if found.decision is Decision.ALLOWED_WITH_MASKING and event.can_replace:
            return Outcome(Action.REPLACE, found.content)
        return _refused(f"the arguments of {event.tool} have {found.summary}")

    def _restores(self, tool: str) -> bool:
        return any(fnmatchcase(tool, pattern) for pattern in self._restore_in)

    def _restored(self, event: Event, vault: SessionVault) -> Outcome:
        content, count = restored(event.content, vault)
        if not count:
            return PASSED
        if event.keeps_arguments:
            return self._restored_later(event, vault)
        if not event.can_replace:
            return _refused(f"{event.tool} has tokens of masked values, which cannot be restored")
        self._record(event, "restored", {"tokens": count})
        return Outcome(Action.REPLACE, content)

    def _restored_later(self, event: Event, vault: SessionVault) -> Outcome:
        """Let a tool write tokens, which are restored in its file afterwards; refuse a tool that
        searches for them.
        """
        arguments = event.content if isinstance(event.content, dict) else {}
        others = {key: each for key, each in arguments.items() if key not in _NEW_TEXTS}
        if arguments and not restored(others, vault)[1]:
            return PASSED
        return _refused(
            "this agent would show the values of tokens to the model; use tokens only in new"
            " content of a file"
        )

    def _restore_file(self, event: Event, vault: SessionVault) -> None:
        """Restore the tokens in the file that a tool wrote."""
        arguments = event.arguments if isinstance(event.arguments, dict) else {}
        texts = {key: each for key, each in arguments.items() if key in _NEW_TEXTS}
        name = _path_in(arguments)
        if not restored(texts, vault)[1] or name is None:
            return
        path = (event.folder / name).resolve()
        try:
            with open_file(path) as file:
                text = file.read(self._largest_file).decode("utf-8")
            full, count = restored(text, vault)
            write_whole(path, full.encode(), mode=stat.S_IMODE(path.stat().st_mode))
        except (OSError, UnicodeError) as problem:
            raise OutputError(f"{path.name}: tokens cannot be restored in it") from problem
        self._record(event, "restored", {"tokens": count})

    def _shell(self, event: Event, vault: SessionVault) -> Outcome:
        name = next((each for each in _COMMAND_FIELDS if each in event.content), None)
        if name is None:
            return _refused(f"the arguments of {event.tool} have no command")
        written = event.content[name]
        line = written if isinstance(written, str) else _joined(written)
        command = parse_command(line)
        reads = command.files(event.folder) if command.sends or not event.masks_results else []
        if refused := self._refuse_files(event, reads):
            return refused
        if command.sends and (found := self._refusable(event, line, vault)):
            return _refused(f"the command would send {found.summary}")
        _, count = restored(line, vault)
        if not count:
            return self._without_failure(event, name, command)
        advice = "use a tool that edits files instead"
        restores = event.can_replace and not event.keeps_arguments and isinstance(written, str)
        if not (command.is_local and restores):
            return _refused(
                "the command has tokens of masked values, which are restored only in commands"
                f" that are known to stay on this machine; {advice}"
            )
        try:
            full = "".join(
                restored(part.text, vault if part.is_literal else _ShellStore(vault))[0]
                for part in command.parts
            )
        except _UnsafeValueError:
            return _refused(f"a masked value has characters that a shell interprets; {advice}")
        self._record(event, "restored", {"tokens": count})
        return Outcome(Action.REPLACE, event.content | {name: full})

    def _without_failure(self, event: Event, name: str, command: ShellCommand) -> Outcome:
        """Return a command that cannot fail if its error could show the content of a file, since
        the agent does not let hooks mask the errors of commands.
        """
        line = event.content[name]
        if event.masks_errors or not isinstance(line, str):
            return PASSED
        if not any(self._inspect_file(path, None) for path in command.files(event.folder)):
            return PASSED
        return Outcome(Action.REPLACE, event.content | {name: _UNFAILING.format(line)})

    def _read(self, event: Event) -> Outcome:
        """Refuse to read a file whose content no later event can mask."""
        name = _path_in(event.content)
        if name is None:
            return PASSED
        paths = [path for path in resolve(name, event.folder) if path.is_file()]
        if event.masks_results:
            paths = [path for path in paths if not _is_text(path)]
        offset, limit = event.content.get("offset"), event.content.get("limit")
        return self._refuse_files(event, paths, _lines_of(offset, limit)) or PASSED

    def _refuse_files(
        self, event: Event, paths: Iterable[Path], lines: slice | None = None
    ) -> Outcome | None:
        """Return a refusal that names the files that may not be sent; None if all may."""
        problems = [
            f"{self._checker.mask(path.name)}: {problem}"
            for path in paths
            if (problem := self._inspect_file(path, lines))
        ]
        if not problems:
            return None
        self._record(event, "refused", {"files": len(problems)})
        more = f" and {len(problems) - _LISTED_FILES} more" if len(problems) > _LISTED_FILES else ""
        return _refused(
            "files with sensitive values may not be sent: "
            + "; ".join(problems[:_LISTED_FILES])
            + more
            + ". 'dlpctl mask FILE -o COPY' makes a copy that may be sent"
        )

    def _inspect_file(self, path: Path, lines: slice | None) -> str:
        """Return why a file may not be sent; empty if it may."""
        try:
            if path.stat().st_size > self._largest_file:
                return "is larger than limits.input_bytes"
            with open_file(path) as file:
                data = file.read()
        except OSError as problem:
            return f"cannot be read: {problem.strerror}"
        if lines is not None and _is_text(path):
            data = b"".join(data.splitlines(keepends=True)[lines])
        report = self._checked(data, path)
        if report.decision is Decision.ALLOWED:
            return ""
        found = Counter({each.type: each.occurrences for each in report.detected})
        if report.decision is Decision.BLOCKED or not found:
            return report.summary
        return f"has {summary_of(found)}"

    def _checked(self, data: bytes, path: Path) -> Report:
        """Return the report on a file; text does not need the process that reads formats."""
        if _is_text(path) and path.suffix.lower() not in _STRUCTURED:
            with suppress(UnicodeDecodeError):
                return self._checker.check(data.decode("utf-8"))
        return self._files().check(data, path.name).report

    def _refusable(self, event: Event, content: Any, vault: SessionVault) -> Inspected | None:
        """Return what is found in content that may not be sent as it is, and record its refusal."""
        found = inspect(self._checker, content, vault)
        if found.decision is Decision.ALLOWED:
            return None
        self._record(event, "refused", found.counts)
        return found

    def _record(self, event: Event, action: str, counts: Mapping[str, int]) -> None:
        from dlpctl.agents.sessions import session_name

        self._audit.write(
            session=session_name(event.agent, event.session),
            event=event.name,
            tool=event.tool,
            action=action,
            counts=dict(Counter(counts)),
        )


def _refused(reason: str) -> Outcome:
    return Outcome(Action.REFUSE, reason=f"dlpctl: {reason}")


def _joined(words: object) -> str:
    """Return the command line of a command given as a list of words."""
    import shlex

    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DlpctlError("the command of the event is neither text nor a list of words")
    if len(words) == 3 and words[1] in ("-c", "-lc"):  # a shell with its script
        return str(words[2])
    return shlex.join(words)


def _is_text(path: Path) -> bool:
    """Return whether agents read the file as text, so that their output can be masked."""
    if path.suffix.lower() in (".pdf", ".ipynb"):
        return False
    try:
        with open_file(path) as file:
            head = file.read(_HEAD)
    except OSError:
        return True  # the agent cannot read it either
    return b"\0" not in head and not head.startswith((b"%PDF", b"\xff\xd8", b"GIF8", b"RIFF"))


def _path_in(arguments: Mapping[str, Any]) -> str | None:
    found = map(arguments.get, _PATH_FIELDS)
    return next((each for each in found if isinstance(each, str)), None)


def _lines_of(offset: object, limit: object) -> slice | None:
    """Return the range of lines that a tool reads, extended backwards for context."""
    if not isinstance(offset, int) and not isinstance(limit, int):
        return None
    start = max(offset - 1, 0) if isinstance(offset, int) else 0
    end = start + limit if isinstance(limit, int) and limit >= 0 else None
    return slice(max(start - 5, 0), end)
