"""Complete sessions of all agents: no value reaches a model, and no token stays in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlpctl.agents.adapters import adapters
from tests.agents.played import AGENTS, Ask, Planted, play


@pytest.fixture(scope="module")
def planted() -> Planted:
    return Planted.drawn()


def test_every_agent_is_played() -> None:
    assert set(AGENTS) == set(adapters())


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_no_value_reaches_the_model(agent: str, planted: Planted, ask: Ask, tmp_path: Path) -> None:
    assert len({value for value, _ in planted}) == 200
    played = play(agent, ask, tmp_path / "played", planted)
    assert len(played.leaked) == 0, f"{len(played.leaked)} values reach the model"
    assert played.tokens == []
    if agent != "windsurf":  # which cannot restore values
        assert len(set(played.restored)) == 200


def test_the_players_detect_a_leak(planted: Planted, tmp_path: Path) -> None:
    assert len(set(play("claude-code", lambda _: None, tmp_path, planted).leaked)) == 200


@pytest.mark.slow
def test_answers_are_identical_a_thousand_times(ask: Ask, tmp_path: Path) -> None:
    def session() -> list[str]:
        played = AGENTS["claude-code"](ask, tmp_path, "s")
        for channel in ("mcp", "prompt", "shell"):
            played.play(channel, "".join(f"{line}\n" for _, line in Planted.drawn()[::20]))
        return played.received

    first = session()
    assert all(session() == first for _ in range(1_000))
