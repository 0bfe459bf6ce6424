"""Random values after labels of any form, passwords of one word, and texts that only
resemble them.
"""

from __future__ import annotations

import json
import random
import string

import pytest

from dlpctl.detect.engine import Detector
from dlpctl.types import Sensitivity

SOURCE = random.Random(19)
HEX = "".join(SOURCE.choices("0123456789abcdef", k=32))
MIXED = "".join(SOURCE.choices(string.ascii_letters + string.digits, k=40))
FORMS = (
    "algolia = {}",
    "TRAVIS_CI_TOKEN={}",
    "our new mapbox token {} works",
    "# zorblatt api key\n{}\n",
    '<add key="A_VERY_LONG_SERVICE_NAME_KEY" value="{}"/>',
    "helm upgrade web --set app-access-key={}",
    "https://acme.example/cb?user=7&client_secret={}&x=1",
)
NONE = (
    "commit {}",
    "image: sentry@sha256:{}",
    "cache key: {}",
    "algolia index id: {}",
    "{}  stripe.tar.gz",
    "nextToken: {}",
)


@pytest.fixture(scope="module")
def detector(library: Detector) -> Detector:
    return library.for_types(["SECRETS"])


def found(detector: Detector, text: str, tier: Sensitivity = Sensitivity.BALANCED) -> list[str]:
    return [text[one.start : one.end] for one in detector.scan(text, tier.min_score)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [HEX, MIXED], ids=["hex", "mixed"])
def test_a_label_of_any_form_makes_a_random_value_a_secret(
    detector: Detector, form: str, value: str
) -> None:
    assert found(detector, form.format(value)) == [value]


@pytest.mark.parametrize("form", NONE)
def test_a_digest_or_an_id_is_no_secret(detector: Detector, form: str) -> None:
    assert found(detector, form.format(HEX)) == []


def test_lines_of_base64_that_hold_names_are_none(detector: Detector) -> None:
    lines = ["".join(SOURCE.choices(string.ascii_letters + string.digits, k=60)) for _ in range(40)]
    assert found(detector, "\n".join(f"{line}twilio" for line in lines)) == []


@pytest.mark.parametrize(
    "text",
    [
        'password: "marigold"',
        "DB_PASS=greenhouse\n",
        "pwd='gr$enhouse'",
        "password: Barley.Mow\n",
        "7z x -pgardenpepper a.7z",
        "wallet seed: rusty anchor blue dolphin amber gate",
    ],
)
def test_a_password_may_be_words(detector: Detector, text: str) -> None:
    assert len(found(detector, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        'password: "string"',
        "password: hashedPassword\n",
        "PW = require('fs-minipass')",
        "['pwd', 'os']",
        "man/ru/login.access.5, man/ru/lastlog.8, man/ru/porttime.5",
    ],
)
def test_code_in_the_place_of_a_value_is_not_a_secret(detector: Detector, text: str) -> None:
    assert found(detector, text, Sensitivity.HIGH) == []


def test_a_possible_password_counts_at_high_sensitivity_alone(detector: Detector) -> None:
    assert found(detector, "secret: marigold\n") == []
    assert found(detector, "secret: marigold\n", Sensitivity.HIGH) == ["marigold"]
    # In a program, the name of another variable:
    assert found(detector, "password = sunflower;\n", Sensitivity.HIGH) == []
    assert found(detector, "password = sunflower\n") == ["sunflower"]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_secrets_in_nested_strings_are_found(detector: Detector, times: int) -> None:
    text = f'see below\n{{"password": "blue-Whale-77"}}\nexport ADYEN_KEY={HEX}\ndone'
    for _ in range(times):
        text = json.dumps({"content": text})
    assert found(detector, text) == ["blue-Whale-77", HEX]


def test_entities_are_read_and_spans_keep_them(detector: Detector) -> None:
    text = "<pre>password = &quot;a&amp;b9xyzq&quot;</pre>"
    assert found(detector, text) == ["a&amp;b9xyzq"]
