"""Measure how the code is written: its words, the sizes of its parts and the cycles of its imports.

Nothing is allowed: what a rule finds is changed, or the rule is, with the reason beside it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
VOCABULARY = Path(__file__).with_name("vocabulary.toml")
PACKAGES = ("dlpctl", "daemon/dlpctl_daemon", "patterns/dlpctl_patterns")
PAGES = ("*.md", ".github/*.md", "daemon/*.md", "patterns/*.md", "dlpctl/cli/topics/*.md")
SUPPORT = ROOT / "tests" / "support"
LONGEST_FUNCTION, LONGEST_MODULE = 60, 400


class Violation(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Text(NamedTuple):
    """A piece of a file that is written for people: prose, an identifier or a docstring."""

    line: int
    content: str
    kind: str


def modules() -> list[Path]:
    return sorted(path for folder in PACKAGES for path in (ROOT / folder).rglob("*.py"))


def pages() -> list[Path]:
    return sorted(path for pattern in PAGES for path in ROOT.glob(pattern))


def data_files() -> list[Path]:
    return sorted(
        path for folder in ("dlpctl", "patterns") for path in (ROOT / folder).rglob("*.toml")
    )


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


# Words


class Rule(NamedTuple):
    say: str
    regex: re.Pattern[str]


def unusual_words() -> Iterator[Violation]:
    """Return every word in the product, its data and its pages that the vocabulary replaces."""
    for path in [*modules(), *pages(), *data_files()]:
        for text in _TEXTS_OF[path.suffix](path):
            for say, word, start in _unusual(text.kind, text.content):
                line = text.line + text.content.count("\n", 0, start)
                yield Violation(name_of(path), line, f"'{word}': say {say}")


@cache  # most names are used many times
def _unusual(kind: str, content: str) -> list[tuple[str, str, int]]:
    """Return what to say, instead of which word, from which position on."""
    is_name = kind == "name"
    found = list(_found(_prose(), _WORD_ENDS.sub(" ", content) if is_name else content))
    if is_name:
        found += _found(_names(), content)
    elif kind == "docstring":
        found += _found(_openings(), content)
    return [(say, match[0], match.start()) for say, match in found]


@cache
def _prose() -> list[Rule]:
    return _rules("prose", "{}", re.IGNORECASE)


@cache
def _names() -> list[Rule]:
    return _rules("name", r"\A(?:{})\Z")


@cache
def _openings() -> list[Rule]:
    return _rules("opening", r"\A(?:{})")


_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


def _rules(kind: str, form: str, flags: int = 0) -> list[Rule]:
    """Return the rules of a kind; the first finds whatever any of the others does."""
    given = tomllib.loads(VOCABULARY.read_text("utf-8"))["rule"]
    rules = [
        Rule(rule["say"], re.compile(form.format(rule[kind]), flags))
        for rule in given
        if kind in rule
    ]
    return [Rule("", re.compile("|".join(rule.regex.pattern for rule in rules), flags)), *rules]


def _found(rules: list[Rule], text: str) -> Iterator[tuple[str, re.Match[str]]]:
    any_of_them, *each = rules
    if any_of_them.regex.search(text):
        for say, regex in each:
            yield from ((say, match) for match in regex.finditer(text))


_WORDS_OF_DATA = re.compile(r'^(?:(?:id|name|label|description) = ".*"|#.*)$', re.MULTILINE)


def texts_of_data(path: Path) -> Iterator[Text]:
    """Yield comments and what users see of patterns and policies."""
    content = path.read_text("utf-8")
    for found in _WORDS_OF_DATA.finditer(content):
        yield Text(content.count("\n", 0, found.start()) + 1, found[0], "prose")


def texts_of_page(path: Path) -> Iterator[Text]:
    yield Text(1, path.read_text("utf-8"), "prose")


def texts_of_module(path: Path) -> Iterator[Text]:
    yield from _comments(path.read_text("utf-8"))
    names: dict[str, int] = {}
    docstrings: set[ast.expr] = set()
    for node in ast.walk(parse(path)):  # an owner before its statements
        if isinstance(body := getattr(node, "body", None), list):
            docstrings.update(each.value for each in body if isinstance(each, ast.Expr))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node in docstrings:
                yield Text(node.lineno, node.value, "docstring")
            elif node.value.count(" ") > 1:  # a message; shorter strings are data
                yield Text(node.lineno, node.value, "prose")
        for name in _defined(node):
            names.setdefault(name, getattr(node, "lineno", 1))
    for name, line in names.items():
        yield Text(line, name, "name")


def _comments(source: str) -> Iterator[Text]:
    """Return the comments of a module whose lines hold an unusual word after a `#`: dividing a
    module into tokens takes most of the time.
    """
    unusual = _prose()[0].regex
    if not any(unusual.search(line, line.find("#")) for line in source.splitlines() if "#" in line):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(token.start[0], token.string, "prose")


_TEXTS_OF = {".py": texts_of_module, ".md": texts_of_page, ".toml": texts_of_data}


def _defined(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case _:
            pass


# Sizes


def long_functions() -> Iterator[Violation]:
    for path in modules():
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    message = f"{node.name} has {lines} lines, more than {LONGEST_FUNCTION}"
                    yield Violation(name_of(path), node.lineno, message)


def long_modules() -> Iterator[Violation]:
    for path in modules():
        lines = path.read_text("utf-8").count("\n")
        if lines > LONGEST_MODULE:
            message = f"{lines} lines, more than {LONGEST_MODULE}"
            yield Violation(name_of(path), 1, message)


# Imports


def import_cycles() -> list[list[str]]:
    """Return the modules of each cycle, with imports for type checking included."""
    import grimp

    graph = grimp.build_graph(
        *(Path(package).name for package in PACKAGES),
        exclude_type_checking_imports=False,
        cache_dir=None,
    )
    upstream = {module: graph.find_upstream_modules(module) for module in graph.modules}
    cycles = {
        frozenset({module} | {other for other in upstreams if module in upstream[other]})
        for module, upstreams in upstream.items()
    }
    return sorted(sorted(cycle) for cycle in cycles if len(cycle) > 1)


# Tests


_PRODUCT = tuple(Path(package).name for package in PACKAGES)


def replaced_attributes() -> Iterator[Violation]:
    """Return where a test replaces something of the product, or what cannot be told from its
    imports. The modules in `tests/support` do so for all tests: limits, faults, additions and
    definitions.
    """
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path.is_relative_to(SUPPORT) or path.is_relative_to(ROOT / "tests" / "training"):
            continue
        imported = _imported_names(parse(path))
        for node in ast.walk(parse(path)):
            for replaced in _replaced(node, imported):
                message = f"replaces {ast.unparse(replaced)} of the product"
                yield Violation(name_of(path), replaced.lineno, message)


def _replaced(node: ast.AST, imported: dict[str, str]) -> Iterator[ast.expr]:
    """Yield what a call or an assignment replaces of the product, or, for a call, may replace."""
    if isinstance(node, ast.Call) and _replaces(node.func):
        if _package_of(node.args[0], imported) in ("", *_PRODUCT):
            yield node.args[0]
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and _package_of(target, imported) in _PRODUCT:
                yield target


def _replaces(function: ast.expr) -> bool:
    """Return whether a function is one of pytest's `MonkeyPatch` or of `unittest.mock`."""
    match function:
        case ast.Attribute(attr="setattr" | "delattr" | "setitem" | "delitem"):
            return True
        case ast.Attribute(value=ast.Name(id="mock"), attr="patch"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="patch")) | ast.Name(id="patch"):
            return True
    return False


def _imported_names(module: ast.Module) -> dict[str, str]:
    """Return the names that a module imports, with what they name."""
    found = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for each in node.names:
                found[each.asname or each.name.split(".")[0]] = each.name
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            match node.targets, node.value:
                case [ast.Name(id=name)], ast.Call(
                    func=ast.Attribute(attr="importorskip"), args=[ast.Constant(value=str(package))]
                ):
                    found[name] = package
    return found


def _package_of(argument: ast.expr, imported: dict[str, str]) -> str:
    """Return the package that holds what is replaced; "" if imports do not tell."""
    match argument:
        case ast.Constant(value=str(name)):
            return name.partition(".")[0]
        case ast.Attribute(value=owner):
            return _package_of(owner, imported)
        case ast.Name(id=name):
            return imported.get(name, "").partition(".")[0]
    return ""


RULES: dict[str, Callable[[], Iterable[object]]] = {
    "vocabulary": unusual_words,
    "long functions": long_functions,
    "long modules": long_modules,
    "import cycles": import_cycles,
    "replaced attributes": replaced_attributes,
}
