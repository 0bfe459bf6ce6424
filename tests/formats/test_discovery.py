"""A format is one module, registered by its existence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dlpctl.detect.engine import Detector
from dlpctl.files.checking import FileChecker
from dlpctl.formats import discovery, quickcheck
from dlpctl.formats.files import Files
from dlpctl.formats.recognition import is_source_text, recognize
from dlpctl.policy.model import Policy
from dlpctl.preflight import Checker
from dlpctl.scan.recognized import recognized
from dlpctl.types import Destination

TOY = '''
"""A toy: a magic, and lines of text with their bits inverted."""
from dlpctl.errors import FormatError
from dlpctl.formats.interface import Document, Piece, Segment, View

MAGIC = b"TOY\\x01"
MOST = 1000


class Toy:
    name = "toy"
    extensions = (".toy",)
    in_process = True

    def sniff(self, head, name):
        return head.startswith(MAGIC)

    def extract(self, data, limits, password=None):
        if len(data) > MOST:
            raise FormatError("the toy is too large")
        segments = [Segment(text(data), "toy")]
        return Document("toy", segments, [View("toy", [Piece(0, 0, len(text(data)))], segments)])

    def mask(self, data, document, edits, children):
        shown = text(data)
        for _, start, end, replacement in sorted(edits, reverse=True):
            shown = shown[:start] + replacement + shown[end:]
        return MAGIC + bytes(255 - byte for byte in shown.encode())

    def read_again(self, data, limits):
        return [text(data)]


def text(data):
    return bytes(255 - byte for byte in data[len(MAGIC):]).decode()


FORMAT = Toy()
'''


def made(text: str) -> bytes:
    return b"TOY\x01" + bytes(255 - byte for byte in text.encode())


@pytest.fixture
def toy(add_format: Callable[[str, str], None]) -> None:
    add_format("toy", TOY)


@pytest.mark.usefixtures("toy")
def test_a_module_that_is_dropped_in_is_a_format(library: Detector) -> None:
    data = made("write to jane.roe@acme.example today")
    assert not is_source_text(data, "a.toy")
    assert recognize(data, "a").name == "toy"
    assert recognized(data, "a").format == "toy"
    report = FileChecker(Checker(library, Policy.builtin(), Destination.VENDOR)).mask(data, "a.toy")
    assert report.masked is not None
    assert report.masked.startswith(b"TOY\x01")
    with Files() as files:
        (segment,) = files.open(report.masked, "a.toy").document.segments
    assert "jane.roe" not in segment.text
    assert segment.text.startswith("write to ")


@pytest.mark.usefixtures("toy")
def test_its_limits_hold(library: Detector) -> None:
    checker = FileChecker(Checker(library, Policy.builtin(), Destination.VENDOR))
    assert "too large" in checker.check(made("words " * 1000), "a.toy").report.summary


def test_the_quick_check_is_that_of_the_formats() -> None:
    generated: dict[str, object] = {}
    exec(discovery.quick_check(), generated)
    assert generated["NAMES"] == quickcheck.NAMES
    assert generated["STARTS"] == quickcheck.STARTS
