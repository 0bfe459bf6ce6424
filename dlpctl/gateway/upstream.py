"""The client of providers; the only module that knows aiohttp."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import aiohttp
from yarl import URL

from dlpctl.errors import DlpctlError

_CONNECT_SECONDS = 10.0
_STALL_SECONDS = 600.0
_CHUNK = 1 << 16

Headers = Sequence[tuple[str, str]]


class UpstreamError(DlpctlError):
    """A provider cannot be reached, or its answer breaks off."""

    code = "upstream"

    def __init__(self, message: str, status: int = 502) -> None:
        super().__init__(message)
        self.status = status


class Answer(NamedTuple):
    """The answer of a provider, whose body has yet to be read."""

    status: int
    headers: Headers
    chunks: AsyncIterator[bytes]


class Upstream:
    """Sends requests, and closes those whose answers nobody reads any more."""

    def __init__(self, *, stall_seconds: float = _STALL_SECONDS) -> None:
        """`stall_seconds` is the longest time without a byte of an answer."""
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=_CONNECT_SECONDS, sock_read=stall_seconds
        )
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            timeout=timeout,
            trust_env=True,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Content-Type", "Accept", "Accept-Encoding"),
            read_bufsize=_CHUNK,
        )

    async def close(self) -> None:
        await self._session.close()

    @asynccontextmanager
    async def send(
        self, method: str, url: str, headers: Headers, body: bytes
    ) -> AsyncIterator[Answer]:
        """Send a request and yield the answer; raise `UpstreamError` if there is none."""
        try:
            response = await self._session.request(
                method,
                URL(url, encoded=True),
                headers=_multi(headers),
                data=body or None,
                allow_redirects=False,
            )
        except TimeoutError:
            raise UpstreamError("the provider did not answer in time", 504) from None
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            raise UpstreamError(
                f"the provider cannot be reached: {type(problem).__name__}"
            ) from None
        try:
            given = [(name, value) for name, value in response.headers.items()]
            yield Answer(response.status, given, _chunks(response))
        finally:
            response.close()


def _multi(headers: Headers) -> Mapping[str, str]:
    from multidict import CIMultiDict

    return CIMultiDict(headers)


async def _chunks(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.content.iter_any():
            yield chunk
    except TimeoutError:
        raise UpstreamError("the provider's answer stalled", 504) from None
    except (aiohttp.ClientError, OSError) as problem:
        raise UpstreamError(f"the provider's answer broke off: {type(problem).__name__}") from None
