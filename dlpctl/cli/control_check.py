"""`dlpctl check` by a local or remote control plane: recorded in its log, within its quota."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.backend.interface import Backend, policy_key
from dlpctl.cli import documents, inputs
from dlpctl.cli.control_plane import backend
from dlpctl.control.resources.shapes import Json as Answer
from dlpctl.errors import InputError, UsageError
from dlpctl.policy.selectors import parse_destination
from dlpctl.system.regular import read_secret
from dlpctl.types import Decision

if TYPE_CHECKING:
    from dlpctl.cli.render import Printer
    from dlpctl.cli.session import Session

API_KEY = "DLPCTL_API_KEY"


class ControlCheck:
    """Checks contents by a policy of the control plane."""

    def __init__(
        self,
        session: Session,
        org: str | None,
        policy: str | None,
        key_file: Path | None,
        destination: str | None,
    ) -> None:
        self._config = session.config
        self._org = org
        self._policy = policy
        self._key = _key(key_file)
        self._destination = parse_destination(destination or session.config.destination).value

    def run(
        self, names: Sequence[str], output: Path | None, *, force: bool, required: bool
    ) -> list[Answer]:
        """Return the answers of the control plane, with the path of each masked copy.

        `required` refuses an empty stdin.
        """
        with backend(self._config.server or "local") as control:
            access = self._access(control)
            return [
                _check_stdin(access, output, force=force, required=required)
                if name == inputs.STDIN
                else self._check_file(access, name, output, force=force)
                for name in names
            ]

    def _check_file(
        self, access: _PolicyAccess, name: str, output: Path | None, *, force: bool
    ) -> Answer:
        head, chunks = inputs.peeked(name)
        documents.refuse_other_format(output, name, head)
        data = documents.read_all(chunks, self._config.limits.input_bytes)
        base = Path(name).name
        answer = access.check_file(data, base)
        is_changed = answer["decision"] == Decision.ALLOWED_WITH_MASKING
        target = output
        if target is None and is_changed and not documents.is_plain(name, head):
            target = documents.beside(name, base)
        if target is not None and answer["masked_file_url"] is not None:
            documents.save(access.masked_file(answer["masked_file_url"]), target, force=force)
            answer |= {"masked_file": str(target)}
        elif answer["decision"] == Decision.BLOCKED:
            documents.remove_stale(output, name)
        return answer

    def _access(self, control: Backend) -> _PolicyAccess:
        if self._key:
            return _PolicyAccess(control, self._key, self._destination, self._org, self._policy)
        if self._org is None:
            raise UsageError(
                "a check by a server needs a policy key:"
                f" set {API_KEY}, or pass --api-key-file or --org"
            )
        key = policy_key(control, self._org, self._policy)
        return _PolicyAccess(control, key, self._destination, None, None)


class _PolicyAccess(NamedTuple):
    """A control plane and the key of the policy that decides."""

    control: Backend
    key: str
    destination: str
    org_id: str | None
    policy_id: str | None

    def check_text(self, text: str) -> Answer:
        return self.control.check_text(
            self.key, text, self.destination, org_id=self.org_id, policy_id=self.policy_id
        )

    def check_file(self, data: bytes, name: str) -> Answer:
        return self.control.check_file(
            self.key, data, name, self.destination, org_id=self.org_id, policy_id=self.policy_id
        )

    def masked_file(self, url: str) -> bytes:
        return self.control.masked_file(self.key, url)


def _check_stdin(
    access: _PolicyAccess, output: Path | None, *, force: bool, required: bool
) -> Answer:
    data = b"".join(inputs.read_text_chunks(inputs.STDIN, required=required))
    documents.refuse_other_format(output, inputs.STDIN, data)
    answer = access.check_text(data.decode("utf-8", "replace"))
    masked = answer["masked_content"]
    if masked is None:
        documents.remove_stale(output, inputs.STDIN)
    elif output is not None:
        documents.save(masked.encode(), output, force=force)
        answer |= {"masked_file": str(output)}
    return answer


def _key(file: Path | None) -> str:
    if file is None:
        return os.environ.get(API_KEY, "").strip()
    try:
        key = read_secret(file).decode("utf-8").strip()
    except OSError as problem:
        raise InputError(f"{file}: cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        key = ""
    if not key or not key.isprintable():
        raise InputError(f"{file}: holds no policy key")
    return key


def print_answers(
    names: Sequence[str],
    answers: Sequence[Answer],
    printer: Printer,
    *,
    decision_only: bool,
    as_json: bool,
) -> None:
    shown = ["stdin" if name == inputs.STDIN else name for name in names]
    if as_json and not decision_only:
        many = [{"file": name} | answer for name, answer in zip(shown, answers, strict=True)]
        printer.json(answers[0] if len(answers) == 1 else many)
        return
    for name, answer in zip(shown, answers, strict=True):
        decision = printer.decision(answer["decision"])
        if decision_only:
            printer.line(f"{decision}  {name}" if len(names) > 1 else decision)
            continue
        printer.line(f"{decision}  {printer.style(name, 'bold')}  {answer['summary']}")
        rows = [
            (str(detection["count"]), detection["type"], detection["sample"] or "(hidden)")
            for detection in answer["detected"]
        ]
        printer.table(rows, indent="  ")
        if answer["decision"] == Decision.ALLOWED_WITH_MASKING:
            printer.line(documents.copy_line(answer.get("masked_file")))
