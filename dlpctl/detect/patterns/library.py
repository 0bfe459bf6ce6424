"""Find, read and check pattern files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlpctl.detect.patterns.model import Pattern
from dlpctl.errors import PatternError, did_you_mean
from dlpctl.system.regular import read_regular

if TYPE_CHECKING:
    from dlpctl.detect.patterns.syntax import Fragments
    from dlpctl.mappings import Source

_KEYS = ("pattern", "fragments")


def builtin_files() -> list[Path]:
    """Return the files of the library, in a stable order."""
    import dlpctl_patterns

    root = Path(dlpctl_patterns.__path__[0])
    return sorted(
        file
        for folder in ("pii", "phi", "financial", "secrets")
        for file in (root / folder).glob("*.toml")
    )


def load_patterns(files: Iterable[Path], *, check_regexes: bool = False) -> list[Pattern]:
    """Return the patterns of all files; their ids must be unique.

    The mistakes of all files are raised together. Mistakes in regexes are included only on request,
    since finding them costs more than reading the files.
    """
    patterns: list[Pattern] = []
    problems: list[str] = []
    for file in files:
        try:
            patterns += read_file(file, check_regexes=check_regexes)
        except PatternError as problem:
            problems += problem.problems or [problem.message]
    if problems:
        raise PatternError("; ".join(problems), problems)
    unique(patterns)
    return patterns


def unique(patterns: Iterable[Pattern]) -> None:
    """Raise `PatternError` for ids that are used twice."""
    seen: dict[str, Pattern] = {}
    problems = [
        f"{pattern.source}: pattern '{pattern.id}': id is already used in "
        + ("the same file" if first.source == pattern.source else first.source)
        for pattern in patterns
        if (first := seen.setdefault(pattern.id, pattern)) is not pattern
    ]
    if problems:
        raise PatternError("; ".join(problems), problems)


def read_file(file: Path, *, check_regexes: bool = False) -> list[Pattern]:
    source = f"{file.parent.name}/{file.name}" if file.parent.name else file.name
    import tomllib

    try:
        text = read_regular(file).decode("utf-8-sig")
        content = tomllib.loads(text)
    except OSError as problem:
        raise PatternError(f"{file}: cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise PatternError(f"{source}: is not UTF-8 at byte {problem.start}") from None
    except tomllib.TOMLDecodeError as problem:
        raise PatternError(f"{source}: is not TOML: {problem}") from None
    except RecursionError:
        raise PatternError(f"{source}: is not TOML: it is nested too deeply") from None
    return parse_file(content, source, text, check_regexes=check_regexes)


def custom_patterns(tables: Sequence[Mapping[str, Any]], source: str) -> list[Pattern]:
    """Return a policy's own patterns, in the format of the pattern files."""
    return parse_file({"pattern": list(tables)}, source)


def parse_file(
    content: Mapping[str, Any], source: str, text: str = "", *, check_regexes: bool = False
) -> list[Pattern]:
    """Return the patterns of a file, or of a policy's `customPatterns` as `{"pattern": [...]}`.

    All mistakes are raised together, with their lines in `text`.
    """
    from dlpctl.detect.patterns.parse import parse_pattern
    from dlpctl.mapping_lines import toml_lines
    from dlpctl.mappings import Source

    read = Source(source, PatternError, cache(lambda: toml_lines(text)))
    for key in content:
        if key not in _KEYS:
            read.fail(key, f"there is no such key{did_you_mean(key, _KEYS)}")
    fragments = _fragments(content.get("fragments", {}), read)
    tables = content.get("pattern", [])
    if (
        not isinstance(tables, Sequence)
        or isinstance(tables, str)
        or not all(isinstance(t, dict) for t in tables)
    ):
        read.fail("pattern", "must be a list of tables; write [[pattern]]")
        tables = []
    patterns: list[Pattern] = []
    ids: set[str] = set()
    for index, table in enumerate(tables):
        patterns.append(parse_pattern(table, read, index, fragments, check_regexes=check_regexes))
        if (taken := table.get("id")) and str(taken) in ids:
            where = read.where(f"pattern[{index}].id")
            read.problems.add(f"{where}: pattern '{taken}': id is already used in the same file")
        ids.add(str(taken))
    read.problems.raise_any()
    return patterns


def _fragments(table: object, read: Source) -> Fragments:
    from dlpctl.detect.patterns.syntax import Fragments

    if not isinstance(table, dict):
        read.fail("fragments", "must be a table of texts")
        table = {}
    regexes: dict[str, str] = {}
    for name, value in table.items():
        regexes[name] = _fragment(value, f"fragments.{name}", regexes, read)
    lists = {name: value for name, value in table.items() if isinstance(value, list)}
    return Fragments(regexes, lists)


def _fragment(value: object, path: str, above: Mapping[str, str], read: Source) -> str:
    """Return the regex of a fragment: its text with the fragments `above` inserted, or any of a
    list of words, case ignored, in which a hyphen is any joint or none.
    """
    from dlpctl.detect.patterns.syntax import put_in, unknown_fragment

    if isinstance(value, str):
        return put_in(value, above, lambda name: read.fail(path, unknown_fragment(name, "above")))
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        written = (r"[ _.-]?".join(map(re.escape, word.split("-"))) for word in value)
        return f"(?i:{'|'.join(written)})"
    read.fail(path, "must be a text or a list of texts")
    return "x"
