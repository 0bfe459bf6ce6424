"""Regular expressions that are compiled when they are used first.

Compiling one costs more than importing the module it stands in, and a command uses few of all those that it imports.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        attribute = self.__dict__[name] = getattr(re.compile(*self._source), name)
        return attribute


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, later."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
