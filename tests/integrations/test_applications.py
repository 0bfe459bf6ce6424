"""Applications with the masking middleware, served by real servers on loopback."""

from __future__ import annotations

import base64
import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote

import flask
import pytest
import werkzeug.serving

from dlpctl.detect.engine import Detector
from dlpctl.system.listening import listen

uvicorn = pytest.importorskip("uvicorn")
starlette = pytest.importorskip("starlette.applications")

from starlette.requests import Request  # noqa: E402
from starlette.responses import Response, StreamingResponse  # noqa: E402
from starlette.routing import Route  # noqa: E402

from dlpctl.integrations import asgi, wsgi  # noqa: E402

MAIL = "maria.lopez@acme-corp.com"
JSON = "application/json"
LIMIT = 1 << 16


def token_in(text: str) -> str:
    start = text.find("<EMAIL_")
    return text[start : text.find(">", start) + 1] if start >= 0 else "nobody"


def written(text: str, how: str) -> tuple[Iterator[bytes], str]:
    """Yield an answer with the token of a request, five characters at a time."""
    said = f"To {token_in(text)}."
    if how == "text":
        return (said[at : at + 5].encode() for at in range(0, len(said), 5)), "text/plain"
    if how == "events":
        deltas = [said[at : at + 5] for at in range(0, len(said), 5)]
        return (b"data: %s\n\n" % json.dumps({"t": each}).encode() for each in deltas), (
            "text/event-stream"
        )
    if how == "html":
        return iter([said.encode()]), "text/html"
    return iter([json.dumps({"said": said}).encode()]), JSON


class Served(NamedTuple):
    """An application that listens."""

    port: int
    seen: list[bytes]

    def ask(
        self,
        body: bytes | list[bytes],
        content_type: str = JSON,
        path: str = "/chat",
        **headers: str,
    ) -> tuple[int, dict[str, str], bytes]:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=300)) as connection:
            given = {"content-type": content_type, **headers}
            connection.request("POST", path, body, given)
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, named, answer.read()


def flask_application(seen: list[bytes]) -> flask.Flask:
    app = flask.Flask("made-up")

    @app.post("/chat")
    @app.post("/open")
    def chat() -> flask.Response:
        body = flask.request.get_data(parse_form_data=False)
        seen.append(body)
        chunks, content_type = written(body.decode(), flask.request.args.get("how", "json"))
        return flask.Response(chunks, content_type=content_type)

    return app


def starlette_application(seen: list[bytes], **options: Any) -> Any:
    async def chat(request: Request) -> Response:
        body = await request.body()
        seen.append(body)
        how = request.query_params.get("how", "json")
        chunks, content_type = written(body.decode(), how)
        return StreamingResponse(chunks, media_type=content_type)

    routes = [Route(path, chat, methods=["POST"]) for path in ("/chat", "/open")]
    app = starlette.Starlette(routes=routes)
    app.add_middleware(asgi.MaskingMiddleware, **options)
    return app


def by_werkzeug(seen: list[bytes], **options: Any) -> tuple[int, Callable[[], None], Any]:
    app = flask_application(seen)
    app.wsgi_app = wsgi.MaskingMiddleware(app.wsgi_app, **options)  # type: ignore[method-assign]
    server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True)
    return server.server_port, server.serve_forever, server.shutdown


def by_uvicorn(seen: list[bytes], **options: Any) -> tuple[int, Callable[[], None], Any]:
    listening = listen("127.0.0.1", 0)
    config = uvicorn.Config(starlette_application(seen, **options), log_config=None)
    server = uvicorn.Server(config)

    def stop() -> None:
        server.should_exit = True

    return listening.getsockname()[1], lambda: server.run([listening]), stop


@pytest.fixture(params=[by_werkzeug, by_uvicorn])
def served(request: pytest.FixtureRequest, library: Detector) -> Iterator[Served]:
    seen: list[bytes] = []
    options = {"detector": library, "body_bytes": LIMIT, "skipped": ("/open",)}
    port, run, stop = request.param(seen, **options)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield Served(port, seen)
    stop()
    thread.join(120)


@pytest.mark.parametrize("how", ["json", "events", "text"])
def test_applications_see_tokens_and_clients_values(served: Served, how: str) -> None:
    body = json.dumps({"prompt": f"I am {MAIL}"}).encode()
    status, _, answer = served.ask(body, path=f"/chat?how={how}")
    assert status == 200
    assert MAIL.encode() not in served.seen[0]
    assert b"<EMAIL_" in served.seen[0]
    if how == "json":
        assert json.loads(answer) == {"said": f"To {MAIL}."}
    elif how == "text":
        assert answer == f"To {MAIL}.".encode()
    else:
        lines = [line[6:] for line in answer.splitlines() if line]
        assert "".join(json.loads(each)["t"] for each in lines) == f"To {MAIL}."


def test_forms_and_texts_are_masked(served: Served) -> None:
    served.ask(f"a=1&b=I+am+{quote(MAIL)}".encode(), "application/x-www-form-urlencoded")
    assert parse_qs(served.seen[0].decode())["a"] == ["1"]
    served.ask(f"I am {MAIL}".encode(), "text/plain")
    part = f'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n{MAIL}\r\n--x--\r\n'
    served.ask(part.encode(), "multipart/form-data; boundary=x")
    assert len(served.seen) == 3
    assert MAIL not in repr([parse_qs(served.seen[0].decode()), served.seen])
    assert all(b"EMAIL_" in each for each in served.seen)


def test_requests_without_values_arrive_unchanged(served: Served) -> None:
    body = b'{"prompt":   "hello"}'
    status, _, answer = served.ask(body)
    assert (status, served.seen) == (200, [body])
    assert json.loads(answer) == {"said": "To nobody."}


def test_values_are_not_restored_in_pages_for_browsers(served: Served) -> None:
    answer = served.ask(json.dumps({"prompt": MAIL}).encode(), path="/chat?how=html")[2]
    assert MAIL.encode() not in answer


@pytest.mark.parametrize(
    ("body", "content_type", "headers", "status"),
    [
        (b"\x00" * 40, "application/octet-stream", {}, 415),
        (b'{"a": 1', JSON, {}, 400),
        (b'{"a": "\xff"}', JSON, {}, 400),
        (b'{"a": 1, "a": 2}', JSON, {}, 400),
        (b'{"a": 1}', JSON, {"content-encoding": "made-up"}, 415),
        (b'{"a": "' + b"x" * LIMIT + b'"}', JSON, {}, 413),
        (b"a" * 40, "text/plain; charset=utf-16", {}, 415),
    ],
)
def test_uninspectable_requests_do_not_reach_the_application(
    served: Served, body: bytes, content_type: str, headers: dict[str, str], status: int
) -> None:
    got, _, answer = served.ask(body, content_type, **headers)
    assert (got, served.seen) == (status, [])
    assert json.loads(answer)["detail"].startswith("dlpctl: ")


def test_bodies_in_chunks_are_masked_up_to_the_limit(served: Served) -> None:
    status, _, answer = served.ask([b'{"prompt": "I am ', MAIL.encode(), b'"}'])
    assert (status, json.loads(answer)) == (200, {"said": f"To {MAIL}."})
    assert MAIL.encode() not in served.seen[0]
    assert served.ask([b"{", b" " * LIMIT, b"}"])[0] == 413
    assert len(served.seen) == 1


def test_values_in_a_query_are_refused(served: Served) -> None:
    status, _, answer = served.ask(b"{}", path=f"/chat?q={quote(MAIL)}")
    assert (status, served.seen) == (400, [])
    assert MAIL.encode() not in answer


def test_skipped_paths_are_passed_on(served: Served) -> None:
    assert served.ask(MAIL.encode(), "text/plain", "/open")[0] == 200
    assert served.seen == [MAIL.encode()]
    assert served.ask(MAIL.encode(), "text/plain", "/openly")[0] == 404


def test_private_keys_are_refused_with_the_reason(served: Served) -> None:
    drawn = base64.b64encode(random.Random(1).randbytes(480)).decode()
    key = f"-----BEGIN PRIVATE KEY-----\n{drawn}\n-----END PRIVATE KEY-----"
    status, _, answer = served.ask(json.dumps({"prompt": key}).encode())
    assert (status, served.seen) == (400, [])
    assert "the policy blocks" in json.loads(answer)["detail"]
