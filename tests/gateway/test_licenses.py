"""The gateway with the licenses of a server."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from werkzeug.serving import make_server

from dlpctl.config import FileLimits
from dlpctl.control.access import LOCAL
from dlpctl.control.keys import KeyKind, mint
from dlpctl.control.prepared import PreparedDetectors
from dlpctl.control.rates import Rate, RateLimiter
from dlpctl.control.service import ControlPlane
from dlpctl.detect.engine import Detector
from dlpctl.gateway.admission import Terms
from dlpctl.gateway.calls import CallLog
from dlpctl.gateway.conversations import Conversations
from dlpctl.gateway.licensed import LicenseAdmission, ServerLicenses
from dlpctl.gateway.protocols import PROTOCOLS
from dlpctl.gateway.relaying import Target
from dlpctl.gateway.server import Gateway, Settings
from dlpctl.gateway.upstream import Upstream
from dlpctl.types import Destination
from dlpctl_daemon.app import create_app
from dlpctl_daemon.logs import Log
from dlpctl_daemon.options import Options
from tests.gateway.standin import KEY, Running, running

if TYPE_CHECKING:
    from limits import Limiter

MAIL = "maria.lopez@acme-corp.com"
MESSAGES = "/anthropic/v1/messages"
BODY = {"messages": [{"role": "user", "content": f"I am {MAIL}"}]}


class Served(NamedTuple):
    """A gateway whose control plane is a server."""

    gateway: Running
    control: ControlPlane
    asked: list[str]
    """The paths and bodies of requests to the server."""
    stop_server: Callable[[], None]
    close: Callable[[], None]

    @property
    def license_key(self) -> str:
        return self.control.licenses.list(LOCAL, "acme")[0].license_key

    def ask(self, key: str | None) -> tuple[int, dict[str, str], bytes]:
        return self.gateway.ask(MESSAGES, BODY, {} if key is None else {"x-dlpctl-key": key})


@pytest.fixture
def start(
    gateway: Running, library: Detector, tmp_path: Path, limit: Limiter
) -> Iterator[Callable[..., Served]]:
    limit("dlpctl.control.signing._KEY_BITS", 2048)  # three times as fast to make
    with ExitStack() as stack:
        control = stack.enter_context(ControlPlane.open(tmp_path / "server", lambda: library))
        control.organizations.create(LOCAL, {"name": "Acme", "slug": "acme"})

        def begin(own: bool = False) -> Served:
            url, asked, stop_server = serve(control, stack)
            licenses = stack.enter_context(closing(ServerLicenses(url, tmp_path / "data")))
            rates = RateLimiter(Rate(60, 100))
            terms = Terms(Destination.AI_TOOL, "token", FileLimits(), rates, refuses_unread=True)
            own_key = control.licenses.list(LOCAL, "acme")[0].license_key if own else None
            detectors = PreparedDetectors(lambda: library)
            made = Gateway(
                {name: Target(each, gateway.provider.url) for name, each in PROTOCOLS.items()},
                LicenseAdmission(licenses, terms, detectors, KEY, own_key=own_key),
                Conversations(60),
                Upstream,
                CallLog(tmp_path / "calls.jsonl"),
                ThreadPoolExecutor(2),
                Settings(frozenset()),
            )
            run = stack.enter_context(running(made, gateway.provider, tmp_path))
            return Served(run, control, asked, stop_server, licenses.close)

        yield begin


def serve(control: ControlPlane, stack: ExitStack) -> tuple[str, list[str], Callable[[], None]]:
    app = create_app(control, Options(), Log(io.StringIO()))
    asked: list[str] = []

    def recorded(environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        asked.append(f"{environ['PATH_INFO']} {body.decode()}")
        return app(environ, start_response)

    server = make_server("127.0.0.1", 0, recorded, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    ended = threading.Event()

    def stop() -> None:
        if not ended.is_set():
            ended.set()
            server.shutdown()
            thread.join()
            server.server_close()

    stack.callback(stop)
    return f"http://127.0.0.1:{server.server_port}", asked, stop


def test_a_call_is_decided_here_and_reported_to_the_server(start: Callable[..., Served]) -> None:
    acme = start()
    for _ in range(2):
        status, headers, _ = acme.ask(acme.license_key)
        assert (status, headers["x-dlpctl-decision"]) == (200, "ALLOWED_WITH_MASKING")
    assert MAIL.encode() not in acme.gateway.provider.sent[0].body
    assert acme.license_key not in str(acme.gateway.provider.sent)
    assert [each.split()[0] for each in acme.asked].count("/v1/license/validate") == 1
    acme.close()
    assert MAIL not in str(acme.asked)
    (first, second) = acme.control.audit.export(LOCAL, org_id="acme")
    assert first.decision == second.decision == "ALLOWED_WITH_MASKING"
    assert "found 1 email" in first.summary


def test_without_a_valid_license_nothing_is_sent(start: Callable[..., Served]) -> None:
    acme = start()
    unknown = mint(KeyKind.LICENSE)
    policy_key = acme.control.policies.list(LOCAL, "acme")[0].api_key
    assert [acme.ask(key)[0] for key in (None, "junk", policy_key)] == [401, 401, 401]
    assert acme.asked == [], "keys that cannot be licenses are not asked for"
    assert [acme.ask(unknown)[0] for _ in range(3)] == [401, 401, 401]
    assert len(acme.asked) == 1
    assert not acme.gateway.provider.sent


def test_a_license_of_the_gateway_applies_to_all_requests(start: Callable[..., Served]) -> None:
    acme = start(own=True)
    assert acme.ask(None)[0] == 200
    acme.close()
    assert len(list(acme.control.audit.export(LOCAL, org_id="acme"))) == 1


def test_without_its_server_only_known_licenses_are_accepted(
    start: Callable[..., Served],
) -> None:
    acme = start()
    assert acme.ask(acme.license_key)[0] == 200
    other = acme.control.licenses.create(LOCAL, "acme", {"license_type": "trial"}).license_key
    acme.stop_server()
    assert acme.ask(acme.license_key)[0] == 200
    status, _, answer = acme.ask(other)
    assert status == 503
    assert json.loads(answer)["type"] == "error"
    assert len(acme.gateway.provider.sent) == 2


def test_calls_end_when_the_server_reports_the_quota_as_used_up(
    start: Callable[..., Served],
) -> None:
    acme = start()
    made = acme.control.licenses.create(LOCAL, "acme", {"license_type": "trial"})
    acme.control.licenses.extend(LOCAL, "acme", made.license_id, {"max_checks_per_month": 1})
    key = made.license_key
    assert acme.ask(key)[0] == 200
    acme.close()
    status, _, answer = acme.ask(key)
    assert (status, json.loads(answer)["error"]["type"]) == (429, "rate_limit_error")
    assert len(acme.gateway.provider.sent) == 1
