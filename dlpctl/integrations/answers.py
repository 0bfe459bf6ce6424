"""Answers to masked requests, restored as they arrive. Shared by all integrations."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dlpctl.errors import InputError
from dlpctl.gateway import jsonbody
from dlpctl.gateway.restoring import AnswerKind, RestoredText, Restorer
from dlpctl.gateway.streams import EventStream

if TYPE_CHECKING:
    from dlpctl.gateway.protocol import Route
    from dlpctl.gateway.requests import Prepared, Request

_COMPRESSED = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_OF_THE_BODY = ("content-length", "content-encoding", "transfer-encoding")


class Masked(NamedTuple):
    """A request whose values are masked."""

    body: bytes
    request: Request
    prepared: Prepared

    @property
    def restorer(self) -> Restorer:
        return Restorer(self.prepared.conversation, self.prepared.names)

    @property
    def route(self) -> Route:
        return self.request.route


class RestoredAnswer:
    """An answer that arrives in pieces, and is returned with its values restored."""

    def __init__(
        self,
        masked: Masked,
        status: int,
        headers: Sequence[tuple[str, str]],
        keep: Callable[[list[str]], None],
    ) -> None:
        given = {name.lower(): value for name, value in headers}
        encoding = given.get("content-encoding", "identity").strip().lower()
        answer_kind = AnswerKind.of(masked.route, status, given.get("content-type", ""))
        if encoding not in (*_COMPRESSED, "identity") or not masked.restorer.is_needed:
            answer_kind = AnswerKind.OPAQUE
        self.is_restored = answer_kind not in (AnswerKind.OPAQUE, AnswerKind.OTHER)
        """False if the answer is passed on unchanged, with its headers."""
        self.is_whole = answer_kind is AnswerKind.JSON
        """True if nothing is returned before the end."""
        self.headers = list(headers)
        """The headers that match the restored answer."""
        if not self.is_restored:
            self._pieces: _Pieces = _Unchanged()
            return
        self.headers = [each for each in headers if each[0].lower() not in _OF_THE_BODY]
        if answer_kind is AnswerKind.JSON:
            self._pieces = _Json(masked, keep)
        elif answer_kind is AnswerKind.TEXT:
            self._pieces = _Text(masked.restorer)
        else:
            self._pieces = _Events(masked, keep, is_lines=answer_kind is AnswerKind.LINES)
        if encoding != "identity":
            self._pieces = _Decompressed(self._pieces, _COMPRESSED[encoding])

    def feed(self, chunk: bytes) -> bytes:
        """Take bytes and return those that can be passed on."""
        return self._pieces.feed(chunk)

    def finish(self) -> bytes:
        """Return everything that was held back at the end of the answer."""
        return self._pieces.finish()


class _Pieces(Protocol):
    def feed(self, chunk: bytes) -> bytes: ...

    def finish(self) -> bytes: ...


class _Unchanged:
    def feed(self, chunk: bytes) -> bytes:
        return chunk

    def finish(self) -> bytes:
        return b""


class _Decompressed:
    def __init__(self, following: _Pieces, window: int) -> None:
        self._following = following
        self._decoder = zlib.decompressobj(window)

    def feed(self, chunk: bytes) -> bytes:
        try:
            return self._following.feed(self._decoder.decompress(chunk))
        except zlib.error:
            raise InputError("the answer does not match its content encoding") from None

    def finish(self) -> bytes:
        last = self._following.feed(self._decoder.flush())
        return last + self._following.finish()


class _Json:
    """JSON, restored once it is complete."""

    def __init__(self, masked: Masked, keep: Callable[[list[str]], None]) -> None:
        self._masked = masked
        self._keep = keep
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> bytes:
        self._parts.append(chunk)
        return b""

    def finish(self) -> bytes:
        body = b"".join(self._parts)
        restorer, shape = self._masked.restorer, self._masked.route.shape
        try:
            text = jsonbody.decoded(body)
            document = jsonbody.loads(text)
        except InputError:  # the application's own client reports the error
            return body
        found = [jsonbody.at(document, path.split(".")) for path in shape.kept]
        self._keep([each for each in found if isinstance(each, str)])
        return restorer.json(text, shape).encode("utf-8")


class _Events:
    def __init__(
        self, masked: Masked, keep: Callable[[list[str]], None], *, is_lines: bool
    ) -> None:
        self._stream = EventStream(masked.route.shape, masked.restorer, is_lines=is_lines)
        self._keep = keep
        self._kept = 0

    def feed(self, chunk: bytes) -> bytes:
        ready = self._stream.feed(chunk)
        if len(self._stream.ids) > self._kept:  # before a request can refer to them
            self._kept = len(self._stream.ids)
            self._keep(self._stream.ids)
        return ready

    def finish(self) -> bytes:
        return self._stream.finish()


class _Text:
    """A text whose pieces may end within a character."""

    def __init__(self, restorer: Restorer) -> None:
        self._text = RestoredText(restorer)
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, chunk: bytes) -> bytes:
        return self._encoded(self._text.feed(self._decoder.decode(chunk)))

    def finish(self) -> bytes:
        last = self._text.feed(self._decoder.decode(b"", final=True))
        return self._encoded(last + self._text.finish())

    @staticmethod
    def _encoded(text: str) -> bytes:
        return text.encode("utf-8", "surrogateescape")
