"""Properties of every validator: it is in its table's module, accepts any text, and takes linear
time at most.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import seconds

from dlpctl.detect import validators

NAMES = validators.names()
REGISTERED = re.compile(r'^@validator\("(\w+)"', re.MULTILINE)
ALPHABET = st.sampled_from("0123456789ABCXYZabcxyz -./:@+()%^=<>²٣Ñß中\u00a0\ud800\0\n")
NEAR_NUMBERS = (
    st.text(ALPHABET, max_size=60)
    | st.text(max_size=100)
    | st.from_regex(r"[0-9]{5,20}", fullmatch=True)
)

_LONG = 250_000


def test_modules_register_the_validators_of_the_table() -> None:
    modules = Path(validators.__file__).parent.glob("*.py")
    written = [
        name
        for module in modules
        for name in REGISTERED.findall(module.read_text(encoding="utf-8"))
    ]
    assert written
    assert set(written) <= set(NAMES)
    for name in NAMES:
        assert validators.find(name).name == name


def test_unknown_names_are_key_errors() -> None:
    with pytest.raises(KeyError):
        validators.find("xyzzy")


@given(NEAR_NUMBERS)
@settings(max_examples=150, deadline=None)
def test_validators_take_any_text(value: str) -> None:
    for name in NAMES:
        assert validators.find(name).accepts(value) in (True, False)


@pytest.mark.no_cover
@pytest.mark.parametrize("char", [*"09aA=-./:@$\\ é€"])
def test_a_long_run_of_one_character_takes_a_few_walks(char: str) -> None:
    """Compare validators with one walk over as many letters, under the same tracing."""

    def walk(name: str, text: str, runs: int) -> float:
        accepts = validators.find(name).accepts
        return seconds(lambda: accepts(text), runs)

    most = 20 * walk("has_digit", "A" * _LONG, 3)
    # What seems slow is measured again, in case another program had the processor's cache.
    slow = [name for name in NAMES if walk(name, char * _LONG, 1) > most]
    assert not [name for name in slow if walk(name, char * _LONG, 3) > most]
