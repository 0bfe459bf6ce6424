"""Annotated corpora: loading, cleaning of what counts as a name, exchange of names, cutting into pieces as the run time cuts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from dlpctl.detect.tagger.words import COMMON, GIVEN, LABEL, PROPER, SURNAME, TITLE, normalize

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
    """A person's span without titles and handles in front of it, or None where no name is left."""
    while True:
        match = re.match(r"[#@~\s\"'“]+", text[start:end])
        if match:
            start += match.end()
        match = re.match(r"([^\W\d_]+)\.?\s+(?=\S)", text[start:end])
        if not match:
            break
        flags = gazetteer.get(normalize(match[1]), 0)
        given, surname, common = (flags >> shift & 3 for shift in (GIVEN, SURNAME, COMMON))
        name = given >= 2 or (given and not common)
        if (
            (flags & TITLE and not name and normalize(match[1]) != "st")
            or (common and not given and surname < 2 and normalize(match[1]) not in ("the",))
            or (flags & PROPER and not given and not surname)
        ):
            start += match.end()
        else:
            break
    words = re.findall(r"[^\W\d_]+", text[start:end])
    if not words or all(normalize(word) in NOT_NAMES for word in words):
        return None
    flags = gazetteer.get(normalize(words[0]), 0)
    if len(words) == 1 and (
        flags & (TITLE | LABEL)
        or (flags >> COMMON & 3 and not flags >> GIVEN & 3 and not flags >> SURNAME & 3)
    ):
        return None
    return start, end


def exchange(rows: list[Row], composer: Composer, share: float) -> list[Row]:
    """Copies with other names in the place of the persons': the same one for every mention, of as many words."""
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
        made.append({"text": out + text[here:], "spans": new_spans, "source": f"{row['source']}+exchanged"})
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
        borders = [b for b in borders if not any(start < b < end for _, start, end in row["spans"])] + [
            len(text)
        ]
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
