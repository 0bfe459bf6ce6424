"""Allocation of large memory blocks by the C library."""

from __future__ import annotations

import sys
from contextlib import suppress

_MMAP_THRESHOLD = -3
_LARGE = 1 << 20


def allocate_large_apart() -> None:
    """Let this process, and those forked from it, give large buffers back to the system as soon as
    they are freed.

    Otherwise, glibc soon keeps buffers of up to 32 megabytes for later ones: arrays that grow in
    turns leave gaps of several times their size.
    """
    _call("mallopt", _MMAP_THRESHOLD, _LARGE)


def return_freed_memory() -> None:
    """Give back what smaller objects have left, before other processes are forked with it."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    if sys.platform == "linux":
        import ctypes

        with suppress(AttributeError):  # a C library other than glibc
            getattr(ctypes.CDLL(None), name)(*arguments)
