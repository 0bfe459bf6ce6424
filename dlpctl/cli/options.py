"""Options that several commands share. A name means the same in every command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dlpctl import types


class Output(StrEnum):
    HUMAN = "human"
    JSON = "json"


File = Annotated[
    str | None, typer.Argument(metavar="[FILE]", help="A file of any format, or '-' for stdin.")
]
TextFile = Annotated[
    str | None, typer.Argument(metavar="[FILE]", help="A text file, or '-' for stdin.")
]
Destination = Annotated[
    str | None,
    typer.Option(
        "-d", "--destination", metavar="NAME", help="Where it goes: AI_TOOL, VENDOR or CUSTOMER."
    ),
]
Policy = Annotated[
    str | None,
    typer.Option("-p", "--policy", metavar="POLICY", help="A policy file or a built-in policy."),
]
Types = Annotated[
    str | None,
    typer.Option(
        "--types",
        metavar="LIST",
        help="Only these categories, types or patterns, separated by commas.",
    ),
]
OptionalPolicy = Annotated[
    str | None,
    typer.Argument(
        metavar="[POLICY]", help="A policy file or a built-in policy.", show_default=False
    ),
]
Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PATH]...", help="Files and folders to scan; '.' if none."),
]
Operator = Annotated[
    str | None,
    typer.Option(
        "--operator", metavar="NAME", help="How to mask; 'dlpctl help prompts' lists operators."
    ),
]
Patterns = Annotated[
    list[Path] | None,
    typer.Option("--patterns", metavar="FILE", help="Add a pattern file. Repeatable."),
]
Format = Annotated[
    Output,
    typer.Option(
        "-f", "--format", metavar="FORMAT", help="Output format: human or json.", show_default=False
    ),
]
MinScore = Annotated[
    float | None,
    typer.Option(
        "--min-score", metavar="SCORE", min=0.0, max=1.0, help="The lowest score of a finding."
    ),
]
Sensitivity = Annotated[
    types.Sensitivity | None,
    typer.Option(
        metavar="TIER",
        help="How sure a finding must be: high, balanced or low.",
        show_default=False,
    ),
]
OutputFile = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to FILE, not stdout.")
]
VaultFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Mask with tokens; keep values for 'dlpctl unmask'."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing; see the exit status.")]
Confirmed = Annotated[bool, typer.Option("--yes", help="Proceed without asking.")]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Ask this server, e.g. http://127.0.0.1:8686; 'local' asks the database here.",
        show_default=False,
    ),
]
Host = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Listen on ADDRESS; 127.0.0.1 by default.")
]
Port = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, max=65535, help="Listen on port N; 0 takes a free one."),
]
AllowRemote = Annotated[
    bool, typer.Option("--allow-remote", help="Allow an ADDRESS that other machines can reach.")
]
Organization = Annotated[str, typer.Argument(metavar="ORG", help="An organization's id or slug.")]
NewName = Annotated[str | None, typer.Option(metavar="NAME", help="The new name.")]
ExpiresAt = Annotated[
    str | None,
    typer.Option("--expires", metavar="WHEN", help="A day or a time: 2027-01-31, or with T12:00Z."),
]


class ContentOptions(NamedTuple):
    """Settings for deciding on content and masking it; shared by `check` and `mask`."""

    destination: Destination = None
    policy: Policy = None
    operator: Operator = None
    sensitivity: Sensitivity = None
    force: Force = False
    password: Annotated[
        bool,
        typer.Option(
            "--password", help="Ask for the password of an encrypted file.", show_default=False
        ),
    ] = False
    password_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Read the password from FILE; DLPCTL_PASSWORD also works."
        ),
    ] = None
    on_uninspected: Annotated[
        str | None,
        typer.Option(metavar="ACTION", help="If a part cannot be inspected: block or warn."),
    ] = None
    metadata: Annotated[
        str | None,
        typer.Option(metavar="ACTION", help="Metadata of files, such as authors: keep or clean."),
    ] = None
    flatten: Annotated[
        bool,
        typer.Option(
            "--flatten",
            help="Draw a PDF that cannot be masked otherwise as pictures of its pages.",
            show_default=False,
        ),
    ] = False
    before_after: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Draw changed PDF pages, before and after, in FOLDER."),
    ] = None
    patterns: Patterns = None


class AnswerOptions(NamedTuple):
    """The path of the masked copy, and the output format."""

    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the masked copy to FILE, not next to it."
        ),
    ] = None
    form: Format = Output.HUMAN
    findings: Annotated[
        bool, typer.Option("--findings", help="List every finding in the JSON.")
    ] = False
    decision_only: Annotated[
        bool,
        typer.Option("--decision-only", help="Print only the decision; stops as soon as possible."),
    ] = False
    quiet: Quiet = False
