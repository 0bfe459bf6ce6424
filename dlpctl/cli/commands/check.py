"""Decide by policy whether content may go to a destination.

Exit status: 0 allowed, 10 allowed with masking, 20 blocked; for several files, the worst.

Examples:
    dlpctl check report.pdf --destination VENDOR && send report.pdf
    dlpctl check prompt.txt -o safe.txt
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dlpctl.cli import documents, inputs, options
from dlpctl.cli.app import App
from dlpctl.cli.session import Session
from dlpctl.errors import UsageError
from dlpctl.types import Decision

SECTION = ("Content", 1)
EXIT_STATUS = {Decision.ALLOWED: 0, Decision.ALLOWED_WITH_MASKING: 10, Decision.BLOCKED: 20}

app = App()


class AuthorityOptions(NamedTuple):
    """The control plane that decides, if any."""

    org: Annotated[
        str | None,
        typer.Option(metavar="ORG", help="Check by this organization's policy, and log it there."),
    ] = None
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Read the policy's key from FILE; DLPCTL_API_KEY also works."
        ),
    ] = None
    server: options.Server = None


@app.command(help=__doc__)
def check(
    content: options.ContentOptions,
    answer: options.AnswerOptions,
    authority: AuthorityOptions,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Files of any format, or '-' for stdin."),
    ] = None,
) -> None:
    names = [*_with_tables(files)] if files else [inputs.STDIN]
    if answer.output is not None and len(names) > 1:
        raise UsageError("--output takes the masked copy of one file; check the files one by one")
    documents.refuse_unwritable(answer.output, force=content.force)
    session = Session.start(content.patterns, authority.server)
    if session.asks_control_plane(authority.org, authority.api_key_file):
        decisions = _check_by_control_plane(session, content, answer, authority, files)
    else:
        from dlpctl.cli.local_check import LocalCheck

        decisions = LocalCheck(session, content, answer, required=not files).run(names)
    raise typer.Exit(max(EXIT_STATUS[decision] for decision in decisions))


def _with_tables(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of files; for the folder of a Delta table, those of all files in it."""
    for name in names:
        if Path(name).is_dir():
            from dlpctl.files.deltalog import files_below, is_delta

            if is_delta(Path(name)):
                yield from files_below(Path(name))
                continue
        yield name


def _check_by_control_plane(
    session: Session,
    content: options.ContentOptions,
    answer: options.AnswerOptions,
    authority: AuthorityOptions,
    files: list[str] | None,
) -> list[Decision]:
    from dlpctl.cli.control_check import ControlCheck, print_answers

    accepted = {"destination", "policy", "force"}
    others = [getattr(content, name) for name in content._fields if name not in accepted]
    if answer.findings or any(others):
        raise UsageError(
            "a check by the control plane takes only --destination, --policy and output options"
        )
    names = files or [inputs.STDIN]
    stored = ControlCheck(
        session, authority.org, content.policy, authority.api_key_file, content.destination
    )
    answered = stored.run(names, answer.output, force=content.force, required=not files)
    print_answers(
        names,
        answered,
        session.printer(quiet=answer.quiet),
        decision_only=answer.decision_only,
        as_json=answer.form is options.Output.JSON,
    )
    return [Decision(decided["decision"]) for decided in answered]
