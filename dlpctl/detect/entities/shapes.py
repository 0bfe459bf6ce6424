"""Names recognized by their shape, where the tagger labels them as something else.

To add a shape, write a generator of token spans and call it in `find`; words belong in the
lexicons.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dlpctl.detect.entities.boundaries import CLOSINGS, is_race_and_sex
from dlpctl.detect.entities.evidence import is_english, is_ordinary
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.detect.entities.rejections import FIRMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dlpctl.detect.entities.crf.sequence import Tagged, Word

_SURE = 0.75
_PAIRED = 0.55
_HONORIFICS = lexicon_words("honorifics")
_TITLES = lexicon_words("titles")
_STOPS = (". ", ".")
_AFTER_CLOSING = (",", ".", "!")
_MOST_SIGNED = 3  # words of the name that signs a letter
_MOST_PARTS = 5  # words and hyphens after a title
_ENDS = ('"', "”", "'", ".", "-", "<", "/")
_USUAL = 2
_PAIR = 2
_AFTER_GIVEN = (".", ",", "?", "!", ")")
_SHORTEST_SUBJECT = 3
_CLAUSE_ENDS = (". ", "! ", "? ", ", ", "; ", ": ")
_AFTER_TIMES = ("]", "-")
_RELATIVES = lexicon_words("relatives")
_BORN = lexicon_words("born")  # the name of the parents follows
_SUFFIXES = lexicon_words("suffixes")
_MAIL_HEADS = lexicon_words("mail_heads")
_SURNAMES_FIRST = lexicon_words("surnames_first")
_GIVEN_WORDS = lexicon_words("given_words")
_WITHIN_NAMES = (", ", "-", ". ")
_SYLLABLES = lexicon_words("given_syllables")
_CUES = _TITLES | _RELATIVES | _BORN


def find(region: Tagged, *, among_persons: bool) -> Iterator[tuple[int, int, float]]:
    """Yield spans of tokens with a score; more of them in a text that names other persons."""
    if not _HONORIFICS.isdisjoint(region.tokens):
        yield from _before_honorific(region.words)
    if "/" in region.tokens:
        yield from _on_ticket(region.words)
    if ", " in region.tokens:
        yield from _in_register(region.words)
    keys = {word.key for word in region.words}
    if not _SUFFIXES.isdisjoint(keys):
        yield from _before_suffix(region.words)
    if among_persons and ": " in region.tokens:
        yield from _in_mail_head(region.words)
    if not _SURNAMES_FIRST.isdisjoint(keys):
        yield from _surname_first(region.words)
    if "-" in region.tokens:
        yield from _of_syllables(region.words)
    yield from _addressed(region.words)
    if ": " in region.tokens:
        yield from _speaking(region.words)
        yield from _in_conversation(region)
    yield from _in_signature(region.words)
    for index, word in enumerate(region.words):
        if word.key in _CUES:
            yield from _after_cue(region.words, index)
        if word.flags.given >= _USUAL and word.outline == "Xx":
            if _is_pair(region.words, index):
                yield index, index + 2, _PAIRED
            elif _is_within_sentence(region.words, index) or (
                among_persons and _starts_sentence(region.words, index)
            ):
                yield index, index + 1, _PAIRED


def _after_cue(words: list[Word], index: int) -> Iterator[tuple[int, int, float]]:
    word = words[index]
    if word.key in _TITLES or word.key in _BORN:
        rare = word.outline == "Xx" or not word.flags.common or word.key in _BORN
        yield from (span for span in _after_title(words, index) if rare or _is_named(words, span))
    if word.outline in ("x", "Xx") and word.key in _RELATIVES:
        yield from _after_relative(words, index)


def _is_named(words: list[Word], span: tuple[int, int, float]) -> bool:
    return any(word.flags.usual for word in words[span[0] : span[1]])


def _before_suffix(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Tolga Bey."""
    for index in range(len(words) - 1):
        if words[index + 1].key in _SUFFIXES and _is_rare(words[index]):
            yield index, index + 1, _SURE


def _in_mail_head(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """To: Pham, Thu Trang <...>: a line of words with capitals, one of which is known as a name."""
    for index in range(len(words) - 1):
        if words[index].key not in _MAIL_HEADS or words[index + 1].key != ": ":
            continue
        first = stop = index + 2
        while stop < len(words) and _is_in_head(words[stop]):
            stop += 1
        ends = stop == len(words) or words[stop].is_line_break or words[stop].key.strip() in "<;"
        usual = any(word.flags.usual for word in words[first:stop])
        if ends and usual and _starts_line(words, index) and stop - first > 1:
            yield first, stop, _PAIRED


def _is_in_head(word: Word) -> bool:
    written = word.outline == "Xx" and _is_vietnamese(word.key)
    return written or _is_rare(word) or word.key in _WITHIN_NAMES


def _surname_first(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Le Quang Vinh, Pham, Thu Trang; Nam Nguyen: a surname beside words of given names."""
    index = 0
    while index < len(words) - 1:
        stop = index
        while stop < len(words) and words[stop].outline == "Xx" and _is_vietnamese(words[stop].key):
            stop += 1
        if stop - index > 1 and _is_alone(words, index, stop):
            keys = tuple(word.key for word in words[index:stop])
            known = keys[0] in _SURNAMES_FIRST or (
                len(keys) == _PAIR and keys[1] in _SURNAMES_FIRST and len(keys[1]) > _PAIR
            )
            if known and keys not in FIRMS:
                yield index, stop, _PAIRED
        index = max(stop, index + 1)


def _is_vietnamese(key: str) -> bool:
    return key in _SURNAMES_FIRST or key in _GIVEN_WORDS


def _is_alone(words: list[Word], index: int, stop: int) -> bool:
    """Return whether no word with a capital is beside some, other than a usual noun."""
    beside = (*words[max(0, index - 1) : index], *words[stop : stop + 1])
    return not any(
        word.outline[0] == "X" and (word.flags.named or not word.flags.common) for word in beside
    )


def _before_honorific(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Tanaka-san."""
    for index in range(len(words) - 2):
        word = words[index]
        if (
            word.outline == "Xx"
            and words[index + 1].key == "-"
            and words[index + 2].key in _HONORIFICS
        ):
            yield index, index + 1, _SURE


def _of_syllables(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Soo-jin, Ji-woo Han, Kim Min-jae: a given name of two syllables, also beside a surname."""
    for index in range(len(words) - 2):
        first, hyphen, second = words[index : index + 3]
        if hyphen.key != "-" or first.outline != "Xx" or second.outline not in ("x", "Xx"):
            continue
        if first.key in _SYLLABLES and second.key in _SYLLABLES:
            start, stop = index, index + 3
            if stop < len(words) and words[stop].key == "-":
                continue
            if start and _is_usual_surname(words[start - 1]):
                start -= 1
            elif stop < len(words) and _is_usual_surname(words[stop]):
                stop += 1
            yield start, stop, _SURE


def _is_usual_surname(word: Word) -> bool:
    return _is_rare(word) and word.flags.surname >= _USUAL


def _on_ticket(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """OKORO/GRACE."""
    for index in range(len(words) - 2):
        surname, mark, given = words[index : index + 3]
        if mark.key == "/" and surname.outline == given.outline == "XX" and given.flags.given > 1:
            titled = index + 3 < len(words) and bool(words[index + 3].flags.title)
            if titled or (
                surname.flags.surname and not (surname.flags.common or given.flags.common)
            ):
                yield index, index + 3, _SURE


def _in_register(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """DOE, JANE Q: not in a list of cities or countries, and not in the middle of a list."""
    for index in range(len(words) - 2):
        surname, mark, given = words[index : index + 3]
        if mark.key != ", " or not surname.outline == given.outline == "XX":
            continue
        if given.flags.given < 2 or given.flags.common > 2 or given.flags.place_name > 1:
            continue
        if surname.flags.other or given.flags.other or surname.flags.surname == 0:
            continue
        stop = index + 3
        while stop < min(len(words), index + 5) and words[stop].outline == "X1":
            if is_race_and_sex(words, stop):
                break
            stop += 1
        listed = (index > 0 and words[index - 1].key == ", ") or (
            stop < len(words)
            and words[stop].key == ", "
            and stop + 1 < len(words)
            and words[stop + 1].outline == "XX"
        )
        if not listed:
            yield index, stop, _SURE


def _after_title(words: list[Word], index: int) -> Iterator[tuple[int, int, float]]:
    """Ms. Rodham-Clinton, Rep. Ocasio-Cortez: a word that is hardly anything else."""
    first = name = (
        index + 2 if index + 1 < len(words) and words[index + 1].key in _STOPS else index + 1
    )
    while name + 1 < len(words) and words[name].outline == "X1":
        name += 2 if words[name + 1].key in _STOPS else 1
    stop = name
    while stop < len(words) and stop - name < _MOST_PARTS and _is_surname(words[stop]):
        stop += 2 if stop + 2 < len(words) and words[stop + 1].key == "-" else 1
    if stop > name and (stop == len(words) or words[stop].outline[0] != "X"):
        yield first, stop, _PAIRED


def _after_relative(words: list[Word], index: int) -> Iterator[tuple[int, int, float]]:
    """My brother Desmond, her supervisor Ed Marsh, die Familie Kessler."""
    first = index + 1
    if first >= len(words) or words[first].outline != "Xx" or words[first].flags.other:
        return
    flags = words[first].flags
    if max(flags.given, flags.surname) < max(2, flags.common):
        return
    stop = first + 1
    if stop < len(words) and words[stop].outline == "Xx" and words[stop].flags.common < 3:
        stop += not words[stop].flags.other
    if stop == len(words) or words[stop].outline[0] != "X":
        yield first, stop, _PAIRED


def _is_surname(word: Word) -> bool:
    return word.outline == "Xx" and word.flags.common < 2 and not word.flags.other


def _addressed(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Kay, I spoke with him: a given name at the start of a line, before a comma or a colon."""
    for index in range(len(words) - 2):
        word = words[index]
        if word.outline != "Xx" or words[index + 1].key not in (", ", ": "):
            continue
        if not _starts_line(words, index):
            continue
        known = word.flags.given == 3 and word.flags.common < 2 and word.flags.place_name < 2
        spoken = words[index + 2]
        if (
            known
            and not word.flags.other
            and (spoken.outline in ("x", "x1") or spoken.key in ("i", "i'm", "i’m"))
        ):
            yield index, index + 1, _PAIRED


def _speaking(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """[14:03] Wellington: a name between a time and a colon, as in a chat."""
    for index in range(3, len(words) - 1):
        if words[index + 1].key != ": " or words[index - 1].key.strip() not in _AFTER_TIMES:
            continue
        word, minutes = words[index], words[index - 2]
        named = word.flags.named and word.flags.common < 3 and not word.flags.other
        if word.outline == "Xx" and named and minutes.outline == "d2":
            yield index, index + 1, _PAIRED


def _in_conversation(region: Tagged) -> Iterator[tuple[int, int, float]]:
    """Tobin: sure; Jandira: ok: words before colons at the start of lines, each a usual given name
    or repeated beside one.
    """
    words = region.words
    speakers = [
        mark - 1
        for mark, written in enumerate(region.tokens)
        if written == ": " and _starts_line(words, mark - 1) and _is_rare(words[mark - 1])
    ]
    given = [index for index in speakers if words[index].flags.given >= _USUAL]
    if given and len(speakers) > 1:
        repeated = Counter(words[index].key for index in speakers)
        for index in speakers:
            if index in given or repeated[words[index].key] > 1:
                yield index, index + 1, _PAIRED


def _starts_line(words: list[Word], index: int) -> bool:
    return index == 0 or (index > 0 and words[index - 1].is_line_break)


def _is_within_sentence(words: list[Word], index: int) -> bool:
    """Return whether a given name is between words in lower case, in a language of which the tagger
    knows little: setz Friederike in Kopie.
    """
    word = words[index]
    if not 0 < index < len(words) - 1 or not _is_rare(word) or is_ordinary(word):
        return False
    before, after = words[index - 1], words[index + 1]
    if before.outline != "x" or before.flags.particle:  # plano de Saúde
        return False
    is_noun = after.outline == "Xx" and after.flags.common and not after.flags.named
    ends = after.outline == "x" or is_noun or after.key.strip() in _AFTER_GIVEN
    return bool(ends) and not is_english(words, index, index + 1)


def _starts_sentence(words: list[Word], index: int) -> bool:
    """Return whether a given name is the first word of a sentence, or follows the only capital
    before it, and a word in lower case follows: Joost belt morgen. Bitte Uwe fragen.
    """
    word = words[index]
    if index + 1 >= len(words) or words[index + 1].outline != "x":
        return False
    if len(word.key) < _SHORTEST_SUBJECT or not _is_rare(word) or is_ordinary(word):
        return False
    before = words[index - 1]
    verb = index > 0 and before.outline == "Xx" and before.flags.common and not before.flags.named
    return _starts_clause(words, index - 1 if verb else index)


def _starts_clause(words: list[Word], index: int) -> bool:
    return _starts_line(words, index) or words[index - 1].key in _CLAUSE_ENDS


def _is_rare(word: Word) -> bool:
    """Return whether a word with a capital is in no list but those of names."""
    flags = word.flags
    other = flags.common or flags.other or flags.label or flags.proper or flags.place_name > 1
    return word.outline == "Xx" and not other


def _in_signature(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Thx, Raj: a name after the closing of a letter, at the end of its line; one in no list has
    several words and a line of its own.
    """
    for index in range(len(words) - 1):
        if words[index].key not in CLOSINGS:
            continue
        name = index + 1 + (words[index + 1].key.strip() in _AFTER_CLOSING)
        name += name < len(words) and words[name].is_line_break
        if name >= len(words):
            continue
        word = words[name]
        named = max(word.flags.given, word.flags.surname) > word.flags.common
        if named and word.outline == "Xx" and not word.flags.other and _ends(words, name + 1):
            yield name, name + 1, _PAIRED
        stop = name
        while stop < len(words) and stop - name < _MOST_SIGNED and _is_rare(words[stop]):
            stop += 1
        if stop - name > 1 and words[name - 1].is_line_break and _ends(words, stop):
            yield name, stop, _PAIRED


def _ends(words: list[Word], stop: int) -> bool:
    """Return whether a line or its text ends at a token."""
    return stop == len(words) or words[stop].is_line_break or words[stop].key.strip() in _ENDS


def _is_pair(words: list[Word], index: int) -> bool:
    """Return whether an unambiguous given name and surname occur alone."""
    if index + 1 >= len(words):
        return False
    given, surname = words[index], words[index + 1]
    if (
        given.outline != "Xx"
        or surname.outline != "Xx"
        or (given.flags.other or surname.flags.other)
    ):
        return False
    if (given.key, surname.key) in FIRMS or given.flags.given < 2:
        return False
    if surname.flags.surname < 2 and (given.flags.given < 3 or len(surname.key) < 3):
        return False
    if given.flags.common or surname.flags.common:
        return False
    if given.flags.place_name > 1 or surname.flags.place_name > 2:
        return False
    before = words[index - 1] if index else None
    after = words[index + 2] if index + 2 < len(words) else None
    return not any(word is not None and word.outline[0] == "X" for word in (before, after))
