"""The man page, in the macros of man(7)."""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.cli.outline import Node, describe
from dlpctl.config.loading import OTHER_VARIABLES
from dlpctl.version import __version__

STATUSES = {
    "0": "Nothing was found, or the content is allowed.",
    "1": "Something could not be read or done.",
    "2": "The command was not called as its help says.",
    "10": "Something was masked, or all findings are below the threshold.",
    "20": "There are findings, or the content is blocked.",
    "130": "It was interrupted.",
}


def man_page() -> str:
    program = describe()
    lines = [
        f'.TH DLPCTL 1 "" "dlpctl {__version__}" "User Commands"',
        ".SH NAME",
        f"dlpctl \\- {_roff(_first_small(program.help))}",
        ".SH SYNOPSIS",
        ".B dlpctl",
        ".I COMMAND",
        "[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...",
        ".SH COMMANDS",
        *(line for node in program.walk()[1:] for line in _command(node)),
        ".SH EXIT STATUS",
        *_definitions(STATUSES),
        ".SH ENVIRONMENT",
        *_definitions(OTHER_VARIABLES),
        ".SH EXAMPLES",
        *_examples(program),
        ".SH SEE ALSO",
        ".B dlpctl help",
        "lists the topics that are explained.",
    ]
    return "\n".join(lines) + "\n"


def _command(node: Node) -> Iterator[str]:
    yield f'.SS "dlpctl {" ".join(node.path)}"'
    yield f"{_roff(node.help)}."
    for option in node.options:
        if "--help" in option.names:
            continue
        value = f" \\fI{_roff(option.metavar)}\\fR" if option.metavar else ""
        yield ".TP"
        yield ", ".join(f"\\fB{_roff(name)}\\fR" for name in option.names) + value
        yield _roff(option.help)
    if not node.children:
        yield from (".PP", *_examples(node))


def _examples(node: Node) -> Iterator[str]:
    yield ".nf"
    yield from (_roff(example) for example in node.examples)
    yield ".fi"


def _definitions(meanings: dict[str, str]) -> Iterator[str]:
    for name, meaning in meanings.items():
        yield from (".TP", f"\\fB{_roff(name)}\\fR", _roff(meaning))


def _roff(text: str) -> str:
    """Escape a text: a hyphen is one to copy, and no line starts with a control character."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped[:1] in (".", "\\(aq") else escaped


def _first_small(text: str) -> str:
    return text[:1].lower() + text[1:]
