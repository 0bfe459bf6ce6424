"""Labels: the words before a value, as a regex of all their spellings.

A label is given once, in plain words: `carte d'identité` also matches `CARTE D’IDENTITE`,
`carte_identite` and `carteIdentité`, and a label in capitals, such as `DNI`, also matches `D.N.I.`.
A label of alternatives, `nat*|soc* ident*|no`, matches all of their pairs, where `*` is any ending.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

from dlpctl.detect.patterns.syntax import PLAIN

_JOINTS = re.compile(r"[\s._/-]+")
_ELISION = re.compile(r"\b([dlDL])['’]")
_FORMS = {
    "ß": "(?:ß|ss)",
    "ø": "[øo]",
    "ł": "[łl]",
    "đ": "[đd]",
    "ı": "[ıİi]",
    "æ": "(?:æ|ae)",
    "ä": "(?:ä|ae?)",
    "ö": "(?:ö|oe?)",
    "ü": "(?:ü|ue?)",
    "'": "['’׳]?",
    "ي": "[يى]",
    "ى": "[يى]",
    "ة": "[ةه]",
    "أ": "[أا]",
    "إ": "[إا]",
    "ی": "\u0651?[یيى]",
    "ک": "[کك]",
    '"': '["״”]',
}
"""Regexes of letters that another letter, or two, may replace."""
_DECOMPOSED = re.compile("[\u00c0-\u052f\u1e00-\u1fff]")
_OTHER_CASED = r"\x{370}-\x{52F}"
_LATIN = r"0-9A-Za-z\x{C0}-\x{24F}\x{1E00}-\x{1EFF}"
_LEFT = rf"(?:^|[^{_LATIN}])"
_LEFT_OTHER = rf"(?:^|[^{_OTHER_CASED}])"

# An ending of the label: a plural or the word for number, and a case ending of a long label.
_NUMBER = r"(?i:s|nummern?|number|nr|no|num|'s)"
_CASE = r"[a-z\x{DF}-\x{17F}]{1,8}"
_CAMEL = r"(?:[A-Z][a-z]+){0,3}"
# Letters of particles that follow a label in another script: `RRN는`, `My Numberは`.
_PARTICLE = r"\x{3040}-\x{309F}\x{AC00}-\x{D7A3}"
_MARK = rf"[\t\n\r -/:-@\[-^`{{-~：º°№’“”„«»→⇒_{_PARTICLE}]"
_ON_LINE = r"[\t -/:-~\x{A0}-\x{24F}\x{370}-\x{52F}\x{1E00}-\x{1EFF}\x{2010}-\x{21FF}]"
_ELEMENT = r"(?:<(?:\w{1,12}:)?(?i:value|val|v|string|str|text|content)\b[^<>\n]{0,60}>)?"
_LINE_START = rf"[\t >|*\-\"'(]*{_ELEMENT}(?:(?i:value|number|text|raw|id)[\"']?\s?[:=]\s?[\"']?)?"
_EMPTY_LINE = r"\r?\n[\t >|*\-]*\r?\n"
_NEXT_LINE = rf"(?:\r?\n|{_EMPTY_LINE}){_LINE_START}"
# A sentence that ends with a label says nothing of what follows an empty line.
_BELOW = rf"\r?\n{_LINE_START}|[^.!\n]{_EMPTY_LINE}{_LINE_START}"
_SPEAKER = r"[^\n0-9]{1,32}(?:\d\d?:\d\d(?: ?[AaPp][Mm])?)?[^\n0-9]{0,8}"
_TIME = r"[\[(]?(?:\d{1,4}[./-]\d\d?[./-]\d{1,4},? )?\d\d?:\d\d(?::\d\d)?[\])]?"
_NICKNAME = r"[ <-]{0,3}[A-Za-z][A-Za-z_.-]{0,24}\d{1,8}[:>]"
# The end of a question, or of a request in a language that asks by one.
_ASKED = r"(?:[?？؟՞。]|요\.|ค่?ะ|ครับ)"
_ANSWER = (
    rf"{_ASKED}[^\n0-9]*\n{{1,2}}(?:(?:{_SPEAKER}\n)??(?:{_TIME})?(?:{_NICKNAME})?"
    rf"[^\n0-9]*?|{_SPEAKER})[\s:：\"'(#]"
)
# A remark in brackets after a label: `(required)`, `(11 digits)`, `(since 2019)`.
_ASIDE = r"(?:\.? \([^()\n0-9]*(?:[0-9]{1,4}[^()\n0-9]*)?\))"
# A clause after a label, with a number that is not the value: `, as stated on page 3, is`.
_CLAUSE = r"(?:, [^,()\n0-9]+(?:[0-9]{1,3}[^,()\n0-9]*)?,)"
_GAP = (
    rf"{_CAMEL}(?:(?:[ _]{_NUMBER})?(?:{_CLAUSE} [a-z]+|{_ASIDE}:?))?"
    rf"(?:(?:{_MARK}{_ON_LINE}*?)??(?:{_MARK}|{_BELOW}|{_ANSWER})|{_EMPTY_LINE}{_LINE_START})"
)
# Triggers are looser, and end with the label: exact ones take five times as long to compile and
# four times as long to search, and most labels near a number directly precede one.
_RUN = re.compile(r"[A-Za-z]{5,}|[^\x00-\u024f\s.]{3,}")
_CASE_OTHER = re.compile("(?:[аеиоуыюяіїє]й?|[αηοωιυάήόίύ]ς?)$")
_ENDING_OTHER = rf"[{_OTHER_CASED}]{{0,4}}"
_HAS_CASES = re.compile("[\u0370-\u058f]")
_SHORTEST_RUN = 5
_FIRST = 3
"""The letters of words in Greek or Cyrillic that triggers have: with both cases of each letter,
words of six take thirty times as long to compile.
"""
_GENERIC = frozenset(
    re.findall(
        r"\w+",
        "number numero nummer nomor identification registration account insurance identity"
        " personal national social security service company reference document health driver"
        " policy documento código codice license licence numer номер государственный"
        " регистрационный",
    )
)
_NUMBER_OF_N = r"n(?:[uú]m[a-zé]*|om[a-z]*|ro?|o|\.?[°º])"
_NUMBER_WORDS = {
    _NUMBER_OF_N: "number nummer nommer numer numero numéro número num núm no nr nro nº n° nomor",
    "br(?:oj)?": "broj br",
    "č[ií]s(?:lo)?|č": "číslo čís č",
    "št(?:ev)?|številka": "številka št",
    "номер|№": "номер №",
}
"""The words for a number, any of which matches where a label starts or ends with another."""
_NUMBERS = {word: family for family, words in _NUMBER_WORDS.items() for word in words.split()}
_DOCUMENT = "documento|docto?|doc"
_OPTIONAL = frozenset(("de", "del", "della", "da", "do", "dos", "di", "du", "des", "of", "the"))
"""Words within a label that people leave out: `licencia conducir`, `carta condução`."""
_ENDS_COMPOUND = ("nummer", "numero")
_ARTICLE = "ال"
_APART = r"[ _.\-/'’]{1,2}"
_JOINT = r"[ _.\-/'’]{0,2}"
_JOINT_OTHER = "[ _.\\-/\u200c]{0,2}"
_LOOSE_APART = r"[ _.\-/'’]+"
_LOOSE_JOINT = r"[ _.\-/'’]*"
"""Joints in a gated trigger: without an upper bound, it compiles in a twentieth of the time, but
would slow the pass over every text.
"""
_LEFT_OF_PAIR = r"(?:^|[^0-9A-Za-z\x{C0}-\x{587}\x{10D0}-\x{10FF}])"
_BETWEEN = (
    rf"(?:'l)?(?:{_APART}|\x{{200C}})"
    rf"(?:(?:d(?:el?|[aiou]s?)?|l[ae]s?|of|the|[yz]a|i|y){_APART})?"
)
_ENDING = r"[^\x00-\x40\[-`{-\x{BF}]{0,14}"
_ABBREVIATED = r"\.?[ _\-/]?"
# A short label is ambiguous, so its value must follow directly.
_NOUN = r"(?i:number|n[uú]m(?:[eé]ro)?|nummer|no|nro?|č|br|broj|szám|sz|n\.?[°º]|№|#|id|code|card)"
_VERB = (
    r"(?i:(?:is|was)(?: now| still| [a-z]{4,10} as)?|(?:es|est|era|è|é)(?: el| l[ae]| il| o)?"
    r"|fue|war|je|jest|on (?:record|file)|its|it['’]s|ist|lautet|är|er|on|to|adalah|dia|saya|na"
    r"|hai)"
)
# Whose number it is, before a colon: `CNP pacient: `, `C.F. del dichiarante: `.
_WORD_OF = r"[a-z\x{DF}-\x{17F}]{2,14}"
_OF = r"(?:del?|de la|del+a|d[eo]s|du|d[oa]s?|of the|of|der|van de)"
_WHOSE = rf"(?:[ _](?:{_OF} )?{_WORD_OF}|[A-Z][a-z]{{1,13}}|_[A-Z]{{6,14}})"
# A case ending of a short label: `TC'si`, `HETU:n`, `NIP-u`.
_SUFFIX = r"(?:['’][a-z\x{DF}-\x{17F}]{1,6}|[:\-][a-z\x{DF}-\x{17F}]{1,3})"
_SIGN_BUT_HYPHEN = (
    rf"(?:[\t :=#|*\"'“”„«»(\[,>→⇒{_PARTICLE}]|</?(?:t[dh]|d[td]|b|strong|label)>"
    r"|<input\b[^<>\n0-9]{0,40}?value=|\.{3,60}|_{3,60}| +)"
)
_SIGN = f"(?:{_SIGN_BUT_HYPHEN}|-)"
# The end of a question in which the label is not last: `SGK no nedir?`.
_QUESTION = r"[^\n0-9?.;:]*?"
_NEAR = (
    rf"(?:(?:[ _.\-]{{0,2}}{_NOUN}|[ _.\-]{{1,2}}[nN])(?:[ _.\-]{{1,2}}{_NOUN})?)?"
    rf"{_SUFFIX}?{_ASIDE}?(?:[ _]{_OF} {_WORD_OF})?"
    rf"(?:\.?[\"'\])*]{{0,2}}(?:{_CLAUSE}?[\t ]{_VERB}|[\t ])?"
    rf"(?:(?:-?{_SIGN_BUT_HYPHEN}{_SIGN}{{0,7}}|{_SIGN}{{0,4}}\r?\n{_SIGN}{{0,6}})"
    rf"|{_QUESTION}{_ANSWER})"
    rf"|\.?{_WHOSE}[\"']?[ ]?[:=|\t][\s\"']{{0,4}})"
)
# A remark of digits: `法人番号（13桁）`.
_DIGITS_ASIDE = r"(?:[ (（]{1,2}[0-9]{1,2} ?[^0-9\n]{1,10})??"
_NEAR_OTHER = rf"{_DIGITS_ASIDE}(?:[^0-9\n]*?(?:[^0-9A-Za-z\n]|[\s:.№]?{_NEXT_LINE}|{_ANSWER}))??"
_NEAR_MARK = rf"{_NOUN}?(?:[\t-\r -/:-@\[-`{{-~“”„«»→⇒{_PARTICLE}]|[A-Z][a-z])"
# A boundary before a letter beyond ASCII, at which `\b` never matches.
_APART_LEFT = r"(?:^|[^0-9A-Za-z])"
_DIGIT = re.compile("[0-9]")
_ANY_DIGIT = "\ue000"
_TWO = 2
"""The letters of a label that a hyphen joins to no value: `RG-61178` is the code of a product."""
_SHORT = 4
"""The maximum number of letters of a label that may be part of other words."""

_LONG = 7
"""The minimum number of letters of a label that may have a case ending."""
LABELLED_WIDTH = 160
"""The longest match in bytes from a label to the end of its value."""


def label_words(labels: Iterable[str]) -> str:
    """Return the regex of the labels alone, in all of their spellings."""
    return _alternatives(labels)


def label_regexes(labels: Sequence[str], short: Sequence[str], *, gated: bool) -> tuple[str, str]:
    """Return the regex of the text before a value, from a label on, and a looser trigger."""
    pairs = [label for label in short if "|" in label]
    short = [label for label in short if "|" not in label]
    latin = [label for label in labels if _is_latin(label)]
    other = [label for label in (*labels, *short) if not _is_latin(label)]
    near = [label for label in short if _is_latin(label)]
    marked = [label for label in latin if label.endswith("#")]
    long = [label for label in latin if len(label) >= _LONG]
    brief = [label for label in latin if len(label) < _LONG]
    before = [
        f"{left}{_alternatives(_shortest(words, '^{} '))}{gap}"
        for left, words, gap in (
            (_LEFT, long, f"(?:{_NUMBER}|{_CASE})?{_GAP}"),
            (_LEFT, brief, f"{_NUMBER}?{_GAP}"),
            (_LEFT, marked, ""),  # `policy #48271530`
            (_LEFT, near, _NEAR),
            (_LEFT, [label for label in near if len(label) > _TWO], rf"(?:[ _.\-]?{_NOUN})?-"),
            (_LEFT_OTHER, other, _NEAR_OTHER),
            (_LEFT_OF_PAIR, pairs, f"(?:{_BETWEEN}{_ENDING})?{_NEAR}"),
        )
        if words
    ]
    telling = [_telling(label) for label in latin]
    other = [_telling(label) for label in other]
    sought = [
        f"{left}{_alternatives(_shortest(_with_any_digits(words), form))}{right}"
        for left, words, form, right in (
            ("", [each for each in telling if not _is_apart(each)] + other, "{}", ""),
            (r"(?:\b|_)", list(filter(_is_apart, telling)), " {} ", ""),
            (r"(?:\b|_)", [each for each in near if each[0].isascii()], " {} ", _NEAR_MARK),
            (_APART_LEFT, [each for each in near if not each[0].isascii()], " {} ", _NEAR_MARK),
            (_APART_LEFT, _in_all(pairs), " {} ", ""),
        )
        if words
    ]
    trigger = "|".join(sought)
    if gated:
        trigger = trigger.replace(_APART, _LOOSE_APART).replace(_JOINT, _LOOSE_JOINT)
    trigger = trigger.replace(_NUMBER_OF_N, r"n(?:\.?[°º]|o|ro?|[ouú]m[a-zé]*)")
    trigger = trigger.replace(_ANY_DIGIT, "[0-9]").replace(_ENDING, "")
    return f"(?:{'|'.join(before)})", trigger


def _in_all(pairs: Sequence[str]) -> Iterable[str]:
    """Return the alternatives that are in all pairs, for a trigger that compiles quickly."""
    return set.intersection(*(set(pair.split(" ")) for pair in pairs)) if pairs else ()


def _with_any_digits(labels: Iterable[str]) -> list[str]:
    """Return labels with a sign for their digits, so that all digits are alike to triggers: lines
    that differ in digits alone are searched once.
    """
    return [_DIGIT.sub(_ANY_DIGIT, label) for label in labels]


def _is_apart(telling: str) -> bool:
    """Return whether a trigger needs a boundary before this part of a label, and can have one:
    there is none before letters beyond ASCII.
    """
    return len(_JOINTS.split(telling)[0]) <= _SHORT and telling[0].isascii()


def _telling(label: str) -> str:
    """Return a part of the label with only ASCII letters, for an automaton that compiles quickly,
    or else the label.
    """
    runs = [_without_noun(run) for run in _RUN.findall(label) if run.lower() not in _GENERIC]
    runs = [run for run in runs if len(run) >= _SHORTEST_RUN or not run.isascii()]
    if not runs:
        return label
    longest = max(runs, key=len)
    if _HAS_CASES.match(longest):
        return longest[:_FIRST]
    plain: list[str] = [part for run in runs for part in PLAIN.findall(run)]
    return max(plain, key=len, default=longest)


def _without_noun(run: str) -> str:
    """Return a word without the word for a number at its end, which may be abbreviated."""
    for noun in _ENDS_COMPOUND:
        run = run[: -len(noun)] if run.lower().endswith(noun) else run
    return run


def _shortest(labels: Iterable[str], form: str) -> list[str]:
    """Return the labels that contain no other label, in their forms: text after the shorter label
    also follows the longer one.
    """
    spaced = {_JOINTS.sub(" ", label.lower().strip(" .")): label for label in labels}
    kept: dict[str, str] = {}
    for words in sorted(spaced, key=len):
        has_digit = any(map(str.isdigit, words))  # a digit cannot follow a label before its value
        formed = form.format(words)
        if has_digit or not any(known in formed for known in kept):
            kept[formed] = spaced[words]
    return list(kept.values())


def _is_latin(label: str) -> bool:
    return all(char <= "\u024f" or "\u1e00" <= char <= "\u1eff" for char in label)


def _alternatives(labels: Iterable[str]) -> str:
    return f"(?i:{'|'.join(sorted({_label(label) for label in labels}))})"


def _label(label: str) -> str:
    if "|" in label:
        first, _, second = label.partition(" ")
        camel = "|".join(word.title() for word in second.split("|") if word.isascii())
        joined = f"(?:{_BETWEEN}{_any_of(second)}|(?-i:{_any_of(camel, as_is=True)}))"
        if _ENDS_COMPOUND[0] in second.split("|"):
            joined = f"(?:{joined}|n[ou]mmer|nr|num)"  # `Steueridentnr`
        return _any_of(first) + joined if second else _any_of(first)
    plain = _ELISION.sub(r" \1'", label).strip(" .")
    words, joints = _JOINTS.split(plain), _JOINTS.findall(plain)
    is_latin = _is_latin(label)
    apart = is_latin and (
        min(map(len, words)) == 1 or sum(map(len, words)) <= _SHORT
    )  # `sa id` is not `said`
    usual = _JOINT if is_latin else _JOINT_OTHER
    regex, article = "", ""
    for number, word in enumerate(words):
        if 0 < number < len(words) - 1 and word in _OPTIONAL:
            article = f"(?:{word}[ _.\\-]?)?"
            continue
        elided = word[1:2] == "'" and word[0].lower() in "dl"
        joint = ""
        if number:
            is_abbreviated = joints[number - 1] == ". "
            joint = _ABBREVIATED if is_abbreviated else _APART if apart else usual
        if elided:
            regex += f"(?:{joint}{_word(word[0])})?"
        at_end = len(words) > 1 and number in (0, len(words) - 1)
        bare = word[2:] if elided else word
        stem = bare if is_latin else _stem(bare)
        regex += joint + article + (_noun if at_end else _word)(stem)
        regex += "" if stem == bare else _ENDING_OTHER
        article = ""
    if len(words) == 1 and len(label) == 2 and label.isascii() and label.isupper():
        return f"(?-i:{label})"  # in lower case, it is the name of a variable
    return regex


@cache
def _any_of(words: str, *, as_is: bool = False) -> str:
    """Return the regex of alternatives, whose endings `*` matches: `ident.`, `identification`."""
    long: list[str] = []
    short: list[str] = []
    for word in words.split("|"):
        letters = word.rstrip("*") if as_is else _letters(word.rstrip("*"))
        (long if word.endswith("*") else short).append(letters)
    regexes = [f"(?:{'|'.join(long)}){_ENDING}"] if long else []
    return f"(?:{'|'.join(regexes + short)})"


def _stem(word: str) -> str:
    """Return a longer word in Cyrillic or Greek without its ending, if it has one."""
    return _CASE_OTHER.sub("", word) if len(word) > _SHORT else word


@cache
def _noun(word: str) -> str:
    """Return the regex of the first or last word, which may be the word for a number."""
    if family := _NUMBERS.get(word.lower()):
        return f"(?:{family})"
    return f"(?:{_DOCUMENT})" if word.lower() == "documento" else _word(word)


@cache
def _word(word: str) -> str:
    """Return the regex of a word; a word for a number may be abbreviated at its end."""
    for noun in _ENDS_COMPOUND:
        if word.lower().endswith(noun) and len(word) > len(noun):
            return f"{_letters(word[: -len(noun)])}[ _-]?{_NUMBERS[noun]}"
    return _letters(word)


def _letters(word: str) -> str:
    article = f"(?:{_ARTICLE})?" if word.startswith(_ARTICLE) else ""
    parts = [_letter(char) for char in word.removeprefix(_ARTICLE).replace("İ", "ı").lower()]
    spelled = len(word) > 1 and word.isalpha() and word[0].isupper() and word[-1].isupper()
    return article + ("[._]?" if spelled else "").join(parts)


def _letter(char: str) -> str:
    """Return the regex of a letter, with or without its accent."""
    if char in _FORMS:
        return _FORMS[char]
    if char.isascii() or not _DECOMPOSED.match(char):
        return re.escape(char)
    bare = unicodedata.normalize("NFKD", char)[0]
    return f"[{char}{bare}]" if bare != char else char
