"""`dlpctl console`: a link that signs in, printed or opened in the browser."""

from __future__ import annotations

import shlex
import sys

import pytest

from dlpctl.cli.main import run


@pytest.fixture
def console(start, tmp_path, monkeypatch, capfd):
    """Runs the command beside a service of the same user."""
    monkeypatch.setenv("DLPCTL_HOME", str(tmp_path))
    with start() as service:

        def called(*arguments: str) -> tuple[int, str, str]:
            address = f"http://127.0.0.1:{service.port}"
            status = run(("console", "--server", address, *arguments))
            return (status, *capfd.readouterr())

        yield called


def test_it_prints_a_link_or_opens_it(console, tmp_path, monkeypatch):
    status, link, _ = console("--print")
    assert status == 0
    assert "/console/sign-in#" in link
    seen = tmp_path / "seen"
    script = f"import sys; open({str(seen)!r}, 'w').write(sys.argv[1])"
    monkeypatch.setenv("BROWSER", shlex.join([sys.executable, "-c", script, "%s"]))
    status, printed, told = console()
    assert (status, printed) == (0, "")
    assert "opened the console" in told
    assert "/console/sign-in#" in seen.read_text()
    assert seen.read_text() != link.strip()


def test_a_missing_service_is_reported(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("DLPCTL_HOME", str(tmp_path))
    assert run(("console", "--print", "--server", "http://127.0.0.1:9")) != 0
    assert "is 'dlpctl serve' running" in capfd.readouterr().err
