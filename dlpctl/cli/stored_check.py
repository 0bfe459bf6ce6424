"""`dlpctl check` by the control plane: in its log, against its quota, and with its answer; here or on a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.backend.interface import Json as Answer
from dlpctl.backend.interface import policy_key
from dlpctl.cli import documents, inputs
from dlpctl.cli.stored import backend
from dlpctl.errors import InputError, UsageError
from dlpctl.preflight import parse_destination
from dlpctl.types import Decision

if TYPE_CHECKING:
    from dlpctl.backend.interface import Backend
    from dlpctl.cli.render import Printer
    from dlpctl.cli.session import Session

API_KEY = "DLPCTL_API_KEY"


class StoredCheck:
    """Who decides, as the options of `check` say."""

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

    def run(self, names: Sequence[str], output: Path | None, *, force: bool) -> list[Answer]:
        """The answers of the interface; those to files also say where the masked copy was put."""
        with backend(self._config.server or "local") as control:
            key, org_id, policy_id = self._opened(control)
            answers = []
            for name in names:
                if name == inputs.STDIN:
                    data = b"".join(inputs.read_text_chunks(name))
                    text = data.decode("utf-8", "replace")
                    answer = control.check_text(
                        key, text, self._destination, org_id=org_id, policy_id=policy_id
                    )
                    masked = answer["masked_content"]
                    if output is not None and masked is not None:
                        documents.save(masked.encode(), output, force=force)
                else:
                    head, chunks = inputs.peeked(name)
                    data = documents.whole(chunks, self._config.limits.input_bytes)
                    base = Path(name).name
                    answer = control.check_file(
                        key, data, base, self._destination, org_id=org_id, policy_id=policy_id
                    )
                    target = output
                    if (
                        target is None
                        and answer["decision"] == Decision.ALLOWED_WITH_MASKING
                        and not documents.is_plain(name, head)
                    ):
                        target = documents.beside(name, base)
                    if target is not None and answer["masked_file_url"] is not None:
                        documents.save(
                            control.masked_file(key, answer["masked_file_url"]), target, force=force
                        )
                        answer |= {"masked_file": str(target)}
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


def show(
    names: Sequence[str], answers: Sequence[Answer], printer: Printer, *, decision_only: bool, as_json: bool
) -> None:
    shown = ["stdin" if name == inputs.STDIN else name for name in names]
    if decision_only:
        for name, answer in zip(shown, answers, strict=True):
            printer.line(printer.decision(answer["decision"]) + (f"  {name}" if len(names) > 1 else ""))
    elif as_json:
        many = [{"file": name} | answer for name, answer in zip(shown, answers, strict=True)]
        printer.json(answers[0] if len(answers) == 1 else many)
    else:
        for name, answer in zip(shown, answers, strict=True):
            printer.line(
                f"{printer.decision(answer['decision'])}  {printer.style(name, 'bold')}  {answer['summary']}"
            )
            found = [
                (str(one["count"]), one["type"], one["sample"] or "(hidden)") for one in answer["detected"]
            ]
            printer.table(found, indent="  ")
            if "masked_file" in answer:
                printer.line(f"  masked copy: {answer['masked_file']}")
