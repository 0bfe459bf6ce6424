"""Check the answers of models: a stream is cut before a value that may not pass; in other answers,
such values are masked.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.errors import InputError
from dlpctl.gateway import jsonbody
from dlpctl.gateway.jsonbody import Splice
from dlpctl.gateway.streams import Splitter, delta_of, ended, identity_of
from dlpctl.types import Action

if TYPE_CHECKING:
    from dlpctl.gateway.protocol import Shape
    from dlpctl.policy.decide import FindingDecision
    from dlpctl.preflight import Checker

_STEP = 32
"""The number of new characters after which a text is inspected again."""
_MARGIN = 64
"""The characters at the end of a text that may belong to a value that more text would reveal."""
_LONGEST_WORD = 4_096
_CONTEXT = 2_048
"""The characters already passed on that are inspected again with new ones, for context."""


class AnswerPolicy(NamedTuple):
    """The policy for answers, and the values that are the client's own."""

    checker: Checker
    own: Collection[str]

    def found(self, text: str) -> list[FindingDecision]:
        """Return the findings that may not pass."""
        return [
            each
            for each in self.checker.rule(text).hidden()
            if text[each.finding.start : each.finding.end] not in self.own
        ]


class _Text:
    """A text of a stream that arrives in pieces."""

    def __init__(self) -> None:
        self.tail = ""
        self.dropped = 0
        """The number of characters before the tail."""
        self.inspected = 0
        """The number of characters that had arrived at the last inspection."""
        self.passed = 0
        """The number of characters that may pass."""

    @property
    def size(self) -> int:
        return self.dropped + len(self.tail)

    def inspect(self, policy: AnswerPolicy, *, is_last: bool) -> list[FindingDecision]:
        """Return the findings that may not pass; if there are none, more of the text may pass."""
        self.inspected = self.size
        found = policy.found(self.tail)
        if found:
            first = min(each.finding.start for each in found)
            self.passed = max(self.passed, self.dropped + first)
            return found
        self.passed = self.size if is_last else max(self.passed, self.dropped + self._word_start())
        kept = max(self.passed - self.dropped - _CONTEXT, 0)
        self.tail, self.dropped = self.tail[kept:], self.dropped + kept
        return []

    def _word_start(self) -> int:
        """Return the start of the word that contains the start of the margin."""
        end = max(len(self.tail) - _MARGIN, 0)
        start = max(end - _LONGEST_WORD, 0)
        return max(self.tail.rfind(blank, start, end) for blank in " \n\t") + 1 or start


class _Event(NamedTuple):
    """An event that waits until its texts are inspected."""

    raw: bytes
    parts: list[tuple[_Text, int]]
    """The texts that it continues, each with its number of characters up to the event's end."""

    @property
    def can_go(self) -> bool:
        return all(text.passed >= end for text, end in self.parts)


class AnswerGuard:
    """Passes the events of a stream on until one has a value that may not pass."""

    def __init__(self, shape: Shape, policy: AnswerPolicy, *, is_lines: bool = False) -> None:
        self._shape = shape
        self._policy = policy
        self._splitter = Splitter(is_lines=is_lines)
        self._texts: dict[tuple[Any, ...], _Text] = {}
        self._waiting: deque[_Event] = deque()
        self._first: Any = None
        self.counts: Counter[str] = Counter()
        """The types of the findings that cut the stream."""
        self.ending = b""
        """The events that end a cut stream, in the provider's format."""

    @property
    def is_cut(self) -> bool:
        return bool(self.counts)

    def feed(self, chunk: bytes) -> bytes:
        """Take bytes and return the events that may pass."""
        return b"".join(self._passing(self._splitter.feed(chunk)))

    def finish(self) -> bytes:
        """Return what was held back at the end of the stream."""
        rest = self._splitter.rest()
        passed = b"".join(self._passing(iter([rest] if rest else [])))
        if not self.is_cut:
            self._inspect(self._texts.values(), None, is_last=True)
        return passed + self._ready()

    def _passing(self, events: Iterator[bytes]) -> Iterator[bytes]:
        for raw in events:
            if self.is_cut:
                return
            self._take(raw)
            yield self._ready()

    def _ready(self) -> bytes:
        parts = []
        while self._waiting and self._waiting[0].can_go:
            parts.append(self._waiting.popleft().raw)
        return b"".join(parts)

    def _take(self, raw: bytes) -> None:
        event = _Event(raw, [])
        self._waiting.append(event)
        data = self._splitter.data(raw)
        try:
            document = jsonbody.loads(data) if data else None
        except InputError:
            document = None
        if not isinstance(document, dict):
            if data == "[DONE]":
                self._inspect(self._texts.values(), None, is_last=True)
            return
        self._first = self._first or document
        for leaf in jsonbody.leaves(data):
            if leaf.is_key or leaf.is_number:
                continue
            delta = delta_of(self._shape, leaf, document) or self._shape.unchanged.get(leaf.path)
            if delta is not None:
                text = self._texts.setdefault(identity_of(delta, leaf, document), _Text())
            elif is_text(leaf.path, self._shape):
                text = _Text()
            else:
                continue
            text.tail += leaf.text
            event.parts.append((text, text.size))
            if delta is None or text.size - text.inspected >= _STEP:
                self._inspect([text], document, is_last=delta is None)
        for key in ended(self._shape, document):
            over = [name for name in self._texts if not isinstance(key, int) or name[0] == key]
            self._inspect([self._texts.pop(name) for name in over], document, is_last=True)

    def _inspect(self, texts: Collection[_Text], document: Any, *, is_last: bool) -> None:
        for text in list(texts):
            found = [] if self.is_cut else text.inspect(self._policy, is_last=is_last)
            if found:
                self.counts.update(each.finding.type for each in found)
                cut = self._shape.cut
                self.ending = cut(self._first, document or self._first) if cut else b""


def is_text(path: str, shape: Shape) -> bool:
    """Return whether a path of an answer holds text for people."""
    return any(
        path == each or path.startswith((f"{each}.", f"{each}[")) for each in shape.answer_texts
    )


def withheld(text: str, shape: Shape, policy: AnswerPolicy) -> tuple[str, Counter[str], bool]:
    """Return an answer with its values masked, their types, and whether any of them blocks."""
    counts: Counter[str] = Counter()
    splices: list[Splice] = []
    blocks = False
    for leaf in jsonbody.leaves(text):
        if leaf.is_key or not is_text(leaf.path, shape):
            continue
        found = policy.found(leaf.text)
        if found:
            counts.update(each.finding.type for each in found)
            blocks = blocks or any(each.verdict.action is Action.BLOCK for each in found)
            masked = policy.checker.masked(leaf.text, found, policy.checker.masker())
            splices += jsonbody.raw_splices(text, leaf, [Splice(0, len(leaf.text), masked)])
    return jsonbody.spliced(text, splices), counts, blocks
