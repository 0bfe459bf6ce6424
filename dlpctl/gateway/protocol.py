"""Protocols as tables: the routes of a provider, and what the JSON on each of them holds.

Whatever a table does not name is text. Paths are those of `jsonbody`: `messages[].content[].text`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

_ID = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}"


class Body(Enum):
    """The content of a request."""

    NONE = "nothing"
    JSON = "JSON"
    FORM = "form"
    UPLOAD = "upload"
    """The start of a resumable upload of Google, or the file in it."""
    ANY = "any"
    """Nothing, JSON, a form or a text, as its content type says; the query is inspected, too."""


class Failure(NamedTuple):
    """A request that is refused, or an answer that fails."""

    status: int
    message: str


class Delta(NamedTuple):
    """A text of a stream that comes in pieces."""

    keys: tuple[str, ...] = ()
    """The paths of what tells its block from others."""
    is_json: bool = False
    """True if the pieces are those of a JSON text."""


class End(NamedTuple):
    """The end of a block: the path of a field that tells it."""

    path: str
    key: str = ""
    """The path of the first key of the block; all blocks end without one."""
    values: frozenset[str] = frozenset()
    """The values of the field that tell it; any but null and false if there are none."""


class Shape(NamedTuple):
    """The parts of the JSON of requests, answers and streams."""

    opaque: frozenset[str] = frozenset()
    """Texts of a request that its provider has signed or sealed."""
    codes: frozenset[str] = frozenset()
    """Identifiers, signatures and sealed content; a value that looks otherwise is a text."""
    media: Mapping[str, str] = {}
    """Pictures, sounds and documents: base64, a `data:` URI or an address, and the name of the
    sibling that tells the media type.
    """
    uploaded: re.Pattern[str] | None = None
    """The addresses of files that the provider has from uploads, where they were inspected."""
    turns: tuple[str, ...] = ()
    """The arrays or texts with the turns of a conversation."""
    named: tuple[str, ...] = ()
    """The fields that name a conversation."""
    refers: tuple[str, ...] = ()
    """The fields that refer to an earlier answer."""
    kept: tuple[str, ...] = ()
    """The ids of an answer, or of an event, that later requests may refer to."""
    answer_opaque: frozenset[str] = frozenset()
    """Texts of an answer that stay as they are, since the client has to send them back."""
    answer_json: frozenset[str] = frozenset()
    """Texts of an answer that are JSON themselves."""
    answer_texts: tuple[str, ...] = ()
    """The texts of an answer that people or tools get, where answers are inspected."""
    unchanged: Mapping[str, Delta] = {}
    """Texts in pieces that are inspected with the others, but stay as they are."""
    cut: Callable[[Any, Any], bytes] | None = None
    """Writes the end of a stream that is cut, by its first event and the last one."""
    numbers: tuple[str, ...] = ()
    """The fields that may hold encoded texts as numbers, which nobody can inspect."""
    deltas: Mapping[str, Delta] = {}
    """The paths of texts in pieces; a path may be followed by a space and the event's `type`."""
    any_delta: Delta | None = None
    """The delta that each text of an event is which `deltas` does not name; None if it is none."""
    ends: tuple[End, ...] = ()
    stream_error: Callable[[Failure], bytes] | None = None
    """The event that ends a stream with an error, where it is not that of the protocol."""


class Route(NamedTuple):
    """A method and path of a provider."""

    method: str
    path: str
    """With `{id}` for identifiers."""
    shape: Shape = Shape()
    body: Body = Body.JSON
    query: tuple[str, ...] = ()
    required: Mapping[str, str] = {}
    """Parameters of the query that must have a value."""
    is_raw: bool = False
    """True if the answer is no JSON, such as a file or a sound."""
    is_lines: bool = False
    """True if the answer is JSON texts on lines."""
    inspected: str = ""
    """The inspected content, for people."""

    @property
    def pattern(self) -> re.Pattern[str]:
        escaped = re.escape(self.path).replace(r"\{id\}", f"({_ID})")
        return re.compile(escaped)


def server_sent(*documents: Any) -> bytes:
    """Return events with their types as names, where they have one."""
    return b"".join(
        (f"event: {each['type']}\n" if "type" in each else "").encode()
        + b"data: "
        + json.dumps(each).encode()
        + b"\n\n"
        for each in documents
    )


def under(prefix: str, *names: str) -> frozenset[str]:
    """Return the paths of fields below a prefix."""
    return frozenset(f"{prefix}.{name}" for name in names)


def moved(shape: Shape, prefix: str) -> Shape:
    """Return the shape of a request below a prefix."""
    return shape._replace(
        opaque=frozenset(f"{prefix}.{path}" for path in shape.opaque),
        codes=frozenset(f"{prefix}.{path}" for path in shape.codes),
        media={f"{prefix}.{path}": sibling for path, sibling in shape.media.items()},
        turns=(),
        named=(),
    )


class Protocol(NamedTuple):
    """A provider's interface."""

    name: str
    upstream: str
    """The provider's own address."""
    routes: tuple[Route, ...]
    error: Callable[[Failure], bytes]
    """The body of an error, as the provider writes it."""
    error_event: bytes = b"data: %s\n\n"
    """The event of an error that ends a stream."""

    def stream_error(self, failure: Failure) -> bytes:
        return self.error_event % self.error(failure)
