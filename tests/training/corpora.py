"""Annotated corpora: loading, cleaning of what counts as a name, exchange of names, cutting into
pieces as the run time cuts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from dlpctl.detect.entities.crf.words import (
    CALENDAR,
    COMMON,
    COMPANY,
    GIVEN,
    LABEL,
    PARTICLE,
    PLACE,
    PROPER,
    SURNAME,
    TITLE,
    normalize,
)

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from compose import Composer, Span

Row = dict[str, object]
NOT_NAMES = {
    "god",
    "jesus",
    "christ",
    "allah",
    "lord",
    "petitioner",
    "respondent",
    "americans",
    "irish",
    "turkey",
    "honor",
    "decree",
    "muslims",
    "chief",
}


def load(path: Path, gazetteer: dict[str, int]) -> list[Row]:
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        spans: list[Span] = []
        for kind, start, end in row["spans"]:
            if kind == "PERSON":
                found = trim(row["text"], start, end, gazetteer)
                if found:
                    spans.append((kind, *found))
            else:
                spans.append((kind, start, end))
        rows.append({"text": row["text"], "spans": spans, "source": path.stem})
    return rows


def trim(text: str, start: int, end: int, gazetteer: dict[str, int]) -> tuple[int, int] | None:
    """Return a person's span without handles, titles and other descriptions before the name, or
    None if no name is left.
    """
    words = list(re.finditer(r"[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)*", text[start:end]))
    cased = any(word[0][0].isupper() for word in words)
    first = 0
    for place, word in enumerate(words[:-1]):
        if _is_title(word[0], gazetteer, cased) or (
            place < len(words) - 2 and _is_common(word[0], gazetteer)
        ):
            first = place + 1
    words = words[first:]
    if not words or all(
        normalize(word[0]) in NOT_NAMES or not _may_name(word[0], gazetteer) for word in words
    ):
        return None
    if len(words) == 1 and _is_title(words[0][0], gazetteer, cased=False):
        return None
    return start + words[0].start(), end


def _is_title(word: str, gazetteer: dict[str, int], cased: bool) -> bool:
    flags = gazetteer.get(normalize(word), 0)
    if flags & PARTICLE or len(word) == 1:
        return False
    named = flags >> GIVEN & 3 >= 2 or flags >> SURNAME & 3 >= 2
    return (cased and word.islower()) or bool(flags & (TITLE | LABEL | PROPER) and not named)


def _is_common(word: str, gazetteer: dict[str, int]) -> bool:
    flags = gazetteer.get(normalize(word), 0)
    return (
        bool(flags >> COMMON & 3)
        and not flags >> GIVEN & 3
        and flags >> SURNAME & 3 < 3
        and len(word) > 1
    )


def _may_name(word: str, gazetteer: dict[str, int]) -> bool:
    flags = gazetteer.get(normalize(word), 0)
    if flags >> GIVEN & 3 or flags >> SURNAME & 3:
        return True
    return not (flags >> COMMON & 3 or flags >> PLACE & 3 or flags & (PROPER | COMPANY | CALENDAR))


def exchange(rows: list[Row], composer: Composer, share: float) -> list[Row]:
    """Copies with other names in the place of the persons': the same one for every mention, of as
    many words.
    """
    rng, made = composer.rng, []
    for row in rows:
        spans = sorted(row["spans"], key=lambda span: span[1])
        if not any(span[0] == "PERSON" for span in spans) or rng.random() > share:
            continue
        text, out, here, new_spans = row["text"], "", 0, []
        renamed: dict[str, str] = {}
        for kind, start, end in spans:
            if start < here:
                continue
            out += text[here:start]
            value = text[start:end]
            if kind == "PERSON":
                parts = re.split(r"(\s+)", value)
                for place in range(0, len(parts), 2):
                    part = parts[place]
                    if part not in renamed:
                        last = place == len(parts) - 1
                        new = (
                            composer.surname()
                            if last and (place or rng.random() < 0.45)
                            else composer.first()
                        )
                        renamed[part] = (
                            part
                            if len(part) < 3 or part.lower() in ("de", "van", "von", "the")
                            else new.lower()
                            if part.islower()
                            else new.upper()
                            if part.isupper() and len(part) > 2
                            else new
                        )
                    parts[place] = renamed[part]
                value = "".join(parts)
            new_spans.append((kind, len(out), len(out) + len(value)))
            out += value
            here = end
        made.append(
            {"text": out + text[here:], "spans": new_spans, "source": f"{row['source']}+exchanged"}
        )
    return made


def cut(rows: list[Row], rng: random.Random, share: float = 0.6) -> list[Row]:
    """Some documents as their sentences and lines, since the gate hands pieces to the tagger."""
    made = []
    for row in rows:
        text = row["text"]
        if rng.random() > share or len(text) < 150:
            made.append(row)
            continue
        here = 0
        borders = [m.end() for m in re.finditer(r"(?<=[.!?])\s+(?=[A-Z\"“'])|\n", text)]
        borders = [
            b for b in borders if not any(start < b < end for _, start, end in row["spans"])
        ] + [len(text)]
        for border in borders:
            if border - here < rng.choice((30, 80, 200)) and border != len(text):
                continue
            made.append(
                {
                    "text": text[here:border],
                    "spans": [
                        (kind, start - here, end - here)
                        for kind, start, end in row["spans"]
                        if here <= start and end <= border
                    ],
                    "source": row["source"],
                }
            )
            here = border
    return made
