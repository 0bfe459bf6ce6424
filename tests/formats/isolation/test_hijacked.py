"""A process that a hostile file took over sends arbitrary messages: its parent survives, executes
none of them, and blocks the file.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
import struct
import sys
from array import array
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.interface import Child, Limits, NotThisFormatError, Uninspected
from dlpctl.formats.isolation.messages import (
    REPLY,
    Copy,
    Joined,
    Located,
    Reading,
    Refusal,
    Texts,
    document_of,
    error_of,
)
from dlpctl.formats.locators import Cells, Escapes, Items, Lines, Units
from dlpctl.formats.worker import Worker
from dlpctl.processes import schema
from dlpctl.processes.schema import InvalidMessageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMITS = Limits(memory_bytes=300 << 20, seconds=300)
UNTRUSTED = "cannot be trusted"
_TAKE_OVER = """
import os, struct, sys, time
if any("dlpctl.formats" in argument for argument in sys.orig_argv):
    def say(message):
        os.write(1, message)
    def frame(message):
        return struct.pack("<Q", len(message)) + message
    exec(open({code!r}).read())
    os._exit(0)
"""


@pytest.fixture
def hijack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Run code in every worker process that starts from here on, in place of what it should run."""
    code = tmp_path / "code.py"
    folder = tmp_path / "startup"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_TAKE_OVER.format(code=str(code)))
    monkeypatch.syspath_prepend(folder)
    return lambda source: code.write_text(source) and None


def refused(match: str, seconds: float = 300) -> None:
    with Worker(LIMITS, "spawn") as process, pytest.raises(FormatError, match=match) as error:
        process.extract("gzip", b"", LIMITS, None, seconds)
    assert type(error.value) is FormatError


class Evil:
    def __init__(self, *call: Any) -> None:
        self._call = call

    def __reduce__(self) -> tuple[Any, ...]:
        return self._call[0], self._call[1:]


def pickles(marker: Path) -> list[bytes]:
    """Pickles that leave a mark when something loads them, or when something uses what they hold."""
    from dlpctl.formats.verify import Verifier

    code = f"__import__('pathlib').Path({str(marker)!r}).touch()"
    limits = Limits(memory_bytes=code)  # type: ignore[arg-type]
    return [
        pickle.dumps(("", value), protocol=protocol)
        for protocol in (0, 2, 5)
        for value in (Evil(eval, code), Evil(Verifier, "gzip", limits), Evil(exec, code))
    ]


def test_a_pickle_runs_no_code(hijack: Callable[[str], None], tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for message in pickles(marker):
        for header in ("<Q", "!Q"):
            hijack(f"say(struct.pack({header!r}, {len(message)}) + {message!r}); time.sleep(0.5)")
            refused(UNTRUSTED)
    assert not marker.exists()


def reply(value: object) -> bytes:
    return schema.encode(REPLY, value)


def reading(**changed: Any) -> Reading:
    return Reading(["text"], ["place"], [""], [], [], [], [], [])._replace(**changed)


def view(*pieces: tuple[int, int, int], separators: list[str] | None = None) -> list[Joined]:
    segments, starts, ends = (array("q", [each[at] for each in pieces]) for at in range(3))
    apart = [""] * (len(pieces) + 1) if separators is None else separators
    return [Joined("view", "", False, segments, starts, ends, apart)]


MESSAGES: dict[str, bytes] = {
    "nothing": b"",
    "an unknown tag": b"?",
    "a tag alone": b"d",
    "the answer to another question": reply(Copy(b"x")),
    "texts in place of a document": reply(Texts(["x"])),
    "bytes after the message": reply(reading()) + b"x",
    "a message that is cut off": reply(reading())[:-1],
    "a list in a list": b"d" + struct.pack("<Q", 1) * 9,
    "an unknown refusal": reply(Refusal(9, "x")),
    "a refusal below zero": reply(Refusal(-1, "x")),
    "a refusal that a terminal obeys": b"x"
    + struct.pack("<q", 0)
    + schema.encode(schema.TEXT, "\x1b[2J"),
    "a refusal of many lines": b"x" + struct.pack("<q", 0) + schema.encode(schema.TEXT, "a\nb"),
    "segments without places": reply(reading(locations=[])),
    "segments without labels": reply(reading(contexts=["", ""])),
    "a view of no segment": reply(reading(views=view((1, 0, 1)))),
    "a view beyond its segment": reply(reading(views=view((0, 0, 5)))),
    "a view that goes back": reply(reading(views=view((0, 3, 1)))),
    "a view without separators": reply(reading(views=view((0, 0, 1), separators=[]))),
    "a view with too many separators": reply(reading(views=view((0, 0, 1), separators=[""] * 3))),
    "views that multiply the text": reply(
        reading(texts=["x" * 1_000_000], views=view((0, 0, 1_000_000)) * 1_000)
    ),
    "views that multiply it and then take back": reply(
        reading(
            texts=["x" * 1_000_000],
            views=view(*[(0, 0, 1_000_000)] * 1_000, *[(0, 1_000_000, 0)] * 1_000),
        )
    ),
    "cells without places": reply(
        reading(located=[Located(0, Cells("a", array("q"), array("q"), array("q")))])
    ),
    "lines of half an escape": reply(
        reading(
            located=[Located(0, Lines(Escapes(array("q", [0]), *[array("q")] * 3), array("q")))]
        )
    ),
    "cells without columns": reply(
        reading(located=[Located(0, Cells("a", array("q", [0]), array("q", [1]), array("q")))])
    ),
    "items without numbers": reply(
        reading(located=[Located(0, Items("record", array("q", [0]), array("q"), []))])
    ),
}


@pytest.mark.parametrize("what", MESSAGES)
def test_invalid_messages_end_the_worker_and_block_the_file(
    what: str, hijack: Callable[[str], None]
) -> None:
    message = MESSAGES[what]
    hijack(
        f"sys.stdout.buffer.write(frame({message!r})); sys.stdout.buffer.flush(); time.sleep(60)"
    )
    refused(UNTRUSTED)


@pytest.mark.parametrize("length", [1 << 28, 1 << 40, 1 << 62, (1 << 64) - 1])
def test_an_oversized_length_is_refused(length: int, hijack: Callable[[str], None]) -> None:
    hijack(f"say(struct.pack('<Q', {length})); time.sleep(60)")
    refused(UNTRUSTED)


@pytest.mark.parametrize(
    "sent", [b"", b"\0\0\0", struct.pack("<Q", 100), struct.pack("<Q", 100) + b"x" * 99]
)
def test_a_frame_that_is_cut_off_is_a_crash(sent: bytes, hijack: Callable[[str], None]) -> None:
    hijack(f"say({sent!r})")
    refused("failed")


def test_silence_ends_by_its_deadline(hijack: Callable[[str], None]) -> None:
    hijack("time.sleep(60)")
    refused("longer than", 0.2)


def test_an_endless_stream_ends(hijack: Callable[[str], None]) -> None:
    hijack("say(frame(b'?'))\nwhile True: say(b'x' * 65536)")
    refused(UNTRUSTED)
    hijack("say(struct.pack('<Q', 100 << 20))\nwhile True: say(b'x'); time.sleep(0.01)")
    refused("longer than", 0.3)


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_a_process_that_got_away_cannot_hold_its_parent(
    hijack: Callable[[str], None], tmp_path: Path
) -> None:
    escaped = tmp_path / "escaped"
    hijack(
        "if os.fork() == 0:\n    os.setsid()\n"
        f"    open({str(escaped)!r}, 'w').write(str(os.getpid()))\n    time.sleep(600)\n"
        "time.sleep(60)"
    )
    for seconds in (1, 10, 100):  # until it got away in time
        refused("longer than", seconds)
        if escaped.exists():
            break
    os.kill(int(escaped.read_text()), signal.SIGKILL)


@pytest.mark.parametrize(
    ("kind", "error"), [*enumerate([FormatError, CannotMaskError, NotThisFormatError])]
)
def test_a_refusal_is_one_of_three_errors(kind: int, error: type[FormatError]) -> None:
    made = error_of(Refusal(kind, "reason"))
    assert type(made) is error
    assert made.message == "reason"


SAMPLE = Reading(
    ["first", "second \ud800 \U0001f600", "third", "fourth"],
    ["line 1", "Sheet1", "", ""],
    ["label", "", "", ""],
    [
        Located(0, Units("part", "line", array("q", [0, 3]))),
        Located(2, Lines(Escapes(*[array("q", [1])] * 4), array("q", [3]))),
        Located(1, Cells("Sheet1", array("I", [0]), array("I", [7]), array("I", [3]))),
        Located(3, Items("record", array("q", [0]), array("q", [7]), ["name"])),
    ],
    [*view((0, 0, 5), (1, 0, 6), separators=["", " ", "\n"]), *view()],
    [Uninspected("page 1", "no OCR")],
    [Child("1", "a.txt", b"contents", True)],
    ["One sentence."],
)


def test_a_document_comes_back() -> None:
    document = document_of("xlsx", schema.decode(REPLY, reply(SAMPLE)), 100)
    assert [one.text for one in document.segments] == SAMPLE.texts
    assert document.views[0].text == "first second\n"
    assert document.views[0].pieces_of(3, 9) == [(0, 3, 5), (1, 0, 3)]
    assert [document.place_of(0, 4), document.place_of(1, 4)] == ["part, line 2", "Sheet1!C7"]
    assert document.place_of(3, 4) == "record 7, name"
    assert document.children == SAMPLE.children
    assert document.uninspected == SAMPLE.uninspected


def usable(message: bytes) -> bool:
    """Use a message as the parent does: it is refused, or nothing that it holds can do harm.

    Return whether it is a document.
    """
    try:
        value = schema.decode(REPLY, message)
        if isinstance(value, Refusal):
            assert error_of(value).message.isprintable()
        if not isinstance(value, Reading):
            return False
        document = document_of("xlsx", value, 10_000)
    except InvalidMessageError:
        return False
    for number in range(len(document.segments)):
        for offset in (0, 1, 1 << 40):
            assert isinstance(document.place_of(number, offset), str)
    for each in document.views:
        assert len(each.text) < 10_000 + len(message)
        for piece in each.pieces_of(0, len(each.text)):
            assert 0 <= piece.start < piece.end <= len(document.segments[piece.segment].text)
    return True


@given(st.binary(max_size=500))
def test_random_bytes_do_no_harm(message: bytes) -> None:
    for tag in (b"", b"d", b"c", b"t", b"x"):
        usable(tag + message)


def test_damaged_messages_do_no_harm() -> None:
    originals = reply(SAMPLE), reply(Refusal(0, "a reason"))
    chance = random.Random(1)
    documents = 0
    for turn in range(3_000):
        message = bytearray(originals[turn % 4 == 0])
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(message))
            match chance.randrange(3):
                case 0:
                    message[at] = chance.choice([0, 1, 2, 8, 127, 128, 255, chance.randrange(256)])
                case 1:
                    del message[at : at + chance.randrange(9)]
                case _:
                    message[at:at] = message[at : at + chance.randrange(20)]
        documents += usable(bytes(message))
    assert 100 < documents < 2_000
