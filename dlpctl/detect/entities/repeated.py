"""Fields that repeat: the values of one key, element, column or list are judged together.

A town such as Jackson or a font such as Georgia looks like a name. Beside many other values of its
field, most of which do not, it is none; a usual given name with a usual surname still is, unless
the records tell that they are of places, as by coordinates or codes of countries.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import accumulate, chain, groupby, pairwise
from operator import itemgetter

from dlpctl.detect.entities.crf.words import WordFlags
from dlpctl.detect.entities.label_keys import is_key, key_of, set_of
from dlpctl.regex import lazy
from dlpctl.types import Finding

Flags = Callable[[str], WordFlags]
_Value = tuple[Hashable, int, int]
"""The key of a field, and the start and end of a value of it."""

_FEWEST = 10
"""The number of different values of the shape of a name from which a field is judged."""
_SHAPED = 2 / 3
"""The share of such values: a field of mixed content, as the answers of a form, is not judged."""
_OF_PERSONS = 0.5
"""The share of them that are found as names in a field of persons."""
_SOME, _MANY = 30, 100
_SELDOM = 0.08
"""The share of names in a field of things whose values have any shape; of full names in one where
they are none.
"""
_LONGEST_SHORT_VALUE, _LONG = 50, 0.25
_SAMPLE, _MOST, _BESIDE = 50, 0.9, 300
"""The number of values, the share of them, and the characters beside each, that tell of places."""
_LONGEST_LINE = 400
_LONGEST_SHORT_WORD = 3
_FEWEST_WORDS = 2
_USUAL = 2
_LIKELY = 0.5
_OFTEN, _AS_NAME = 6, 0.25
"""The number of times that a term is in a text at least, and the share of those as a name."""
_MIXED = set_of(
    "value val v text t content data answer result input output response message cell c td th "
    "span div p li a b i em strong string item entry option label"
)
"""Keys and elements that precede values of all kinds."""
_KEY = lazy(r"(?<!\w)([^\W\d_][\w.-]{0,40}+)[\"']?\s?\Z")
_LONGEST_KEY = 43
_VALUE = lazy(
    r"[:=](?<=[\w\"'\s.-].)>?\s?"
    r"(?:\"([^\"\n]{1,60}+)\"|'([^'\n]{1,60}+)'|([^\W\d_][^\n\"',;{}()<>\[\]=:]{0,60}+)(?=[,;\n]))"
)
_ELEMENT = lazy(r"<([A-Za-z][\w:.-]{0,40}+)(?:\s[^<>\n]{0,200}+)?>([^<>\n]{1,60}+)</")
_ITEM = lazy(
    r"\n([ \t]{0,20}+[-*•] )[\"']?"
    r"([^\n\"'#]{1,60}+(?:(?<=\w)'\w[^\n\"'#]{0,60}+){0,2}+)[\"']?(?=\n)"
)
_KEY_OF_PLACE = lazy(
    r"(?<![^\W_])(?:lat|lon|lng|latitude|longitude|population|elevation|altitude|iso_?[23]?"
    r"|alpha_?[23]|timezone|time_zone|codepoint|unicode|genus|species|numeric(?:_code)?)"
    r"[\"']?\s?[:=]"
)
_SERIES = lazy(r"([A-ZÀ-Þ][^\W\d_]+)[ /-][^a-zß-ÿ]")
_CODE_CELL = lazy(
    r"(?:^|[,;\t|'\"]|  )\s{0,40}(?:[A-Z]{2}(?:-[A-Z0-9]{1,3})?|U\+[0-9A-F]{4,6})\s{0,40}"
    r"(?:$|[,;\t|'\"]|  )"
)
_DELIMITERS, _WIDE = ",;\t|", "  "
_OF_PROSE = (",", _WIDE)
"""Delimiters that prose has, too: only of others, a line between two rows may have none."""
_BARE = " \t\"'<>{}()[]!?=*_-"
"""Characters around the content of a cell."""
_WIDE_CELL = lazy(r"\S++(?: \S++)*+")
_BORDERS = frozenset(("", *"\"'=:>,;|\t\n "))
_WORDS = lazy(r"[^\W\d_]+")
_MARKS = str.maketrans("-/,&()", " " * 6, ".'’‘`")


def without_things(text: str, found: list[Finding], flags: Flags) -> list[Finding]:
    """Return findings without the names of things: in a field of which most values are no names."""
    taken = sorted(
        (finding.start, finding.end)
        for finding in found
        if finding.type == "PERSON_NAME" and finding.score >= _LIKELY
    )
    before = {text[max(0, start - 1) : start] for start, _ in taken}
    if before.isdisjoint(_BORDERS):
        return found
    fields = {values for mark, values in _FIELDS if text.count(mark) >= _FEWEST}
    cells = _cells(text, taken) if text.count("\n") >= _FEWEST - 1 else ()
    values = chain(*(of_field(text) for of_field in fields), cells)
    things = list(_things(text, values, taken, flags))
    if not things:
        return found
    sure = _joined((start, end) for start, end, is_sure in things if is_sure)
    likely = _joined((start, end) for start, end, is_sure in things if not is_sure)
    return [
        finding
        for finding in found
        if finding.type != "PERSON_NAME"
        or not (
            _overlaps(finding.start, finding.end, sure)
            or (
                _overlaps(finding.start, finding.end, likely)
                and not _is_full_name(text[finding.start : finding.end], flags)
            )
        )
    ]


def without_terms(
    text: str, regions: Iterable[list[str]], found: list[Finding], flags: Flags
) -> list[Finding]:
    """Return findings without those that have a word in no list, and no usual given name first,
    where the tokens of the text have the word often, but mostly as no name: Lynx, Ogg Theora.
    """
    strange = {
        at: words
        for at, finding in enumerate(found)
        if finding.type == "PERSON_NAME" and finding.score >= _LIKELY
        if (words := _strange_words(text[finding.start : finding.end], flags))
    }
    as_name = Counter(chain.from_iterable(strange.values()))
    if not as_name:
        return found
    counts = Counter(
        token
        for tokens in regions
        if not as_name.keys().isdisjoint(tokens)
        for token in tokens
        if token in as_name
    )
    terms = {
        word
        for word, count in counts.items()
        if count >= _OFTEN and as_name[word] < _AS_NAME * count
    }
    return [finding for at, finding in enumerate(found) if terms.isdisjoint(strange.get(at, ()))]


def _strange_words(name: str, flags: Flags) -> set[str]:
    """Return the words of a name that no list has, unless a usual given name is its first word."""
    words = _WORDS.findall(name)
    if not words or flags(words[0]).given >= _USUAL:
        return set()
    return {word for word in words if not flags(word).code}


def _things(
    text: str, values: Iterable[_Value], taken: list[tuple[int, int]], flags: Flags
) -> Iterator[tuple[int, int, bool]]:
    """Yield the values of fields of which some are found as names, but most are none, and whether
    not even a full name is one there; of descriptions the start of a type: Ariel Device 24.
    """
    fields: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for key, start, end in values:
        fields[key].append((start, end))
    for key, all_spans in fields.items():
        if len(all_spans) < _FEWEST:
            continue
        named = {text[start:end] for start, end in all_spans if _overlaps(start, end, taken)}
        if not named:
            continue
        distinct: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for start, end in all_spans:
            distinct[text[start:end]].append((start, end))
        if len(distinct) < _FEWEST:
            continue
        of_things = _is_of_things(distinct, named)
        if not (of_things or _are_descriptions(distinct, named)):
            continue
        full = sum(_is_full_name(value, flags) for value in named)
        is_list = of_things and isinstance(key, str) and len(distinct) >= 2 * _MANY
        of_places = is_list or (len(distinct) >= _SOME and _is_of_places(text, distinct))
        is_sure = of_places and full < _SELDOM * len(distinct)
        for value, spans in distinct.items():
            series = None if of_things or is_sure else _SERIES.match(value)
            if series:
                yield from ((start, start + series.end(1), False) for start, _ in spans)
            elif of_things or is_sure:
                yield from ((*span, is_sure) for span in spans)


def _is_of_things(distinct: Collection[str], named: AbstractSet[str]) -> bool:
    """Return whether most values have the shape of names, but most of those are no findings."""
    shaped = [value for value in distinct if _is_shaped(value)]
    if len(shaped) < max(_FEWEST, _SHAPED * len(distinct)):
        return False
    return 0 < sum(value in named for value in shaped) < _OF_PERSONS * len(shaped)


def _are_descriptions(distinct: Collection[str], named: AbstractSet[str]) -> bool:
    """Return whether there are many values of any shape, few of which are sentences, and hardly
    any is found as a name.
    """
    long = sum(len(value) > _LONGEST_SHORT_VALUE for value in distinct)
    many = len(distinct) >= _MANY and long < _LONG * len(distinct)
    return many and len(named) < _SELDOM * len(distinct)


def _is_of_places(text: str, distinct: dict[str, list[tuple[int, int]]]) -> bool:
    """Return whether most values have keys of places or things beside them, or a code of two
    capitals in their row.
    """
    spans = [spans[0] for spans in distinct.values()][:_SAMPLE]
    beside = 0
    for start, end in spans:
        around = text[max(0, start - _BESIDE) : end + _BESIDE]
        low = max(0, start - _BESIDE)
        line = max(low, text.rfind("\n", low, start) + 1)
        row = text[line:start] + "," + text[end : end + _BESIDE]
        beside += bool(_KEY_OF_PLACE.search(around) or _CODE_CELL.search(row.partition("\n")[0]))
    return beside >= _MOST * len(spans)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _overlaps(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    """Return whether a span overlaps one of those in order, which do not overlap each other."""
    at = bisect_right(spans, (start, end))
    return (at > 0 and spans[at - 1][1] > start) or (at < len(spans) and spans[at][0] < end)


def _is_shaped(value: str) -> bool:
    """Return whether a value is words with capitals, and short ones between them, or one word."""
    words = value.translate(_MARKS).split()
    if len(words) == 1:
        return words[0].isalpha()
    return (
        bool(words)
        and words[0][0].isupper()
        and all(
            word.isalpha() and (word[0].isupper() or len(word) <= _LONGEST_SHORT_WORD)
            for word in words
        )
    )


def _is_full_name(value: str, flags: Flags) -> bool:
    """Return whether a usual given name is first and a usual surname last, not both of them usual
    as other words.
    """
    words = [flags(word) for word in _WORDS.findall(value)]
    if len(words) < _FEWEST_WORDS or words[0].given < _USUAL or words[-1].surname < _USUAL:
        return False
    if words[0].place_name >= words[0].given or words[-1].street:  # Jordan Creek, Sylvia Park
        return False
    return not (words[0].common and words[-1].common)


def _keyed(text: str) -> Iterator[_Value]:
    """Yield the values after keys, other than those of persons: "name": "Jackson"."""
    last = 0
    for value in _VALUE.finditer(text):
        label = _KEY.search(text, max(last, value.start() - _LONGEST_KEY), value.start())
        if label is None:
            continue
        last = value.end()
        key = key_of(label[1])
        if key not in _MIXED and not is_key(label[1]):
            yield ("=", key), *value.span(value.lastindex or 0)


def _elements(text: str) -> Iterator[_Value]:
    for match in _ELEMENT.finditer(text):
        key = key_of(match[1])
        if key not in _MIXED and not is_key(match[1]):
            yield ("<", key), *match.span(2)


def _items(text: str) -> Iterator[_Value]:
    """Yield the items of lists, by their indent and bullet."""
    for match in _ITEM.finditer(text):
        yield match[1], *match.span(2)


def _cells(text: str, taken: list[tuple[int, int]]) -> Iterator[_Value]:
    """Yield the cells of columns that have a name, by the first of the lines with their delimiter,
    and the column; of few lines, and of those without a name, none.
    """
    columns: dict[str, set[int]] = defaultdict(set)
    for start, _ in taken:
        delimiter, column = _column_at(text, start)
        if delimiter:
            columns[delimiter].add(column)
    lines = text.split("\n") if columns else []
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for delimiter, wanted in columns.items():
        has = [delimiter in line and len(line) <= _LONGEST_LINE for line in lines]
        nearby = has if delimiter in _OF_PROSE else map(any, pairwise((*has, False)))
        for is_of_table, run in groupby(enumerate(nearby), itemgetter(1)):
            rows = [row for row, _ in run if is_of_table and has[row]]
            if len(rows) < _FEWEST or not _overlaps(starts[rows[0]], starts[rows[-1] + 1], taken):
                continue
            for row in rows:
                for column, cell in enumerate(_bare_cells(lines[row], starts[row], delimiter)):
                    if column in wanted and cell[0] < cell[1]:
                        yield (delimiter, rows[0], column), *cell


def _column_at(text: str, position: int) -> tuple[str, int]:
    """Return the delimiter and the column of the cell that starts at a position; if there is none,
    an empty delimiter.
    """
    low, high = max(0, position - _LONGEST_LINE), position + _LONGEST_LINE
    start = text.rfind("\n", low, position) + 1
    end = text.find("\n", position, high)
    line = text[start : high if end < 0 else end]
    if (start or not low) and len(line) <= _LONGEST_LINE:
        before = line[: position - start]
        delimiter = max(_DELIMITERS, key=line.count)
        if delimiter in line and not before.rpartition(delimiter)[2].strip(_BARE):
            return delimiter, before.count(delimiter)
        starts = [start + cell.start() for cell in _WIDE_CELL.finditer(line)]
        if len(starts) > 1 and position in starts:
            return _WIDE, starts.index(position)
    return "", 0


def _bare_cells(line: str, start: int, delimiter: str) -> list[tuple[int, int]]:
    """Return the spans of the cells of a line that is at a position, without quotes and blanks."""
    if delimiter == _WIDE:
        return [(start + cell.start(), start + cell.end()) for cell in _WIDE_CELL.finditer(line)]
    spans: list[tuple[int, int]] = []
    for cell in line.split(delimiter):
        bare = cell.strip(_BARE)
        at = start + cell.find(bare)
        spans.append((at, at + len(bare)))
        start += len(cell) + 1
    return spans


_FIELDS = (("=", _keyed), (":", _keyed), ("</", _elements), ("\n", _items))
"""The fields of a text but for cells, each with a mark that is beside every value."""
