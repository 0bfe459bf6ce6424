"""Decide whether several words are a passphrase that somebody chose or drew."""

from __future__ import annotations

from dlpctl.detect.validators import secrets_judge as judge
from dlpctl.detect.validators.secrets_literals import PASSWORD_STEM, describes, password
from dlpctl.detect.validators.wordlists import read_words

_FEWEST_WORDS = 3
_SENTENCE = read_words("sentences_about_phrases")
_MESSAGE = read_words("words_of_messages")


def password_or_phrase(value: str) -> bool:
    """A password in quotes: a literal, or words that somebody drew, and no message or label."""
    words = value.lower().split(" ")
    if len(words) == 1:
        return password(value)
    if not (value.islower() or value.istitle()) or len(words) != len(set(words)):
        return False
    if not _MESSAGE.isdisjoint(words) or any(map(PASSWORD_STEM.search, words)):
        return False
    of_programs = sum([word in judge.PROGRAM_WORDS for word in words])
    if len(words) == _FEWEST_WORDS:
        return value.islower() and not of_programs and not any(map(describes, words))
    return 2 * of_programs <= len(words)


def phrase(value: str) -> bool:
    """Words that somebody chose or drew, not a sentence about a passphrase."""
    words = value.lower().replace("-", " ").split()
    return len(words) == len(set(words)) and not _SENTENCE.intersection(words)
