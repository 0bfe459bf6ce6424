"""Walk folders and select files by name, with a reason for each that is skipped."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dlpctl.scan.ignore import Rules
from dlpctl.scan.results import Skip, Why
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File
from dlpctl.system.regular import read_regular, why_not_regular

IGNORE_FILES = (".gitignore", ".dlpctlignore")
_GIT = ".git"


def walk(names: Sequence[str], selection: Selection) -> Iterator[File | Skip]:
    """Yield the files to scan among the named files and folders."""
    for name in _outermost(names):
        try:
            status = Path(name).stat()
        except OSError as problem:
            yield Skip(_shown(name), Why.UNREADABLE, problem.strerror or "")
            continue
        if not stat.S_ISDIR(status.st_mode):
            yield _named_file(name, status, selection)
            continue
        plain = Path(name).as_posix()
        top = "" if plain == "." else f"{plain.rstrip('/')}/"
        yield from _Walk(name, top, selection).folder(name, "", _rules_above(name, selection))


def _named_file(name: str, status: os.stat_result, selection: Selection) -> File | Skip:
    shown = _shown(name)
    if not stat.S_ISREG(status.st_mode):
        return Skip(shown, Why.UNREADABLE, f"{why_not_regular(status.st_mode)}; use '-' for stdin")
    why = selection.why_not_file(Path(name).name, shown, status.st_size)
    return Skip(shown, why) if why else _file(str(Path(name).resolve()), shown, status)


def _file(path: str, shown: str, status: os.stat_result) -> File:
    version = f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size}"
    return File(path, shown, status.st_size, version=version)


def _outermost(names: Sequence[str]) -> Iterator[str]:
    """Yield the names once each, without those below another named folder."""
    locations = [Path(name).absolute() for name in names]
    for number, (name, location) in enumerate(zip(names, locations, strict=True)):
        if location not in locations[:number] and not any(
            other.is_dir() for other in locations if other in location.parents
        ):
            yield name


def _shown(path: str) -> str:
    return path.replace(os.sep, "/") if os.sep != "/" else path


_Layer = tuple[int, Rules]
"""The rules of one ignore file, and the length of the path of its folder."""


class _Walk:
    def __init__(self, root: str, top: str, selection: Selection) -> None:
        self._root = root
        self._top = top
        self._selection = selection

    def folder(
        self, path: str, inside: str, layers: Sequence[_Outer | _Layer]
    ) -> Iterator[File | Skip]:
        """Yield the entries of a folder; `inside` is its path in the tree, with a final slash."""
        stack = [self._entries(path, inside, tuple(layers))]
        while stack:
            for entry in stack[-1]:
                if isinstance(entry, _Folder):
                    stack.append(self._entries(entry.path, entry.inside, entry.layers))
                    break
                yield entry
            else:
                stack.pop()

    def _entries(
        self, path: str, inside: str, layers: tuple[_Outer | _Layer, ...]
    ) -> Iterator[File | Skip | _Folder]:
        try:
            with os.scandir(path) as scanned:
                entries = sorted(scanned, key=_name)
        except OSError as problem:
            yield Skip(
                self._top + inside.rstrip("/") or ".", Why.UNREADABLE, problem.strerror or ""
            )
            return
        selection, top = self._selection, self._top
        if selection.ignore_files:
            for entry in entries:
                if entry.name in IGNORE_FILES and (rules := _read_rules(Path(entry.path))):
                    layers = (*layers, (len(inside), rules))
        for entry in entries:
            relative = inside + entry.name
            try:
                if entry.is_symlink():
                    yield Skip(top + relative, Why.LINK)
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if layers and _ignored(layers, relative, is_folder):
                    yield Skip(top + relative, Why.IGNORED)
                elif is_folder:
                    why = (
                        Why.REPOSITORY
                        if entry.name == _GIT
                        else selection.why_not_folder(relative, top + relative)
                    )
                    if why:
                        yield Skip(top + relative, why)
                    else:
                        yield _Folder(entry.path, f"{relative}/", layers)
                elif not entry.is_file(follow_symlinks=False):
                    yield Skip(top + relative, Why.SPECIAL)
                else:
                    status = entry.stat(follow_symlinks=False)
                    shown = top + relative
                    why = selection.why_not_file(relative, shown, status.st_size)
                    yield Skip(shown, why) if why else _file(entry.path, shown, status)
            except OSError as problem:
                yield Skip(top + relative, Why.UNREADABLE, problem.strerror or "")


class _Folder(NamedTuple):
    path: str
    inside: str
    layers: tuple[_Outer | _Layer, ...]


class _Outer(NamedTuple):
    """The rules of a file above the walked folder, and the path from there."""

    way: str
    rules: Rules


def _ignored(layers: tuple[_Outer | _Layer, ...], path: str, folder: bool) -> bool:
    for layer in reversed(layers):
        if isinstance(layer, _Outer):
            verdict = layer.rules.verdict(layer.way + path, folder=folder)
        else:
            depth, rules = layer
            verdict = rules.verdict(path[depth:], folder=folder)
        if verdict is not None:
            return verdict
    return False


def _rules_above(folder: str, selection: Selection) -> list[_Outer | _Layer]:
    """Return the rules of the parent folders, up to the root of the repository."""
    if not selection.ignore_files:
        return []
    base = Path(folder).resolve()
    root = next(
        (location for location in (base, *base.parents) if os.path.lexists(location / _GIT)), None
    )
    if root is None:
        return []  # outside of a repository, parent folders have no defined end
    between = [
        location for location in base.parents if location == root or root in location.parents
    ]
    locations = [(root / _GIT / "info" / "exclude", root)]
    locations += [
        (location / name, location) for location in reversed(between) for name in IGNORE_FILES
    ]
    return [
        _Outer("" if location == base else f"{base.relative_to(location).as_posix()}/", rules)
        for file, location in locations
        if (rules := _read_rules(file))
    ]


def _read_rules(file: Path) -> Rules | None:
    try:
        return Rules.of_bytes(read_regular(file, follow=False)) or None
    except OSError:
        return None  # the scan reads this file like any other, and reports that it is unreadable


def _name(entry: os.DirEntry[str]) -> bytes:
    return os.fsencode(entry.name)
