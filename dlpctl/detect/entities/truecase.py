"""Capitals for names in a text that has hardly any, such as a chat or a text in lower case.

The tagger has learned names with capitals. Only words that are given names rather than anything
else get one, titles and initials before names, and what follows them; every character keeps its
number.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence

    from dlpctl.detect.entities.crf.words import WordFlags

_CAPITALS = bytes(range(ord("A"), ord("Z") + 1))
_LETTERS = _CAPITALS.lower()
_FEWEST = 200
"""Bytes for each capital that a text in lower case may have."""
_FEWEST_WORDS = 400
"""Bytes for each word with a capital that it may have beside words in capitals."""
_SAMPLES, _SAMPLE = 16, 256
"""The number and the bytes of the parts of a text in which words with a capital are counted."""
_CAPITALIZED = lazy(rb"(?<![A-Za-z])[A-Z][a-z]")
_SPEAKER = lazy(
    rb"(?:\A|\n)(?:\[?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\]?[ -]{1,3})?<?([a-z][a-z0-9_.\x80-\xff]+)"
    rb"(?:: |> )[a-z0-9\x80-\xff]"
)
_FEWEST_TURNS = 4
_TURN = lazy(r"(?:\A|\n)[\[(<\d:\])> -]{0,12}([^\W\d_]{2,30}): ")
_MOST_VERDICTS = 25_000
_WORD = lazy(r"[^\W\d_]{1,30}+(?:['’][^\W\d_]{2,30}+)?")
_PART = lazy(r"-([^\W\d_]{2,30}+)")
# Words within identifiers, hosts and paths are none.
_JOINED_BEFORE = frozenset("._@/\\$#-")
_JOINED_AFTER = lazy(r"[\w@/\\]|\.\w")
_ORDINARY = lexicon_words("ordinary") | lexicon_words("number_labels")
_ROLES = lexicon_words("titles") | lexicon_words("relatives") | lexicon_words("born")
_SYLLABLES = lexicon_words("given_syllables")
_LONG = 5  # letters from which a rare given name is hardly another word
_SHORTEST = 2  # letters of a second syllable that are rather a word: so-so, tae-il
_NO_NAME, _PARTICLE, _UNKNOWN, _SURNAME, _GIVEN, _TITLE = range(6)


def is_lower_case(data: bytes) -> bool:
    """Return whether a fourth of a text is letters, with hardly any word that starts with a
    capital; one in capitals, as the level of a log, tells nothing.
    """
    size = len(data)
    if 4 * len(data.translate(None, _LETTERS)) >= 3 * size:
        return False
    capitals = size - len(data.translate(None, _CAPITALS))
    if capitals * _FEWEST < size:
        return True
    step = max(size // _SAMPLES, _SAMPLE)
    samples = b"\n".join(data[start : start + _SAMPLE] for start in range(0, size, step))
    if len(_CAPITALIZED.findall(samples)) * _FEWEST_WORDS < len(samples):
        return True
    return b"\n" in data and _is_chat(data[: _SAMPLES * _SAMPLE])


def _is_chat(data: bytes) -> bool:
    """Return whether most lines are turns of speakers who speak more than once."""
    lines = data.count(b"\n") + 1
    if lines < _FEWEST_TURNS:
        return False
    speakers = _SPEAKER.findall(data)
    return 1 < len(set(speakers)) <= len(speakers) // 2 and 2 * len(speakers) > lines


class Truecaser:
    """Gives likely names capitals. Threads may share it."""

    def __init__(self, flags: Callable[[str], WordFlags]) -> None:
        self._flags = flags
        self._verdicts: dict[str, int] = {}

    def with_capitals(self, text: str) -> str:
        """Return a text of the same length and size in UTF-8, in which likely names have
        capitals.
        """
        verdicts, found = self._verdicts, list(_WORD.finditer(text))
        starters = [
            number
            for number, match in enumerate(found)
            if (verdict := verdicts.get(match[0]) or self._verdict(match[0])) > _SURNAME
            or (verdict == _SURNAME and number and found[number - 1][0] in _ROLES)
            or (match[0] in _SYLLABLES and _has_second_syllable(text, match.end()))
        ]
        changed = list(text)
        done = -1
        for number in starters:
            if number > done:
                done = self._capitalize(text, found, number, changed)
        for start in self._speakers(text) if "\n" in text else ():
            changed[start] = _capital(text[start])
        return "".join(changed)

    def _speakers(self, text: str) -> Iterator[int]:
        """Yield the starts of unknown words that speak more than once, as a given name does."""
        turns = list(_TURN.finditer(text))
        repeated = {word for word, times in Counter(turn[1] for turn in turns).items() if times > 1}
        if any(self._verdict(word) == _GIVEN for word in repeated):
            unknown = {word for word in repeated if self._verdict(word) == _UNKNOWN}
            yield from (turn.start(1) for turn in turns if turn[1] in unknown)

    def _capitalize(
        self, text: str, found: Sequence[re.Match[str]], first: int, changed: list[str]
    ) -> int:
        """Give capitals to the name that starts with a word, and return its last one."""
        starts: list[int] = []
        named, surnamed, last, end = False, False, first, -1
        for number in range(first, len(found)):
            word = found[number]
            verdict = self._verdict(word[0])
            is_beside = not starts or text[end : word.start()] in (" ", ". ")
            syllables = word[0] in _SYLLABLES and _has_second_syllable(text, word.end())
            if not is_beside or not _is_apart(text, word):
                break
            if verdict == _NO_NAME and not syllables:
                break
            if verdict == _PARTICLE:
                surnamed, end = True, word.end()
                continue
            if verdict == _UNKNOWN and surnamed:
                break  # kinga wrona | zresetowała hasło
            surnamed = surnamed or verdict in (_UNKNOWN, _SURNAME)
            starts.append(word.start())
            named = named or verdict != _TITLE
            last, end = number, word.end()
            while part := _PART.match(text, end):
                starts.append(part.start(1))
                end = part.end()
        for start in starts if named else ():
            changed[start] = _capital(text[start])
        return last

    def _verdict(self, word: str) -> int:
        verdict = self._verdicts.get(word)
        if verdict is None:
            if len(self._verdicts) > _MOST_VERDICTS:
                self._verdicts.clear()
            verdict = self._verdicts[word] = _judged(word, self._flags(word))
        return verdict


def _capital(letter: str) -> str:
    """Return the capital of a letter, if it takes as many bytes."""
    capital = letter.upper()
    return capital if len(capital.encode()) == len(letter.encode()) else letter


def _judged(word: str, known: WordFlags) -> int:
    """Return what a word in lower case may be."""
    if word in _ORDINARY or not word.islower():
        return _NO_NAME
    if known.title or len(word) == 1:  # an initial
        return _TITLE
    if known.calendar:
        return _NO_NAME
    other = known.common or known.place_name or known.proper
    rare = known.given and not other and len(word) >= _LONG
    if rare or (known.given >= 2 and known.given > 2 * known.common):
        return _GIVEN
    if known.surname > known.common and not known.label:
        return _PARTICLE if known.particle else _SURNAME
    if known.particle:
        return _PARTICLE
    return _NO_NAME if known.common or known.label else _UNKNOWN


def _has_second_syllable(text: str, end: int) -> bool:
    """Return whether a hyphen and another syllable of a given name follow: soo-jin."""
    part = _PART.match(text, end)
    return part is not None and len(part[1]) > _SHORTEST and part[1] in _SYLLABLES


def _is_apart(text: str, word: re.Match[str]) -> bool:
    """Return whether a word is no part of an identifier, a host or a path; one letter is an
    initial.
    """
    start, end = word.span()
    if text[max(0, start - 1) : start] in _JOINED_BEFORE or _JOINED_AFTER.match(text, end):
        return False
    return end - start > 1 or text[end : end + 2] == ". "
