from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from dlpctl.detect.engine import Detector
from tests.gateway.standin import Provider, Reply, Running, make_gateway, running


@pytest.fixture(scope="session")
def shared(library: Detector, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("gateway")
    with closing(Provider()) as provider:
        gateway = make_gateway(library, provider.url, folder)
        with running(gateway, provider, folder) as started:
            yield started


@pytest.fixture
def gateway(shared: Running) -> Running:
    """A gateway that masks with tokens, without any conversations yet."""
    shared.provider.sent.clear()
    shared.provider.ended.clear()
    shared.provider.reply = lambda _: Reply()
    return shared
