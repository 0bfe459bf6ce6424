"""The parts of the training that need no corpus."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dlpctl.detect.entities.crf.model import LABELS, Model, pack
from dlpctl.detect.entities.crf.words import COMMON, GIVEN, PLACE, SURNAME, setting

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The modules of this folder, which its scripts import by their names alone."""
    from importlib import import_module

    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    names = ("lists", "compose", "corpora", "prose", "train", "adapt")
    yield SimpleNamespace(**{name: import_module(name) for name in names})
    for name in names:
        sys.modules.pop(name, None)


def page(folder: Path, language: str, *paragraphs: str) -> Path:
    pages = folder / language / "text"
    pages.mkdir(parents=True)
    body = "".join(f"<p class='x'>{paragraph}</p>" for paragraph in paragraphs)
    (pages / "page.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    return folder / language


def test_prose_holds_each_paragraph_once_and_leaves_out_what_is_not_translated(
    tmp_path: Path, training: Any
) -> None:
    english = "This page is not translated yet."
    folders = [
        page(tmp_path, "de", "Die <b>Datei</b> wird ge&ouml;ffnet.", english, english),
        page(tmp_path, "es", "Se abre el archivo elegido.", english),
        page(tmp_path, "fr", "Le fichier choisi est ouvert.", english),
    ]
    assert training.prose.of_languages(folders) == {
        "de": ["Die Datei wird geöffnet."],
        "es": ["Se abre el archivo elegido."],
        "fr": ["Le fichier choisi est ouvert."],
    }


def test_common_words_are_in_lower_case_or_german_nouns_within_a_sentence(training: Any) -> None:
    texts = ["Anna sah die Datei."] * 4
    assert set(training.prose.common_words("de", texts)) == {"sah", "die", "datei"}
    assert set(training.prose.common_words("es", texts)) == {"sah", "die"}


def test_a_template_beside_a_paragraph_keeps_the_spans_of_its_names(training: Any) -> None:
    lists = training.lists
    locale = lists.Locale(["Ada"] * 30, ["Quist"] * 30, [], [])
    found = lists.Lists({"de_DE": locale}, [("Ada", 1.0)], [("Quist", 1.0)], [], ["Peru"], [])
    composer = training.compose.Composer(found, random.Random(3), lambda _: True)
    rows = training.prose.rows("xx", ["No name is here."] * 200, composer, ["Dear {f}!"], 3_000)
    named = [row for row in rows if row["spans"]]
    assert 0 < len(named) < len(rows)
    for row in named:
        (_, start, end) = row["spans"][0]
        assert row["text"][:start].endswith("Dear ")
        assert row["text"][end:].startswith("!")


def test_an_ending_replaces_a_vowel_and_belongs_to_the_name(training: Any) -> None:
    lists = training.lists
    locale = lists.Locale(["Anna"] * 30, ["Quist"] * 30, [], [])
    found = lists.Lists({"pl_PL": locale}, [("Anna", 1.0)], [("Quist", 1.0)], [], ["Peru"], [])
    composer = training.compose.Composer(found, random.Random(3), lambda _: True)
    assert composer.fill("u {f+y}, {l+em}") == (
        "u Anny, Quistem",
        [("PERSON", 2, 6), ("PERSON", 8, 15)],
    )


def test_a_word_of_another_language_is_common_unless_it_is_a_usual_name_or_a_place(
    training: Any, tmp_path: Path
) -> None:
    lists = training.lists
    found = lists.Lists({}, [("Rosa", 1.0)], [("Koch", 1.0)], [("Essen", 900_000, "DE")], [], [])
    gazetteer = lists.gazetteer(
        found,
        tmp_path,
        [Counter({"rosa": 90, "datei": 90, "selten": 3})],
        ["Koch", "Essen", "Ofen"],
    )
    levels = {word: gazetteer[word] >> COMMON & 3 for word in ("rosa", "koch", "essen", "ofen")}
    assert levels == {"rosa": 0, "koch": 0, "essen": 0, "ofen": 1}
    assert gazetteer["datei"] >> COMMON & 3 == 2
    assert gazetteer["rosa"] >> GIVEN & 3 == gazetteer["koch"] >> SURNAME & 3 == 3
    assert gazetteer["essen"] >> PLACE & 3 == 2


def test_the_packed_file_has_the_further_names(training: Any) -> None:
    import dlpctl_patterns
    from dlpctl.detect.entities.crf.model import Model
    from dlpctl.detect.entities.crf.words import look_up_keys
    from dlpctl.detect.entities.finder import DATA

    model = Model.load(Path(dlpctl_patterns.__path__[0]) / DATA)
    lacking = [
        name
        for name, shift, level in training.lists.further_names()
        if model.flags(look_up_keys(name)) >> shift & 3 < level
    ]
    assert lacking == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hvis Filen er tom", 0),
        ("Die Datei ist leer und der Wert fehlt", 3),
        ("nothing is capitalised", 1),
        ("EVERY WORD IS", 2),
        ("Von Hagen met der Meer", 3),
    ],
)
def test_the_setting_detects_languages_with_capitalized_nouns(text: str, expected: int) -> None:
    from dlpctl.detect.entities.crf.words import shape

    words = text.split()
    assert setting([shape(word) for word in words], [word.lower() for word in words]) == expected


def test_adapted_weights_move_by_a_share_and_are_the_same_each_time(training: Any) -> None:
    adapt = training.adapt
    rows = [{"text": "ask Temi about it", "spans": [("PERSON", 4, 8)]}] * 3
    numbers: dict[str, int] = {}
    made = []
    for _ in "ab":
        sequences = adapt.Sequences({}, numbers)
        for row in rows:
            sequences.add(row, 0.0, random.Random(1))
        counts = sequences.counts()
        code = int(next(iter(numbers)).partition("|")[2])
        stored = pack({1: 0}, {code: [(0, 40)]}, [[0] * len(LABELS)] * len(LABELS))
        model = Model(memoryview(stored))
        names, weights, kept = adapt.start(model, numbers, counts)
        options = SimpleNamespace(seed=7, rounds=2, pull=0.05, rate=0.06)
        steps = adapt.np.ones((len(LABELS), len(LABELS)))
        after = adapt.adapted(weights, sequences.batches(kept), steps, options)
        made.append([adapt.packed(model, names, after, share) for share in (0.0, 1.0)])
    assert made[0] == made[1]
    assert made[0][0] == stored != made[0][1]
