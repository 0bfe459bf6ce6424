"""Definitions of what is found, in place of faster code that must find the same."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from dlpctl.detect import search
from dlpctl.detect.derived.columns import Columns
from dlpctl.detect.derived.interface import DerivedText

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def only_the_text() -> Iterator[None]:
    """Search the text itself, and nothing that is derived from it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "derived_texts", lambda *_, **__: [])
        yield


@contextmanager
def cells_one_by_one() -> Iterator[None]:
    """Settle each cell of a column by itself, as any other derived text."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Columns, "settle", DerivedText.settle)
        yield
