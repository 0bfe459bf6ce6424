"""A filter that masks values in log records before a handler writes them."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from dlpctl.errors import DlpctlError
from dlpctl.preflight import Checker

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
_WITHHELD = "[withheld by dlpctl: the record cannot be inspected]"


class MaskingFilter(logging.Filter):
    """Add it to a handler: `handler.addFilter(MaskingFilter(checker))`."""

    def __init__(self, checker: Checker) -> None:
        super().__init__()
        self._checker = checker

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            message = str(record.msg)
        record.msg, record.args = self._masked(message), ()
        if record.exc_info and record.exc_info[0] is not None:
            lines = traceback.format_exception(*record.exc_info)
            record.exc_text, record.exc_info = self._masked("".join(lines).rstrip()), None
        elif record.exc_text:
            record.exc_text = self._masked(record.exc_text)
        for name, value in vars(record).items():
            if name not in _STANDARD:
                setattr(record, name, self._value(value))
        return True

    def _value(self, value: Any) -> Any:
        """Return a masked value that a caller passed as `extra`."""
        if isinstance(value, str):
            return self._masked(value)
        if isinstance(value, list | tuple | set | frozenset):
            return [self._value(each) for each in value]
        if isinstance(value, dict):
            return {self._value(key): self._value(each) for key, each in value.items()}
        return value if isinstance(value, int | float | None) else self._masked(str(value))

    def _masked(self, text: str) -> str:
        try:
            return self._checker.mask(text)
        except DlpctlError:
            return _WITHHELD
