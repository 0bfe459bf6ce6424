"""Masking in several rounds: each copy is read once, by the verifier, which also masks it again."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.model import Pattern
from dlpctl.files.checking import FileChecker
from dlpctl.formats.isolation import messages
from dlpctl.preflight import checker_for
from dlpctl.types import Category, Decision

if TYPE_CHECKING:
    from workers_here import WorkerHere


def detector(**regexes: str) -> Detector:
    """Return a detector with one pattern for each regex, whose type is its name."""
    return Detector(
        [
            Pattern(
                id=name,
                type=name.upper(),
                category=Category.PII,
                label=name,
                regex=regex,
                score=0.9,
            )
            for name, regex in regexes.items()
        ]
    )


def zipped(text: str) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("a.txt", text)
    return output.getvalue()


def test_a_copy_is_read_once_a_round(workers_here: type[WorkerHere]) -> None:
    read: list[bytes] = []

    class Recording(workers_here):  # type: ignore[valid-type, misc]
        def ask(self, request: messages.Request, seconds: float) -> object:
            if isinstance(request, messages.Extract):
                read.append(request.data)
            return super().ask(request, seconds)

    # What is no value after a digit is one after a mask.
    after = r"[^0-9] (?P<value>{}-[0-9]{{4}})"
    hiding = detector(one="A-[0-9]{4}", two=after.format("B"), three=after.format("C"))
    checker = checker_for("VENDOR", None, hiding, "redact", None)
    files = FileChecker(checker, method=Recording)
    report = files.check(zipped("See A-1234 B-1234 C-1234"), "a.zip")
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert report.masked is not None
    copies = read[1:]
    assert len(copies) == len(set(copies)) == 3
    assert copies[-1] == report.masked
    assert zipfile.ZipFile(io.BytesIO(report.masked)).read("a.txt") == b"See [ONE] [TWO] [THREE]"


def test_a_copy_that_still_holds_a_value_is_blocked(workers_here: type[WorkerHere]) -> None:
    class Forgetful(workers_here):  # type: ignore[valid-type, misc]
        def ask(self, request: messages.Request, seconds: float) -> object:
            if isinstance(request, messages.Mask):
                return messages.Copy(request.data)
            return super().ask(request, seconds)

    checker = checker_for("VENDOR", None, detector(one="A-[0-9]{4}"), "redact", None)
    report = FileChecker(checker, method=Forgetful).check(zipped("See A-1234 of it"), "a.zip")
    assert report.decision is Decision.BLOCKED
    assert report.masked is None
    assert "the masked copy still holds a value" in report.summary
