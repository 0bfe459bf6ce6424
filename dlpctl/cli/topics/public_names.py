"""The reference of the library in Markdown: its public names, their signatures and docstrings.

It parses the source, so packages that a module needs may be missing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import dlpctl

_TITLES = {
    "dlpctl": "",
    "dlpctl.aio": "aio",
    "dlpctl.frames": "frames",
    "dlpctl.integrations.transport": "integrations.transport",
    "dlpctl.integrations.logs": "integrations.logs",
    "dlpctl.integrations.traces": "integrations.traces",
    "dlpctl.integrations.models": "integrations.models",
}
"""The public modules, with the prefix of their names."""
INSIDE = {
    "Detector": "candidates derived extended findings for_categories for_known known names_wanted"
    " patterns resolved tagged traces triggers widest",
    "TokenStore": "clear items",
    "TableMasker": "judge",
    "MaskingFilter": "filter",
    "MaskingSpanProcessor": "force_flush on_end on_start shutdown",
    "MaskingTransport": "close handle_request",
    "AsyncMaskingTransport": "aclose handle_async_request",
    "Masked": "prepared restorer route",
    "MaskedModels": "ended refusal stream",
}
"""Members that are used only by the library itself, or by the package that a class is for."""
_CLASS = re.compile(r"\b[A-Z]\w*")
_USUAL = {
    *(
        "Any",
        "Callable",
        "False",
        "Iterable",
        "Iterator",
        "Mapping",
        "None",
        "Path",
        "Self",
        "Sequence",
        "True",
    ),
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef


class PublicName(NamedTuple):
    """A name that users import, and the source that defines it."""

    name: str
    definition: _Definition
    source: ast.Module


def public_names(module: str) -> list[PublicName]:
    """Return the names that a public module defines or re-exports."""
    if module == "dlpctl":
        names = [name for name in dlpctl.__all__ if name[0] != "_"]
        return [_found(name, _source(dlpctl.module_of(name))) for name in names]
    tree = _source(module)
    defined = sorted(each.name for each in tree.body if isinstance(each, _Definition))
    names = _listed(tree) or [name for name in defined if name[0] != "_"]
    return [_found(name, tree) for name in names if name in {*defined, *_imported(tree)}]


def _found(name: str, tree: ast.Module) -> PublicName:
    """Return a definition in a module, or in the module that it is imported from."""
    for node in tree.body:
        if isinstance(node, _Definition) and node.name == name:
            return PublicName(name, node, tree)
    return _found(name, _source(_imported(tree)[name]))


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return the names that are imported from modules of the library."""
    return {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dlpctl.")
        for alias in node.names
        if node.module
    }


def reference() -> str:
    """Return a section for each public name of the library."""
    known = {each.name for module in _TITLES for each in public_names(module)} | _USUAL
    parts: list[str] = []
    for module, title in _TITLES.items():
        if title:
            described = ast.get_docstring(_source(module)) or ""
            parts += [f"## {title}", described.partition("\n\n")[0]]
        if module == "dlpctl.aio":
            parts.append(_code(f"await aio.{name}(...)" for name in _listed(_source(module))))
        prefix = f"{title}." if title else ""
        for each in public_names(module):
            level = "###" if title else "##"
            parts += [f"{level} {prefix}{each.name}", *_section(each, known)]
    return "\n\n".join(filter(None, parts))


def _section(public: PublicName, known: set[str]) -> Iterator[str]:
    node = public.definition
    yield ast.get_docstring(node) or ""
    if not isinstance(node, ast.ClassDef):
        yield _code([_call(node.name, node)])
        return
    bodies = [*_bodies(node, public.source)]
    bases = {ast.unparse(base) for each in bodies for base in each.bases}
    if "StrEnum" in bases:
        values = [each.value for each in node.body if isinstance(each, ast.Assign)]
        yield f"One of {', '.join(f'`{ast.literal_eval(value)}`' for value in values)}."
        return
    members = [each for body in bodies for each in body.body]
    decorators = "".join(ast.unparse(each) for each in node.decorator_list)
    if "NamedTuple" in bases or "dataclass" in decorators:
        fields = [each for each in members if isinstance(each, ast.AnnAssign)]
        yield _code(f"{node.name}.{ast.unparse(each.target)}: {_plain(each)}" for each in fields)
    for each in members:
        described = ast.get_docstring(each) if isinstance(each, _Function) else None
        if not isinstance(each, _Function) or each.name in INSIDE.get(node.name, "").split():
            continue
        if each.name == "__init__":
            yield _code([_call(node.name, each).removesuffix(" -> None")])
            yield described or ""
        elif described and each.name[0] != "_":
            yield _code([_call(f"{node.name}.{each.name}", each, known)])
            yield described


def _bodies(node: ast.ClassDef, tree: ast.Module) -> Iterator[ast.ClassDef]:
    """Yield a class after those of its bases that are not public themselves."""
    for base in map(ast.unparse, node.bases):
        local = any(isinstance(each, ast.ClassDef) and each.name == base for each in tree.body)
        if (local or base in _imported(tree)) and base not in dlpctl.__all__:
            found = _found(base, tree)
            assert isinstance(found.definition, ast.ClassDef)
            yield from _bodies(found.definition, found.source)
    yield node


def _call(name: str, function: _Function, known: Iterable[str] | None = None) -> str:
    """Return how a function is called; optional parameters of unknown types are left out."""
    decorators = {ast.unparse(each) for each in function.decorator_list}
    returns = ast.unparse(function.returns) if function.returns else ""
    if decorators & {"property", "cached_property"}:
        return f"{name}: {returns}"
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    written = [_parameter(*each, known) for each in zip(positional, defaults, strict=True)]
    if "staticmethod" not in decorators and positional and positional[0].arg in ("self", "cls"):
        del written[0]
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    named = [*filter(None, (_parameter(*each, known) for each in keywords))]
    star = f"*{arguments.vararg.arg}" if arguments.vararg else "*"
    rest = [star, *named] if named or arguments.vararg else []
    rest += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return f"{name}({', '.join([*filter(None, written), *rest])}) -> {returns}"


def _parameter(given: ast.arg, default: ast.expr | None, known: Iterable[str] | None = None) -> str:
    annotation = ast.unparse(given.annotation) if given.annotation else ""
    if (
        known is not None
        and default is not None
        and not {*known}.issuperset(_CLASS.findall(annotation))
    ):
        return ""
    typed = f"{given.arg}: {annotation}" if annotation else given.arg
    return typed if default is None else f"{typed} = {ast.unparse(default)}"


def _plain(field: ast.AnnAssign) -> str:
    return ast.unparse(field.annotation).strip("'\"")


def _source(module: str) -> ast.Module:
    found = find_spec(module)
    assert found is not None
    assert found.origin is not None
    return ast.parse(Path(found.origin).read_text("utf-8"))


def _listed(tree: ast.Module) -> list[str]:
    """Return the names that `__all__` lists."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def _code(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)
