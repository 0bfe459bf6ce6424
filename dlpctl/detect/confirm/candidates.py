"""The candidates for passwords near a label: what is judged, and how far from the label."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dlpctl.detect.confirm.features import Candidate, common_words, decoded
from dlpctl.detect.validators import secrets_judge, secrets_literals, secrets_phrases
from dlpctl.detect.validators.remembered import remembered
from dlpctl.regex import lazy

AFTER, BEFORE = 140, 60
"""The number of bytes after and before a label that are judged."""
_NEXT_LINE, _ANSWERS = 80, 3
REACH = AFTER + 2 * _NEXT_LINE + 2
"""The number of bytes after a label that tell where what is judged ends."""
_LINE_END = ord("\n")
_MOST = 24
"""The maximum number of candidates of one label."""
_CANDIDATE = lazy(
    r"(?<![0-9A-Za-z])(?P<quote>[\"'`])(?P<quoted>(?:[^\"'`\n\s,:;(){}=<>]|=(?=[!#%*+?@^~-]))[^\"'`\n]{2,62}"
    r"[^\"'`\n\s,:;({=<>\\])(?P=quote)(?![0-9A-Za-z])"
    # After a sign, what is before `=` is no name.
    r"|[0-9A-Za-z_.-]{0,40}+[!#%*+@^~](?!=)(?:[!#$%*+.0-9=?@A-Z^_a-z~-]|&(?!\w{1,20}=))++"
    # Letters of scripts that have no blanks between words end a value.
    r"|(?:[!#$%*+.0-9?@A-Z^_a-z~-]++|[\xc2-\xdf][\x80-\xbf]|\xe2\x82\xac|&(?!\w{1,20}=)|(?<=[\s&])=(?=[!#%*+?@^~]))++"
)
_ASSIGNED = lazy(
    r"\\?[\"'`]?[\])}]{0,3}[ \t]{0,40}"
    r"(?:[=:!<>~|?-]{0,3}[=:>]|\.\w{3,9}\(|[ \t](?:is|ist|est?|lautet)[ \t])[ \t]{0,40}"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\s\\]{4,64})(?P=quote)(?![0-9A-Za-z])"
    r"|(?P<bare>(?:[^\s\"'`,;<>&\\]|[,;&](?!\w{1,20}[=:])){4,64})(?=[\s\"'`,;<>&]|$))"
)
"""An assigned value, which runs to its delimiter."""
_TO_SEPARATOR = lazy(r"[^,;]*")
_ORDINARY = lazy(r"(?:[!#$%&*+.0-9?@A-Z^_a-z~-]|[^\x00-\x7f])*")
_SHORTEST, _SHORTEST_NUMBER, _LONGEST = 4, 6, 65
_OPENS_SENTENCE = "¿¡"
_FEWEST = 3
"""The least number of different characters of what is not a number."""
_HEX, _ABSTRACT = lazy(r"[0-9a-f]{8,}"), lazy(r"[a-z]{4,}(?:ity|ment|ness|tion)s?")
_TIME, _STANDARD = (
    lazy(r"\d{4}-\d\d-\d\d"),
    lazy(r"[A-Z]{2,8}[#-]\d{1,3}|C\+\+\d\d\+?|(?:PR|#)\d{1,6}|\d{3}\.\d{1,2}[a-z]{1,2}"),
)
_LEET, _WORDS = lazy(r"\$[a-z]+\d+[a-z]+\d[a-z\d!]*"), lazy(r"[a-z]+")
_CALLED = ("(", "[", ": ")
"""The text after the name of a function or an array, and after another label."""
_ESCAPED = lazy(r"\\(?:u[0-9a-f]{4}|[nrt])")
_IN_ADDRESS = lazy(r"(?:://[\w.:-]{1,60}/[^\s?#]{0,60}|\w/[\w.-]{1,40}/)\Z")
"""The start of the address of a page, or of the path of a file."""
_STEM = secrets_literals.PASSWORD_STEM
_OF_NUMBERS = lazy(r"pin|puk|code|wi-?fi|wlan|clave|senha")
_CONTROL = lazy(r"[\x00-\x08\x0e-\x1f\x7f]")
_NAME_GOES_ON = lazy(r"[\w-]*")
_OF_PHRASES = lazy("phrase|seed|mnemonic|bip")
_PHRASE = lazy(
    r"[^\n:=]{0,40}(?:[:=][ \t]{0,4}|[ \t]is[ \t])"
    r"(?P<words>[a-z]{2,12}(?: [a-z]{2,12}){2,23})[ \t]*(?:(?P<told>[.,;)])|\r?\n|$)"
)
"""The words of a passphrase without quotes."""
_OF_MNEMONIC = 8
"""More blanks than are in a row of words that a sentence about a passphrase starts with."""
_BEFORE_LABEL = ("", " ", "(", "_", "-", "'", '"', "`", "*")
_TO_LABEL = lazy(
    r"[\"'`*]{0,3},?[ \t](?:\(|<?-{1,3} ?|= ?|\xe2\x86\x90 ?|\xe2\x80[\x93\x94] )?"
    r"(?:[A-Za-z\x80-\xff']{1,16}[ _-]){0,6}[\"'`*(]{0,3}"
)
"""The text between a value and its label after it: words, a dash or an arrow, a parenthesis."""
_LINE_IS_LABEL = lazy(
    # a heading or a message of a chat, which the next lines answer
    r"[^\n:={}]{0,60}\r?\n(?=\[[^\]\n]{2,24}\] |<[^\s<>]{2,20}> |\w{2,20}: )"
    r"|(?:(?P<label>(?:e?[sn])?[\"'*`)]{0,2}(?: do)?"
    r"|[^\n]{0,48}?(?:[:=>|][+-]?| (?:is|ist|est?))\**)"
    r"|[^\n]{0,40}?\?\**|[\"'*`)]{0,2} ?\{)[ \t]*\r?\n\s{0,20}"
)

NextLabel = Callable[[bytes, int, int], int]


class Window(NamedTuple):
    """A label in the text around it, where the candidates end and start, and whether the text ends
    within a word.
    """

    text: str
    label: tuple[int, int]
    limit: int
    line_start: int
    is_cut: bool


def window_at(data: bytes, start: int, end: int, next_label: NextLabel) -> tuple[int, Window]:
    """Return what is judged with the label at `start` to `end`, and the offset of its text."""
    first = max(data.rfind(b"\n", max(0, start - BEFORE), start) + 1, start - BEFORE, 0)
    last = _window_end(data, end)
    following = next_label(data, end, last)
    text = data[first:last].decode("latin-1")
    limit = following - first if following >= 0 else len(text)
    if found := _CONTROL.search(text, end - first, limit):  # between the strings of a binary
        limit = found.start()
    is_cut = last < len(data) and data[last : last + 1] not in b" \t\r\n\"'`<>(){}[],;|=:/&"
    line_start = 0 if first == 0 or data[first - 1] == _LINE_END else text.find(" ") + 1
    return first, Window(text, (start - first, end - first), limit, line_start, is_cut)


def candidates(window: Window) -> Iterator[Candidate]:
    """Yield what may be a password after or before the label."""
    text, label, limit, line_start, is_cut = window
    yield from _after(text, label, limit, is_cut)
    yield from _before(text, label, line_start)


def assigned_value(window: Window) -> tuple[int, int] | None:
    """Return the value that a sign assigns to the label, whatever it is."""
    text, label, limit, *_ = window
    found = _ASSIGNED.match(text, label[1])
    if found is None or found.end() > limit:
        return None
    start, end = found.span("quoted" if found["quote"] else "bare")
    is_told = any(map(str.isalpha, text[label[1] : start]))  # the password is required
    return None if is_told else (start, end)


def _after(text: str, label: tuple[int, int], limit: int, is_cut: bool) -> Iterator[Candidate]:
    after = _NAME_GOES_ON.match(text, label[1]).end()  # type: ignore[union-attr]
    if text[label[1] : label[1] + 1] == "-" and text[label[1] + 1 : after].isdigit():
        return  # a code, such as that of a region: PW-214
    name = text[slice(*label)].lower()
    if (
        _OF_PHRASES.search(name)
        and (found := _PHRASE.match(text, after))
        and (not found["told"] or _is_drawn(found["words"]))
    ):
        yield Candidate(text, label, found.span("words"), "")
    if assigned := _assigned(text, label, after, limit):
        yield assigned
        after = assigned.value[1]
    for number, found in enumerate(_CANDIDATE.finditer(text, after)):
        if number == _MOST or found.start() >= limit:
            break
        value, quote = _trimmed(text, found), found["quote"] or ""
        if (is_cut and found.end() == len(text)) or not _may_be(text, found, value, name):
            continue
        if quote or not _is_argument(text, after, value[0]):
            yield Candidate(text, label, value, quote)


def _assigned(text: str, label: tuple[int, int], after: int, limit: int) -> Candidate | None:
    """Return the value that is assigned to a label, if more than words and signs are in it."""
    found = _ASSIGNED.match(text, after)
    if found is None or found.end() > limit:
        return None
    quote, (start, end) = found["quote"] or "", found.span("quoted" if found["quote"] else "bare")
    if not quote:
        end = start + len(text[start:end].rstrip(".,;:)]}"))
        if not secrets_literals.mixed_password(text[start:end]):
            end = start + _TO_SEPARATOR.match(text[start:end]).end()  # type: ignore[union-attr]
    value, name = text[start:end], text[slice(*label)].lower()
    if _ORDINARY.fullmatch(value) or not _is_possible(value, name, quote or "="):
        return None
    return Candidate(text, label, (start, end), quote)


def _before(text: str, label: tuple[int, int], first: int) -> Iterator[Candidate]:
    """Yield the candidates that words alone separate from the label after them."""
    if text[label[0] - 1 : label[0]] not in _BEFORE_LABEL:
        return
    name = text[slice(*label)].lower()
    for found in _CANDIDATE.finditer(text, first, label[0]):
        value, quote = _trimmed(text, found), found["quote"] or ""
        is_before = _TO_LABEL.fullmatch(text, value[1] + len(quote), label[0])
        if is_before and _may_be(text, found, value, name):
            yield Candidate(text, label, value, quote)


def _may_be(text: str, found: re.Match[str], value: tuple[int, int], label: str) -> bool:
    if not found["quote"] and _is_of_code(text, *found.span()):
        return False
    return _is_possible(text[slice(*value)], label, found["quote"] or "")


def _is_of_code(text: str, start: int, end: int) -> bool:
    is_member = text.startswith("->", end - 1)
    if is_member or _ESCAPED.match(text, max(0, start - 1)) or text.startswith(_CALLED, end):
        return True
    if text.endswith("/", 0, start) and _IN_ADDRESS.search(text, max(0, start - BEFORE), start):
        return True
    is_variable = text.startswith(";", end) and text.endswith(" = ", 0, start)
    return is_variable or text.endswith(("::", "<", "</"), 0, start)


def _is_argument(text: str, after: int, start: int) -> bool:
    """Return whether a value is the first argument of a call, other than that of a label."""
    called = start - 2
    return called >= after and text[called + 1] == "(" and text[called].isalnum()


def _window_end(data: bytes, end: int) -> int:
    """Return the end of what is judged: that of the line, or of lines after it that answer it."""
    stop = data.find(b"\n", end, end + AFTER)
    if stop < 0:
        return min(len(data), end + AFTER)
    found = _LINE_IS_LABEL.match(data[end : stop + _NEXT_LINE + 1].decode("latin-1"))
    if found is None:
        return stop
    last, below = min(len(data), end + found.end() + _NEXT_LINE), end + found.end()
    for _ in range(1 if found["label"] is not None else _ANSWERS):
        stop = data.find(b"\n", below, last)
        if stop < 0:
            return last
        below = stop + 1
    return stop


def _trimmed(text: str, found: re.Match[str]) -> tuple[int, int]:
    """Return a value without the marks of the sentence around it, and without emphasis."""
    if found["quote"]:
        return found.span("quoted")
    start, end = found.span()
    is_emphasized = text[start] == "*" and "*" in text[start + 2 : end]
    while is_emphasized and start < end and text[start] == "*":
        start += 1
    while end > start and (
        text[end - 1] == "."
        or (text[end - 1] == "?" and _is_word(text[start : end - 1]))
        or (text[end - 1] == "*" and (is_emphasized or text[end - 2] == "*"))
    ):
        end -= 1
    return start, end


def _is_drawn(words: str) -> bool:
    """Return whether words are no part of a sentence, as are those of mnemonics."""
    return words.count(" ") >= _OF_MNEMONIC or secrets_phrases.phrase(words)


def _is_word(text: str) -> bool:
    """Return whether a text is a word, or one with a digit: `Version2`."""
    return text.isalnum() and sum(map(str.isdigit, text)) < 2


@remembered
def _is_possible(value: str, label: str, quote: str) -> bool:
    """Return whether a value needs a judge at all: most words near labels do not."""
    value, label = decoded(value), decoded(label)
    lowered = value.lower()
    if (
        not _SHORTEST <= len(value) <= _LONGEST
        or value[0] in _OPENS_SENTENCE
        or (len(set(lowered)) < _FEWEST and not value.isdigit())
        or lowered.rstrip("!?*") in common_words()
        or _letters(lowered) in _letters(label)
    ):
        return False
    if (value.isalpha() and _letters(label) in lowered) or (not quote and _is_name(value, label)):
        return False
    if (_STEM.search(lowered) or lowered.endswith("pass")) and sum(map(str.isdigit, value)) < 2:
        return False
    is_hex = _HEX.fullmatch(lowered) and len(value) % 2 == 0 and not value.isdigit()
    if is_hex or _TIME.match(value) or _STANDARD.fullmatch(value) or value[0] == ".":
        return False
    if quote and " " not in value and secrets_literals.mixed_password(value):
        return True
    if _LEET.fullmatch(lowered):  # `$ilv3r`, unlike the name of a variable
        return common_words().isdisjoint(_WORDS.findall(lowered))
    return not _is_evaluated(value)


def _is_evaluated(value: str) -> bool:
    """Return whether a value is a template, code, a path or a number of a program."""
    literals = secrets_literals
    return bool(
        any(each.search(value) for each in (literals.TEMPLATE, literals.CODE, literals.PATH))
        or any(each.fullmatch(value) for each in (literals.PROGRAM_NUMBER, literals.MEASURE))
        or (literals.MEMBER.fullmatch(value) and not _is_of_words(value))
    )


def _is_of_words(value: str) -> bool:
    """Return whether what looks like member access has no word of programs: `Barley.Mow`."""
    parts = value.split(".")
    return secrets_literals.is_written_with_dots(value) or (
        (value.istitle() or common_words().isdisjoint(map(str.lower, parts)))
        and all(len(part) > 2 and part[1:].islower() for part in parts)
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _is_name(value: str, label: str) -> bool:
    """Return whether a value without quotes is the name of a type or constant, or a number."""
    if value.isdigit():
        return len(value) < _SHORTEST_NUMBER and _OF_NUMBERS.search(label) is None
    if value[-1] == "&":
        return True
    if value[:-1].isalpha() and value[-1].isdigit():
        return value[:-1].lower() in secrets_judge.PROGRAM_WORDS
    if value.islower():
        is_name = "_" in value and value.replace("_", "").isalpha()
        return is_name or _ABSTRACT.fullmatch(value) is not None
    if value.isalpha():
        return value.isupper() or _is_identifier(value)
    for joint in "-_":
        if value.replace(joint, "").isalpha():
            return any(map(_is_identifier, value.split(joint)))
    return len(value) <= _SHORTEST and value.isupper()


def _is_identifier(word: str) -> bool:
    """Return whether a word is of several words, of which programs have one: `MultiIndex`."""
    parts = [part.lower() for part in secrets_judge.PART.findall(word)]
    return len(parts) > 1 and not common_words().isdisjoint(parts)
