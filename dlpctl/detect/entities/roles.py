"""Names after the role of a person or before an address: `Assistito: CAPODIECI ROSALBA`,
`Gethin Trevelyan <geth.trev@example.org>`.

The tagger knows the names of some languages, and few of them in capitals. After the word for a role
that only persons have, and before a mail address with the same words, capitals are enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from dlpctl.detect.entities.crf.words import WordFlags, normalize
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

Flags = Callable[[str], WordFlags]

_ROLES = lexicon_words("person_roles")
_WORDS_OF_ROLES = frozenset(word for role in _ROLES for word in role.split())
_SIGNERS = lexicon_words("signers")
_STEMS_OF_SIGNERS = frozenset(signer[:6] for signer in _SIGNERS)
_BEFORE_NAMES = sorted(_ROLES | _SIGNERS)
_AT_ONCE = 300
TRIGGERS = tuple(
    f"(?:^|[^A-Za-z])(?i:{'|'.join(_BEFORE_NAMES[first : first + _AT_ONCE])})[^.@_0-9=\n]"
    for first in range(0, len(_BEFORE_NAMES), _AT_ONCE)
)
"""The words with the next character, as many as the engine takes at once: with all that may follow
them, they take thirty times as long to compile.
"""
_LONGEST_ENDING = 4
_ADDITION = rf"(?:['’]s)?(?:/?\(?-?[a-zß-ž]{{1,{_LONGEST_ENDING}}}\)?| ?#?\d{{1,2}})?"
"""The text after a role: `Tenant(s)`, `Mieter/in`, `Witness #2`."""
_NAME = r"(?: (?i:full )?(?i:name|nombre|nome|nom|naam))?"
_IS = r"(?:[ \t]?[:|][ \t]{0,40}[*\"'_]{0,2}|\t[ \t]{0,8}| {2,40})(?=[A-ZÀ-ÞĀ-Ž])"
_MARK = lazy(r"[:|\t]|  ")
"""The marks of which each text of `_IS` has one."""
_WHOSE = r"(?: [a-zß-ž]{1,5})?(?: [^\W\d_]{3,16})?"
"""Words that narrow a role: `habitual`, `del vehículo`, `of the policy`."""
_AFTER = lazy(rf"{_ADDITION}{_WHOSE}{_NAME}{_IS}")
_SEPARATOR = lazy(_IS)
_BEFORE_SEPARATOR = lazy(rf"(?<![^\W\d_])([^\W\d_]+(?: [^\W\d_]+){{0,4}}){_ADDITION}{_NAME}\Z")
_LETTERS = lazy(r"[^\W\d_]+")
_SIGNED = lazy(rf"(?<![^\W\d_])(?i:{'|'.join(sorted(_SIGNERS))}),?[ ](?=[A-ZÀ-ÞĀ-Ž])")
_LONGEST_LABEL = 80
_FARTHEST_NAME = 100
"""The most characters from a role to the name after it."""
_LONGEST_SIGNER = 2 + max(map(len, _SIGNERS))
_LONGEST_ROLE = 3
"""The words of a role."""
_WORD = lazy(r"[^\W\d_]+(?:['’.·-][^\W\d_]+)*\.?")
_JOINT = lazy(r" |, (?=[A-ZÀ-ÞĀ-Ž])| ?\. ?(?=[A-ZÀ-ÞĀ-Ž])")
_NEXT_LABEL = lazy(r"[ \t]?[:=#]")
_GOES_ON = lazy(r" [a-zß-ž]|[/@_0-9]")
_MOST_WORDS, _USUAL = 7, 2
_FEWEST_OF_NAME = 2
_LONGEST_ABBREVIATION = 3
_LONGEST_FORM = 3
"""The letters of the legal form of a company."""

MAIL_TRIGGER = r"[A-Za-zÀ-ž]{2}[\"']?(?: <|[,;|\t][ ]?[\"']?)[0-9A-Za-z._+-]{3,64}@"
_MAIL = lazy(r"[\"']?(?: <|(?P<apart>[,;|\t] ?[\"']?))(?P<local>[0-9A-Za-z._+-]{3,64})@")
_BEFORE_MAIL = lazy(
    r"(?<![^\W\d_])[A-ZÀ-Þ][^\W\d_]*(?:['’-][^\W\d_]+)*"
    r"(?: [^\W\d_]+\.?(?:['’-][^\W\d_]+)*){1,3}\Z"
)
_LONGEST_NAME = 120
_SHARED = 4
"""The number of first letters of a word that must also be in the mail address."""


def is_label(text: str, end: int) -> bool:
    """Return whether the role in the trigger match that ends at a position is a label."""
    following = text[end - 1 : end + _FARTHEST_NAME].partition("\n")[0]
    if following.isascii() and following == following.lower():
        return False  # as names start with a capital
    return (
        _AFTER.match(text, end - 1) is not None
        or _SIGNED.search(text, max(0, end - _LONGEST_SIGNER), end + 1) is not None
    )


def names(text: str, first: int, stop: int, flags: Flags) -> Iterator[tuple[int, int]]:
    """Yield the spans of names after roles in a part of a text."""
    is_marked = _MARK.search(text, first, stop)
    for separator in _SEPARATOR.finditer(text, first, stop) if is_marked else ():
        end = separator.start()
        low = max(first, end - _LONGEST_LABEL)
        before = text.rfind("\n", low, end), text.rfind("\t", low, end)
        signs = text.rfind(":", low, end), text.rfind("|", low, end)
        start = max(low, 1 + max(*before, *signs))
        if not _may_name_a_role(_LETTERS.findall(text, start, end)):
            continue
        label = _BEFORE_SEPARATOR.search(text, start, end)
        if label is not None and _names_a_role(label[1].lower().split()):
            yield from _name_at(text, separator.end(), stop, flags)
    written = text[first:stop].lower()
    for stem in _STEMS_OF_SIGNERS:
        if stem in written:
            break
    else:
        return
    for signer in _SIGNED.finditer(text, first, stop):
        yield from _name_at(text, signer.end(), stop, flags)


def _name_at(text: str, start: int, stop: int, flags: Flags) -> Iterator[tuple[int, int]]:
    """Yield the span of the name that starts at a position, if there is one."""
    written = list(_words_at(text, start, stop, flags))
    words = _without_titles(written, flags)
    is_titled = len(words) < len(written)
    if words and _NEXT_LABEL.match(text, words[-1].end()):
        words.pop()
    while words and not words[-1][0][0].isupper():  # a particle
        words.pop()
    is_alone = len(words) == 1 and _GOES_ON.match(text, words[-1].end())
    if (
        words
        and not is_alone
        and _is_name([word[0].rstrip(".") for word in words], flags, is_titled=is_titled)
    ):
        yield words[0].start(), words[-1].end() - _ends_sentence(words[-1][0])


def _ends_sentence(word: str) -> bool:
    """Return whether a point after a word is not that of an abbreviation."""
    return word.endswith(".") and len(word) > _LONGEST_ABBREVIATION


def names_before_mail(text: str, first: int, stop: int, flags: Flags) -> Iterator[tuple[int, int]]:
    """Yield the spans of names before mail addresses that have a part of them."""
    has_mail = text.find("@", first, stop) >= 0
    for mail in _MAIL.finditer(text, first, stop) if has_mail else ():
        start = max(first, mail.start() - _LONGEST_NAME)
        name = _BEFORE_MAIL.search(text, start, mail.start())
        if name is None:
            continue
        words = name[0].split()
        local = mail["local"].lower()
        shared = [normalize(word)[:_SHARED] in local for word in words if len(word) >= _SHARED]
        is_shared = len(shared) > 1 and all(shared) if mail["apart"] else any(shared)
        if is_shared and _is_name([word.rstrip(".") for word in words], flags):
            yield name.span()


def _may_name_a_role(words: Sequence[str]) -> bool:
    """Return whether a word, or one near the end without its ending, occurs in a role; this costs
    a hundredth of a search for the label.
    """
    stems = [word[:-count] for word in words[-3:] for count in range(1, _LONGEST_ENDING + 1)]
    return not _WORDS_OF_ROLES.isdisjoint(map(str.lower, (*words, *stems)))


def _names_a_role(words: Sequence[str]) -> bool:
    """Return whether words end with a role, or with a role and up to two words that narrow it."""
    ends = (words, words[:-1], words[:-2])
    return not _WORDS_OF_ROLES.isdisjoint(words) and any(
        " ".join(end[-count:]) in _ROLES
        for end in ends
        for count in range(1, _LONGEST_ROLE + 1)
        if count <= len(end)
    )


def _words_at(text: str, start: int, stop: int, flags: Flags) -> Iterator[re.Match[str]]:
    """Yield the words of a name: with a capital, or a particle; a surname may have a comma."""
    in_capitals = True
    for count in range(_MOST_WORDS):
        word = _WORD.match(text, start, stop)
        if word is None or not (word[0][0].isupper() or flags(word[0]).particle):
            return
        yield word
        if _ends_sentence(word[0]) and not flags(word[0].rstrip(".")).title:
            return
        in_capitals = in_capitals and word[0].isupper()
        joint = _JOINT.match(text, word.end(), stop)
        if joint is None:
            return
        start = joint.end()
        is_after_surname = not count or (in_capitals and text[start + 1 : start + 2].islower())
        if joint[0][0] == "," and not is_after_surname:
            return


def _without_titles(words: Sequence[re.Match[str]], flags: Flags) -> list[re.Match[str]]:
    first = 0
    while first < len(words) and flags(words[first][0].rstrip(".")).title:
        first += 1
    return list(words[first:])


def _is_name(words: Sequence[str], flags: Flags, *, is_titled: bool = False) -> bool:
    """Return whether words are a name: at most one of several is another word, or a single one is
    known as a name, or follows a title or an initial.
    """
    full = [word for word in words if len(word) > 1]
    is_titled = is_titled or len(full) < len(words)
    words = full or words
    first = flags(words[0])
    if first.common > _USUAL and first.given < _USUAL:  # The
        return False
    is_form = len(words[0]) <= _LONGEST_FORM and words[0].isupper() and not first.named
    if is_form and not words[-1].isupper():  # SCI Les Ormeaux
        return False
    known = [each for each in map(flags, words) if not each.particle]
    if not known or any(each.company or each.calendar or each.label for each in known):
        return False
    others = sum(map(_is_another_word, known))
    if len(words) == 1 or _is_another_word(known[0]):
        return (known[0].usual or (is_titled and not known[0].common)) and not others
    return others == 0 or len(known) - others >= _FEWEST_OF_NAME > others


def _is_another_word(flags: WordFlags) -> bool:
    if flags.named:
        return flags.common > _USUAL and not flags.usual
    return bool(flags.common >= _USUAL or flags.place_name > 1 or flags.proper)
