"""Verdicts are remembered without the values that they are on."""

from __future__ import annotations

import gc

from dlpctl.detect.validators.remembered import remembered


def test_equal_values_are_judged_once_and_none_is_kept() -> None:
    judged: list[int] = []

    @remembered
    def is_long(value: str) -> bool:
        judged.append(len(value))
        return len(value) > 20

    values = [f"value-{number}-{'x' * number}" for number in range(30)]
    verdicts = [is_long(value) for value in values]
    assert [is_long("".join(list(value))) for value in values] == verdicts
    assert len(judged) == len(values)
    closure = is_long.__closure__ or ()
    held = [cell.cell_contents for cell in closure if isinstance(cell.cell_contents, dict)]
    assert held
    assert not any(isinstance(each, str) for each in gc.get_referents(*held))
