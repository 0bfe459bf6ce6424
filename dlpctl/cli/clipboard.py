"""The clipboard, through the platform's own programs, or pyperclip if installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Any, NamedTuple

from dlpctl.errors import InputError

_SECONDS = 10


class _Programs(NamedTuple):
    """The commands that print and set the clipboard."""

    paste: tuple[str, ...]
    copy: tuple[str, ...]
    variable: str = ""
    """The environment variable that shows that they work here."""


_PROGRAMS = (
    _Programs(("wl-paste", "--no-newline"), ("wl-copy",), "WAYLAND_DISPLAY"),
    _Programs(
        ("xclip", "-selection", "clipboard", "-o"), ("xclip", "-selection", "clipboard"), "DISPLAY"
    ),
    _Programs(("xsel", "--clipboard", "--output"), ("xsel", "--clipboard", "--input"), "DISPLAY"),
    _Programs(("pbpaste",), ("pbcopy",)),
    _Programs(("powershell.exe", "-NoProfile", "-Command", "Get-Clipboard -Raw"), ("clip.exe",)),
)


def read() -> str:
    """Return the text on the clipboard."""
    programs = _programs()
    if programs is None:
        return str(_pyperclip().paste())
    return _run(programs.paste, None).decode("utf-8", "surrogateescape")


def write(text: str) -> None:
    """Put text on the clipboard."""
    programs = _programs()
    if programs is None:
        _pyperclip().copy(text)
        return
    # clip.exe accepts Unicode only as UTF-16.
    encoding = "utf-16" if programs.copy[0].endswith(".exe") else "utf-8"
    _run(programs.copy, text.encode(encoding, "surrogateescape"))


def _programs() -> _Programs | None:
    for each in _PROGRAMS:
        if each.variable and not os.environ.get(each.variable):
            continue
        if shutil.which(each.paste[0]) and shutil.which(each.copy[0]):
            return each
    return None


def _run(command: tuple[str, ...], data: bytes | None) -> bytes:
    # A program that holds the clipboard runs on in the background and would keep a pipe open.
    keeps = data is not None
    try:
        ran = subprocess.run(
            command,
            input=data,
            stdout=subprocess.DEVNULL if keeps else subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{command[0]}: no answer within {_SECONDS} seconds") from None
    if ran.returncode:
        raise InputError(f"{command[0]}: the clipboard cannot be used; it may hold no text")
    return ran.stdout or b""


def _pyperclip() -> Any:
    try:
        import pyperclip
    except ImportError:
        wanted = "wl-clipboard or xclip" if sys.platform == "linux" else "pyperclip"
        raise InputError(f"no program for the clipboard was found: install {wanted}") from None
    return pyperclip
