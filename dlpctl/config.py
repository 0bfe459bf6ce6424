from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Allow:
    values: tuple[str, ...] = ()
    regexes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Config:
    allow: Allow = Allow()
    patterns: tuple[Path, ...] = ()
    min_score: float = 0.5
    destination: str = "AI_TOOL"
    policy: str = "default"
    operator: str | None = None
    cache_folder: Path = Path()
    data_folder: Path = Path()


def cache_folder() -> Path:
    home = os.environ.get("DLPCTL_HOME")
    return Path(home or Path.home() / ".cache" / "dlpctl") / "cache"


def load_config() -> Config:
    return Config(cache_folder=cache_folder(), data_folder=cache_folder().parent / "data")
