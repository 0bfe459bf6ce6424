"""Options that several commands share, declared once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path as FilePath
from typing import Annotated

import typer


class Output(StrEnum):
    HUMAN = "human"
    JSON = "json"


Destination = Annotated[
    str | None,
    typer.Option(
        "-d",
        "--destination",
        metavar="NAME",
        help="Where the content goes: AI_TOOL, VENDOR or CUSTOMER.",
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "-p", "--policy", metavar="POLICY", help="A policy file, or the name of a built-in policy."
    ),
]
Operator = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How to mask: partial, redact, remove, hash, replace:TEXT, token, surrogate, encrypt.",
    ),
]
Patterns = Annotated[
    list[FilePath] | None,
    typer.Option(
        "--patterns", metavar="FILE", help="Further patterns; may be given several times."
    ),
]
Format = Annotated[Output, typer.Option("-f", "--format", help="For people or for programs.")]
MinScore = Annotated[
    float | None,
    typer.Option("--min-score", min=0.0, max=1.0, help="What a finding must score to count."),
]
OutputFile = Annotated[
    FilePath | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Write here instead of stdout, at the end."
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Ask this server, such as http://127.0.0.1:8686 or unix:/run/dlpctl.sock; 'local' is this machine's database.",
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there already.")]
Password = Annotated[
    bool,
    typer.Option(
        "--password", help="Ask for the password of an encrypted file.", show_default=False
    ),
]
PasswordFile = Annotated[
    FilePath | None,
    typer.Option(
        metavar="FILE", help="Read that password from a file; DLPCTL_PASSWORD holds it as well."
    ),
]
OnUninspected = Annotated[
    str | None,
    typer.Option(
        metavar="block|warn",
        help="What it means that a part of a file cannot be read, such as a picture.",
    ),
]
BeforeAfter = Annotated[
    FilePath | None,
    typer.Option(
        metavar="FOLDER",
        help="Draw the pages of a PDF that masking changed, before and after, for your eyes.",
    ),
]
