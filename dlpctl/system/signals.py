"""The signals that end a command, as exceptions that reach it wherever they fall."""

from __future__ import annotations

import _thread
import signal
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_MOMENT = 0.01
"""Seconds in which a callback comes to its end."""
_STATUS = 128


class Interrupted(KeyboardInterrupt):
    """Ctrl-C.

    A plain KeyboardInterrupt that leaves generated code, as that of named tuples is, makes Python
    end the process by the signal, even if it is caught, and the exit status is lost.
    """

    number = signal.SIGINT


class Ended(SystemExit):
    """A signal that ends the process, once all is in order."""

    def __init__(self, number: int) -> None:
        super().__init__(_STATUS + number)
        self.number = signal.Signals(number)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    raise Interrupted


def end(number: int, _frame: FrameType | None) -> None:
    raise Ended(number)


def insist() -> None:
    """Send a signal again whose exception Python has dropped, as it does in callbacks of imports
    and of weak references.
    """
    main, usual = _thread.get_ident(), sys.unraisablehook

    def send(number: signal.Signals) -> None:
        time.sleep(_MOMENT)
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(main, number)
        else:
            _thread.interrupt_main(number)

    def take(dropped: sys.UnraisableHookArgs) -> None:
        problem = dropped.exc_value
        if isinstance(problem, (Interrupted, Ended)):
            _thread.start_new_thread(send, (problem.number,))
        else:
            usual(dropped)

    sys.unraisablehook = take
