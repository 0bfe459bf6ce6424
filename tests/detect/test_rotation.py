"""The table of how to revoke secrets: complete for the types, and without unused rows."""

from __future__ import annotations

import re

import pytest

from dlpctl.detect.patterns.catalogue import detection_types
from dlpctl.detect.patterns.rotation import rotation_of, rotation_tables
from dlpctl.types import Category
from tests.detect.builtin_patterns import PATTERNS

SECRETS = [one for one in PATTERNS if one.category is Category.SECRETS]


@pytest.mark.parametrize("pattern", SECRETS, ids=[one.id for one in SECRETS])
def test_every_secret_has_advice(pattern: object) -> None:
    found = rotation_of(pattern.id, pattern.type)  # type: ignore[attr-defined]
    assert found is not None
    assert found.advice.endswith(".")
    assert not found.page or re.fullmatch(
        r"https://[a-z0-9.-]+/[^ ]*|https://[a-z0-9.-]+", found.page
    )


def test_every_table_is_of_a_type_or_of_a_pattern() -> None:
    types = {one.name for one in detection_types() if one.category is Category.SECRETS}
    ids = {one.id for one in SECRETS}
    dead = [
        name
        for name in rotation_tables()
        if name not in types and not any(f"{each}-".startswith(f"{name}-") for each in ids)
    ]
    assert dead == []


def test_the_longest_name_wins_and_other_types_have_none() -> None:
    general = rotation_of("azure-signed-key", "CLOUD_KEY")
    storage = rotation_of("azure-storage-key", "CLOUD_KEY")
    assert general
    assert storage
    assert "storage" in storage.page
    assert "storage" not in general.page
    assert rotation_of("email", "EMAIL") is None
