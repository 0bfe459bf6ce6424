"""Arrays of numpy: numbers, and what is refused."""

from __future__ import annotations

import io
import pickle

import numpy
import pytest

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.interface import Edit, Limits

CARD = 4111111111111111
LIMITS = Limits()


def saved(array: numpy.ndarray) -> bytes:
    output = io.BytesIO()
    numpy.save(output, array)
    return output.getvalue()


@pytest.mark.parametrize("dtype", ["<i8", ">i8", "<u8", "<f8", ">f8"])
def test_a_long_number_becomes_zero(dtype: str) -> None:
    chosen = format_named("npy")
    data = saved(numpy.array([[1, 2], [CARD, 3]], dtype))
    document = chosen.extract(data, LIMITS)
    assert (document.segments[0].text, document.place_of(0)) == (str(CARD), "item 3")
    copy = numpy.load(io.BytesIO(chosen.mask(data, document, [Edit(0, 0, 16, "*")], {})))
    assert copy.tolist() == [[1, 2], [0, 3]]


@pytest.mark.parametrize("dtype", ["float32", "bool", "datetime64[s]", "complex128", "float16"])
def test_numbers_that_are_no_identifiers_are_inspected(dtype: str) -> None:
    document = format_named("npy").extract(saved(numpy.array([1, 0], dtype)), LIMITS)
    assert (document.segments, document.uninspected) == ([], [])


@pytest.mark.parametrize("dtype", ["uint8", "uint32", ">u2", "int64", "bool"])
def test_a_text_among_numbers_is_found_and_not_masked(dtype: str) -> None:
    codes = numpy.frombuffer(b"for Jane Doe, jane.doe@example.com", numpy.uint8)
    data = saved(codes.view(dtype) if dtype == "bool" else codes.astype(dtype))
    chosen = format_named("npy")
    document = chosen.extract(data, LIMITS)
    assert document.views[-1].text == "for Jane Doe, jane.doe@example.com"
    with pytest.raises(CannotMaskError, match="among the numbers"):
        chosen.mask(data, document, [Edit(0, 4, 12, "*")], {})


REFUSED = {
    "records": saved(numpy.array([(1, 2)], "i4,i4")),
    "Python objects": saved(numpy.array([{}], object)),
    "more than a type": saved(numpy.array([1])).replace(b"}  ", b"}#x"),
    "header is damaged": saved(numpy.array([1])).replace(b"(1,)", b"'1,'"),
    "bytes": saved(numpy.array([1])) + b"\0\1",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_read_is_refused(words: str) -> None:
    with pytest.raises(FormatError, match=words):
        format_named("npy").extract(REFUSED[words], LIMITS)


def test_bytes_beside_the_messages_of_a_catalog_are_refused() -> None:
    empty = b"\xde\x12\x04\x95" + bytes(24)
    assert format_named("mo").extract(empty, LIMITS).segments == []
    with pytest.raises(FormatError, match="no messages"):
        format_named("mo").extract(empty + b"text", LIMITS)


@pytest.mark.parametrize("protocol", [2, 5])
def test_an_array_in_a_pickle_is_not_inspected(protocol: int) -> None:
    data = pickle.dumps(numpy.array([b"123-45-6789", b"123-45-6780"]), protocol)
    assert format_named("pickle").extract(data, LIMITS).uninspected
