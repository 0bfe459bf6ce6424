"""Regular expressions that are compiled when they are used first.

Compiling one costs more than importing the module it is in, and a command uses few of all those
that it imports.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic, cast


class _Lazy(Generic[AnyStr]):
    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self._source: tuple[AnyStr, int] = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        attribute = self.__dict__[name] = getattr(re.compile(*self._source), name)
        return attribute


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, later."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))
