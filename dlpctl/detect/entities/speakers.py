"""Names recognized by the mark after them: in heads of mails, in chats, where someone is addressed.

The functions yield spans of tokens with a score, and take the indexes of the marks.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dlpctl.detect.entities.lexicon import words as lexicon_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dlpctl.detect.entities.crf.sequence import Word

PAIRED = 0.55
USUAL = 2
SURNAMES_FIRST = lexicon_words("surnames_first")
VIETNAMESE = SURNAMES_FIRST | lexicon_words("given_words")
_MAIL_HEADS = lexicon_words("mail_heads")
_WITHIN_NAMES = (", ", "-", ". ")
_AFTER_TIMES = ("]", "-")
_BEFORE_DAYS = ("[", "(", ",", "—", "–", "-", "•", "|")
_HOURS, _AFTER_MINUTES = ("d1", "d2"), ("am", "pm", "]", ")")
_LONGEST_SPEAKER, _LONGEST_HEAD = 3, 14
_TIME = 3  # tokens of the time before a speaker, with its mark


def in_mail_head(words: list[Word], colons: list[int]) -> Iterator[tuple[int, int, float]]:
    """To: Pham, Thu Trang <...>: a line of words with capitals, one of which is known as a name."""
    for colon in colons:
        if words[colon - 1].key not in _MAIL_HEADS:
            continue
        first = stop = colon + 1
        while stop < len(words) and _is_in_head(words[stop]):
            stop += 1
        ends = stop == len(words) or words[stop].is_line_break or words[stop].key.strip() in "<;"
        usual = any(word.flags.usual for word in words[first:stop])
        if ends and usual and starts_line(words, colon - 1) and stop - first > 1:
            yield first, stop, PAIRED


def _is_in_head(word: Word) -> bool:
    written = word.outline == "Xx" and word.key in VIETNAMESE
    return written or is_rare(word) or word.key in _WITHIN_NAMES


def addressed(words: list[Word], marks: list[int]) -> Iterator[tuple[int, int, float]]:
    """Kay, I spoke with him: a given name at the start of a line, before a comma or a colon."""
    for mark in marks:
        index = mark - 1
        word = words[index]
        if word.outline != "Xx" or not starts_line(words, index):
            continue
        known = word.flags.given == 3 and word.flags.common < 2 and word.flags.place_name < 2
        spoken = words[mark + 1]
        if (
            known
            and not word.flags.other
            and (spoken.outline in ("x", "x1") or spoken.key in ("i", "i'm", "i’m"))
        ):
            yield index, index + 1, PAIRED


def speaking(words: list[Word], colons: list[int]) -> Iterator[tuple[int, int, float]]:
    """[14:03] Wellington: a name between a time and a colon, as in a chat."""
    for colon in colons:
        index = colon - 1
        word = words[index]
        named = word.flags.named and word.flags.common < 3 and not word.flags.other
        if word.outline == "Xx" and named and _follows_time(words, index):
            yield index, index + 1, PAIRED


def in_conversation(
    words: list[Word], colons: list[int], times: list[int]
) -> Iterator[tuple[int, int, float]]:
    """Tobin: sure; [14:03] Jandira Work: ok; Annika 09:12: words before colons, or before times
    that end the line, each a usual given name or repeated beside one.
    """
    speakers = [span for colon in colons if (span := _before_colon(words, colon))]
    speakers += [span for time in times if (span := _before_time(words, time))]
    given = {span for span in speakers if words[span[0]].flags.given >= USUAL}
    if given and len(speakers) > 1:
        repeated = Counter(words[first].key for first, _ in speakers)
        for first, stop in speakers:
            if (first, stop) in given or repeated[words[first].key] > 1:
                yield first, stop, PAIRED


def _before_colon(words: list[Word], colon: int) -> tuple[int, int] | None:
    """Return the span of rare words before a colon; after a time, any words may follow them."""
    first = colon - 1
    while first and colon - first < _LONGEST_SPEAKER and words[first - 1].outline == "Xx":
        first -= 1
    is_spoken = _follows_time(words, first) or (colon - first == 1 and starts_line(words, first))
    return _rare_words(words, first, colon) if is_spoken and is_rare(words[first]) else None


def _rare_words(words: list[Word], first: int, end: int) -> tuple[int, int]:
    """Return the span of a word and of the rare words after it."""
    stop = first + 1
    while stop < end and is_rare(words[stop]):
        stop += 1
    return first, stop


def _follows_time(words: list[Word], index: int) -> bool:
    """Return whether a time and a mark precede a word."""
    return (
        index >= _TIME
        and words[index - 1].key.strip() in _AFTER_TIMES
        and words[index - 2].outline == "d2"
    )


def _before_time(words: list[Word], colon: int) -> tuple[int, int] | None:
    """Return the span of the rare word that starts a line with a time at its end: Annika Work
    09:12, Annika (09:12), Annika — today at 09:12.
    """
    if words[colon - 1].outline not in _HOURS or words[colon + 1].outline != "d2":
        return None
    end = colon + 2
    while end < len(words) and words[end].key.strip() in _AFTER_MINUTES:
        end += 1
    if end < len(words) and not words[end].is_line_break:
        return None
    first = colon - 1
    while first and colon - first < _LONGEST_HEAD and not words[first - 1].is_line_break:
        first -= 1
    if not starts_line(words, first) or not is_rare(words[first]):
        return None
    stop = first + 1
    while stop - first < _LONGEST_SPEAKER and words[stop].outline == "Xx":
        stop += 1
    is_next = stop == colon - 1 or words[stop].key.strip() in _BEFORE_DAYS
    return _rare_words(words, first, stop) if is_next else None


def starts_line(words: list[Word], index: int) -> bool:
    return index == 0 or (index > 0 and words[index - 1].is_line_break)


def is_rare(word: Word) -> bool:
    """Return whether a word with a capital is in no list but those of names."""
    flags = word.flags
    other = flags.common or flags.other or flags.label or flags.proper or flags.place_name > 1
    return word.outline == "Xx" and not other
