from __future__ import annotations

import sys
from typing import NamedTuple

import pytest

from dlpctl.processes.child import Child, EndedError, spawn
from dlpctl.processes.schema import OneOf, Record, encode


class Request(NamedTuple):
    text: str


class Reply(NamedTuple):
    text: str


REQUEST = Record(Request)
REPLY = OneOf(r=Record(Reply))
LARGER_THAN_A_PIPE = Request("x" * (1 << 20))


def _child(code: str) -> Child[Request]:
    program = f"import struct, sys; message = {encode(REPLY, Reply('refused'))!r}; {code}"
    return spawn((sys.executable, "-c", program), REQUEST, REPLY, 1_000)


def _answered(child: Child[Request]) -> Reply:
    try:
        return child.ask(LARGER_THAN_A_PIPE, 60)
    finally:
        child.end()


def test_the_last_reply_of_a_process_that_reads_no_request_is_received():
    code = "sys.stdout.buffer.write(struct.pack('<Q', len(message)) + message)"

    assert _answered(_child(code)) == Reply("refused")


def test_a_process_that_ends_without_a_reply_has_ended():
    with pytest.raises(EndedError):
        _answered(_child("pass"))
