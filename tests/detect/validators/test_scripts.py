"""Names in Chinese characters and Hangul, dates in the months and eras of many languages, colors."""

from __future__ import annotations

import random
import string

import pytest

from dlpctl.detect import validators


def accepts(name: str, value: str) -> bool:
    return validators.find(name).accepts(value)


@pytest.mark.parametrize("value", ["王小明", "欧阳文华", "山田花子", "김민수", "정수진"])
def test_names_are_accepted(value: str) -> None:
    assert accepts("script_name", value)


@pytest.mark.parametrize("value", ["安全", "高兴吧", "이메일", "전송을", "営業部", "必須"])
def test_usual_words_are_no_names(value: str) -> None:
    assert not accepts("script_name", value)


@pytest.mark.parametrize(
    "value",
    [
        "1990年5月3日",
        "昭和50年5月3日",
        "12 maja 1980",
        "5 января 1990",
        "3 Mayıs 1985",
        "12 februari 1971",
    ],
)
def test_dates_of_other_languages_exist(value: str) -> None:
    assert accepts("calendar_date", value)


@pytest.mark.parametrize("value", ["1990年13月3日", "令和3年2月30日", "31 kwietnia 1980"])
def test_days_that_no_calendar_has_are_rejected(value: str) -> None:
    assert not accepts("calendar_date", value)


def test_a_color_is_no_telephone_number() -> None:
    assert not accepts("phone_national", "255 248 220")
    assert accepts("phone_national", "612 345 678")


def test_random_values_are_unmistakable_and_names_and_digests_are_not() -> None:
    source = random.Random(1)
    drawn = [
        "".join(source.choices(string.ascii_letters + string.digits, k=32)) for _ in range(300)
    ]
    assert sum(accepts("unmistakable", value) for value in drawn) > 290
    for value in (
        "PBEWithHmacSHA256AndAES_256",
        "VK_FORMAT_R8G8B8A8_SRGB",
        source.randbytes(20).hex(),
    ):
        assert not accepts("unmistakable", value)
