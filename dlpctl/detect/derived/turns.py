"""Turns of a conversation: each answer right after what was asked for.

`And the wifi password` by one speaker and `otter-lake-9` by the next reads like a label and its
value, with a question mark or without. Turns are lines, or messages in JSON.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from dlpctl.detect.derived.interface import DerivedText
from dlpctl.regex import lazy

_TIME = (
    r"[\[(]?(?:[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4},?[ T])?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?"
    r"(?: ?[AaPp][Mm])?[\])]?[ -]{1,3}"
)
_NAME = r"[A-Za-z\x80-\xff][0-9A-Za-z\x80-\xff_.'-]{0,30}"
_NAMED = rf"{_NAME}(?: {_NAME}){{0,2}}(?: \([^()\n]{{1,20}}\))?"
_AT = (
    r",?[ \t]{1,3}(?:[^\s0-9A-Za-z]{1,3} "
    r"(?:[A-Za-z'\x80-\xff]{3,12} (?:[a-z\x80-\xff]{1,4} ){1,2})?)?"
    r"[\[(]?(?:[0-9./]{6,10},? )?[0-9]{1,2}:[0-9]{2}"
    r"(?: ?[AaPp][Mm])?[\])]?[ ]?\n"
)
"""The time after a speaker, in a line of their own."""
_SPEAKER = (
    rf"(?:(?:{_TIME})?(<[@+~]?{_NAME}>|{_NAMED}[ ]?:|\+[0-9][0-9 -]{{6,20}}:)[ \t]{{1,3}}"
    rf"|({_NAMED}){_AT})"
)
_LINE = (
    rf"(?:{_TIME})?(?:<[@+~]?[^\s:<>]{{1,40}}>|[A-Za-z+][^:<>{{}}\"=\n]{{0,90}}:)"
    r"[ \t]{1,3}[^\n]+"
)
_SAID = (
    r'"(?:content|text[eo]?|testo|body|message|msg|question|answer|prompt|completion'
    r"|response|reply|nachricht|frage|antwort|mensaje|pregunta|respuesta|messaggio|domanda"
    r'|risposta|mensagem|pergunta|resposta)"[ ]?:[ ]?"'
)
GATE = rf"(?:^|\n){_LINE}\n\n?{_LINE}\n\n?{_LINE}|[A-Za-z)]{_AT}[^\n]"
MESSAGES = _SAID
_TURN = lazy(rf"(?m)^{_SPEAKER}(?P<said>[^\n]+)\n{{0,2}}".encode("latin-1"))
_MESSAGE = lazy(rf'{_SAID}(?P<said>(?:[^"\\]++|\\.|"(?![ ]?[,}}\]\r\n]))++)'.encode(), re.DOTALL)
"""A string up to its end, or that of the text: none is searched twice."""
_ROLE = lazy(
    rb'"(?i:role|user|author|from|sender|speaker|(?:user|real_?|display_?)?name)"[ ]?:'
    rb'[ ]?"([^"\n]+)'
)
"""The member of a message, or of what it is in, that tells who says it."""
_LAST_SENTENCE = lazy(r"(?:\A|[.!?;][ ]+)([^.!?;]{3,100})[?!. ]*\Z")
_POLITE = lazy(
    r"(?i)(?:[ ,]+(?:please|pls|plz|thanks|thx|again|then|bitte|danke|nochmal|denn|s'il (?:vous|te)"
    r" pla[iî]t|svp|stp|merci|por favor|porfa|gracias|per favore|grazie|obrigad[oa]|pf))+\Z"
)
_YES = lazy(
    r"(?i)(?:(?:sure|yes|yeah|yep|ok(?:ay)?|of course|uh|um|erm|ja|klar|gern|na|also|oui|ouais|bien"
    r" s[uû]r|s[ií]|claro|vale|s[iì]|certo|sim|well|hmm?|let me see|moment|attends|a ver)[,.!]* )*"
    r"(?:(?:i think|i believe|ich glaub[e]?|je crois que|creo que|credo che|acho que),? )?"
    r"(?:(?:it|that)['’]?s|(?:it|that|this) (?:is|was|says|reads|would be|should be)|they['’]?re"
    r"|that['’]?d be|dovrebbe essere|debería ser|deve ser|ça doit être"
    r"|(?:das|es|der|die) (?:ist|lautet|wäre)|c['’](?:est|était)|es|son|è|sono|é|são)"
    r"(?: still| now| jetzt| noch| toujours| ancora| todavía| ainda)?:? "
    r"|(?:(?:sure|yes|yeah|yep|ok(?:ay)?|ja|klar|oui|claro|vale|certo|sim)[,.!]? )+"
    r"|(?:(?:[^\s,.:;?!0-9]+ ){0,4}[^\s,.:;?!0-9]+[,:] ){1,2}(?=[^\s]*[0-9])"
)
_WORD = lazy(r"([^\s\"'`.,:;?!]*[^\W\d][^\s\"'`.,:;?!]*)[.!]?")
"""An answer of a word: in quotes, it is no name of a variable."""
_OF_AMOUNT = lazy(
    r"(?i)(?:how (?:many|much|long|often|far)|wie ?(?:viele?|lange?|oft)|combien|cu[aá]nt[oa]s?"
    r"|quant[oaie]s?)\b"
)
"""A question that nobody answers with a secret."""
_MOST_SPEAKERS = 6
_LONGEST_REST = 240
"""The most bytes of further lines of a turn."""
_LONGEST_QUESTION = _LONGEST_ANSWER = 160
_WIDEST_GAP = 2048
"""The most bytes of other members between messages."""
_LONGEST_ROLE = 64
"""The bytes before a message that may tell who says it, in any language."""


class _Turn(NamedTuple):
    speaker: str
    start: int
    text: str


class _Pair(NamedTuple):
    question: str
    start: int
    """The start of the answer in the original."""
    answer: str


class TurnsText(DerivedText):
    """Answers, each after what was asked for."""

    def __init__(self, pairs: Sequence[_Pair]) -> None:
        self._starts: list[int] = []
        self._origins: list[int] = []
        texts: list[bytes] = []
        size = 0
        for question, start, answer in pairs:
            word = _WORD.fullmatch(answer)
            mark = '"' if word else ""
            label = f"{question}: {mark}".encode()
            self._starts.append(size + len(label))
            self._origins.append(start)
            texts.append(label + f"{word[1] if word else answer}{mark}\n\n".encode())
            size += len(texts[-1])
        self.data = b"".join(texts)

    @classmethod
    def of(cls, data: bytes) -> TurnsText | None:
        """Return the answers in the lines of a conversation; None without any."""
        return cls._of(_conversations(data))

    @classmethod
    def of_messages(cls, data: bytes) -> TurnsText | None:
        """Return the answers in messages of JSON; None without any."""
        return cls._of(_messages(data))

    @classmethod
    def _of(cls, conversations: Iterable[Sequence[_Turn]]) -> TurnsText | None:
        pairs = list(_pairs(conversations))
        return cls(pairs) if pairs else None

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span in the original of a value within an answer."""
        answer = bisect_right(self._starts, start) - 1
        if answer < 0 or self.data.find(b"\n", self._starts[answer], end) >= 0:
            return None
        moved = self._origins[answer] - self._starts[answer]
        return start + moved, end + moved


def _pairs(conversations: Iterable[Sequence[_Turn]]) -> Iterator[_Pair]:
    """Yield what each speaker says right after another one."""
    for turns in conversations:
        for asked, answered in pairwise(turns):
            end = asked.text[-_LONGEST_QUESTION:]
            end = end[: end.rfind("?") + 1 or None].rstrip(" \r\t?!.")
            question = _LAST_SENTENCE.search(_POLITE.sub("", end))
            if question and asked.speaker != answered.speaker and not _OF_AMOUNT.match(question[1]):
                yes = _YES.match(answered.text)
                skipped = yes.end() if yes else 0
                start = answered.start + len(answered.text[:skipped].encode())
                yield _Pair(question[1], start, answered.text[skipped : skipped + _LONGEST_ANSWER])


def _conversations(data: bytes) -> Iterator[list[_Turn]]:
    """Yield the turns below each other of speakers who speak more than once."""
    speakers: list[bytes] = []
    spans: list[tuple[int, int]] = []
    last = None
    for found in chain(_TURN.finditer(data), (None,)):
        if last:
            end = found.start() if found else len(data)
            first, stop = last.span("said")
            speakers.append(last[1] or last[2])
            spans.append((first, min(end, stop + _LONGEST_REST)))
            is_last = end - last.end() > _LONGEST_REST
            if (is_last or not found) and _is_conversation(speakers):
                yield [
                    _Turn(speaker.decode(), first, _in_line(data[first:stop].rstrip()))
                    for speaker, (first, stop) in zip(speakers, spans, strict=True)
                ]
            if is_last:
                speakers, spans = [], []
        last = found


def _messages(data: bytes) -> Iterator[list[_Turn]]:
    """Yield the messages in JSON after each other."""
    turns: list[_Turn] = []
    last = 0
    for found in _MESSAGE.finditer(data):
        start, end = found.span("said")
        if start - last > _WIDEST_GAP:
            yield turns
            turns = []
        first = max(last, start - _WIDEST_GAP)
        role = _ROLE.search(data, first, start)
        speaker = role[1] if role else data[max(first, start - _LONGEST_ROLE) : start]
        turns.append(_Turn(_in_line(speaker), start, _in_line(data[start:end])))
        last = end
    yield turns


def _in_line(text: bytes) -> str:
    return text.replace(b"\n", b" ").decode("utf-8", "ignore")


def _is_conversation(speakers: Sequence[bytes]) -> bool:
    names = len({speaker.split(b" ")[0].rstrip(b":") for speaker in {*speakers}})
    most = min(_MOST_SPEAKERS, (len(speakers) + 1) // 2)
    return 1 < names < len(speakers) and names <= most
