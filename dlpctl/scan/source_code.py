"""Recognize source code, in which nearly every name is an author's or a symbol's."""

from __future__ import annotations

from dlpctl.regex import lazy

_SUFFIXES = frozenset((
    "asm", "bas", "bash", "bat", "c", "cc", "cfc", "cl", "clj", "cljs", "cmake", "cob", "coffee",
    "cpp", "cs", "css", "cu", "cxx", "d", "dart", "el", "elm", "erl", "ex", "exs", "f", "f90",
    "fs", "fsx", "go", "gradle", "groovy", "h", "hh", "hpp", "hrl", "hs", "hxx", "inc", "ino",
    "java", "jl", "js", "jsx", "kt", "kts", "less", "lisp", "lua", "m", "mjs", "ml", "mli", "mm",
    "nim", "nix", "pas", "php", "pl", "pm", "proto", "ps1", "pxd", "pxi", "py", "pyi", "pyx", "r",
    "rb", "rkt", "rs", "s", "sass", "sc", "scala", "scm", "scss", "sh", "sol", "swift", "tcl",
    "tf", "ts", "tsx", "v", "vala", "vb", "vhd", "vhdl", "vim", "vue", "zig", "zsh",
))  # fmt: skip
JUDGED = 4096
"""The bytes at the start of a file without a suffix that decide whether the file is a script."""
_STATEMENT = lazy(
    rb"""(?mx)^[ \t]*+(?:
        import[ ][\w.]++(?:[ ]as[ ]\w++)?(?:,[ ][\w.]++)*+;?
        | from[ ][\w.]++[ ]import[ ][\w*(].*+
        | (?:async[ ])?def[ ]\w++\(.*+
        | class[ ]\w++.*[:{]
        | \#[ ]?(?:include|define|ifdef|ifndef|endif|pragma)\b.*+
        | package[ ][\w.]++;?
        | use[ ](?:\w++::.*|strict|warnings);
        | (?:const|let|var|my|our|local|export|readonly|declare)[ ][$@%]?[\w.-]++[ ]?=.*+
        | (?:public|private|protected|static|func|fn|function|sub)[ ]\w.*[({].*+
        | (?:if|elif|while|until|for|switch)[ ]?[\[(!$\w].*(?:;[ ]?(?:do|then)|\{|[)\]][ ]*:)
        | for[ ]\w++[ ]in[ ].*+
        | (?:fi|done|esac|then|do|end|else:?|try:|\}|\};|\);|\]\))
        | [A-Za-z_][\w.]*+\(.*\);?
        | <\?php\b.*+
    )[ \t\r]*+$"""
)
_CODE = 0.25
"""The share of code lines that makes a text source code; comments and blank lines do not count."""
_COMMENT = (b"#", b"//", b"/*", b"*", b"--", b";")


def is_source(name: str, head: bytes) -> bool:
    """Return whether a file is source code: by its suffix, or else by its start."""
    base = name.rpartition("/")[2]
    stem, _, suffix = base.rpartition(".")
    if stem:
        return suffix.lower() in _SUFFIXES
    return head.startswith(b"#!") or _looks_like_code(head[:JUDGED])


def _looks_like_code(head: bytes) -> bool:
    statements = others = 0
    for line in head.split(b"\n"):
        if _STATEMENT.match(line):
            statements += 1
        elif line.strip() and not line.lstrip().startswith(_COMMENT):
            others += 1
    return statements > 0 and statements >= _CODE * (statements + others)
