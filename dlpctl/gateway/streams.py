"""Restore values in streams, event by event: only text that may still become a token is held
back.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.errors import InputError
from dlpctl.gateway import jsonbody
from dlpctl.gateway.jsonbody import Leaf, Splice, Step, escaped, path_of
from dlpctl.gateway.restoring import RestoredText, Restorer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dlpctl.gateway.protocol import Delta, Shape

_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINES = re.compile(rb"(?>\r\n|\n|\r)")
_MAY_OPEN = re.compile(
    rb"[<`&%\\]|\[(?:[ \t]|\xc2\xa0|\xe2\x80\x8b){0,3}[A-Za-z\"]|\xef\xbc\x9c", re.DOTALL
)
"""Every character that may open a token in a text of JSON; see `masking.unmask`."""
_MAY_OPEN_TEXT = re.compile(r"[<`&%\\\uff1c]|\[[ \t\xa0\u200b]{0,3}[A-Za-z\"]")
"""Every character that may open a token in a decoded text."""
_PATH = re.compile(r"\[\]|[^.\[\]]+")
_LARGEST_EVENT = 32 << 20
_ALL = object()
_MOST_HELD = 256
"""The number of events that may wait for one text; after that, it passes unchanged."""


class Text(NamedTuple):
    """A text of an event, wherever its JSON contains it."""

    path: str
    steps: tuple[Step, ...]
    text: str


class _Slot:
    """A text of an event, as far as it is known."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.parts: list[str] = []
        self.is_open = False


class _Event:
    """An event that may wait for the rest of its texts."""

    def __init__(self, raw: bytes, data: str = "") -> None:
        self.raw = raw
        self.data = data
        self.slots: list[_Slot] = []

    @property
    def is_open(self) -> bool:
        return any(slot.is_open for slot in self.slots)


class _Channel:
    """A text that arrives in pieces, one slot after the other."""

    def __init__(self, text: RestoredText) -> None:
        self.text = text
        self.slot: _Slot | None = None

    def feed(self, slot: _Slot) -> None:
        held = self.text.held
        new = self.text.feed(slot.text.text)
        if self.slot is not None:
            if held and new.startswith(held):  # it was not a token, and stays in its event
                self.slot.parts.append(held)
                new = new[len(held) :]
            self.slot.is_open = False
        slot.parts.append(new)
        slot.is_open = bool(self.text.held)
        self.slot = slot

    @property
    def is_open(self) -> bool:
        """True if later pieces may depend on earlier ones."""
        return self.text.is_open

    def finish(self) -> None:
        if self.slot is not None:
            self.slot.parts.append(self.text.finish())
            self.slot.is_open = False
            self.slot = None


class Splitter:
    """Splits bytes into events: server-sent events or JSON lines."""

    def __init__(self, *, is_lines: bool) -> None:
        self._is_lines = is_lines
        self._end = _LINES if is_lines else _BLANK_LINE
        self._buffer = bytearray()
        self._searched = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the complete events."""
        self._buffer += chunk
        if len(self._buffer) > _LARGEST_EVENT:
            raise InputError("an event of the stream is too large")
        position = 0
        while match := self._end.search(self._buffer, max(position, self._searched)):
            yield bytes(self._buffer[position : match.end()])
            position = match.end()
        del self._buffer[:position]
        self._searched = max(len(self._buffer) - 3, 0)

    def rest(self) -> bytes:
        rest = bytes(self._buffer)
        self._buffer.clear()
        return rest

    def data(self, event: bytes) -> str:
        """Return the data of an event; empty if it has none."""
        try:
            text = event.decode("utf-8")
        except UnicodeDecodeError:
            return ""
        if self._is_lines:
            return text.strip()
        values = [line[5:] for line in _text_lines(text) if line.startswith("data:")]
        return "\n".join(value.removeprefix(" ") for value in values).strip()


class EventStream:
    """The events of one answer: server-sent events or JSON lines."""

    def __init__(self, shape: Shape, restorer: Restorer, *, is_lines: bool = False) -> None:
        self._shape = shape
        self._restorer = restorer
        self._is_plain = not restorer.is_needed
        self._splitter = Splitter(is_lines=is_lines)
        self._channels: dict[tuple[Any, ...], _Channel] = {}
        self._waiting: deque[_Event] = deque()
        self._passed = bytearray()
        """The events that precede the waiting ones and may pass."""
        self.ids: list[str] = []
        """The ids that later requests may refer to."""

    def feed(self, chunk: bytes) -> bytes:
        """Take bytes and return those that may pass."""
        if self._is_plain:
            return chunk
        for raw in self._splitter.feed(chunk):
            self._take(raw)
        return self._ready()

    def finish(self) -> bytes:
        """Return everything that was held back at the end of the stream."""
        if rest := self._splitter.rest():
            self._take(rest)
        self._finish_all()
        return self._ready()

    def _ready(self) -> bytes:
        if len(self._waiting) > _MOST_HELD:
            self._finish_all()
        parts = [bytes(self._passed)]
        self._passed.clear()
        while self._waiting and not self._waiting[0].is_open:
            parts.append(self._written(self._waiting.popleft()))
        return b"".join(parts)

    def _finish_all(self) -> None:
        for channel in self._channels.values():
            channel.finish()
        self._channels.clear()

    def _passes(self, raw: bytes) -> bool:
        """Return whether an event may pass unread: nothing is held back, and it has no token."""
        return not (
            self._waiting
            or self._restorer.surrogates is not None
            or _MAY_OPEN.search(raw)
            or (self._shape.kept and b'"id"' in raw)
        )

    def _take(self, raw: bytes) -> None:
        if self._passes(raw):
            self._passed += raw
            return
        event = _Event(raw, self._splitter.data(raw))
        self._waiting.append(event)
        if not event.data or event.data == "[DONE]":
            if event.data:
                self._finish_all()
            return
        try:
            document = jsonbody.parsed(event.data)
        except InputError:
            return
        self._note_ids(document)
        for text in texts(document):
            if self._may_change(text.text):
                self._restore(event, text, document)
        for key in ended(self._shape, document):
            for identity in [each for each in self._channels if key in (_ALL, each[0])]:
                self._channels.pop(identity).finish()

    def _may_change(self, text: str) -> bool:
        """Return whether a text may contain a token, or the rest of one that is held back."""
        return bool(
            self._channels or self._restorer.surrogates is not None or _MAY_OPEN_TEXT.search(text)
        )

    def _restore(self, event: _Event, text: Text, document: Any) -> None:
        delta = delta_of(self._shape, text, document)
        slot = _Slot(text)
        if delta is not None:
            identity = identity_of(delta, text, document)
            channel = self._channels.get(identity)
            if channel is None:
                restored = RestoredText(self._restorer, in_json=delta.is_json)
                channel = self._channels[identity] = _Channel(restored)
            channel.feed(slot)
            if not channel.is_open:
                del self._channels[identity]
            event.slots.append(slot)
        elif text.path not in self._shape.answer_opaque:
            in_json = text.path in self._shape.answer_json
            slot.parts.append(self._restorer.text(text.text, in_json=in_json))
            event.slots.append(slot)

    def _note_ids(self, document: Any) -> None:
        for path in self._shape.kept:
            found = jsonbody.at(document, path_parts(path))
            if isinstance(found, str) and found not in self.ids:
                self.ids.append(found)

    def _written(self, event: _Event) -> bytes:
        changed = {
            slot.text.steps: (slot.text.text, new)
            for slot in event.slots
            if (new := "".join(slot.parts)) != slot.text.text
        }
        if not changed:
            return event.raw
        splices = []
        for leaf in jsonbody.leaves(event.data):
            given, new = changed.get(leaf.steps, ("", ""))
            if new != given == leaf.text and not leaf.is_key:
                splices.append(Splice(leaf.start, leaf.end, escaped(new)))
        data = jsonbody.spliced(event.data, splices)
        text = event.raw.decode("utf-8")
        if event.data in text:
            return text.replace(event.data, data, 1).encode("utf-8")
        others = [line for line in _text_lines(text) if line and not line.startswith("data:")]
        lines = [*others, *(f"data: {line}" for line in data.split("\n")), "", ""]
        return "\n".join(lines).encode("utf-8")


def texts(document: Any) -> Iterator[Text]:
    """Yield the texts of an event in order, without its keys."""
    waiting: list[tuple[str, tuple[Step, ...], Any]] = [("", (), document)]
    while waiting:
        path, steps, value = waiting.pop()
        if isinstance(value, str):
            yield Text(path, steps, value)
        elif isinstance(value, dict):
            waiting += [
                (path_of(path, key), (*steps, key), each)
                for key, each in reversed(value.items())
                if isinstance(each, str | dict | list)
            ]
        elif isinstance(value, list):
            path = f"{path}[]"
            last = len(value) - 1
            waiting += [(path, (*steps, at), value[at]) for at in range(last, -1, -1)]


def delta_of(shape: Shape, leaf: Leaf | Text, document: Any) -> Delta | None:
    """Return the delta for a leaf of an event; None if it is not a delta."""
    event_type = document.get("type") if isinstance(document, dict) else None
    named = shape.deltas.get(f"{leaf.path} {event_type}") or shape.deltas.get(leaf.path)
    return named or shape.any_delta


def identity_of(delta: Delta, leaf: Leaf | Text, document: Any) -> tuple[Any, ...]:
    """Return the identity of a delta's text, starting with the key of its block."""
    keys = [jsonbody.at(document, _steps(path, leaf.steps)) for path in delta.keys]
    return (*keys[:1], leaf.path, *keys[1:])


def ended(shape: Shape, document: Any) -> Iterator[Any]:
    """Yield the keys of the blocks that an event ends; `_ALL` for all of them."""
    for end in shape.ends:
        for steps, value in all_at(document, path_parts(end.path), ()):
            if str(value) in end.values if end.values else value not in (None, False, ""):
                yield jsonbody.at(document, _steps(end.key, steps)) if end.key else _ALL


def _text_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def path_parts(path: str) -> list[str]:
    """Return the keys of a path, with `[]` for arrays."""
    return _PATH.findall(path)


def _steps(path: str, steps: tuple[jsonbody.Step, ...]) -> list[jsonbody.Step]:
    """Return the steps of a path, in the same array elements as the given steps."""
    numbers = iter([step for step in steps if isinstance(step, int)])
    return [next(numbers, 0) if part == "[]" else part for part in path_parts(path)]


def all_at(
    value: Any, parts: list[str], steps: tuple[jsonbody.Step, ...]
) -> Iterator[tuple[tuple[jsonbody.Step, ...], Any]]:
    """Yield what is at a path, in all elements of its arrays."""
    if not parts:
        yield steps, value
    elif parts[0] != "[]":
        if isinstance(value, dict) and parts[0] in value:
            yield from all_at(value[parts[0]], parts[1:], (*steps, parts[0]))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from all_at(each, parts[1:], (*steps, number))
