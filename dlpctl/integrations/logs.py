"""A filter that masks values in log records before a handler writes them."""

from __future__ import annotations

import logging
import traceback

from dlpctl.errors import DlpctlError
from dlpctl.preflight import Checker

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
        return True

    def _masked(self, text: str) -> str:
        try:
            return self._checker.mask(text)
        except DlpctlError:
            return _WITHHELD
