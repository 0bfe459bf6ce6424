"""The origin of a setting's value."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class Layer(StrEnum):
    """The layers of settings, from the weakest to the strongest."""

    DEFAULT = "default"
    PROJECT = "project"
    USER = "user"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class Origin(NamedTuple):
    """The file, variable or flag `name`; relative paths in the value start at `folder`."""

    layer: Layer
    name: str
    folder: Path

    @property
    def is_file(self) -> bool:
        return self.layer in (Layer.PROJECT, Layer.USER)

    def location(self, key: str) -> str:
        """Return the position of a key in this origin, for an error."""
        return f"{self.name}: {key}" if self.is_file else self.name


DEFAULT = Origin(Layer.DEFAULT, "default", Path())
