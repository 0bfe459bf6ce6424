"""Constants of the product that tests lower, so that a small input reaches them."""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMITS = {
    "dlpctl.formats.ocr._SECONDS": "how long tesseract may take for a page",
}


@contextmanager
def _lowered(name: str, value: Any) -> Iterator[None]:
    assert name in LIMITS, f"say in LIMITS what {name} limits"
    module, _, constant = name.rpartition(".")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(importlib.import_module(module), constant, value)
        yield


@pytest.fixture(scope="session")
def lowered() -> Callable[[str, Any], Any]:
    """Lower a limit within a block."""
    return _lowered
