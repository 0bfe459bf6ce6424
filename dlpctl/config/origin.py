"""Who set a value."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class Layer(StrEnum):
    """From the weakest to the strongest."""

    DEFAULT = "default"
    PROJECT = "project"
    USER = "user"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class Origin(NamedTuple):
    """`name` is a file, a variable or a flag; `folder` is what relative paths in the value are
    relative to.
    """

    layer: Layer
    name: str
    folder: Path

    def place(self, key: str) -> str:
        """How an error names a key that was set here."""
        return f"{self.name}: {key}" if self.layer in (Layer.PROJECT, Layer.USER) else self.name


DEFAULT = Origin(Layer.DEFAULT, "default", Path())
