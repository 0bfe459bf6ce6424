"""Every format over its samples: found values are gone, everything else is there, and other
programs can read the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from dlpctl.formats.discovery import formats
from dlpctl.formats.files import Files, Node
from dlpctl.formats.interface import Document, Format
from dlpctl.formats.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dlpctl.formats.spans import ViewEdit

VALUES = ("123-45-6789", "4111111111111111", "jane.roe@acme.example")
MASKS = ("[SSN 1]", "[CARD]", "[E-MAIL]")


class Sample(Protocol):
    name: str
    format: str
    make: Callable[[], bytes]
    kept: tuple[str, ...]
    parse: Callable[[bytes], object]


def texts(node: Node) -> str:
    return "\n".join(segment.text for one in node.walk() for segment in one.document.segments)


def test_values_are_gone_and_the_rest_is_kept(
    sample: Sample, find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    data = sample.make()
    with Files() as files:
        node = files.open(data, sample.name)
        assert node.document.format == sample.format
        assert any(list(find(one.document)) for one in node.walk())
        masked = files.masked(node, find)
        again = files.open(masked, sample.name)
        kept = texts(again)
    assert again.document.format == sample.format
    sample.parse(masked)
    for text in sample.kept:
        assert text in kept
    result = verify(masked, sample.name, VALUES, find, replacements=MASKS)
    assert result.clean, result.leaks
    assert "0 of 3 values remain" in result.summary()


def test_a_file_that_holds_nothing_comes_back_as_it_is(sample: Sample) -> None:
    data = sample.make()
    with Files() as files:
        assert files.masked(files.open(data, sample.name), lambda _: []) == data


def test_the_verifier_catches_every_sample_as_it_was(
    sample: Sample, find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    result = verify(sample.make(), sample.name, VALUES, find, replacements=MASKS)
    assert not result.clean
    # Without detection the readers alone must show it.
    assert not verify(sample.make(), sample.name, VALUES, lambda _: []).clean


def test_the_text_of_a_repeating_view_is_in_another_view(sample: Sample) -> None:
    with Files() as files:
        for one in files.open(sample.make(), sample.name).walk():
            rest = "\n".join(view.text for view in one.document.views if not view.repeats)
            for view in one.document.views:
                assert not view.repeats or all(cell in rest for cell in view.text.split("\n\n"))


@pytest.mark.parametrize("found", formats(), ids=lambda found: found.name)
def test_formats_keep_the_contract(found: Format) -> None:
    assert isinstance(found, Format)
    assert all(
        extension.startswith(".") and extension == extension.lower()
        for extension in found.extensions
    )


def test_format_names_are_unique() -> None:
    names = [found.name for found in formats()]
    assert len(names) == len(set(names))
