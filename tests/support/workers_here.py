"""Workers that read files in the process of the test: those in processes of their own have tests of
their own, and would only take time elsewhere.
"""

from __future__ import annotations

import threading

import pytest

from dlpctl.errors import DlpctlError
from dlpctl.formats.isolation import messages
from dlpctl.formats.isolation.child import RequestReader
from dlpctl.formats.ocr.seen import ReadPictures, keep
from dlpctl.processes.schema import decode, encode


class WorkerHere:
    """Answers as a worker does, and knows only the pictures that it read or was told of."""

    _turn = threading.Lock()
    """Held by the worker that answers: pictures that are known belong to the process."""

    def __init__(self, memory_bytes: int) -> None:
        self._pictures = ReadPictures(memory_bytes)
        self._reader = RequestReader(memory_bytes, [], self._pictures)

    def ask(self, request: messages.Request, seconds: float) -> object:
        del seconds
        question = decode(messages.REQUEST, encode(messages.REQUEST, request))
        with self._turn:
            keep(self._pictures)
            try:
                answer = self._reader.answer(question)
            except DlpctlError as error:
                answer = messages.refusal_of(error)
        return decode(messages.REPLY, encode(messages.REPLY, answer))

    def end(self) -> int:
        keep(None)
        return 0


@pytest.fixture(scope="session")
def workers_here() -> type[WorkerHere]:
    """The `method` of a checker or of `Files` whose workers are in this process."""
    return WorkerHere
