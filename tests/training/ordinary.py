"""Lists the usual words of each language that are names elsewhere, as `ordinary` in the lexicons.

python tests/training/ordinary.py --prose help/de --prose help/pl --catalogs SOME/PACKAGE
"""

from __future__ import annotations

import argparse
import gettext
import re
import textwrap
from collections import Counter, defaultdict
from pathlib import Path

import prose

import dlpctl_patterns
from dlpctl.detect.entities.crf.model import Model
from dlpctl.detect.entities.crf.words import WordFlags, look_up_keys, word_flags

NAMES = Path(dlpctl_patterns.__path__[0]) / "names"
_FEWEST_IN_PROSE, _FEWEST_IN_CATALOGS, _FEWEST_ALONE = 8, 3, 2
"""A word occurs so often; the last is for catalogs of a language without prose."""
_SHORTEST = 3
_USUAL = 3  # the frequency class of names that are usual everywhere, and names in any language
_VARIANTS = {"nn": "nb", "no": "nb"}
_FIELD = re.compile(r"<[^>]+>|%\(\w+\)\w|\{\w*\}")
_ENTRY = re.compile(r"^ordinary = '''(.*?)'''\n", re.MULTILINE | re.DOTALL)


def language_of(folder: str) -> str:
    """Return the language of a folder's name, without country and script."""
    language = re.split("[-_]", folder)[0]
    return _VARIANTS.get(language, language)


def in_catalogs(folder: Path) -> dict[str, Counter[str]]:
    """Return the words of the distinct translations in the catalogs of each language."""
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    for file in sorted(folder.rglob("LC_MESSAGES/*.mo")):
        with file.open("rb") as opened:
            catalog: dict[object, str] = vars(gettext.GNUTranslations(opened))["_catalog"]
        own = texts[file.parent.parent.name]
        own.update((_FIELD.sub(" ", text), None) for key, text in catalog.items() if key and text)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, own in texts.items():
        counts[language_of(name)] += prose.counted(name, own)
    return counts


def is_name_elsewhere(flags: WordFlags) -> bool:
    """Return whether a word is a name in some lists and nothing else that the gazetteer knows."""
    if not flags.named or flags.common or flags.other:
        return False
    return flags.given < _USUAL and flags.surname < _USUAL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prose", type=Path, action="append", default=[])
    parser.add_argument("--catalogs", type=Path, action="append", default=[])
    asked = parser.parse_args()
    in_prose: dict[str, Counter[str]] = defaultdict(Counter)
    in_strings: dict[str, Counter[str]] = defaultdict(Counter)
    for name, texts in prose.of_languages(asked.prose).items():
        in_prose[language_of(name)] += prose.common_words(name, texts)
    for folder in asked.catalogs:
        for language, counts in in_catalogs(folder).items():
            in_strings[language] += counts
    model = Model.load(NAMES / "tagger.bin")
    for lexicon in sorted((NAMES / "lexicon").glob("*.toml")):
        language = lexicon.stem
        fewest = _FEWEST_IN_CATALOGS if in_prose[language] else _FEWEST_ALONE
        often = {word for word, n in in_prose[language].items() if n >= _FEWEST_IN_PROSE}
        often |= {word for word, n in in_strings[language].items() if n >= fewest}
        held = lexicon.read_text(encoding="utf-8")
        listed = _ENTRY.search(held)
        words = sorted(
            {
                word
                for word in often
                if len(word) >= _SHORTEST
                and is_name_elsewhere(word_flags(model.flags(look_up_keys(word))))
            }.union(listed[1].split() if listed else ())
        )
        if words and language != "en":
            text = textwrap.fill(" ".join(words), 98)
            entry = f"'''{text}'''" if "\n" not in text else f"'''\n{text}\n'''"
            rest = _ENTRY.sub("", held)
            lexicon.write_text(f"{rest}ordinary = {entry}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
