"""A real Chromium, driven through two pipes by its DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
AXE = Path(os.environ.get("AXE_CORE", "node_modules/axe-core")) / "axe.min.js"
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--no-first-run",
    "--remote-debugging-pipe",
)
_PATIENCE = 20_000
"""Milliseconds in which what a test waits for must happen."""
_VIOLATIONS = """
    axe.run(document, {resultTypes: ["violations"]}).then(result => result.violations.map(
        each => [each.id, ...each.nodes.map(node => node.html)]))"""


class Page:
    """A tab."""

    def __init__(self, send: int, received: IO[bytes]) -> None:
        self._send = send
        self._received = received
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._session = ""
        self.problems: list[str] = []
        """Errors of scripts, and what the content security policy has refused."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = self._received.read(1 << 16)
            assert piece, "the browser has ended"
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(message["params"]["exceptionDetails"]))
        elif message.get("method") == "Log.entryAdded":
            entry = message["params"]["entry"]
            if entry["level"] == "error":
                self.problems.append(f"{entry['text']} {entry.get('url', '')}")
        return message

    def go(self, address: str) -> None:
        """Open an address, and wait until it is loaded."""
        answer = self.ask("Page.navigate", url=address)
        assert "errorText" not in answer, answer
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """Return the value of an expression, or of its promise."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until a condition holds in the page, whatever page is loaded meanwhile."""
        wait = f"""new Promise((done, fail) => {{
            setTimeout(() => fail(new Error("waited in vain")), {_PATIENCE});
            const look = () => ({condition}) ? done(true) : setTimeout(look, 20); look(); }})"""
        for _ in range(5):
            try:
                self.run(wait)
            except AssertionError as error:
                if "waited in vain" in str(error):
                    raise AssertionError(condition) from None
                continue  # another page took the place of this one
            return
        raise AssertionError(condition)

    def press(self, key: str, text: str = "", modifiers: int = 0) -> None:
        """Press a key as a keyboard does."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}
        known = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0), "modifiers": modifiers}
        if key == "Enter":
            text = "\r"
        down = {"text": text} if text else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **known, **down)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **known)

    def type(self, text: str) -> None:
        self.ask("Input.insertText", text=text)

    def look(self, *, dark: bool = False, width: int = 1280, height: int = 900) -> None:
        """Show the page in a colour scheme and size."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def violations(self) -> list[Any]:
        """Return what axe-core finds in the page."""
        self.run(AXE.read_text("utf-8") + "; true")
        found: list[Any] = self.run(_VIOLATIONS)
        return found

    def picture(self, file: Path) -> None:
        """Write a screenshot of the page."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(answer["data"]))


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """Start a browser, and end it."""
    to_browser, send = os.pipe()
    receive, from_browser = os.pipe()
    script = f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"'
    command = ["bash", "-c", script, "bash", CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"]
    with subprocess.Popen(
        command, pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL
    ) as process:
        os.close(to_browser)
        os.close(from_browser)
        with os.fdopen(receive, "rb", buffering=0) as answers:
            try:
                yield Page(send, answers)
            finally:
                os.close(send)
                process.terminate()
