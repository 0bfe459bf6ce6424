"""Inspect the JSON of requests: decide by policy, and return the characters to replace."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.errors import DlpctlError, InputError
from dlpctl.gateway import jsonbody
from dlpctl.gateway.conversations import Conversation, UnitResult
from dlpctl.gateway.jsonbody import Leaf, Splice, Unit
from dlpctl.gateway.media import attachment, checked
from dlpctl.leaf_masks import by_leaf, masked_windows, repeated
from dlpctl.masking.apply import replacements
from dlpctl.regex import lazy
from dlpctl.system.recent import Recent
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dlpctl.files.checking import FileChecker
    from dlpctl.gateway.protocol import Shape
    from dlpctl.masking.masker import Masker
    from dlpctl.policy.decide import FindingDecision
    from dlpctl.preflight import Checker

_CODE = lazy(r"(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+/=_.:-]+")
_APART = "\n" * 200
"""Separates keys from values that they are not context for."""
_DEEPEST_TEXT = 4
"""The maximum nesting of JSON within texts of JSON."""
_MOST_CLEAN = 200_000
_CLEAN = UnitResult()


class Inspected(NamedTuple):
    """The decision on a request, and the replacements in its body."""

    decision: Decision
    counts: Counter[str]
    splices: list[Splice]
    reason: str = ""
    """The reason why something cannot be inspected."""
    names: frozenset[str] = frozenset()
    """The names of the tokens in it, and the surrogates."""


class _Content(NamedTuple):
    """The JSON of a request."""

    text: str
    document: Any
    shape: Shape
    files: dict[int, UnitResult]
    """The results of its files, by position."""

    @property
    def described(self) -> dict[str, list[str]]:
        """Return the paths of objects with files, and the fields that give the types of those
        files.
        """
        found: dict[str, list[str]] = {}
        for path, sibling in self.shape.media.items():
            found.setdefault(path.rpartition(".")[0], ["type"]).append(sibling)
        return found


class _Source:
    """A JSON text: the body, or a text within it that is itself JSON."""

    def __init__(self, text: str, within: tuple[_Source, Leaf] | None = None) -> None:
        self.text = text
        self.within = within
        self.splices: list[Splice] = []


class _Joined:
    """Leaves joined into one text, so that a key and its value are read together."""

    def __init__(self) -> None:
        self.parts: list[tuple[_Source, Leaf]] = []
        self.starts: list[int] = []
        self._pieces: list[str] = []
        self._length = 0
        self._key: tuple[_Source, Leaf] | None = None
        """The last key, whose value may be the next leaf."""
        self._alone: list[tuple[_Source, Leaf]] = []
        """Keys whose values are not leaves; they are not context for other values."""

    def add(self, source: _Source, leaf: Leaf) -> None:
        if self._key is not None:
            key_source, key = self._key
            outer = leaf if key_source is source else source.within and source.within[1]
            if outer and outer.steps[: len(key.steps)] == key.steps:
                self._append(key_source, key, ": " if "\n" not in leaf.text else "\n\n")
            else:
                self._alone.append(self._key)
        self._key = (source, leaf) if leaf.is_key else None
        if not leaf.is_key:
            self._append(source, leaf, "\n\n")

    def close(self) -> None:
        """Add the remaining keys; nothing may be added afterwards."""
        self._pieces.append(_APART)
        self._length += len(_APART)
        for source, leaf in [*self._alone, *([self._key] if self._key else [])]:
            self._append(source, leaf, "\n\n")

    def _append(self, source: _Source, leaf: Leaf, ending: str) -> None:
        self.starts.append(self._length)
        self.parts.append((source, leaf))
        self._pieces += (leaf.text, ending)
        self._length += len(leaf.text) + len(ending)

    @property
    def text(self) -> str:
        return "".join(self._pieces)


class Inspector:
    """Inspects by one policy. Thread-safe."""

    def __init__(self, checker: Checker, files: FileChecker, *, refuses_unread: bool) -> None:
        """`refuses_unread` means that media which cannot be read are refused."""
        self._checker = checker
        self._files = files
        self._refuses_unread = refuses_unread
        self._salt = os.urandom(32)
        self._clean: Recent[bytes, bool] = Recent(_MOST_CLEAN)
        """Units without findings, whatever the conversation."""

    def inspect(
        self, text: str, document: Any, shape: Shape, conversation: Conversation
    ) -> Inspected:
        """Inspect a valid JSON text that parses to `document`."""
        reason = self._checker.not_inspected()
        if reason:
            return Inspected(Decision.BLOCKED, Counter(), [], reason)
        content = _Content(text, document, shape, {})
        with conversation.lock:
            return _together(self._results(content, conversation))

    def _results(
        self, content: _Content, conversation: Conversation
    ) -> list[tuple[Unit, UnitResult]]:
        """Return the units that have findings or cannot be inspected."""
        found: dict[Unit, UnitResult] = {}
        new: list[tuple[Unit, bytes, int]] = []
        described = content.described
        for unit in jsonbody.units(content.text):
            digest = self._digest(content, unit, described)
            result = conversation.units.get(digest)
            if result is None:
                result = self._inspected(content, unit, conversation, digest)
                new.append((unit, digest, conversation.repeats.size))
            if result is not _CLEAN:
                found[unit] = result
        for unit, digest, known in new:
            if known < conversation.repeats.size:  # later units have revealed more values
                found[unit] = self._inspected(content, unit, conversation, digest)
            result = found.get(unit, _CLEAN)
            if not result.reason:
                conversation.units.put(digest, result)
        return list(found.items())

    def _digest(self, content: _Content, unit: Unit, described: Mapping[str, list[str]]) -> bytes:
        """Return a digest that two units share only if they have the same result."""
        raw = content.text[unit.start : unit.end]
        about = f"{unit.path}\0{unit.first}"
        if unit.path in described:  # the type of a file may be given in another unit
            parent = jsonbody.at(content.document, unit.steps)
            about += repr([parent.get(name) for name in described[unit.path]])
        return hashlib.blake2b(
            f"{about}\0{raw}".encode("utf-8", "surrogatepass"), key=self._salt, digest_size=16
        ).digest()

    def _inspected(
        self, content: _Content, unit: Unit, conversation: Conversation, digest: bytes
    ) -> UnitResult:
        conversation.given.clear()
        body = _Source(content.text)
        joined, sources = _Joined(), [body]
        counts: Counter[str] = Counter()
        decisions = set()
        try:
            for leaf in jsonbody.leaves_of(content.text, unit):
                file = self._file(content, leaf, conversation)
                if file is not None:
                    if file.reason and self._refuses_unread:
                        return file
                    decisions.add(file.decision)
                    counts.update(file.counts)
                    conversation.given.update(file.names)
                    body.splices += jsonbody.raw_splices(content.text, leaf, file.splices)
                elif not _is_declared(leaf, content.shape):
                    _add(joined, sources, body, leaf, 0)
            joined.close()
            hidden, decision = self._hidden(joined.text, conversation, digest)
            decisions.add(decision)
            counts.update(each.finding.type for each in hidden)
            self._mask(joined, hidden, conversation.masker)
        except DlpctlError as problem:
            return UnitResult(Decision.BLOCKED, counts, reason=problem.message)
        for source in reversed(sources):
            source.splices.sort()
            if source.within is not None:
                outer, leaf = source.within
                outer.splices += jsonbody.raw_splices(outer.text, leaf, source.splices)
        moved = [Splice(s - unit.start, e - unit.start, new) for s, e, new in body.splices]
        if not counts and not moved and decisions == {Decision.ALLOWED}:
            return _CLEAN
        names = frozenset(conversation.given)
        return UnitResult(_strictest(decisions), counts, tuple(moved), names=names)

    def _file(self, content: _Content, leaf: Leaf, conversation: Conversation) -> UnitResult | None:
        """Return the result of a leaf that is a file; None for any other leaf."""
        uploaded = content.shape.uploaded
        if leaf.is_key or leaf.path not in content.shape.media:
            return None
        if uploaded is not None and uploaded.fullmatch(leaf.text):
            return _CLEAN
        if leaf.start not in content.files:
            parent = jsonbody.at(content.document, leaf.steps[:-1])
            file = attachment(leaf.text, content.shape.media[leaf.path], parent)
            if file is None:
                return None
            result = checked(file, self._files, conversation.masker)
            names = frozenset(conversation.given)
            content.files[leaf.start] = result._replace(names=names)
        return content.files[leaf.start]

    def _hidden(
        self, text: str, conversation: Conversation, digest: bytes
    ) -> tuple[list[FindingDecision], Decision]:
        """Return the findings that are masked or that block, and the decision."""
        hidden: list[FindingDecision] = []
        decision = Decision.ALLOWED
        if not self._clean.get(digest):
            ruling = self._checker.rule(text)
            hidden = ruling.hidden()
            decision = ruling.decision
            if not hidden:
                self._clean.put(digest, True)
        again = repeated(text, [each.finding for each in hidden], conversation.repeats)
        if again and decision is Decision.ALLOWED:
            decision = Decision.ALLOWED_WITH_MASKING
        return [*hidden, *again], decision

    def _mask(self, joined: _Joined, hidden: Sequence[FindingDecision], masker: Masker) -> None:
        lengths = [len(leaf.text) for _, leaf in joined.parts]
        for number, own in by_leaf(hidden, joined.starts, lengths).items():
            source, leaf = joined.parts[number]
            splices = list(_masked(self._checker, leaf.text, own, masker))
            source.splices += jsonbody.raw_splices(source.text, leaf, splices)


def _together(results: Iterable[tuple[Unit, UnitResult]]) -> Inspected:
    """Combine the results of units into the result of the text."""
    counts: Counter[str] = Counter()
    splices: list[Splice] = []
    decisions: set[Decision] = set()
    names: set[str] = set()
    reason = ""
    for unit, result in results:
        decisions.add(result.decision)
        counts.update(result.counts)
        names |= result.names
        reason = reason or result.reason
        splices += [Splice(s + unit.start, e + unit.start, new) for s, e, new in result.splices]
    splices.sort()
    return Inspected(_strictest(decisions), counts, splices, reason, frozenset(names))


def _is_declared(leaf: Leaf, shape: Shape) -> bool:
    """Return whether a leaf is not text for people: opaque, a code, or the key of such a value."""
    if leaf.path in shape.opaque:
        return True
    if leaf.path not in shape.codes:
        return leaf.is_key and leaf.path in shape.media
    return leaf.is_key or _CODE.fullmatch(leaf.text) is not None


def _add(joined: _Joined, sources: list[_Source], source: _Source, leaf: Leaf, depth: int) -> None:
    """Add a leaf, or the leaves of the JSON that it contains."""
    if depth < _DEEPEST_TEXT and not leaf.is_key and _may_be_json(leaf.text):
        try:
            jsonbody.loads(leaf.text)
        except InputError:
            pass
        else:
            inner = _Source(leaf.text, (source, leaf))
            sources.append(inner)
            for each in jsonbody.leaves(leaf.text):
                _add(joined, sources, inner, each, depth + 1)
            return
    joined.add(source, leaf)


def _may_be_json(text: str) -> bool:
    stripped = text.strip(" \t\r\n")
    return stripped[:1] + stripped[-1:] in ("{}", "[]") and len(stripped) > 4


def _strictest(decisions: set[Decision]) -> Decision:
    order = (Decision.BLOCKED, Decision.ALLOWED_WITH_MASKING)
    return next((each for each in order if each in decisions), Decision.ALLOWED)


def _masked(
    checker: Checker, text: str, hidden: Sequence[FindingDecision], masker: Masker
) -> Iterator[Splice]:
    """Yield the replacements that mask a text; only the lines around values are searched again."""
    for start, end, own, masked in masked_windows(checker, text, hidden, masker):
        part = text[start:end]
        splices = [Splice(*each) for each in replacements(part, checker.operators(own), masker)]
        if jsonbody.spliced(part, splices) != masked:
            splices = [_difference(part, masked)]
        yield from (Splice(s + start, e + start, new) for s, e, new in splices)


def _difference(before: str, after: str) -> Splice:
    """Return one splice that turns a text into another."""
    start = _same(before, after)
    rest = min(len(before), len(after)) - start
    same = _same(before[::-1][:rest], after[::-1][:rest])
    return Splice(start, len(before) - same, after[start : len(after) - same])


def _same(first: str, second: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))
