"""Natural text without names in many languages: the help of LibreOffice, from Debian's packages
`libreoffice-help-*`, with one folder for each language.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import TYPE_CHECKING

import compose

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable
    from pathlib import Path

    from corpora import Row

_PARAGRAPH = re.compile(r"<(p|h[1-6]|td|li)\b[^>]*>(.*?)</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST, _LONGEST = 12, 700
_FEWEST = 4
"""A word that occurs less often may be a name of an example."""
_MOST_LANGUAGES = 2
"""A paragraph of more languages has not been translated."""
_ALONE = 0.55
"""The share of paragraphs without a template."""


def of_languages(folders: Iterable[Path]) -> dict[str, list[str]]:
    """The paragraphs of each language, without those that were left in English."""
    pages = {folder.name: _paragraphs(folder) for folder in folders}
    languages = Counter(text for texts in pages.values() for text in texts)
    return {
        language: [text for text in texts if languages[text] <= _MOST_LANGUAGES]
        for language, texts in pages.items()
    }


def _paragraphs(folder: Path) -> list[str]:
    """The distinct paragraphs of all pages of one language, in the order of the pages."""
    found: dict[str, None] = {}
    for page in sorted((folder / "text").rglob("*.html")):
        for match in _PARAGRAPH.finditer(page.read_text(encoding="utf-8", errors="ignore")):
            text = " ".join(html.unescape(_TAG.sub("", match[2])).split())
            if _SHORTEST <= len(text) <= _LONGEST:
                found[text] = None
    return list(found)


def common_words(language: str, texts: Iterable[str]) -> Counter[str]:
    """Words by how often they are no name, but for those that a few examples may name."""
    counts = counted(language, texts)
    return Counter({word: count for word, count in counts.items() if count >= _FEWEST})


def counted(language: str, texts: Iterable[str]) -> Counter[str]:
    """Words by how often they are no name: in lower case, or, as German nouns are, with a capital
    within a sentence.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        for match in _WORD.finditer(text):
            word = match[0]
            within = match.start() > 1 and text[match.start() - 2].isalpha()
            if len(word) > 1 and (
                word.islower() or (language == "de" and word.istitle() and within)
            ):
                counts[word.lower()] += 1
    return counts


def rows(
    language: str, texts: list[str], composer: compose.Composer, templates: list[str], most: int
) -> list[Row]:
    """So many characters of paragraphs, some beside a filled template."""
    rng, made, total = composer.rng, [], 0
    composer.language = language if language in compose.TITLES else "en"
    for text in rng.sample(texts, len(texts)):
        if total > most:
            break
        total += len(text)
        spans: list[compose.Span] = []
        if rng.random() > _ALONE:
            text, spans = _beside(text, *composer.fill(rng.choice(templates)), rng)
        made.append({"text": text, "spans": spans, "source": f"prose-{language}"})
    return made


def _beside(
    text: str, filled: str, spans: list[compose.Span], rng: random.Random
) -> tuple[str, list[compose.Span]]:
    gap = rng.choice((" ", " ", "\n", "\n\n"))
    if rng.random() < 0.5:
        return filled + gap + text, spans
    before = len(text) + len(gap)
    return text + gap + filled, [(kind, start + before, end + before) for kind, start, end in spans]
