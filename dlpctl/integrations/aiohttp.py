"""A middleware for the client of aiohttp 3.12 and later.

session = aiohttp.ClientSession(middlewares=(MaskingMiddleware("openai"),))
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from aiohttp import (
    ClientHandlerType,
    ClientRequest,
    ClientResponse,
    ClientResponseError,
    StreamReader,
    hdrs,
)
from aiohttp.base_protocol import BaseProtocol
from multidict import CIMultiDictProxy

from dlpctl.gateway.bodies import RefusedError
from dlpctl.integrations.models import MaskedModels

if TYPE_CHECKING:
    from dlpctl.integrations.answers import Masked, RestoredAnswer

_UNLIMITED = 1 << 60


class RefusedRequestError(ClientResponseError):
    """A request that may not be sent; `message` is the reason."""


class MaskingMiddleware:
    """Masks requests, and restores answers and streams."""

    def __init__(self, protocol: str, **options: Any) -> None:
        """See `MaskedModels` for the `options`."""
        self._models = MaskedModels(protocol, **options)

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        try:
            masked = await self._masked(request)
        except RefusedError as refusal:
            raise RefusedRequestError(
                request.request_info, (), status=refusal.status, message=refusal.message
            ) from None
        response = await handler(request)
        plain = [each for each in response.headers.items() if each[0] != hdrs.CONTENT_ENCODING]
        answer = self._models.answer(masked, response.status, plain)
        if answer.is_restored:
            response.content = _RestoredReader(response.content, answer)
            headers = response.headers.copy()
            headers.popall(hdrs.CONTENT_LENGTH, None)
            response._headers = CIMultiDictProxy(headers)  # there is no other way to replace them
            response._cache.pop("headers", None)
        return response

    async def _masked(self, request: ClientRequest) -> Masked:
        """Mask a request in place."""
        body = await request.body.as_bytes() if request.body else b""
        given = dict(request.headers)
        if request.compress:  # aiohttp compresses the body when it sends it
            given.pop(hdrs.CONTENT_ENCODING, None)
        query = request.url.raw_query_string.encode()
        masked = await asyncio.to_thread(
            self._models.mask, request.method, request.url.path, query, given, body
        )
        if masked.body != body:
            await request.update_body(masked.body)
            if not request.compress:
                request.headers.popall(hdrs.CONTENT_ENCODING, None)
        request.headers[hdrs.ACCEPT_ENCODING] = "identity"
        return masked


class _RestoredReader(StreamReader):
    """Reads an answer with its values restored, only as far as requested."""

    def __init__(self, inner: StreamReader, answer: RestoredAnswer) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(BaseProtocol(loop), _UNLIMITED, loop=loop)
        self._inner = inner
        self._answer = answer

    async def _wait(self, func_name: str) -> None:
        """Restore the next piece; every method that reads waits here when its buffer is empty."""
        del func_name
        chunk = await self._inner.readany()
        if chunk:
            self.feed_data(self._answer.feed(chunk))
            return
        self.feed_data(await asyncio.to_thread(self._answer.finish))
        self.feed_eof()
