"""Names that answer a question: `Your surname, please?`, and in the next line `Deshmukh`; between
speakers, a question mark may lack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dlpctl.detect.entities.crf.words import WordFlags
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

_ASKED = "|".join(sorted(lexicon_words("asked_names")))
TRIGGER = rf"(?i:{_ASKED})[^.:?\n0-9]*(?:\?[^\n0-9A-Za-z]*)?\n[^\n]{{2}}"
_END = lazy(r"(?:\?[^\n\w]{0,3}|[.! ]{0,3}(?=\n{1,2}[^\n:?]{1,30}: ))\n{1,2}")
_QUESTION = lazy(rf"(?<![^\W\d_])(?i:{_ASKED})(?![^\W\d_])[^.:?\n0-9]*\Z")
_LONGEST_QUESTION = 80
_REPLY = lazy(
    r"(?:[\[(]?\d\d?:\d\d(?::\d\d)?[\])]?[ -]{0,3})?(?:[^\n:?]{1,30}:[ \t]{1,3})?"
    r"([^\W\d_]+(?:['’-][^\W\d_]+)*(?: [^\W\d_]+(?:['’-][^\W\d_]+)*){0,3})[.!]?[ \t\r]*(?:\n|\Z)"
)
_USUAL = 2


def names(
    text: str, first: int, stop: int, flags: Callable[[str], WordFlags]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of names that answer a question for a name in a part of a text."""
    for end in _END.finditer(text, first, stop):
        low = max(0, end.start() - _LONGEST_QUESTION)
        reply = _REPLY.match(text, end.end())
        if reply is None or not _QUESTION.search(text[low : end.start()]):
            continue
        if all(_may_be_of_a_name(word, flags(word)) for word in reply[1].split()):
            yield reply.span(1)


def _may_be_of_a_name(word: str, flags: WordFlags) -> bool:
    """Return whether a word is a name or in no list of other words."""
    if flags.particle or flags.usual:
        return True
    other = flags.company or flags.calendar or flags.label or flags.common >= _USUAL
    return word[0].isupper() and not other
