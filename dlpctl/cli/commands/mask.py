"""`dlpctl mask`: a filter whose stdout is the masked text and nothing else."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlpctl.cli import documents, inputs, options
from dlpctl.cli.outputs import writing
from dlpctl.cli.session import Session, opened
from dlpctl.errors import StillExposedError, UsageError

if TYPE_CHECKING:
    from dlpctl.masking.vault import Vault
    from dlpctl.preflight import Checker

app = typer.Typer(add_completion=False)


@app.command()
def mask(
    file: Annotated[
        str | None, typer.Argument(help="A file of any format; '-' is stdin, as is no file at all.")
    ] = None,
    destination: options.Destination = None,
    policy: options.Policy = None,
    operator: options.Operator = None,
    vault: Annotated[
        Path | None,
        typer.Option(help="Mask by tokens and keep the values here, for 'dlpctl unmask'."),
    ] = None,
    output: options.OutputFile = None,
    force: options.Force = False,
    stats: Annotated[bool, typer.Option("--stats", help="Say on stderr what was masked.")] = False,
    password: options.Password = False,
    password_file: options.PasswordFile = None,
    on_uninspected: options.OnUninspected = None,
    before_after: options.BeforeAfter = None,
    patterns: options.Patterns = None,
) -> None:
    """Replace what the policy masks or blocks. A source that pauses gets its complete lines at
    once.
    """
    output = None if output == Path(inputs.STDIN) else output
    documents.refuse_unwritable(output, force=force)
    session = Session.begin(patterns)
    checker = session.checker(destination, policy, operator or ("token" if vault else None))
    store = session.vault(vault, create=True) if vault else None
    counts: Counter[str] = Counter()
    name = file or inputs.STDIN
    head, chunks = inputs.peeked(name, required=file is None)
    try:
        if documents.is_plain(name, head):
            with writing(output) as write:
                for piece in _masked(chunks, checker, store, counts):
                    write(piece)
        else:
            secret = documents.password(ask=password, file=password_file)
            data = documents.whole(chunks, session.config.limits.input_bytes)
            masking = session.file_checker(checker, on_uninspected)
            shown = (
                "stdin"
                if name == inputs.STDIN
                else documents.without_values(Path(name).name, checker)
            )
            with documents.cleaning_up():
                with opened(store, checker) as masker, documents.progress(shown) as stage:
                    report = masking.mask(data, Path(name).name, secret, masker=masker, stage=stage)
                assert report.masked is not None
                if output is None and b"\0" in report.masked and sys.stdout.isatty():
                    raise UsageError(
                        "the masked copy is no text for a terminal; name a file with -o"
                    )
                if output is not None:
                    documents.save(report.masked, output, force=force)
                else:
                    with writing(None) as write:
                        write(report.masked)
                if before_after is not None:
                    documents.save_pictures(report, data, shown, before_after, secret)
            counts.update(one.type for one in report.report.findings)
    except StillExposedError:
        documents.remove_stale(output, name)
        raise
    if stats:
        total = sum(counts.values())
        listed = ", ".join(f"{count} {name}" for name, count in counts.most_common())
        sys.stderr.write(
            f"dlpctl: masked {total} value{'' if total == 1 else 's'}{f': {listed}' if listed else ''}\n"
        )


def _masked(
    chunks: Iterable[bytes], checker: Checker, store: Vault | None, counts: Counter[str]
) -> Iterator[bytes]:
    for piece in checker.mask_pieces(chunks):
        with opened(store, checker) as masker:
            masked = piece.masked(masker)
        counts.update(one.finding.type for one in piece.hidden)
        yield masked.encode("utf-8", "surrogateescape")
