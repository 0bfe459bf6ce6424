"""`dlpctl mask`: a filter whose stdout is the masked text and nothing else."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlpctl.cli import inputs, options
from dlpctl.cli.outputs import writing
from dlpctl.cli.session import Session, opened

if TYPE_CHECKING:
    from dlpctl.masking.vault import Vault
    from dlpctl.preflight import Checker

app = typer.Typer(add_completion=False)


@app.command()
def mask(
    file: Annotated[str, typer.Argument(help="A text file; '-' is stdin.")] = inputs.STDIN,
    destination: options.Destination = None,
    policy: options.Policy = None,
    operator: options.Operator = None,
    vault: Annotated[
        Path | None, typer.Option(help="Mask by tokens and keep the values here, for 'dlpctl unmask'.")
    ] = None,
    output: options.OutputFile = None,
    stats: Annotated[bool, typer.Option("--stats", help="Say on stderr what was masked.")] = False,
    patterns: options.Patterns = None,
) -> None:
    """Replace what the policy masks or blocks. A source that pauses gets its complete lines at once."""
    session = Session.begin(patterns)
    checker = session.checker(destination, policy, operator or ("token" if vault else None))
    store = session.vault(vault, create=True) if vault else None
    counts: Counter[str] = Counter()
    with writing(output) as write:
        for piece in _masked(file, checker, store, counts):
            write(piece)
    if stats:
        total = sum(counts.values())
        listed = ", ".join(f"{count} {name}" for name, count in counts.most_common())
        sys.stderr.write(
            f"dlpctl: masked {total} value{'' if total == 1 else 's'}{f': {listed}' if listed else ''}\n"
        )


def _masked(file: str, checker: Checker, store: Vault | None, counts: Counter[str]) -> Iterator[bytes]:
    for piece in checker.mask_pieces(inputs.read_text_chunks(file)):
        with opened(store, checker) as masker:
            masked = piece.masked(masker)
        counts.update(one.finding.type for one in piece.hidden)
        yield masked.encode("utf-8", "surrogateescape")
