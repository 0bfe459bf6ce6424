"""The page that shows the description: it loads only its own files, and works in a browser."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def test_it_needs_nothing_from_elsewhere(caller):
    page = caller.client.get("/docs")
    assert page.content_type == "text/html; charset=utf-8"
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    linked = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert set(linked) == {"docs/docs.css", "docs/docs.js", "openapi.json"}
    for address in linked:
        assert caller.client.get(f"/{address}").status_code == 200
    everything = page.text + "".join(caller.client.get(f"/{address}").text for address in linked)
    assert "innerHTML" not in everything
    assert re.findall(r"https?://", everything) == []
    assert " style=" not in page.text
    assert caller.client.get("/docs/docs.js").content_type == "text/javascript; charset=utf-8"


@pytest.mark.skipif(_CHROMIUM is None, reason="needs chromium")
def test_a_browser_shows_it(start, tmp_path):
    with start() as service:
        command = [
            str(_CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=5000",
            "--enable-logging=stderr",
            "--dump-dom",
            f"http://127.0.0.1:{service.port}/docs#check_text",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    shown = done.stdout
    assert "Check a text" in shown, done.stderr[-2000:]
    assert "/api/orgs/{org_id}/policies/{policy_id}/regenerate-key" in shown
    assert "Needs the key of a policy (dlp_pk_...), in the header X-Service-API-Key." in shown
    assert "Refused to" not in done.stderr  # by the content security policy
    assert "Uncaught" not in done.stderr
