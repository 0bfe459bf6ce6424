"""Rich Text: one file of text, control words and groups."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dlpctl.errors import CannotMaskError
from dlpctl.formats.binary import strings_in
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.encoding import character, spliced
from dlpctl.formats.interface import Children, Document, Edits, Limits, too_deep
from dlpctl.formats.office.content import words
from dlpctl.formats.office.joining import CHANGE, DELETED, INSERTED, TEXT, Group, joined
from dlpctl.formats.office.reading import Collector, Leaf, Reading, Spot, edits_by_layer
from dlpctl.formats.office.rtfdata import DataGroup, children_of, edits_of
from dlpctl.formats.recognition import HEAD
from dlpctl.regex import lazy

_TOKEN = lazy(
    r"\\bin(?P<binary>\d+) ?"
    r"|(?P<bytes>(?:\\'[0-9a-fA-F]{2})+)"
    r"|\\u(?P<code>-?\d{1,5}) ?(?![a-zA-Z])"
    r"|\\(?P<word>[a-zA-Z]+)(?P<number>-?\d{1,9})?(?P<space> )?"
    r"|\\(?P<symbol>[^a-zA-Z])"
    r"|(?P<brace>[{}])"
    r"|(?P<text>[^\\{}\r\n\0]+)",
    re.DOTALL,
)
_CHARACTERS = {
    "par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "nestrow": "\n",
    "tab": "\t", "cell": "\t",
    "nestcell": "\t", "emdash": "\u2014", "endash": "\u2013", "emspace": " ", "enspace": " ",
    "qmspace": " ",
    "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c",
    "rdblquote": "\u201d",
}  # fmt: skip
_CELLS = ("cell", "nestcell")
_SYMBOLS = {"~": "\u00a0", "_": "-", "\n": "\n", "\r": "\n", "\t": "\t"}
# Groups whose text is separate from the text around them.
_APART = words("groups apart in rich text")
_SKIPPED = words("groups skipped in rich text")
_DATA = ("pict", "objdata")
_CHANGES = {"deleted": DELETED, "revised": INSERTED, "v": DELETED}
"""Hidden text is like deleted text: it may be shown or not."""
_PLACE = "text"


@dataclass(slots=True)
class _State:
    """The state within a group of the file."""

    group: Group
    skip_after_unicode: int = 1
    change: int = 0
    hidden: bool = False
    data: DataGroup | None = None


_TEXT_START = rb"[\xef\xbb\xbf \t\r\n]*+\{\\rtf"
_START = lazy(_TEXT_START)


class RichText:
    name = "rtf"
    extensions = (".rtf",)

    text_start = _TEXT_START

    def sniff(self, head: bytes, name: str) -> bool:
        return _START.match(head, 0, HEAD) is not None

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        reader = _RtfReader(data.decode("latin-1"), limits)
        collector = Collector()
        reading = reader.read()
        collector.add(reading, Spot(_PLACE, TEXT, _PLACE, reading.paragraphs, reading.unit))
        document = Document(self.name, collector.segments, collector.views)
        document.children += children_of(reader.data)
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        source = data.decode("latin-1")
        wanted = edits_by_layer(document.segments, edits).get((_PLACE, TEXT), [])
        reader = _RtfReader(source, Limits())
        before = reader.read()
        changes = [*edits_of(reader.data, children)]
        for leaf, text in before.changed(wanted):
            if leaf.element == "opaque":
                raise CannotMaskError(
                    "data embedded in the file holds a value: remove it at its source"
                )
            changes.append(TextEdit(leaf.start, leaf.end, _written(leaf, text)))
        masked = spliced(source, sorted(changes))
        if _unbroken(_RtfReader(masked, Limits()).read().text) != _unbroken(
            spliced(before.text, wanted)
        ):
            raise CannotMaskError("the file would not read as it should after masking")
        return masked.encode("latin-1")

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        """Return the bytes as text, and the text without control words."""
        source = data.decode("latin-1")
        spelled = re.sub(r"\\'([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), source)
        spelled = re.sub(
            r"\\u(-?\d{1,5}) ?\??", lambda found: character(int(found[1]) % 0x10000), spelled
        )
        accepted = re.sub(r"\{\\(?:deleted|v)\b[^{}]*\}", "", spelled)
        return [source, _bare(spelled), _bare(accepted), *_hexadecimal(source)]


class _RtfReader:
    def __init__(self, source: str, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._groups: list[Group] = [Group()]
        self._encoding = "cp1252"
        self._changes = 0
        self._break = ""
        """The last control word that is a character."""
        self.data: list[DataGroup] = []

    def read(self) -> Reading:
        stack: list[_State] = []
        state = _State(self._groups[0])
        at = skipped = word_end = 0
        ignorable = opened = False
        bare_word = False
        source = self._source
        while (found := _TOKEN.search(source, at)) is not None:
            at = found.end()
            syntax = found.lastgroup
            if found["binary"] is not None:
                at += int(found["binary"])
                if state.data is not None:
                    state.data.add_bytes(source[found.end() : at], found.start(), at)
            elif found["brace"] == "{":
                stack.append(replace(state))
                if len(stack) > self._limits.nesting:
                    raise too_deep("a group", self._limits)
                opened, ignorable, skipped = True, False, 0
                bare_word = False
                continue
            elif found["brace"] == "}":
                state = stack.pop() if stack else state
                skipped = 0
            elif found["symbol"] == "*" and opened:
                ignorable = True
                continue
            elif found["word"] is not None:
                state = self._word(found, state, destination=opened, ignorable=ignorable)
                bare_word, word_end = found["space"] is None, at
                opened = ignorable = False
                continue
            elif state.data is not None:
                state.data.add_hexadecimal(found[0], *found.span())
            elif not state.hidden:
                touching = bare_word and found.start() == word_end
                skipped = self._character(found, syntax or "", state, skipped, after_word=touching)
            opened = ignorable = bare_word = False
        return joined(self._groups, labelled=False)

    def _word(
        self, found: re.Match[str], state: _State, *, destination: bool, ignorable: bool
    ) -> _State:
        word, number = found["word"], found["number"]
        if state.data is not None:
            state.data.add_word(word, *found.span())
            if destination:  # a description of the picture
                state.data, state.hidden = None, False
        if word in _CHARACTERS:
            if self._break == "par" and word in _CELLS and state.group.items[-1][0] == "\n":
                state.group.items.pop()  # of the last paragraph in the cell
            self._break = word
            state.group.items.append((_CHARACTERS[word], state.change))
        elif word == "ansicpg" and number:
            self._encoding = _codec(number)
        elif word == "uc" and number:
            state.skip_after_unicode = int(number)
        elif word in _CHANGES:
            flag = _CHANGES[word]
            flags = state.change & ~flag if number == "0" else state.change | flag
            self._changes += CHANGE
            state.change = flags % CHANGE and flags % CHANGE + self._changes
        elif word == "plain":
            state.change = 0
        elif word in _DATA:
            state.hidden, state.data = True, DataGroup(word == "pict")
            self.data.append(state.data)
        elif word == "datastore":
            state.hidden = True
            self._add_strings(found.end())
        elif word in _SKIPPED:
            state.hidden = True
        elif destination and (ignorable or word in _APART):
            state.group = Group()
            self._groups.append(state.group)
        return state

    def _character(
        self, found: re.Match[str], syntax: str, state: _State, skipped: int, *, after_word: bool
    ) -> int:
        """Add the characters of a token; return the number of remaining Unicode substitutes."""
        start, end = found.span()
        if syntax == "code":
            text, skip = character(int(found["code"]) % 0x10000), state.skip_after_unicode
            state.group.items.append((Leaf(start, end, text, "code"), state.change))
            return skip
        if syntax == "bytes":
            raw = bytes.fromhex(found["bytes"].replace("\\'", ""))[skipped:]
            text = raw.decode(self._encoding, "replace")
            start += 4 * min(skipped, (end - start) // 4)
            left = max(skipped - (end - found.start()) // 4, 0)
        elif syntax == "text":
            text, left = found["text"][skipped:], max(skipped - len(found["text"]), 0)
            start += min(skipped, end - start)
        else:
            text = _SYMBOLS.get(
                found["symbol"], found["symbol"] if found["symbol"] in "\\{}" else ""
            )
            left = max(skipped - 1, 0)
            text = "" if skipped else text
        if start > found.start() or (skipped and not text):
            self._widen(state, found.start(), start if text else end)
        if text:
            state.group.items.append(
                (Leaf(start, end, text, "word" if after_word else syntax), state.change)
            )
        return left

    def _widen(self, state: _State, start: int, end: int) -> None:
        """Extend the last character by the source of its substitute."""
        last, change = state.group.items[-1] if state.group.items else ("", 0)
        if isinstance(last, Leaf) and last.end == start:
            state.group.items[-1] = (last._replace(end=end), change)

    def _add_strings(self, at: int) -> None:
        """Add the strings of data that are not shown."""
        end = self._source.find("}", at)
        raw = _from_hexadecimal(self._source[at : end if end >= 0 else len(self._source)])
        for text in strings_in(raw):
            self._groups.append(Group(items=[(Leaf(at, at, text, "opaque"), 0)]))


def _bare(spelled: str) -> str:
    """Return the text without control words and groups."""
    text = re.sub(r"\\(?:par|line|cell|row|tab)\b ?", "\n", spelled)
    text = text.replace("\\_", "-").replace("\\~", " ")
    return re.sub(r"\\[a-zA-Z]+-?\d* ?|[{}\r\n]|\\[-*]", "", text)


def _written(leaf: Leaf, text: str) -> str:
    """Return a text in the spelling of Rich Text, which any code page supports."""
    if not text:
        return ""
    spelled = "".join(
        f"\\{char}" if char in "\\{}" else char if " " <= char <= "~" else _code(char)
        for char in text.replace("\n", " ")
    )
    return (
        f" {spelled}"
        if leaf.element == "word" and (spelled[0].isalnum() or spelled[0] in " -")
        else spelled
    )


def _code(char: str) -> str:
    units = char.encode("utf-16-le")
    numbers = (
        int.from_bytes(units[at : at + 2], "little", signed=True) for at in range(0, len(units), 2)
    )
    return "{\\uc1" + "".join(f"\\u{number}?" for number in numbers) + "}"


def _codec(number: str) -> str:
    try:
        return codecs.lookup(f"cp{number}").name
    except LookupError:
        return "cp1252"


def _unbroken(text: str) -> str:
    return "".join(text.split())


def _from_hexadecimal(text: str) -> bytes:
    digits = re.sub(r"\\[a-zA-Z]+-?\d* ?|[^0-9a-fA-F]", "", text)
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _hexadecimal(source: str) -> Iterator[str]:
    for found in re.finditer(r"[0-9a-fA-F\r\n]{64,}", source):
        yield "\n".join(strings_in(_from_hexadecimal(found[0])))


FORMATS = (RichText(),)
