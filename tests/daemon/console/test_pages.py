"""Pages of the console: what they show, to whom, and what they let people change."""

from __future__ import annotations

import pytest
from .conftest import PAGES


@pytest.mark.parametrize("path", PAGES)
def test_each_page_is_shown(person, caller, path):
    caller.check()
    answer = person.see(path)
    assert answer.status_code == 200
    assert answer.content_type == "text/html; charset=utf-8"
