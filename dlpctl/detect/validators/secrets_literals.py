"""Decide whether the value of a password or a key is a literal: not code, a reference, a template
or a label.
"""

from __future__ import annotations

import re

from dlpctl.detect.validators import secrets_judge as judge
from dlpctl.detect.validators.wordlists import read_words
from dlpctl.regex import lazy

_LONGEST = 256

# Values that are replaced or evaluated later.
TEMPLATE = lazy(
    r"\$\{|\{\{|\}\}|\$\(|#\{|<%|%>|%\(\w+\)|^%[\w.-]+%$|%[sdrvq](?:\W|$)"
    r"|^(?:\$[A-Za-z_][\w.\[\]>-]*[:@/+,|]?)+$"
    r"|^\$\d$|^\$(?:env|script|global|using):|^@\{|^@[A-Za-z][\w.]*@?$|^\{[\w.:-]*\}$|^:[a-z_]\w*$"
    r"|^<.*>?$|^\[.*\]?$|^\(.*\)$|^\*+$|\*{3}|\.{3}|…|^[.?_#=+-]+$|^!(?:Ref|Sub|GetAtt|secret"
    r"|vault|env_var)\b|^ENC\[|\[\w[\w .'\"-]*\]$"
    r"|^(?:vault|secret|env|ssm|op|sops|aws-ssm|awssm|keyvault|kms|ref|file|arn|projects"
    r"|azurekeyvault|gcpsecrets|secretsmanager)[:/]"
)
# Code: calls, member access, operators, regular expressions, markup.
CODE = lazy(
    r"[\w\])]\((?!\d{1,4}\)\w)|\(\)|->|=>|::|&&|\|\||==[^=]|\+=.|^&?[A-Za-z_]\w*(?:(?:\?\.|->)[A-Za-z_]\w*)+;?$"
    r"|\(\?|\\[dwsDWS]|[aA]-[zZ]|\[[\w^-]{2,}\]|^[A-Za-z_]\w*\[|\[\^|^\^|</|/>"
    r"|&(?:(?:quot|lt|gt|nbsp|[lr]dquo|[A-Za-z]{1,2}(?:acute|grave|uml|circ|cedil|tilde|lig))\b"
    r"|#x?\d\d)"
    r"|^(?:process|os|System|ENV|env|config|settings|self|this|req|request|params|ctx|event|data"
    r"|props|state)[.\[]|;[\w.]+=|&\w+=|[)}\]];|^--?\w[\w-]*$|^(?:required|string|nullable)\|"
)
# Member access, unless its parts are words that programs do not use: `sunny.meadow`.
MEMBER = lazy(r"&?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+;?")
PATH = lazy(
    r"^(?:\.{0,2}/|~/|[A-Za-z]:\\|\\\\|https?:|ftp:|file:|s3:|data:|[a-z][a-z0-9+.-]{1,12}://)"
    r"|\.(?:txt|pem|key|crt|cer|p12|pfx|jks|json|ya?ml|xml|php|html?|jsx?|tsx?|py|rb|go|java|kt|cs"
    r"|conf|cfg|ini|env|tf(?:vars)?|properties|md|svg|png|css|sh|enc|gpg|db|log)(?:$|#)",
    re.IGNORECASE,
)
_WORDS, _KNOWN_WORDS = read_words("password_labels"), read_words("common_passwords")
_TALKS_ABOUT = lazy(
    r"example|sample|placeholder|change[_-]?(?:me|it|this)|your[_-]?(?:[0-9]|pass|pwd|secret|token"
    r"|key|own|api|db|user|app|account|email|very|super|client)|_here\b|-here\b"
    r"|enter[_-]|xxxx|dummy|fake|redacted|replace|insert[_-]|foobar|mock|lorem|todo|fixme|tbd"
    r"|not[_-]?(?:set|used|real|a[_-])|\btest|test$|test\d{0,4}$|masked|^my[_-]"
    r"|^some[_-]|^(?:a|the|any|new|old)[_-]?(?:pass|secret|token|key)|^(?:foo|bar|baz|qux|abc|xyz"
    r"|asdf|qwer|aaa|bbb)\d{0,3}$|invalid|wrong[_-]?pass",
    re.IGNORECASE,
)
_NAME = lazy(r"[A-Za-z_][A-Za-z_.$-]*")
_LABELS = frozenset({"password", "passwd", "passphrase", "pass", "pwd", "authentication"})
_SHORTEST_WORD = 5
_NAME_WITH_DIGIT = lazy(r"[a-z]+_?[a-z_]*\d|[a-z]+\d*(?:_[a-z]+\d*){2,}")
_WORD_AND_DIGIT = lazy(
    r"(?:pass|password|passwd|pwd|psw|user|username|field|input|text|key|value|val|str|arg|param"
    r"|var|tmp|token|secret|item|col|column|row|line|data|type|mode|version|v"
    r"|oauth|auth|ipv|utf|md|sha|base|win|x|http|h|p|f|s|a|b|c|n)_?-?\d{1,2}",
    re.IGNORECASE,
)
# Base64 may start like a path and contain what looks like an operator.
_MIXED_BASE64 = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")
# The word for a password, in any form and compound of the languages of interfaces.
_IN_LANGUAGES = (
    r"passw|passe|passord|kennw|kodeord|kodewort|contrase|senha|wachtw|hasł|hesl"
    r"|lösen|adgangsk|salasan|jelsz|gesl|lozin|slapta|şifre|parol|sandi"
)
PASSWORD_WORD = lazy(_IN_LANGUAGES)
PASSWORD_STEM = lazy(_IN_LANGUAGES + "|phras|secret|account|user")
_SIGNS = frozenset("!@#$%^&*()+?~")
# Unlikely in a password: references, templates, calls of a named function, operators.
_EVALUATED = lazy(
    r"\$\{|\{\{|\}\}|\$\(\w|#\{|<%|%>|%\(\w+\)|->|=>|::|&&|\|\||\(\)|\*{3}|\.{3}|&(?:amp|quot|lt"
    r"|gt|nbsp);|^\$\w+$|^\$(?:env|script|global|using):|[A-Za-z_]\w*\.\w+[(.]"
    r"|^[A-Za-z_.]{3,}\(|\w{3,}\([^()]*\)[;,.]?$|^@[A-Za-z]+\(|^ENC\["
)
# Endings of words that describe a password: required, optional, visible, confirming.
_DESCRIBES = lazy(
    r"(?:ed|[^r]ing|[ai]ble|[^e]al|ly|ive|ory|ous|less|ful|ent|ant|ic|est|own|ith|tion|ext|ary"
    r"|[tldv]en)$|^(?:un|in|non|pre|re)"
)
_STATEMENTS = read_words("statements_about_passwords")
_SHORTEST_STEM, _LONGEST_ENDING = 5, 4
# The algorithm before a digest, or the identifier of a trace.
_DIGEST = lazy(
    r"(?:[\w./:-]{1,200}@)?(?:sha-?[0-9]{1,3}|md5|blake2[bs]?|blake3|crc32)[:=-]"
    r"|00-[0-9a-f]{32}-[0-9a-f]{16}-",
    re.IGNORECASE,
)
# Numbers of a program: hexadecimal, versions and ranges of them, measures.
PROGRAM_NUMBER = lazy(
    r"0x[0-9a-fA-F]{1,16}[uUlL]{0,3}|[v^~=<>]{0,2}\d+(?:\.\d+)+(?:-\d+(?:\.\d+)*)?(?:[.,+]|[mun]?s"
    r"|%|[kKMG]i?B?|x)?|(?:TLS|SSL|HTTP|SSH|UTF)[v/-]?\d+(?:\.\d)?"
)
_ONE_MEASURE = (
    r"\d{1,5}(?:\.\d{1,3})?(?:[kMGm]?(?:W|V|A|Hz|B|b)|dB|px|em|rem|pt|ms|s|[kcm]?m|k?g|h|d|%"
    r"|EUR|USD|GBP|CHF|chars?|days?|hours?|mins?|minutes?|weeks?|months?|years?|[tT]age|jours|d[ií]as|dni)"
)
MEASURE = lazy(rf"{_ONE_MEASURE}(?:/{_ONE_MEASURE})?")
# Standards, algorithms and versions: PKCS#8, SHA-512, OpenSSL3+.
_VERSIONED = lazy(r"[A-Z]{2,8}[^0-9A-Za-z]?\d{1,4}|[A-Za-z]+\d{1,3}\+")
_RATIO, _DIGITS = lazy(r"\d{1,4}[/:]\d{1,4}"), lazy(r"[A-Za-z]\d{2}")
# A number of an issue: Ticket#2026-4471.
_NUMBERED = lazy(r"(?:ticket|issue|case|bug|order|task|job|build|room|pr)#[\d-]+", re.IGNORECASE)
_NUMBERS = lazy(r"[0-9.,:/ -]+(?:[Ee][+-]?\d{1,3}|T\d{2}[0-9:.]{0,16}Z?)?")
# The sentence goes on in a script without blanks between words: `8文字以上です`.
_SENTENCE_GOES_ON = lazy(r"[^A-Za-z]*[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LATIN = lazy(r"[\x20-\x7e]+")


def describes(word: str) -> bool:
    """Return whether a word in lower case describes a password: expired, obligatorio."""
    return (
        _DESCRIBES.search(word) is not None
        or word in _STATEMENTS
        or any(
            word[:size] in _STATEMENTS
            for size in range(max(_SHORTEST_STEM, len(word) - _LONGEST_ENDING), len(word))
        )
    )


def password(value: str) -> bool:
    """A literal where a password is expected, strong or weak."""
    if not 4 <= len(value) <= _LONGEST:
        return False
    lowered = value.lower()
    if lowered in _KNOWN_WORDS:
        return True
    if _is_no_literal(value, lowered):
        return False
    if len(set(lowered)) < 3:
        return False
    if _NAME.fullmatch(value):
        return (
            len(value) >= _SHORTEST_WORD and not _is_name(value) and not judge.is_patterned(value)
        )
    if any(regex.fullmatch(value) for regex in (_WORD_AND_DIGIT, PROGRAM_NUMBER, MEASURE)):
        return False
    if _DIGEST.match(value):
        return False
    letters = sum([char.isalpha() for char in value])
    digits = sum([char.isdigit() for char in value])
    if not _LATIN.fullmatch(value) and not digits:
        return False
    if letters == len(value):
        return False
    if not letters:
        return digits >= 4 and not _RATIO.fullmatch(value)
    return not _reads_as_text(value, digits)


def unquoted_password(value: str) -> bool:
    """A password without quotes, where names and numbers are more likely to be code."""
    if value.lower() in _KNOWN_WORDS:
        return True
    if value.isdigit() and len(value) < 6:
        return False
    if _SENTENCE_GOES_ON.match(value):
        return False
    if value[0:1] in "-&*@<>|!%" or value.endswith(("(", "[", "{", ":", ";")):
        return False
    if "pass" in value.lower() and re.fullmatch(r"\d?[A-Za-z_]+\d?", value):
        return False
    if MEMBER.fullmatch(value):
        return is_written_with_dots(value) and password(value)
    if _NAME.fullmatch(value):
        return judge.is_random(value)
    return password(value) and not (_NAME_WITH_DIGIT.fullmatch(value) and _is_name(value))


def word_password(value: str) -> bool:
    """A password in a sentence; a single word is also accepted, but not a statement about a
    password.
    """
    if unquoted_password(value):
        return True
    return (
        (value.islower() or len(judge.PART.findall(value)) > 1)
        and not describes(value.lower())
        and _has_no_program_word(value)
        and password(value)
    )


def declared_password(value: str) -> bool:
    """A password in quotes, or in a cell, where names of columns and fields may follow as well."""
    if value.isdigit():
        return len(value) >= 6 and password(value)
    return (
        strong_or_digits(value)
        or (judge.is_random(value) and password(value))
        or (
            _has_no_program_word(value)
            and not describes(value.lower())
            and (value.islower() or len(judge.PART.findall(value)) > 1)
            and password(value)
        )
    )


def argument_password(value: str) -> bool:
    """A password in a command: not an option, a path, or a word of programs."""
    lowered = value.lower()
    return (
        len(value) <= _LONGEST
        and value[:1] not in ("-", "/", ".")
        and (
            declared_password(value)
            or (
                (value != lowered or "_" in value)
                and lowered not in judge.PROGRAM_WORDS
                and not _is_no_literal(value, lowered)
            )
        )
    )


def possible_password(value: str) -> bool:
    """A placeholder, a weak password, or one that may also be a name in a program."""
    return (
        4 <= len(value) <= _LONGEST
        and value.lower() not in _WORDS
        and " " not in value
        and not (TEMPLATE.search(value) or CODE.search(value) or PATH.search(value))
        and not MEMBER.fullmatch(value)
        and not _is_name(value)
        and len(set(value)) > 2
    )


def possible_token(value: str) -> bool:
    """A placeholder that has the shape of a token, with digits."""
    return (
        any(map(str.isdigit, value[:_LONGEST]))
        and len(set(value)) > 6
        and not (TEMPLATE.search(value) or CODE.search(value) or PATH.search(value))
        and not MEMBER.fullmatch(value)
        and not (_DIGEST.match(value) or judge.is_uuid(value))
    )


def _is_name(value: str) -> bool:
    """Return whether a value is made of words that programs use: a variable, a type, a label."""
    parts = [part.lower() for part in judge.PART.findall(value)]
    return not _LABELS.isdisjoint(parts) or all(
        part in judge.PROGRAM_WORDS or part in _WORDS or len(part) < 3 for part in parts
    )


def _has_no_program_word(value: str) -> bool:
    """Return whether a value is made of words that programs hardly use."""
    parts = [part.lower() for part in judge.PART.findall(value)]
    return all(
        len(part) > 3 and part not in judge.PROGRAM_WORDS and part not in _WORDS for part in parts
    )


def _is_surely_random(value: str) -> bool:
    return judge.mixed_token(value) and judge.wordiness(value) < judge.RANDOM_MIXED


def is_written_with_dots(value: str) -> bool:
    """Return whether what looks like member access is a password: `sunny.meadow`, `kVN8QW4t.O`."""
    if _has_no_program_word(value) or _is_surely_random(value) or judge.has_leet_word(value):
        return True
    words = [part.lower() for part in judge.PART.findall(value) if len(part) > 2]
    return (
        _DIGITS.search(value) is not None
        and bool(words)
        and not any(word in judge.PROGRAM_WORDS or word in _WORDS for word in words)
    )


def secret(value: str) -> bool:
    """A generated literal where a key, a token or a secret is expected."""
    if (
        not 8 <= len(value) <= 4096
        or judge.is_uuid(value)
        or judge.is_published(value)
        or _DIGEST.match(value)
    ):
        return False
    return (
        judge.is_random(value)
        and not judge.has_placeholder_words(value)
        and not _NUMBERS.fullmatch(value)
        and (
            _MIXED_BASE64.fullmatch(value) is not None
            or not _is_no_literal(value[:_LONGEST], value[:_LONGEST].lower())
        )
    )


def _is_no_literal(value: str, lowered: str) -> bool:
    if lowered.strip("_-.:!?*<>[](){}'\"") in _WORDS:
        return True
    return bool(
        TEMPLATE.search(value)
        or CODE.search(value)
        or PATH.search(value)
        or _TALKS_ABOUT.search(value)
        or (MEMBER.fullmatch(value) and not is_written_with_dots(value))
    )


def _reads_as_text(value: str, digits: int) -> bool:
    """Return whether a value is words and punctuation: `form-control`, `user:email`, `Name:`."""
    if digits:
        return False
    words = [word for word in re.split(r"[^A-Za-z\u00c0-\uffff]+", value) if word]
    if not words:
        return False
    if value[-1] in ":?.,;" or value[0] in "#.,:;?*&/\\|-~^=+":
        return True
    joints = sum([char in " _-.,:/|\\'\"+=" for char in value])
    others = len(value) - joints - sum(map(len, words))
    return not others and ("," in value or judge.wordiness(value) >= judge.WORDY - 0.25)


def snmp_community(value: str) -> bool:
    """Not one of the two defaults of every device."""
    return value.lower() not in ("public", "private") and not _is_no_literal(
        value[:_LONGEST], value[:_LONGEST].lower()
    )


def strong_password(value: str) -> bool:
    """A mix of letters, digits and signs, or generated, after a word weaker than `password`."""
    if not password(value) or judge.is_uuid(value):
        return False
    signs = sum([not char.isalnum() and char not in "-_./:" for char in value])
    digits = sum([char.isdigit() for char in value])
    return (digits > 0 and signs > 0) or judge.is_random(value)


def varied_password(value: str) -> bool:
    """A value of several character classes in a note of a few words."""
    classes = sum(
        [any(map(is_class, value)) for is_class in (str.islower, str.isupper, str.isdigit)]
    )
    signs = 2 if not _SIGNS.isdisjoint(value) else 0 if value.isalnum() else 1
    is_mixed = (
        classes == 3
        and sum(map(str.isdigit, value)) > 1
        and (_has_no_program_word(value) or _is_surely_random(value))
    )
    return (
        classes > 1
        and (classes + signs > 3 or is_mixed)
        and not _VERSIONED.fullmatch(value)
        and not _NUMBERED.fullmatch(value)
        and not _NUMBERS.fullmatch(value)
        and unquoted_password(value)
    )


def mixed_password(value: str) -> bool:
    """A mix of all character classes, as generators produce; it may look like code."""
    return (
        any(map(str.islower, value))
        and any(map(str.isupper, value))
        and any(map(str.isdigit, value))
        and not _SIGNS.isdisjoint(value)
        and not (_EVALUATED.search(value) or PATH.search(value) or _TALKS_ABOUT.search(value))
    )


def secret_or_password(value: str) -> bool:
    """A secret or a password, if the name allows both."""
    return secret(value) or strong_password(value)


def strong_or_digits(value: str) -> bool:
    """A known password, or one with digits or signs, after a name that may mean something else."""
    if value.lower() in _KNOWN_WORDS:
        return True
    is_strong = any(map(str.isdigit, value)) or not _SIGNS.isdisjoint(value)
    return is_strong and any(map(str.isalpha, value)) and password(value)


def written_secret(value: str) -> bool:
    """A secret that somebody made up: letters with digits or signs, but not the name of one."""
    return strong_password(value) or (
        strong_or_digits(value)
        and not judge.has_placeholder_words(value)
        and (not _SIGNS.isdisjoint(value) or _has_no_program_word(value))
    )


def declared_secret(value: str) -> bool:
    """A secret or a password in a declaration."""
    return secret(value) or declared_password(value)


def generated_secret(value: str) -> bool:
    """A secret or a strong password, which may look like code."""
    return secret_or_password(value) or mixed_password(value)
