"""The console on a real service, where large bodies are admitted by their headers alone."""

from __future__ import annotations

import http.client
import json
import re
from urllib.parse import urlencode

import pytest

FORM = "application/x-www-form-urlencoded"


class Browser:
    def __init__(self, service) -> None:
        self.port = service.port
        self.cookie = self.csrf = ""

    def send(self, method: str, path: str, body: bytes = b"", content_type: str = FORM):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Content-Type": content_type, "Cookie": self.cookie}
        if self.csrf:
            headers["X-CSRF-Token"] = self.csrf
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def enter(self, code: str) -> None:
        answer, _ = self.send("POST", "/console/sign-in", urlencode({"token": code}).encode())
        assert answer.status == 303
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        page = self.send("GET", "/console/")[1]
        found = re.search(r'data-csrf="([^"]+)"', page)
        assert found
        self.csrf = found[1]


@pytest.fixture
def at_service(start):
    with start() as service:
        service.key()
        yield service


def test_large_drafts_and_previews_require_a_session(at_service):
    link = at_service.administer("POST", "/api/console/links")["url"]
    policy = at_service.administer("GET", "/api/orgs/acme/policies")[0]["policy_id"]
    browser, stranger = Browser(at_service), Browser(at_service)
    browser.enter(link.partition("#")[2])
    draft = json.dumps({"draft": "name: a\nrules: []\n" + "# long\n" * 3_000}).encode()
    answer, text = browser.send("POST", "/console/lint", draft, "application/json")
    assert (answer.status, {each["code"] for each in json.loads(text)}) == (200, {"uncovered"})
    words = "x " * 20_000 + "jane.doe@corp.example.net"
    body = {"org": "acme", "policy": policy, "destination": "VENDOR", "text": words}
    large = json.dumps(body).encode()
    answer, text = browser.send("POST", "/console/preview/text", large, "application/json")
    assert json.loads(text)["masked_content"].endswith("x j***@corp.example.net")
    for path in ("/console/preview/text", "/console/preview/file", "/console/sign-in"):
        answer, _ = stranger.send("POST", path, large, "application/json")
        assert answer.status == 303
        assert answer.headers["Location"] == "/console/sign-in"
    lines = at_service.log.read_text("utf-8")
    assert "jane.doe" not in lines
    previews = [line for line in lines.splitlines() if "/console/preview/text" in line]
    assert '"large_texts"' in previews[0]
    assert '"administration"' in next(line for line in lines.splitlines() if '"/console/' in line)
    assert at_service.administer("GET", "/api/audit")["total"] == 0


def test_a_session_ends_with_the_service(start, tmp_path):
    with start() as service:
        browser = Browser(service)
        browser.enter((service.folder / "admin.token").read_text("ascii").strip())
    with start() as service:
        browser.port = service.port
        assert browser.send("GET", "/console/")[0].status == 401
