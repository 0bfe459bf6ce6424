"""The reference of the library in Markdown: its public names, their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

_CLASS = re.compile(r"\b[A-Z]\w*")
_USUAL = {"Callable", "Iterable", "Iterator", "Mapping", "None", "Path", "Self", "Sequence"}


class _AsWritten(str):
    """An annotation or a default that is printed as it is written."""

    __slots__ = ()
    __repr__ = str.__str__


def reference() -> str:
    """Return a section for each public name of the package."""
    import dlpctl
    from dlpctl import aio

    public = {name: getattr(dlpctl, name) for name in dlpctl.__all__ if not name.startswith("_")}
    sections = [_section(name, each, {*public, *_USUAL}) for name, each in public.items()]
    described = (inspect.getdoc(aio) or "").partition("\n")[0]
    calls = _code(f"await aio.{name}(...)" for name in aio.__all__)
    return "\n\n".join([*sections, "## aio", described, calls])


def _section(name: str, public: Any, known: set[str]) -> str:
    blocks = [f"## {name}", inspect.getdoc(public) or ""]
    if not isinstance(public, type):
        blocks.append(_code([_call(name, public)]))
    elif issubclass(public, Enum):
        blocks.append(f"One of {', '.join(f'`{member.value}`' for member in public)}.")
    else:
        if fields := getattr(public, "_fields", ()):
            blocks.append(_code(f"{name}.{field}: {_type_of(public, field)}" for field in fields))
        else:
            blocks += [_code([_call(name, public)]), inspect.getdoc(public.__init__) or ""]
        for member, function in _members(public):
            call = _call(f"{name}.{member}", function)
            if known.issuperset(_CLASS.findall(call)):  # others are of use inside only
                blocks += [_code([call]), inspect.getdoc(function) or ""]
    return "\n\n".join(filter(None, blocks))


def _members(public: type) -> Iterator[tuple[str, Any]]:
    """Yield the methods and properties that a class documents."""
    for name, member in vars(public).items():
        function = member.__func__ if isinstance(member, classmethod) else member
        is_callable = inspect.isfunction(function) or isinstance(function, property)
        if not name.startswith("_") and is_callable and inspect.getdoc(function):
            yield name, function


def _type_of(public: type, field: str) -> str:
    """Return the annotation of a field of a named tuple, which a subclass may have inherited."""
    annotations = (inspect.get_annotations(base) for base in public.__mro__)
    found = next(each[field] for each in annotations if field in each)
    return str(getattr(found, "__forward_arg__", found))


def _call(name: str, function: Any) -> str:
    if isinstance(function, property):
        assert function.fget is not None
        return f"{name}: {inspect.get_annotations(function.fget).get('return', '')}"
    signature = inspect.signature(function)
    parameters = [
        _as_written(each)
        for each in signature.parameters.values()
        if each.name not in ("self", "cls")
    ]
    answer = signature.return_annotation
    returns = answer if answer is signature.empty else _AsWritten(answer)
    return f"{name}{signature.replace(parameters=parameters, return_annotation=returns)}"


def _as_written(parameter: inspect.Parameter) -> inspect.Parameter:
    if parameter.annotation is not parameter.empty:
        parameter = parameter.replace(annotation=_AsWritten(parameter.annotation))
    if isinstance(parameter.default, Enum):
        parameter = parameter.replace(default=_AsWritten(parameter.default))
    return parameter


def _code(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)
