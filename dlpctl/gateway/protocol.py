"""Protocols as tables: the routes of a provider, and the meaning of the JSON on each of them.

Any field that a table does not name is text. Paths are those of `jsonbody`:
`messages[].content[].text`.
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
    """Nothing, JSON, a form or a text, depending on the content type; the query is inspected,
    too.
    """


class Failure(NamedTuple):
    """A refused request or a failed answer."""

    status: int
    message: str


class Delta(NamedTuple):
    """A text of a stream that arrives in pieces."""

    keys: tuple[str, ...] = ()
    """The paths of the fields that identify its block."""
    is_json: bool = False
    """True if the pieces form a JSON text."""


class End(NamedTuple):
    """The end of a block: the path of the field that signals it."""

    path: str
    key: str = ""
    """The path of the first key of the block; without one, all blocks end."""
    values: frozenset[str] = frozenset()
    """The values of the field that signal the end; without any, all but null and false."""


class Shape(NamedTuple):
    """The meaning of the fields of requests, answers and streams."""

    opaque: frozenset[str] = frozenset()
    """Texts of a request that its provider has signed or sealed."""
    codes: frozenset[str] = frozenset()
    """Identifiers, signatures and sealed content; a value that has another form is a text."""
    media: Mapping[str, str] = {}
    """Pictures, audio and documents: base64, a `data:` URI or a URL, and the name of the sibling
    that gives the media type.
    """
    uploaded: re.Pattern[str] | None = None
    """The URLs of files that were uploaded to the provider, and inspected then."""
    turns: tuple[str, ...] = ()
    """The arrays or texts that hold the turns of a conversation."""
    named: tuple[str, ...] = ()
    """The fields that name a conversation."""
    refers: tuple[str, ...] = ()
    """The fields that refer to an earlier answer."""
    kept: tuple[str, ...] = ()
    """The ids of an answer, or of an event, that later requests may refer to."""
    answer_opaque: frozenset[str] = frozenset()
    """Texts of an answer that stay unchanged, since the client has to send them back."""
    answer_json: frozenset[str] = frozenset()
    """Texts of an answer that are themselves JSON."""
    answer_texts: tuple[str, ...] = ()
    """The texts of an answer that people or tools receive, if answers are inspected."""
    unchanged: Mapping[str, Delta] = {}
    """Texts in pieces that are inspected with the others but never changed."""
    cut: Callable[[Any, Any], bytes] | None = None
    """Returns the end of a stream that is cut, given its first and last events."""
    numbers: tuple[str, ...] = ()
    """The fields that may hold texts encoded as numbers, which cannot be inspected."""
    deltas: Mapping[str, Delta] = {}
    """The paths of texts in pieces; a path may be followed by a space and the event's `type`."""
    any_delta: Delta | None = None
    """The delta for each text of an event that `deltas` does not name; None if it is not a
    delta.
    """
    ends: tuple[End, ...] = ()
    stream_error: Callable[[Failure], bytes] | None = None
    """The event that ends a stream with an error, if it differs from that of the protocol."""


class Route(NamedTuple):
    """A method and path of a provider's API."""

    method: str
    path: str
    """The path, with `{id}` for identifiers."""
    shape: Shape = Shape()
    body: Body = Body.JSON
    query: tuple[str, ...] = ()
    required: Mapping[str, str] = {}
    """Query parameters that must have a certain value."""
    is_raw: bool = False
    """True if the answer is not JSON, such as a file or audio."""
    is_lines: bool = False
    """True if the answer consists of JSON lines."""
    inspected: str = ""
    """The inspected content, described for people."""

    @property
    def pattern(self) -> re.Pattern[str]:
        escaped = re.escape(self.path).replace(r"\{id\}", f"({_ID})")
        return re.compile(escaped)


def server_sent(*documents: Any) -> bytes:
    """Return server-sent events, named after their types if they have one."""
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
    """The API of a provider."""

    name: str
    upstream: str
    """The provider's own URL."""
    routes: tuple[Route, ...]
    error: Callable[[Failure], bytes]
    """Returns the body of an error in the provider's format."""
    error_event: bytes = b"data: %s\n\n"
    """Returns the event that ends a stream with an error."""

    def stream_error(self, failure: Failure) -> bytes:
        return self.error_event % self.error(failure)
