"""What a file is, by how it begins: text, or something that a format must read."""

from __future__ import annotations

_MAGIC = (
    b"%PDF",
    b"{\\rtf",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"SQLite format 3\0",
    b"PAR1",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"II*\0",
    b"MM\0*",
)
_ARCHIVES = (
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
)
_TAR_AT, _TAR = 257, b"ustar"
_ZIPPED = (
    ".docx", ".docm", ".dotx", ".xlsx", ".xlsm", ".xltx", ".pptx", ".pptm", ".odt", ".ods", ".odp", ".epub",
)  # fmt: skip
"""Files that are ZIP underneath and that nobody calls an archive."""

_STRUCTURED = (".csv", ".tsv", ".eml", ".mbox", ".mht", ".mhtml", ".ipynb")
"""Text of which a part is encoded, or labelled by what stands far from it."""
_SOURCES = frozenset(
    [
        "asm",
        "bas",
        "bash",
        "bat",
        "c",
        "cc",
        "cfc",
        "cl",
        "clj",
        "cljs",
        "cmake",
        "cob",
        "coffee",
        "cpp",
        "cs",
        "css",
        "cu",
        "cxx",
        "d",
        "dart",
        "el",
        "elm",
        "erl",
        "ex",
        "exs",
        "f",
        "f90",
        "fs",
        "fsx",
        "go",
        "gradle",
        "groovy",
        "h",
        "hh",
        "hpp",
        "hrl",
        "hs",
        "hxx",
        "inc",
        "ino",
        "java",
        "jl",
        "js",
        "jsx",
        "kt",
        "kts",
        "less",
        "lisp",
        "lua",
        "m",
        "mjs",
        "ml",
        "mli",
        "mm",
        "nim",
        "nix",
        "pas",
        "php",
        "pl",
        "pm",
        "proto",
        "ps1",
        "pxd",
        "pxi",
        "py",
        "pyi",
        "pyx",
        "r",
        "rb",
        "rkt",
        "rs",
        "s",
        "sass",
        "sc",
        "scala",
        "scm",
        "scss",
        "sh",
        "sol",
        "swift",
        "tcl",
        "tf",
        "ts",
        "tsx",
        "v",
        "vala",
        "vb",
        "vhd",
        "vhdl",
        "vim",
        "vue",
        "zig",
        "zsh",
    ]
)


def is_source(name: str) -> bool:
    """Whether a file is source code, by its name."""
    return name.rpartition(".")[2].lower() in _SOURCES


def is_structured(name: str) -> bool:
    """Whether a file is text that its format reads better than eyes do."""
    return name.lower().endswith(_STRUCTURED)


def is_archive(head: bytes, name: str) -> bool:
    if head.startswith(_TAR, _TAR_AT):
        return True
    return head.startswith(_ARCHIVES) and not name.lower().endswith(_ZIPPED)


def is_document(head: bytes, name: str) -> bool:
    """Whether a file must be read by its format to see what is in it."""
    return head.startswith(_MAGIC) or head.startswith(_ARCHIVES) or is_archive(head, name)
