"""Requests that two programs could parse differently are refused, and nothing after them on the
connection is answered.
"""

from __future__ import annotations

import re
import socket

import pytest

_HEAD = b"POST /api/preflight/text HTTP/1.1\r\nHost: localhost\r\n"
_SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
_CHUNKED = (
    _HEAD + b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\nX-Service-API-Key: "
)


def _answers(port, data):
    with socket.create_connection(("127.0.0.1", port), timeout=300) as connection:
        connection.sendall(data)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    return received


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(
            _HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", id="CL.TE"
        ),
        pytest.param(
            _HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", id="TE.CL"
        ),
        pytest.param(_HEAD + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n", id="CL twice"),
        pytest.param(_HEAD + b"Content-Length: 0, 0\r\n\r\n", id="CL list"),
        pytest.param(_HEAD + b"Content-Length: +0\r\n\r\n", id="CL signed"),
        pytest.param(
            _HEAD + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n", id="CL of many digits"
        ),
        pytest.param(_HEAD + b"Content-Length : 0\r\n\r\n", id="space before colon"),
        pytest.param(
            _HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", id="TE twice"
        ),
        pytest.param(_HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", id="TE folded"),
        pytest.param(_HEAD + b"X: a\r\n b\r\n\r\n", id="folded"),
        pytest.param(_HEAD + b"X: a\nContent-Length: 4\r\n\r\n", id="bare LF"),
        pytest.param(_HEAD + b"X: a\rb\r\n\r\n", id="bare CR"),
        pytest.param(_HEAD + b"X: a\0b\r\n\r\n", id="NUL"),
        pytest.param(_HEAD + b"Host: localhost\r\n\r\n", id="Host twice"),
        pytest.param(
            _HEAD.replace(b"/1.1", b"/1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            id="TE in 1.0",
        ),
        pytest.param(
            _HEAD.replace(b"/1.1", b"/1.2") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            id="TE in 1.2",
        ),
        pytest.param(b"GET /healthz\r\n\r\n", id="without a version"),
        pytest.param(
            b"get /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", id="method in lower case"
        ),
    ],
)
def test_ambiguous_headers_close_the_connection(service, request_):
    received = _answers(service.port, request_ + _SMUGGLED)
    assert re.match(rb"HTTP/1.[01] 400 ", received), received[:60]
    assert received.count(b"HTTP/1.") == 1
    assert b"Connection: close" in received


def test_an_unknown_coding_closes_the_connection(service):
    received = _answers(service.port, _HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + _SMUGGLED)
    assert received.startswith(b"HTTP/1.1 501 ")
    assert received.count(b"HTTP/1.") == 1


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(b"5\r\n     X\r\n0\r\n\r\n", id="longer than its size"),
        pytest.param(b"5\n     \r\n0\r\n\r\n", id="bare LF"),
        pytest.param(b"\r\n5\r\n     \r\n0\r\n\r\n", id="empty line"),
        pytest.param(b"5\r\n     \r\n\r\n0\r\n\r\n", id="empty line between chunks"),
        pytest.param(b"0x5\r\n     \r\n0\r\n\r\n", id="0x"),
        pytest.param(b"-5\r\n     \r\n0\r\n\r\n", id="signed"),
        pytest.param(b"5 \r\n     \r\n0\r\n\r\n", id="space"),
        pytest.param(b"f" * 16 + b"\r\n", id="size of many digits"),
        pytest.param(b"5;" + b"x" * 2_000 + b"\r\n     \r\n0\r\n\r\n", id="long extension"),
        pytest.param(b"5;\x01\r\n     \r\n0\r\n\r\n", id="invalid extension"),
        pytest.param(b"0\r\n" + b"X: y\r\n" * 2_000 + b"\r\n", id="long trailer"),
        pytest.param(b"0\r\nX y\r\n\r\n", id="invalid trailer"),
        pytest.param(b"1" * 2_000, id="line without an end"),
    ],
)
def test_ambiguous_chunks_close_the_connection(service, victim, chunks):
    head = _CHUNKED + victim.key.encode() + b"\r\n\r\n"
    received = _answers(service.port, head + chunks + _SMUGGLED)
    assert re.match(rb"HTTP/1.[01] 400 ", received), received[:200]
    assert received.count(b"HTTP/1.") == 1


def test_a_request_that_was_refused_ends_the_connection(service):
    received = _answers(service.port, b"nonsense\r\n\r\n" + _SMUGGLED * 3)
    assert received.count(b"HTTP/1.") == 1
