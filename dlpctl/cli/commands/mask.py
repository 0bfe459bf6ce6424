"""Mask what the policy masks or blocks, and print only the masked content.

If the source pauses, its complete lines are printed immediately.

Examples:
    pbpaste | dlpctl mask | pbcopy
    dlpctl mask contract.docx -o safe.docx
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlpctl.cli import documents, inputs, options
from dlpctl.cli.app import App
from dlpctl.cli.outputs import writing
from dlpctl.cli.session import Session, open_masker
from dlpctl.detect.possible import possible_note
from dlpctl.errors import OutputError, StillExposedError, UsageError

if TYPE_CHECKING:
    from dlpctl.files.report import FileReport
    from dlpctl.formats.contents import FileBytes
    from dlpctl.masking.vault import Vault
    from dlpctl.preflight import Checker

SECTION = ("Content", 2)

app = App()


@app.command(help=__doc__)
def mask(
    content: options.ContentOptions,
    file: options.File = None,
    vault: options.VaultFile = None,
    output: options.OutputFile = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Print to stderr what was masked.")
    ] = False,
) -> None:
    output = None if output == Path(inputs.STDIN) else output
    is_table = file is not None and _is_table(Path(file))
    if is_table and output is None:
        raise UsageError(f"{file}: a Delta table is masked into a new folder: name it with -o")
    if is_table and output is not None and output.exists():
        raise OutputError(f"{output} exists: name a new folder")
    if vault and content.operator not in (None, "token"):
        raise UsageError("--vault restores only tokens: leave out --operator")
    documents.refuse_unwritable(output, force=content.force)
    session = Session.start(content.patterns)
    operator = content.operator or ("token" if vault else None)
    checker = session.checker(
        content.destination, content.policy, operator, content.sensitivity, for_mask=True
    )
    store = session.vault(vault, create=True) if vault else None
    counts: Counter[str] = Counter()
    possible: list[int] = []
    name = file or inputs.STDIN
    head, chunks = (b"", ()) if is_table else inputs.peeked(name, required=file is None)
    documents.refuse_other_format(None if is_table else output, name, head)
    try:
        if is_table:
            assert output is not None
            for report in _masked_table(session, checker, store, content, Path(name), output):
                _count(report, counts)
        elif documents.is_plain(name, head):
            with writing(output) as write:
                for piece in _masked(chunks, checker, store, counts, possible):
                    write(piece)
        else:
            most = session.config.limits.input_bytes
            read = documents.read_file(chunks, most)
            _count(_masked_file(session, checker, store, content, name, read, output), counts)
    except StillExposedError:
        documents.remove_stale(output, name)
        raise
    if left_out := possible_note(sum(possible)):
        sys.stderr.write(f"dlpctl: note: {left_out}\n")
    if stats:
        _print_stats(counts)


def _masked(
    chunks: Iterable[bytes],
    checker: Checker,
    store: Vault | None,
    counts: Counter[str],
    possible: list[int],
) -> Iterator[bytes]:
    for piece in checker.mask_pieces(chunks):
        with open_masker(store, checker) as masker:
            masked = piece.masked(masker)
        counts.update(decided.finding.type for decided in piece.hidden)
        if not possible:
            possible.append(checker.possible(piece.text))
        yield masked.encode("utf-8", "surrogateescape")


def _masked_file(
    session: Session,
    checker: Checker,
    store: Vault | None,
    content: options.ContentOptions,
    name: str,
    read: FileBytes,
    output: Path | None,
) -> FileReport:
    """Mask a file that is not plain text, and write its masked copy."""
    secret = documents.password(ask=content.password, file=content.password_file)
    masking = session.file_checker(checker, content)
    base = Path(name).name
    shown = "stdin" if name == inputs.STDIN else documents.without_values(base, checker)
    with documents.cleaning_up():
        with open_masker(store, checker) as masker, documents.progress(shown) as stage:
            report = masking.mask(read, base, secret, masker=masker, stage=stage)
        assert report.masked is not None
        if output is not None:
            documents.save(report.masked, output, force=content.force)
        elif b"\0" in report.masked and sys.stdout.isatty():
            raise UsageError("the masked copy is not text for a terminal; name a file with -o")
        else:
            with writing(None) as write:
                write(report.masked)
        if content.before_after is not None:
            documents.save_pictures(report, read.data, shown, content.before_after, secret)
    return report


def _is_table(folder: Path) -> bool:
    if not folder.is_dir():
        return False
    from dlpctl.files.deltalog import is_delta

    return is_delta(folder)


def _masked_table(
    session: Session,
    checker: Checker,
    store: Vault | None,
    content: options.ContentOptions,
    folder: Path,
    output: Path,
) -> Iterator[FileReport]:
    """Mask a Delta table; a single masker keeps equal values equal across its files."""
    from dlpctl.files.delta import mask_table

    masking = session.file_checker(checker, content)
    with documents.cleaning_up(), open_masker(store, checker) as masker:
        mask_file = partial(masking.mask, masker=masker)
        yield from mask_table(folder, output, mask_file, session.config.limits)


def _count(report: FileReport, counts: Counter[str]) -> None:
    counts.update({each.type: each.occurrences for each in report.report.detected})


def _print_stats(counts: Counter[str]) -> None:
    total = counts.total()
    listed = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    noun = "value" if total == 1 else "values"
    sys.stderr.write(f"dlpctl: masked {total} {noun}{f': {listed}' if listed else ''}\n")
