"""Decide whether a token is random or was written by a person.

Entropy is not enough: `getUserAccessTokenById2` has more of it than many keys. Words have likely
letter pairs and change case at word starts; generated values do neither. Invented values have
shapes of their own: runs, sequences, repetition, keyboard rows and the words of placeholders.
"""

from __future__ import annotations

import re
import sys
from array import array
from functools import cache
from itertools import pairwise
from operator import sub

from dlpctl.detect.validators.remembered import remembered
from dlpctl.detect.validators.wordlists import read_rows, read_words
from dlpctl.regex import lazy

# A longer value is judged by its first part, so that the cost is bounded.
JUDGED = 64
# The mean of the table's cells from which on a value reads like words; for the rates, see
# tests/detect/validators/test_secrets_judge.py.
WORDY = 0.25
# Random values rarely reach this mean. Between the two, the words themselves are searched: names
# with many abbreviations are in this range.
_UNCERTAIN = -2.0
_COVERED = 0.4
# In short values of one case: 70 % of random ones have less, and one in 250 words.
_UNREADABLE = -0.5
# Between 97 and 99 % of random values have less, and no name in 48 MB of packages and
# documentation.
RANDOM_MIXED, _RANDOM_OF_ONE_CASE = -1.8, -1.2

_ZERO = ord("j")
_LETTER_PAIRS = read_rows("letter_pairs")
_DIGIT, _JOINT, _OTHER = 52, 53, 54  # classes of characters after the letters
PROGRAM_WORDS = read_words("program")
_IDENTIFIER_PREFIXES = read_words("identifier_prefixes")
_FILE_ENDINGS = read_words("file_endings")


def _character_class(code: int) -> int:
    char = chr(code)
    if "a" <= char <= "z":
        return code - ord("a")
    if "A" <= char <= "Z":
        return 26 + code - ord("A")
    if "0" <= char <= "9":
        return _DIGIT
    return _JOINT if char in "_-./:+=~ @" else _OTHER


_KINDS = bytes(_character_class(code) for code in range(256))


@cache
def _pair_weights() -> list[int]:
    """Return the table by pairs of bytes as numbers of this machine."""
    weights = [0] * (1 << 16)
    for before, row in enumerate(_LETTER_PAIRS):
        for after, cell in enumerate(row):
            weights[int.from_bytes((before, after), sys.byteorder)] = ord(cell) - _ZERO
    return weights


_HEX = lazy(r"[0-9a-fA-F]+")
_HEX_OR_PREFIXED = lazy(r"[0-9a-fA-F]+|(?:[a-z]{2}[0-9]?_|0x)[0-9a-fA-F]{24,}")
_LONG_NUMBER = 24
# Hexadecimal digits with an attached prefix or suffix: `dapi`, `SK`, `:fx`.
_HEX_TAIL = lazy(r"(?:[A-Za-z]{0,8}?|0x)[0-9a-fA-F]{8,}[A-Za-z]{0,2}")
_CONSTANT = lazy(r"(?:[0-9A-Za-z]{1,20}[_-]){2,}[0-9A-Za-z]{1,20}")
_SURELY_CONSTANT = -1.0
# Words before a digest, as in the keys of caches and tasks, or its algorithm.
_NAMED_DIGEST = lazy(
    r"(?:(?:[a-z]{3,}-){2,}|v[0-9]{1,3}-[a-z]{3,}-|(?:[a-z][a-z0-9]*-){3,})[0-9a-f]{32,64}"
    r"|sha-?[0-9]{1,3}-[0-9A-Za-z+/_-]{27,88}={0,2}"
)
# The name of a function in a binary, as compilers of Rust and C++ write it.
_MANGLED = lazy(
    r"_{0,2}(?:R[CIMNXY]\w*?Cs[0-9A-Za-z]{1,16}_[0-9]|Z(?:T[ISV])?NK?[0-9]{1,2}[A-Za-z_]{2})"
)
_LONG_RUN = lazy(r"[0-9A-Za-z]{10}")
_UUID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SEGMENT = lazy(r"[0-9A-Za-z]+")
# The words of placeholders, with at least four letters, so that only one random token in ten
# thousand contains one.
_PLACEHOLDER = lazy(
    r"example|sample|placeholder|change_?-?me|your|_here|-here|keyhere|tokenhere|goeshere|xxxxxx"
    r"|dummy|fake|redacted|todo|insert|replace"
    r"|secret|passw|token|test|foobar|qwert|asdfg|zxcvb|dead-?beef|cafe-?babe|badc0de|mykey|apikey"
    r"|12345|abcde|00000|98765|masked"
    r"|censored|sanitized|obfuscated|removed|hidden|private|public|undefined|lorem|ipsum"
)
# After a provider's prefix, fewer words reject a value: `sk_test_` is a prefix, and so are `token`
# and `secret`.
_TAIL_PLACEHOLDER = lazy(
    r"example|sample|placeholder|changeme|yourkey|yourapi|yourtoken|keyhere|tokenhere|goeshere"
    r"|xxxxxx|dummy|redacted|foobar|qwert"
    r"|asdfg|zxcvb|deadbeef|cafebabe|1234567|abcdefg|0000000|9876543|masked|sanitized"
)
# Four letters of each of these words: a set look-up takes a tenth of the time of the regexes.
_GRAMS = read_words("placeholder_grams")


def _has(words: re.Pattern[str], value: str) -> bool:
    value = value[:JUDGED].lower()
    if _GRAMS.isdisjoint([value[at : at + 4] for at in range(len(value) - 3)]):
        return False
    return words.search(value) is not None


@remembered
def wordiness(value: str) -> float:
    """Return how much a value reads like words: random tokens below 0, names and words above 1."""
    classes = value[:JUDGED].encode("latin-1", "replace").translate(_KINDS)
    if not classes:
        return 0.0
    framed = b"%c%b%c" % (_JOINT, classes, _JOINT)
    # The pairs as two-byte numbers, first those at even positions: loops in C take a fifth of the
    # time.
    even, odd = framed[: len(framed) & ~1], framed[1 : 1 + (len(framed) - 1 & ~1)]
    weight = _pair_weights().__getitem__
    return sum(map(weight, array("H", even)), sum(map(weight, array("H", odd)))) / len(classes)


PART = lazy(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LEET, _LETTERS = lazy(r"\b[a-z]{1,8}[01345][a-z]{2,8}\b"), str.maketrans("01345", "oieas")
_CONSONANT = "[b-df-hj-np-tv-xz]"
# Parts with vowels: hardly a generated value has no others.
_NAME_OF_WORDS = lazy(
    rf"[A-Z]?{_CONSONANT}*[aeiouy][a-z]*"
    rf"(?:[A-Z]{_CONSONANT}*[aeiouy][a-z]*|[AEIOUY]{_CONSONANT}+(?![a-z]))+"
)
# The path of an object, which ends in its number.
_PATH_OF_OBJECT = lazy(r"(?:[a-z]{3,20}/|v\d/){1,6}[0-9a-f-]{32,36}")


def has_leet_word(value: str) -> bool:
    """Return whether a word of programs has a digit in the place of a letter: `r3dis`, `s3rver`."""
    return any(part.translate(_LETTERS) in PROGRAM_WORDS for part in _LEET.findall(value))


def is_made_of_words(value: str) -> bool:
    """Return whether words of programs cover much of the value, by case, digits and joints."""
    value = value[:JUDGED]
    covered = sum([len(part) for part in PART.findall(value) if part.lower() in PROGRAM_WORDS])
    return covered >= _COVERED * len(value)


@remembered
def is_patterned(value: str) -> bool:
    """Return whether a value is made up: few characters, repetition, or a sequence."""
    value = value[:JUDGED]
    length = len(value)
    distinct = len(set(value))
    if distinct < min(length // 3 + 1, 6):
        return True
    codes = value.encode("latin-1", "replace")
    # Values with many different characters have different pairs, too.
    if distinct * 2 < length and len(set(pairwise(codes))) < 0.5 * (length - 1):
        return True
    steps = list(map(sub, codes[1:], codes))
    limit = 5 + length // 8
    if steps.count(1) >= limit or steps.count(-1) >= limit or steps.count(0) >= limit:
        return True
    # a1b2c3d4: two alternating sequences
    if not (value[1::2].isdigit() or value[::2].isdigit()):
        return False
    return [first + second for first, second in pairwise(steps)].count(1) >= limit


def is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


def is_random(value: str) -> bool:
    """Return whether a value is generated: not words, a pattern or a number; hexadecimal counts."""
    if len(value) < 8:
        return False
    if value.isalpha() and (value.islower() or value.isupper()) and len(value) < 16:
        return wordiness(value) < _UNREADABLE and not is_patterned(value)
    if value.isdigit() or _NAME_OF_WORDS.fullmatch(value):
        return False
    if not _HEX_OR_PREFIXED.fullmatch(value):
        wordy = wordiness(value)
        if wordy >= WORDY or (wordy >= _UNCERTAIN and is_made_of_words(value)):
            return False
    return not is_patterned(value)


# Public values: keys that makers publish for emulators, those of examples in standards, and the
# first characters of public keys and certificates in DER and in SSH.
_PUBLISHED = (
    # NIST SP 800-38A
    "2b7e151628aed2a6abf7158809cf4f3c",
    "8e73b0f7da0e6452c810f32b809079e5",
    "603deb1015ca71be2b73aef0857d7781",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq",  # Azurite
    # Cosmos DB emulator
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw",
    "MFkwEwYHKoZIzj0",
    "MFYwEAYHKoZIzj0",
    "MHYwEAYHKoZIzj0",
    "MIGbMBAGByqGSM49",
    "MIIBIjANBgkqhkiG9w0",
    "MIICIjANBgkqhkiG9w0",
    "MIGfMA0GCSqGSIb3DQEBAQUAA4GN",
    "MCowBQYDK2V",
    "AAAAB3NzaC1",
    "AAAAC3NzaC1",
    "AAAAE2VjZHNh",
    "LS0tLS1CRUdJTiBDRVJU",
    "LS0tLS1CRUdJTiBQVUJM",
)


def is_published(value: str) -> bool:
    return value.startswith(_PUBLISHED)


def has_placeholder_words(value: str) -> bool:
    """Return whether the value contains words of placeholders."""
    return _has(_PLACEHOLDER, value)


def _is_constant(value: str) -> bool:
    """Return whether a value is short parts with joints, like the name of a format."""
    return _CONSTANT.fullmatch(value) is not None and (
        ("_" in value and value.isupper()) or wordiness(value) > _SURELY_CONSTANT
    )


@remembered
def token(value: str) -> bool:
    """A generated value that is neither a placeholder nor a UUID."""
    return (
        is_random(value)
        and not _is_constant(value)
        and not is_uuid(value)
        and not has_placeholder_words(value)
        and not is_published(value)
        and not _MANGLED.match(value)
    )


def uuid(value: str) -> bool:
    """A generated UUID: not nil, counted, or a well-known one from manuals."""
    plain = value.replace("-", "").lower()
    if plain.startswith(("123e4567e89b12d3", "550e8400e29b41d4", "f47ac10b58cc4372", "deadbeef")):
        return False
    return len(plain) == 32 and not is_patterned(plain)


@remembered
def tail(value: str) -> bool:
    """A provider's token with its prefix: the part after the words of the prefix is generated."""
    parts = _SEGMENT.findall(value[:512])
    if not parts:
        return False
    body = max(parts, key=len)
    if len(body) < 20:
        while len(parts) > 1 and parts[0].isalpha():
            del parts[0]
        body = "".join(parts)
    if _has(_TAIL_PLACEHOLDER, body) or "EXAMPLE" in value[:512]:
        return False
    if len(body) >= 8 and is_patterned(body):
        return False
    if body.isdigit():
        return len(body) >= 6
    return bool(_HEX_TAIL.fullmatch(body)) or wordiness(body) < WORDY


def mixed_token(value: str) -> bool:
    """A token of upper case, lower case and digits, which hardly anything but a key has."""
    return (
        not (value.isupper() or value.islower()) and any(map(str.isdigit, value)) and token(value)
    )


def keying_material(value: str) -> bool:
    """A salt, seed, nonce or initialization vector: mixed, or long enough to be no number."""
    if len(value) >= _LONG_NUMBER and _HEX.fullmatch(value):
        return not is_patterned(value)
    is_long = len(value) >= _LONG_NUMBER and any(map(str.isdigit, value))
    return mixed_token(value) or (is_long and token(value))


def unmistakable(value: str) -> bool:
    """A token that no name, digest or word resembles, for variables with a meaningless name."""
    is_mixed = not (value.isupper() or value.islower())
    return (
        _LONG_RUN.search(value) is not None
        and not _NAMED_DIGEST.fullmatch(value)
        and any(map(str.isdigit, value))
        and not _HEX.fullmatch(value)
        and not is_identifier(value)
        and wordiness(value) < (RANDOM_MIXED if is_mixed else _RANDOM_OF_ONE_CASE)
        and token(value)
    )


def is_identifier(value: str) -> bool:
    """Return whether the value starts like the identifier of an object of a service: `evt_1N3T`."""
    prefix, joint, body = value.replace("-", "_").partition("_")
    return joint != "" and prefix in _IDENTIFIER_PREFIXES and "_" not in body


def prefixed_token(value: str) -> bool:
    """A generated value after a prefix, unless the prefix names the kind of an object."""
    return mixed_tail(value) and not is_identifier(value)


def mixed_tail(value: str) -> bool:
    """A token whose last part has upper case, lower case and digits, after any prefix."""
    return mixed_token(re.split("[_-]", value)[-1]) and tail(value)


def secret_or_uuid(value: str) -> bool:
    """A generated value or UUID, if the name indicates a key."""
    if len(value) <= 16 and _HEX.fullmatch(value):
        return False  # the id of a key or of a trace
    if _PATH_OF_OBJECT.fullmatch(value):
        return False
    if _NAMED_DIGEST.fullmatch(value) or value.rpartition(".")[2].lower() in _FILE_ENDINGS:
        return False
    return uuid(value) if is_uuid(value) else token(value)


def not_placeholder(value: str) -> bool:
    """Any literal that is not invented: for shapes that are distinctive on their own."""
    value = value[:512]
    return (
        len(set(value)) > 6 and not _has(_TAIL_PLACEHOLDER, value) and "change" not in value.lower()
    )
