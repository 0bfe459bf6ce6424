"""Regions of a text to tag: a quick check of each trigger match decides.

Most capitalized words are not names. A text without names should cost little more than the scan
that happens anyway; source code, markup and logs are checked more strictly than prose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

from dlpctl.detect.confirm.code_density import BLOCK, SHORT, code_blocks
from dlpctl.detect.entities import roles
from dlpctl.detect.entities.crf.words import WordFlags, shape
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.detect.entities.triggers import PATTERNS
from dlpctl.regex import lazy

Region = tuple[int, int]
TriggerMatch = tuple[int, int]  # index in PATTERNS, end of the match in characters

_MOST_VERDICTS = 25_000
"""The number of words whose verdicts are cached: more than a text has, in little memory."""
_EVIDENCE = (*(pattern.evidence for pattern in PATTERNS), "lower")
_CAPITAL = _EVIDENCE.index("capital")
_HEADERS = frozenset(
    index for index, evidence in enumerate(_EVIDENCE) if evidence == "header"
)  # open no region

_WORD = lazy(r"[^\W\d_]{1,40}(?:['’][^\W\d_]{2,40})?")
_NEXT = lazy(r"[ ,]{1,2}(?:[A-Z]\.? )?([A-ZÀ-Þ][^\W\d_]{0,40})|-([A-ZÀ-Þ])")
_PAIR = lazy(
    r"([A-ZÀ-Þ][^\W\d_]{1,40}(?:['’][^\W\d_]{2,40})?)(?:[ ,.-]{1,2}|[A-Z]\.? ){1,3}[^\W\d_]{1,2}$"
)
_POSTCODE = lazy(r"(?:\d{4,6}|\d{2,5}[- ]\d{2,3}),?\s?$|\d{4} ?[A-Z]{2} $")
_STARTS = lazy(r"(?:^|[^A-Z][.!?:\"“”]|\n)\s*$")  # not after an initial
_DIGIT = lazy(r"\d")
_LOWER = lazy(r"\b[a-z]{3,20}\b")
_TO_WORDS = bytes(
    byte if bytes((byte,)).isalnum() or byte == ord("_") else ord(" ") for byte in range(256)
)
_TITLES = lexicon_words("capital_titles")
_Extent = tuple[int, int, int]
"""The extent of a region around a trigger match: the number of line breaks before and after, the
last of which ends the region, and the maximum number of characters.
"""
_LINES: _Extent = (2, 2, 100)
_LINES_OF_CODE: _Extent = (2, 1, 100)
_ADDRESS: _Extent = (4, 4, 220)
_USUAL = 3
"""The frequency of a surname, such as Smith or Brown, that is also another word."""
_INSIDE = 40  # characters: trigger matches this far inside the last region are not checked


class RegionFinder:
    """Turns the matches of `PATTERNS` into the regions to tag."""

    def __init__(self, flags: Callable[[str], WordFlags]) -> None:
        self._flags = flags
        self._verdicts: dict[str, int] = {}
        self._lower_verdicts: dict[str, bool] = {}
        self._ordinary: set[bytes] = set()
        self._known_verdicts: dict[str, bool] = {}

    def regions(
        self,
        text: str,
        matches: Iterable[TriggerMatch],
        code: list[bool] | None = None,
        settled: Sequence[Region] = (),
    ) -> list[Region]:
        """Return the parts of `text` to tag: the lines around each match that passes the
        check.

        `code` tells which blocks are source code, where the caller knows. Matches in
        `settled` parts, which ascend, open no region.
        """
        found: list[Region] = []
        code = code_blocks(text) if code is None else code
        start = reach = -1
        part = 0
        size = len(text)
        for index, end in sorted([*matches, *self._in_lower_case(text, code)], key=itemgetter(1)):
            if end < reach - _INSIDE or index in _HEADERS:
                continue
            if start == 0 and reach == size:
                break  # everything is tagged
            while part < len(settled) and settled[part][1] < end - 1:
                part += 1
            if part < len(settled) and settled[part][0] <= end - 1:
                continue
            around = self._context_of(index, text, end, code)
            if around:
                if around is _LINES and code[(end - 1) // BLOCK]:
                    around = _LINES_OF_CODE
                low, high = _region_around(text, max(end - 2, 0), around)
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

    def opening(self, text: str, matches: Iterable[TriggerMatch]) -> Iterator[int]:
        """Yield the ends of the matches that open a region or label a column, in lines shorter than
        `SHORT`: such lines are no source code.
        """
        code = [False] * (len(text) // BLOCK + 1)
        others: dict[int, int] = {}
        for index, end in matches:
            if index in _HEADERS or self._context_of(index, text, end, code):
                yield end
            elif (before := text.rfind("\n", max(end - SHORT, 0), end)) >= 0 or end < SHORT:
                others[before + 1] = end
        lines = [text[at : at + SHORT].partition("\n")[0] for at in others]
        if any(self._given_names("\n".join(lines), 0)):
            for line, end in zip(lines, others.values(), strict=True):
                if any(self._given_names(line, 0)):
                    yield end

    def _context_of(self, index: int, text: str, end: int, code: Sequence[bool]) -> _Extent | None:
        """Return how much of the text around a match to tag, if any."""
        if index == _CAPITAL:
            capitalized = _WORD.match(text, end - 2)
            if capitalized and self._verdicts.get(capitalized[0]) == 0:
                return None  # by far the most frequent case, at least in source code
            return self._context_of_capital(text, end, code)
        evidence = _EVIDENCE[index]
        if evidence == "pair":
            pair = _PAIR.search(text, max(0, end - 52), end)
            if not pair:
                return None
            verdict = self._verdict(pair[1])
            return (
                _LINES
                if verdict == 3 or (verdict == 2 and self._is_paired(text, pair.end(1)))
                else None
            )
        if evidence == "street":
            return _ADDRESS if _digit_near(text, end) else None
        if evidence == "residence":
            return _ADDRESS if not code[(end - 1) // BLOCK] and _digit_near(text, end) else None
        if evidence == "postcode":
            start = end - 2
            sure = _POSTCODE.search(text, max(0, start - 12), start) is not None
            return (
                _ADDRESS
                if sure and (not code[start // BLOCK] or self._is_before_place(text, start))
                else None
            )
        if evidence == "capitals":
            line = text.rfind("\n", max(0, end - 40), end) + 1
            words = _WORD.findall(text, max(line, end - 40), end + 20)
            return _LINES if any(self._is_name_or_title(word) for word in words) else None
        if evidence == "role":
            return _LINES if roles.is_label(text, end) else None
        if evidence == "cue":
            match = _WORD.match(text, end - 1)
            return _LINES if match and self._is_likely_name(match[0], 0) else None
        if evidence == "label":
            match = _WORD.match(text, end - 1)
            word = match[0] if match else ""
            return (
                _LINES
                if word
                and (
                    len(word) == 1 or self._verdict(word)
                    if word[0].isupper()
                    else self._is_likely_name(word, code[(end - 1) // BLOCK])
                    or self._flags(word).particle
                )
                else None
            )
        return _LINES

    def _context_of_capital(self, text: str, end: int, code: Sequence[bool]) -> _Extent | None:
        start = end - 2 if text[end - 2 : end - 1].isupper() else end - 1
        match = _WORD.match(text, start)
        verdict = self._verdict(match[0]) if match else 0
        if not match or not verdict:
            return None
        if (
            verdict == 1
            and _STARTS.search(text, max(0, start - 4), start)
            and self._is_common(match[0])
        ):
            return _LINES if self._is_paired(text, match.end()) else None
        strict = verdict < 3 and code[start // BLOCK]
        return (
            None if strict and not (verdict == 2 and self._is_paired(text, match.end())) else _LINES
        )

    def _in_lower_case(self, text: str, code: list[bool]) -> Iterable[TriggerMatch]:
        """Yield matches for given names in lower case, which no pattern distinguishes; not in
        source code.
        """
        for block, dense in enumerate(code):
            if not dense:
                yield from self._given_names(
                    text[block * BLOCK : (block + 1) * BLOCK], block * BLOCK
                )

    def _given_names(self, piece: str, start: int) -> Iterator[TriggerMatch]:
        """Yield matches for the given names in lower case in the piece of a text at a position."""
        ordinary = self._ordinary
        # Splitting bytes is ten times as fast as finding words by a regex.
        words = set(piece.encode("ascii", "replace").translate(_TO_WORDS).split())
        wanted: set[str] = set()
        for word in words - ordinary:
            if word.islower() and 2 < len(word) <= 20 and self._is_given_name(word.decode()):
                wanted.add(word.decode())
            else:
                ordinary.add(word)
        if len(ordinary) > _MOST_VERDICTS:
            ordinary.clear()
        if wanted:
            for match in _LOWER.finditer(piece):
                if match[0] in wanted:
                    yield len(PATTERNS), start + match.start() + 2

    def _verdict(self, token: str) -> int:
        """Return what to do with a capitalized word.

        0: not a name; 1: tag it in prose; 2: also in code, if another one follows; 3: tag it.
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
            or (flags.place_name > 1 and given < 2 and surname < 3)
            or (token[0] == "I" and token[1:2] in "'’")
        ):
            verdict = 0
        elif given >= 2 and not common:
            verdict = (
                3
                if given == 3 and not flags.place_name and not (flags.company or flags.calendar)
                else 2
            )
        elif given or surname:
            verdict = 2 if not common or given == 3 else 1
        else:
            known = common or (flags.company or flags.calendar or flags.street) or flags.place_name
            verdict = 0 if known or shape(token) not in ("Xx", "XX") else 1
        if len(self._verdicts) > _MOST_VERDICTS:
            self._verdicts.clear()
        self._verdicts[token] = verdict
        return verdict

    def _is_before_place(self, text: str, at: int) -> bool:
        match = _WORD.search(text, at, at + 30)
        return bool(match and self._flags(match[0]).place_name)

    def _is_name_or_title(self, token: str) -> bool:
        """Return whether a word in capitals is a name or the title before one."""
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

    def _is_common(self, token: str) -> bool:
        return bool(self._flags(token).common)

    def _is_paired(self, text: str, end: int) -> bool:
        match = _NEXT.match(text, end)
        if not match:
            return False
        if match[2]:
            return True
        flags = self._flags(match[1])
        return (
            len(match[1]) > 1
            and (not flags.common or flags.surname == _USUAL)
            and not (flags.company or flags.calendar or flags.street)
        )

    def _is_likely_name(self, token: str, least: int) -> bool:
        """Return whether a word in lower case may be a name where one is expected.

        It is no more common as another word; in source code it is also known as a name, at `least`
        a little.
        """
        flags = self._flags(token)
        named = max(flags.given, flags.surname)
        return named >= max(flags.common, least) and not (
            flags.calendar or flags.company or flags.street or flags.label
        )

    def _is_given_name(self, token: str) -> bool:
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


def _region_around(text: str, at: int, around: _Extent) -> Region:
    """Return the lines around a position, bounded, and cut at a blank or between words."""
    before, after, most = around
    low, high = max(0, at - most), min(len(text), at + most)
    start = at
    for _ in range(before):
        found = text.rfind("\n", low, start)
        if found < 0:
            start = _boundary(text, range(low, at)) if low else 0
            break
        start = found
    else:
        start += 1
    end = at
    for _ in range(after):
        found = text.find("\n", end, high)
        if found < 0:
            end = _boundary(text, range(high - 1, at, -1)) if high < len(text) else high
            break
        end = found + 1
    while text.endswith("\n\n", start, end):
        end -= 1
    return (start, end) if start < end else (low, high)


def _boundary(text: str, positions: range) -> int:
    """Return the first position of a blank, or else of what is neither letter nor digit; a blank
    far away may be in a name that is the only text of its line with one.
    """
    for position in positions[: len(positions) // 2]:
        if text[position].isspace():
            return position
    for position in positions:
        if not text[position].isalnum():
            return position
    return positions.start if positions else positions.stop
