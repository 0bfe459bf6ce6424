"""Transports for the clients of httpx and httpx2, and thus for those of OpenAI and Anthropic.

client = openai.OpenAI(http_client=httpx2.Client(transport=MaskingTransport("openai")))
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from dlpctl.gateway.bodies import RefusedError
from dlpctl.integrations.models import MaskedModels

if TYPE_CHECKING:
    from types import ModuleType

    from dlpctl.integrations.answers import Masked, RestoredAnswer

_DROPPED = ("content-length", "transfer-encoding", "content-encoding")


class _Transport:
    """The part that both transports share."""

    def __init__(self, protocol: str, inner: Any = None, **options: Any) -> None:
        """`inner` is the transport that sends; see `MaskedModels` for the `options`."""
        self._inner = inner
        self._models = MaskedModels(protocol, **options)

    def _masked(self, request: Any, body: bytes) -> tuple[Any, Masked]:
        """Return the masked request to send instead."""
        url = request.url
        masked = self._models.mask(request.method, url.path, url.query, request.headers, body)
        headers = [
            (name, value)
            for name, value in request.headers.multi_items()
            if name.lower() not in (*_DROPPED, "accept-encoding")
        ]
        headers.append(("accept-encoding", "identity"))
        changed = type(request)(
            request.method, url, headers=headers, content=masked.body, extensions=request.extensions
        )
        return changed, masked

    def _restored(self, masked: Masked, response: Any) -> RestoredAnswer:
        return self._models.answer(masked, response.status_code, response.headers.multi_items())

    def _refused(self, request: Any, refusal: RefusedError) -> Any:
        headers = {"content-type": "application/json", "x-should-retry": "false"}
        content = self._models.refusal(refusal)
        return _module(request).Response(
            refusal.status, headers=headers, content=content, request=request
        )

    def _answer(self, request: Any, response: Any, answer: RestoredAnswer, stream: Any) -> Any:
        return _module(request).Response(
            response.status_code,
            headers=answer.headers,
            stream=stream,
            extensions=response.extensions,
            request=request,
        )


class MaskingTransport(_Transport):
    """Masks requests, and restores answers and streams."""

    def handle_request(self, request: Any) -> Any:
        inner = self._inner = self._inner or _module(request).HTTPTransport()
        try:
            changed, masked = self._masked(request, request.read())
        except RefusedError as refusal:
            return self._refused(request, refusal)
        response = inner.handle_request(changed)
        answer = self._restored(masked, response)
        if not answer.is_restored:
            return response

        class Restored(_module(request).SyncByteStream):  # type: ignore[misc]
            def __iter__(self) -> Iterator[bytes]:
                for chunk in response.stream:
                    yield answer.feed(chunk)
                yield answer.finish()

            def close(self) -> None:
                response.close()

        return self._answer(request, response, answer, Restored())

    def close(self) -> None:
        if self._inner is not None:
            self._inner.close()

    def __enter__(self) -> MaskingTransport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncMaskingTransport(_Transport):
    """Masks requests of asynchronous clients in other threads, and restores answers."""

    async def handle_async_request(self, request: Any) -> Any:
        import asyncio

        inner = self._inner = self._inner or _module(request).AsyncHTTPTransport()
        body = await request.aread()
        try:
            changed, masked = await asyncio.to_thread(self._masked, request, body)
        except RefusedError as refusal:
            return self._refused(request, refusal)
        response = await inner.handle_async_request(changed)
        answer = self._restored(masked, response)
        if not answer.is_restored:
            return response

        class Restored(_module(request).AsyncByteStream):  # type: ignore[misc]
            async def __aiter__(self) -> AsyncIterator[bytes]:
                async for chunk in response.stream:
                    yield answer.feed(chunk)
                yield await asyncio.to_thread(answer.finish)

            async def aclose(self) -> None:
                await response.aclose()

        return self._answer(request, response, answer, Restored())

    async def aclose(self) -> None:
        if self._inner is not None:
            await self._inner.aclose()

    async def __aenter__(self) -> AsyncMaskingTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _module(request: Any) -> ModuleType:
    """Return the package of a request: httpx, or httpx2, which has the same interface."""
    return sys.modules[type(request).__module__.partition(".")[0]]
