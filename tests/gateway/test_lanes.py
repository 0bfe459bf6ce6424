"""Turns at inspecting: in order, rotating among callers, and none lost."""

from __future__ import annotations

import asyncio
import base64
import random
from contextlib import suppress

import pytest

from dlpctl.gateway.lanes import Lane, Lanes


class Taking:
    """Callers that take turns, and end them on request."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.taken: list[str] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def ask(self, *names: str) -> None:
        """Let requests ask for turns; the first letter of a name is the caller."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(self._take(name))
        await asyncio.sleep(0)

    async def _take(self, name: str) -> None:
        async with self._lane.turn(name[0]):
            self.taken.append(name)
            await self._ends[name].wait()

    async def end(self, name: str) -> None:
        assert name in self.taken
        self._ends[name].set()
        await self._tasks[name]
        await asyncio.sleep(0)

    async def give_up(self, name: str) -> None:
        self._tasks[name].cancel()
        with suppress(asyncio.CancelledError):
            await self._tasks[name]
        await asyncio.sleep(0)


def test_turns_rotate_among_callers() -> None:
    async def play() -> list[str]:
        taking = Taking(Lane(1, 1))
        await taking.ask("a1", "a2", "a3", "b1", "b2", "c1")
        for name in ("a1", "a2", "b1", "c1", "a3"):
            await taking.end(name)
        return taking.taken

    assert asyncio.run(play()) == ["a1", "a2", "b1", "c1", "a3", "b2"]


def test_a_caller_with_waiting_requests_leaves_turns_to_others() -> None:
    async def play() -> list[str]:
        taking = Taking(Lane(3, 2))
        await taking.ask("a1", "a2", "a3", "a4")
        assert taking.taken == ["a1", "a2"]
        await taking.ask("b1", "b2")
        assert taking.taken == ["a1", "a2", "b1"]
        await taking.end("a1")
        return taking.taken

    assert asyncio.run(play()) == ["a1", "a2", "b1", "a3"]


def test_cancelled_requests_lose_no_turn() -> None:
    async def play() -> list[str]:
        taking = Taking(Lane(1, 1))
        await taking.ask("a1", "b1", "c1")
        await taking.give_up("b1")
        assert taking.taken == ["a1"]
        await taking.give_up("a1")
        assert taking.taken == ["a1", "c1"]
        await taking.end("c1")
        await taking.ask("b2")
        return taking.taken

    assert asyncio.run(play()) == ["a1", "c1", "b2"]


@pytest.mark.parametrize(
    ("body", "is_short"),
    [
        (b'{"messages": "a few words"}', True),
        (b"words, many of them " * 2_000, True),
        (b"words, too many of them " * 4_000, False),
        (b'{"data": "' + base64.b64encode(random.Random(1).randbytes(4_000)) + b'"}', False),
    ],
)
def test_files_and_long_texts_have_their_own_lane(body: bytes, is_short: bool) -> None:
    lanes = Lanes()
    assert (lanes.of(body) is lanes.of(b"")) == is_short
