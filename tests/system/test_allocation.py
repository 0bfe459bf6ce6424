"""Memory that is freed goes back to the system."""

from __future__ import annotations

import platform
import resource
from array import array
from pathlib import Path

import pytest

from dlpctl.system.allocation import allocate_large_apart

_SIZE = 24 << 20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_arrays_that_grow_in_turns_leave_no_gaps() -> None:
    allocate_large_apart()
    bytearray(_SIZE)  # once it is freed, others of its size would be kept
    before = resident()
    columns: tuple[array[int], array[int]] = array("I"), array("I")
    while len(columns[0]) * 4 < _SIZE // 2:
        for column in columns:
            column.extend(range(1000))
    assert resident() - before < 1.4 * _SIZE
