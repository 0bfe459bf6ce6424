"""`dlpctl check` by the control plane: in its log, against its quota, and with its answer; here or on a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlpctl.backend.interface import policy_key
from dlpctl.cli import inputs
from dlpctl.cli.outputs import writing
from dlpctl.cli.stored import backend
from dlpctl.errors import InputError, UsageError

if TYPE_CHECKING:
    from dlpctl.backend.interface import Backend
    from dlpctl.cli.render import Printer

API_KEY = "DLPCTL_API_KEY"


class StoredCheck:
    """What the options of `check` say about who decides."""

    def __init__(
        self, server: str | None, org: str | None, policy: str | None, key_file: Path | None, destination: str
    ) -> None:
        self._server = server
        self._org = org
        self._policy = policy
        self._key = _key(key_file)
        self._destination = destination

    def run(self, names: Sequence[str], output: Path | None) -> list[dict[str, Any]]:
        """The answers; the masked copy of a single one goes to the output."""
        with backend(self._server) as control:
            key, org_id, policy_id = self._opened(control)
            answers = []
            for name in names:
                if name == inputs.STDIN:
                    text = (
                        inputs.read_text(name).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                    )
                    answer = control.check_text(
                        key, text, self._destination, org_id=org_id, policy_id=policy_id
                    )
                else:
                    data = b"".join(inputs.read_chunks(name))
                    answer = control.check_file(
                        key, data, Path(name).name, self._destination, org_id=org_id, policy_id=policy_id
                    )
                if output is not None and (masked := _masked(control, key, answer)) is not None:
                    with writing(output) as write:
                        write(masked)
                answers.append(answer)
            return answers

    def _opened(self, control: Backend) -> tuple[str, str | None, str | None]:
        """The key with the organization and the policy that a check by it names."""
        if self._key:
            return self._key, self._org, self._policy
        if self._org is None:
            raise UsageError(
                f"a check by a server needs a policy key: set {API_KEY} or name a file with --api-key-file;"
                " or say whose check it is with --org"
            )
        return policy_key(control, self._org, self._policy), None, None


def _key(file: Path | None) -> str:
    if file is None:
        return os.environ.get(API_KEY, "").strip()
    try:
        key = file.read_text("utf-8").strip()
    except OSError as problem:
        raise InputError(f"{file}: cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        key = ""
    if not key or not key.isprintable():
        raise InputError(f"{file}: holds no policy key")
    return key


def _masked(control: Backend, key: str, answer: dict[str, Any]) -> bytes | None:
    if url := answer.get("masked_file_url"):
        return control.masked_file(key, url)
    text = answer.get("masked_content")
    return None if text is None else text.encode()


def show(names: Sequence[str], answers: Sequence[dict[str, Any]], printer: Printer) -> None:
    for name, answer in zip(names, answers, strict=True):
        shown = "stdin" if name == inputs.STDIN else name
        printer.line(
            f"{printer.decision(answer['decision'])}  {printer.style(shown, 'bold')}  {answer['summary']}"
        )
        printer.table(
            [(str(one["count"]), one["type"], one["sample"] or "(hidden)") for one in answer["detected"]],
            indent="  ",
        )
