"""The functions of the library for asyncio: each runs in a thread, and the loop goes on.

from dlpctl import aio

masked = await aio.mask(text, vault=vault)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import dlpctl

__all__ = ("check", "check_file", "mask", "mask_file", "unmask")

_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


def _in_thread(
    function: Callable[_Parameters, _Answer],
) -> Callable[_Parameters, Awaitable[_Answer]]:
    @wraps(function)
    async def call(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Answer:
        return await asyncio.to_thread(function, *arguments, **named)

    return call


check = _in_thread(dlpctl.check)
check_file = _in_thread(dlpctl.check_file)
mask = _in_thread(dlpctl.mask)
mask_file = _in_thread(dlpctl.mask_file)
unmask = _in_thread(dlpctl.unmask)
