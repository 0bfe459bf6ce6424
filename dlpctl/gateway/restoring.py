"""Restore the values of a conversation in answers: tokens, and surrogates, which look real."""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.gateway import jsonbody
from dlpctl.gateway.jsonbody import Splice, escaped
from dlpctl.masking.unmask import Unmasker
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dlpctl.gateway.conversations import Conversation
    from dlpctl.gateway.protocol import Route, Shape

_EVENTS = "text/event-stream"
_LINES = ("application/x-ndjson", "application/jsonl", "application/x-jsonl")
_TEXTS = ("text/plain", "text/markdown")
_WORD = lazy(r"[^\W\d_]+")
_SHORTEST_WORD = 4


class AnswerKind(Enum):
    """The ways in which values are restored in answers."""

    OPAQUE = "not at all"
    EVENTS = "in server-sent events"
    LINES = "in JSON texts on lines"
    JSON = "in JSON"
    TEXT = "in a text"
    OTHER = "in no content that a provider is known to answer with"

    @classmethod
    def of(cls, route: Route, status: int, content_type: str) -> AnswerKind:
        """Return the kind of an answer on a route."""
        media_type = content_type.partition(";")[0].strip().lower()
        if status >= 300 or status == 204 or route.is_raw:
            return cls.OPAQUE
        if media_type == _EVENTS:
            return cls.EVENTS
        if media_type in _LINES or route.is_lines:
            return cls.LINES
        if media_type in _TEXTS:
            return cls.TEXT
        is_json = media_type in ("application/json", "") or media_type.endswith("+json")
        return cls.JSON if is_json else cls.OTHER

    @property
    def is_stream(self) -> bool:
        return self in (AnswerKind.EVENTS, AnswerKind.LINES)


class Surrogates(NamedTuple):
    """Surrogates and the values that they replace."""

    values: Mapping[str, str]
    ordered: list[str]
    longest: int
    regex: re.Pattern[str]

    @classmethod
    def of(cls, made: Mapping[str, tuple[str, str]]) -> Surrogates | None:
        """Return the surrogates, including single words of names."""
        values: dict[str, str] = {}
        for surrogate, (_, value) in made.items():
            words, originals = _WORD.findall(surrogate), _WORD.findall(value)
            if len(words) == len(originals) > 1 and "@" not in surrogate:
                pairs = zip(words, originals, strict=True)
                values |= {word: each for word, each in pairs if len(word) >= _SHORTEST_WORD}
        values |= {surrogate: value for surrogate, (_, value) in made.items()}
        if not values:
            return None
        ordered = sorted(values)
        by_length = sorted(values, key=len, reverse=True)
        regex = re.compile(rf"\b(?:{'|'.join(map(re.escape, by_length))})")
        return cls(values, ordered, len(by_length[0]), regex)

    def may_start_at(self, text: str, start: int) -> bool:
        """Return whether a text ends with the start of a surrogate."""
        tail = text[start:]
        index = bisect_left(self.ordered, tail)
        return any(
            each.startswith(tail) and len(each) > len(tail)
            for each in self.ordered[index : index + 2]
        )


class _SurrogateText:
    """A text that arrives in pieces; what may become a surrogate is held back."""

    def __init__(self, surrogates: Surrogates, *, in_json: bool) -> None:
        self._surrogates = surrogates
        self._in_json = in_json
        self.held = ""
        self._before = ""

    def feed(self, chunk: str) -> str:
        text = self._before + self.held + chunk
        return self._restored(text, len(self._before), is_last=False)

    def finish(self) -> str:
        return self._restored(self._before + self.held, len(self._before), is_last=True)

    def _restored(self, text: str, position: int, *, is_last: bool) -> str:
        parts: list[str] = []
        held = len(text) if is_last else self._hold(text, position)
        for match in self._surrogates.regex.finditer(text, position):
            if match.start() >= held:
                break
            value = self._surrogates.values[match[0]]
            parts += (text[position : match.start()], escaped(value) if self._in_json else value)
            position = match.end()
            if position > held:
                held = self._hold(text, position)
        parts.append(text[position:held])
        self.held = text[held:]
        self._before = text[max(held - 1, 0) : held]
        return "".join(parts)

    def _hold(self, text: str, position: int) -> int:
        first = max(position, len(text) - self._surrogates.longest)
        return next(
            (at for at in range(first, len(text)) if self._surrogates.may_start_at(text, at)),
            len(text),
        )


class RestoredText:
    """A text that arrives in pieces and is returned with its values restored."""

    def __init__(self, restorer: Restorer, *, in_json: bool = False) -> None:
        self._unmasker = Unmasker(restorer, in_json=in_json)
        surrogates = restorer.surrogates
        self._surrogates = (
            None if surrogates is None else _SurrogateText(surrogates, in_json=in_json)
        )

    def feed(self, chunk: str) -> str:
        text = self._unmasker.feed(chunk)
        return text if self._surrogates is None else self._surrogates.feed(text)

    def finish(self) -> str:
        text = self._unmasker.finish()
        if self._surrogates is None:
            return text
        return self._surrogates.feed(text) + self._surrogates.finish()

    @property
    def is_open(self) -> bool:
        """True if later pieces may depend on earlier ones."""
        return self._surrogates is not None or bool(self._unmasker.held)

    @property
    def held(self) -> str:
        """The end of the text that is held back."""
        first = "" if self._surrogates is None else self._surrogates.held
        return first + self._unmasker.held


class Restorer:
    """Restores only the values that a request contains or refers to."""

    def __init__(self, conversation: Conversation, names: Iterable[str]) -> None:
        """`names` are names of tokens, and surrogates."""
        with conversation.lock:
            tokens, made = conversation.tokens, conversation.masker.surrogates
            self.values: dict[str, str] = {
                name: value for name in names if (value := tokens.value(name)) is not None
            }
            self.surrogates: Surrogates | None = Surrogates.of(
                {name: made[name] for name in names if name in made}
            )

    def value(self, name: str) -> str | None:
        """Return the value of a token; None if the request does not contain it."""
        return self.values.get(name)

    @property
    def is_needed(self) -> bool:
        return bool(self.values) or self.surrogates is not None

    def text(self, text: str, *, in_json: bool = False) -> str:
        restored = RestoredText(self, in_json=in_json)
        return restored.feed(text) + restored.finish()

    def json(self, text: str, shape: Shape) -> str:
        """Return a valid JSON text with values restored; everything else stays as it is."""
        splices = []
        for leaf in jsonbody.leaves(text):
            if not leaf.is_number and leaf.path not in shape.answer_opaque:
                new = self.text(leaf.text, in_json=leaf.path in shape.answer_json)
                if new != leaf.text:
                    splices.append(Splice(leaf.start, leaf.end, escaped(new)))
        return jsonbody.spliced(text, splices)
