"""`dlpctl unmask`: the values back into, say, a model's answer."""

from __future__ import annotations

from codecs import getincrementaldecoder
from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import inputs, options
from dlpctl.cli.outputs import writing
from dlpctl.cli.session import Session
from dlpctl.errors import InputError

app = typer.Typer(add_completion=False)


@app.command()
def unmask(
    vault: Annotated[Path, typer.Option(help="The vault that 'dlpctl mask --vault' filled.")],
    file: Annotated[
        str | None, typer.Argument(help="A text file; '-' is stdin, as is no file at all.")
    ] = None,
    output: options.OutputFile = None,
) -> None:
    """Replace tokens such as <EMAIL_1> by their values, also where a model has changed them
    slightly.
    """
    from dlpctl.masking.unmask import Unmasker

    unmasker = Unmasker(Session.begin().vault(vault, create=False))
    decoder = getincrementaldecoder("utf-8")("surrogateescape")
    name = file or inputs.STDIN
    first, chunks = inputs.peeked(name, required=file is None)
    if inputs.is_binary(first):
        shown = "stdin" if name == inputs.STDIN else name
        raise InputError(
            f"{shown}: is no text, and tokens are put back in text alone; copy it out first"
        )
    with writing(output) as write:
        for chunk in chunks:
            write(unmasker.feed(decoder.decode(chunk)).encode("utf-8", "surrogateescape"))
        rest = unmasker.feed(decoder.decode(b"", final=True)) + unmasker.finish()
        write(rest.encode("utf-8", "surrogateescape"))
