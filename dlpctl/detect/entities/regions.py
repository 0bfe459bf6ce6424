"""The gate in front of the tagger: a look at each word that a pattern hit decides what is worth
tagging.

Most words that begin with a capital are no names. A text without names should cost hardly more than
the scan that happens anyway, and source code, markup and logs are looked at with a stricter eye
than prose.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from dlpctl.detect.confirm.code_density import BLOCK, code_blocks
from dlpctl.detect.entities.crf.words import WordFlags, shape
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.detect.entities.triggers import PATTERNS
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Region = tuple[int, int]
Hit = tuple[int, int]  # index in PATTERNS, end of the match in characters

_MOST_VERDICTS = 25_000
"""Words of each kind whose verdict is kept: more than a text has, and little memory in each worker.
"""
_KINDS = (*(pattern.kind for pattern in PATTERNS), "lower")
_CAPITAL = _KINDS.index("capital")
_HEADERS = frozenset(
    place for place, kind in enumerate(_KINDS) if kind == "header"
)  # are not for the tagger

_WORD = lazy(r"[^\W\d_]{1,40}(?:['’][^\W\d_]{2,40})?")
_NEXT = lazy(r"[ ,]{1,2}(?:[A-Z]\.? )?([A-ZÀ-Þ][^\W\d_]{0,40})|-([A-ZÀ-Þ])")
_PAIR = lazy(
    r"([A-ZÀ-Þ][^\W\d_]{1,40}(?:['’][^\W\d_]{2,40})?)(?:[ ,.-]{1,2}|[A-Z]\.? ){1,3}[^\W\d_]{1,2}$"
)
_POSTCODE = lazy(r"(?:\d{4,6}|\d{2,5}[- ]\d{2,3}),?\s?$|\d{4} ?[A-Z]{2} $")
_STARTS = lazy(r"(?:^|[^A-Z][.!?:\"“”]|\n)\s*$")  # not behind an initial
_DIGIT = lazy(r"\d")
_LOWER = lazy(r"\b[a-z]{3,20}\b")
_APART = bytes(
    byte if bytes((byte,)).isalnum() or byte == ord("_") else ord(" ") for byte in range(256)
)
_TITLES = lexicon_words("capital_titles")
_Reach = tuple[int, int, int]
"""How far a region goes around a hit: line breaks before and behind it, of which the last one ends
it, and characters at most.
"""
_LINES: _Reach = (2, 2, 100)
_LINES_OF_CODE: _Reach = (2, 1, 100)  # what follows says nothing
_ADDRESS: _Reach = (4, 4, 220)
_INSIDE = 40  # a hit so far inside of the last region needs no other


class Gate:
    """Turns the hits of `PATTERNS` into the regions that the tagger should see."""

    def __init__(self, flags: Callable[[str], WordFlags]) -> None:
        self._flags = flags
        self._verdicts: dict[str, int] = {}
        self._lower_verdicts: dict[str, bool] = {}
        self._ordinary: set[bytes] = set()
        self._known_verdicts: dict[str, bool] = {}

    def regions(
        self,
        text: str,
        hits: Iterable[Hit],
        code: list[bool] | None = None,
        settled: Sequence[Region] = (),
    ) -> list[Region]:
        """The parts of `text` to tag: for each hit that stands a closer look, the lines around it.

        `code` says which blocks are source code, where the caller knows that. Hits in `settled`
        parts, which ascend, open nothing.
        """
        found: list[Region] = []
        code = code_blocks(text) if code is None else code
        start = reach = -1
        part = 0
        verdicts = self._verdicts
        for index, end in sorted([*hits, *self._in_lower_case(text, code)], key=itemgetter(1)):
            if end < reach - _INSIDE or index in _HEADERS:
                continue
            while part < len(settled) and settled[part][1] < end - 1:
                part += 1
            if part < len(settled) and settled[part][0] < end - 1:
                continue
            if index == _CAPITAL:
                word = _WORD.match(text, end - 2)
                if (
                    word and verdicts.get(word[0]) == 0
                ):  # by far the most frequent case, at least in source code
                    continue
            around = self._reach(_KINDS[index], text, end, code)
            if around:
                if around is _LINES and code[(end - 1) // BLOCK]:
                    around = _LINES_OF_CODE
                low, high = _around(text, max(end - 2, 0), around)
                if low <= reach:
                    reach = max(reach, high)
                    start = min(start, low)
                else:
                    if reach >= 0:
                        found.append((start, reach))
                    start, reach = low, high
        if reach >= 0:
            found.append((start, reach))
        return found

    def _reach(self, kind: str, text: str, end: int, code: list[bool]) -> _Reach | None:
        """What the tagger should see around a hit, if anything."""
        if kind == "capital":
            place = end - 2 if text[end - 2 : end - 1].isupper() else end - 1
            match = _WORD.match(text, place)
            verdict = self._judge(match[0]) if match else 0
            if not match or not verdict:
                return None
            if (
                verdict == 1
                and _STARTS.search(text, max(0, place - 4), place)
                and self._common(match[0])
            ):
                return _LINES if self._paired(text, match.end()) else None
            strict = verdict < 3 and code[place // BLOCK]
            return (
                None
                if strict and not (verdict == 2 and self._paired(text, match.end()))
                else _LINES
            )
        if kind == "pair":
            pair = _PAIR.search(text, max(0, end - 52), end)
            if not pair:
                return None
            verdict = self._judge(pair[1])
            return (
                _LINES
                if verdict == 3 or (verdict == 2 and self._paired(text, pair.end(1)))
                else None
            )
        if kind == "street":
            return _ADDRESS if _digit_near(text, end) else None
        if kind == "residence":
            return _ADDRESS if not code[(end - 1) // BLOCK] and _digit_near(text, end) else None
        if kind == "postcode":
            place = end - 2
            sure = _POSTCODE.search(text, max(0, place - 12), place) is not None
            return (
                _ADDRESS
                if sure and (not code[place // BLOCK] or self._place(text, place))
                else None
            )
        if kind == "capitals":
            line = text.rfind("\n", max(0, end - 40), end) + 1
            words = _WORD.findall(text, max(line, end - 40), end + 20)
            return _LINES if any(self._known(word) for word in words) else None
        if kind == "cue":
            match = _WORD.match(text, end - 1)
            return _LINES if match and self._told(match[0], 0) else None
        if kind == "label":
            match = _WORD.match(text, end - 1)
            word = match[0] if match else ""
            return (
                _LINES
                if word
                and (
                    len(word) == 1 or self._judge(word)
                    if word[0].isupper()
                    else self._told(word, code[(end - 1) // BLOCK])
                )
                else None
            )
        return _LINES

    def _in_lower_case(self, text: str, code: list[bool]) -> Iterable[Hit]:
        """Given names without a capital, which no pattern tells from other words; not in source
        code.
        """
        ordinary = self._ordinary
        for block, dense in enumerate(code):
            if dense:
                continue
            piece = text[block * BLOCK : (block + 1) * BLOCK]
            # Splitting bytes is ten times as fast as finding words by a regex.
            words = set(piece.encode("ascii", "replace").translate(_APART).split())
            wanted: set[str] = set()
            for word in words - ordinary:
                if word.islower() and 2 < len(word) <= 20 and self._lower(word.decode()):
                    wanted.add(word.decode())
                else:
                    ordinary.add(word)
            if len(ordinary) > _MOST_VERDICTS:
                ordinary.clear()
            if wanted:
                for match in _LOWER.finditer(piece):
                    if match[0] in wanted:
                        yield len(PATTERNS), block * BLOCK + match.start() + 2

    def _judge(self, token: str) -> int:
        """What to do with a capitalized word.

        0: it gives no name away; 1: tag it in prose; 2: and in code if another one follows; 3: tag
        it.
        """
        known_verdict = self._verdicts.get(token)
        if known_verdict is not None:
            return known_verdict
        flags = self._flags(token)
        given, surname, common = flags.given, flags.surname, flags.common
        if flags.title:
            verdict = 3 if len(token) < 5 and not common and not flags.street else 1
        elif (
            (flags.calendar and given < 3)
            or ((flags.company or flags.proper) and not given)
            or (common == 3 and given < 2 and surname < 3)
            or (flags.place > 1 and given < 2 and surname < 3)
            or (token[0] == "I" and token[1:2] in "'’")
        ):
            verdict = 0
        elif given >= 2 and not common:
            verdict = (
                3 if given == 3 and not flags.place and not (flags.company or flags.calendar) else 2
            )
        elif given or surname:
            verdict = 2 if not common or given == 3 else 1
        else:
            known = common or (flags.company or flags.calendar or flags.street) or flags.place
            verdict = 0 if known or shape(token) not in ("Xx", "XX") else 1
        if len(self._verdicts) > _MOST_VERDICTS:
            self._verdicts.clear()
        self._verdicts[token] = verdict
        return verdict

    def _place(self, text: str, at: int) -> bool:
        match = _WORD.search(text, at, at + 30)
        return bool(match and self._flags(match[0]).place)

    def _known(self, token: str) -> bool:
        """Whether a word in capitals is a name or the title of one."""
        verdict = self._known_verdicts.get(token)
        if verdict is None:
            if len(self._known_verdicts) > _MOST_VERDICTS:
                self._known_verdicts.clear()
            flags = self._flags(token)
            given, surname, common = flags.given, flags.surname, flags.common
            named = (given == 3 and common < 3) if common else max(given, surname) >= 2
            titled = bool(flags.title) and token.upper() in _TITLES
            verdict = self._known_verdicts[token] = (named and len(token) > 2) or titled
        return verdict

    def _common(self, token: str) -> bool:
        return bool(self._flags(token).common)

    def _paired(self, text: str, end: int) -> bool:
        match = _NEXT.match(text, end)
        if not match:
            return False
        if match[2]:
            return True
        flags = self._flags(match[1])
        return (
            len(match[1]) > 1
            and not flags.common
            and not (flags.company or flags.calendar or flags.street)
        )

    def _told(self, token: str, least: int) -> bool:
        """Whether a word without a capital may be a name where one is expected: it is no commoner
        as anything else.

        In source code it must also be known as one, at `least` a little.
        """
        flags = self._flags(token)
        named = max(flags.given, flags.surname)
        return named >= max(flags.common, least) and not (
            flags.calendar or flags.company or flags.street or flags.label
        )

    def _lower(self, token: str) -> bool:
        verdict = self._lower_verdicts.get(token)
        if verdict is None:
            if len(self._lower_verdicts) > _MOST_VERDICTS:
                self._lower_verdicts.clear()
            flags = self._flags(token)
            given, common = flags.given, flags.common
            verdict = given > 2 * common and not (
                flags.particle or flags.calendar or flags.company or flags.street
            )
            self._lower_verdicts[token] = verdict
        return verdict


def _digit_near(text: str, end: int) -> bool:
    return _DIGIT.search(text, max(0, end - 60), end + 40) is not None


def _around(text: str, at: int, around: _Reach) -> Region:
    """The lines around a place, bounded and cut at a blank, or else between words: minified data
    has no blanks.
    """
    before, behind, most = around
    low, high = max(0, at - most), min(len(text), at + most)
    start = at
    for _ in range(before):
        found = text.rfind("\n", low, start)
        if found < 0:
            start = _cut(text, range(low, at)) if low else 0
            break
        start = found
    else:
        start += 1
    end = at
    for _ in range(behind):
        found = text.find("\n", end, high)
        if found < 0:
            end = _cut(text, range(high - 1, at, -1)) if high < len(text) else high
            break
        end = found + 1
    return (start, end) if start < end else (low, high)


def _cut(text: str, places: range) -> int:
    """The first of the places where a blank stands, or else what is neither letter nor digit."""
    for place in places:
        if text[place].isspace():
            return place
    for place in places:
        if not text[place].isalnum():
            return place
    return places.start if places else places.stop
