"""Replace tokens such as <EMAIL_1> by their values, e.g. in a model's answer.

Tokens that a model has changed slightly are recognized, too.

Examples:
    dlpctl unmask --vault ticket.vault answer.txt
    llm < masked.txt | dlpctl unmask --vault ticket.vault
"""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import inputs, options
from dlpctl.cli.app import App
from dlpctl.cli.outputs import writing
from dlpctl.cli.session import Session
from dlpctl.errors import InputError

SECTION = ("Content", 3)

app = App()


@app.command(help=__doc__)
def unmask(
    vault: Annotated[
        Path, typer.Option(metavar="FILE", help="The vault of 'dlpctl mask --vault'.")
    ],
    file: options.TextFile = None,
    output: options.OutputFile = None,
) -> None:
    from dlpctl.masking.unmask import Unmasker

    unmasker = Unmasker(Session.start().vault(vault, create=False))
    decoder = getincrementaldecoder("utf-8")("surrogateescape")
    name = file or inputs.STDIN
    first, chunks = inputs.peeked(name, required=file is None)
    if inputs.is_binary(first):
        shown = "stdin" if name == inputs.STDIN else name
        raise InputError(f"{shown}: is not text; copy the text out of it and unmask that")
    with writing(output) as write:
        for chunk in chunks:
            write(unmasker.feed(decoder.decode(chunk)).encode("utf-8", "surrogateescape"))
        rest = unmasker.feed(decoder.decode(b"", final=True)) + unmasker.finish()
        write(rest.encode("utf-8", "surrogateescape"))
    if unmasker.unknown:
        first_unknown, *others = unmasker.unknown
        more = f" and {len(others)} more" if others else ""
        sys.stderr.write(f"dlpctl: note: not in {vault}, left as is: {first_unknown}{more}\n")
