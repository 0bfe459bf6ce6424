"""The review in the terminal: with Textual's pilot, and in a real terminal with a real editor."""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dlpctl.cli.scans.new_exceptions import ExceptionOptions, baseline_to_add_to
from dlpctl.cli.scans.review import Review
from dlpctl.cli.search import search
from dlpctl.cli.session import Session
from dlpctl.detect.validators.secrets_examples import pem_key

screen = pytest.importorskip("dlpctl.cli.scans.review_screen")
MAILS = ("jane.roe@acme-corp.com", "bob.doe@acme-corp.com")
TEXT = f"write to {MAILS[0]}\n[red] or {MAILS[1]}, {MAILS[0]}\n"
EXCEPTIONS = Path(".dlpctl-allow")


@pytest.fixture(autouse=True)
def _tree(_own_home):
    Path("a.txt").write_text(TEXT)


def reviewed(*paths: str, of_accepted: bool = False) -> Review:
    session = Session.start()
    template = ExceptionOptions(owner="jane").entry_template("")
    wanted = search(session, types=None)
    review = Review(session, wanted, baseline_to_add_to(None), template, of_accepted=of_accepted)
    review.scan(paths or ["."])
    return review


def play(review: Review, *keys: str, check: Callable[[Any], object] = lambda _: None) -> None:
    """Press keys in the interface; a key of several letters is typed as text."""

    async def run() -> None:
        app = screen.ReviewApp(review, "90d")
        async with app.run_test(size=(100, 30)) as pilot:
            for key in keys:
                await pilot.press(
                    *(key.removeprefix("text:") if key.startswith("text:") else [key])
                )
            await pilot.pause()
            assert check(app) is not False, shown(app)

    asyncio.run(run())


def shown(app: Any) -> str:
    """Return the content of the screen as text."""
    return "\n".join(
        "".join(piece.text for piece in line) for line in app.screen._compositor.render_strips()
    )


def found(dlpctl) -> list[tuple[int, int]]:
    findings = json.loads(dlpctl("scan", ".", "-f", "json").out)["findings"]
    return [(one["line"], one["column"]) for one in findings]


def test_findings_are_shown_with_their_line_and_no_value(dlpctl):
    def check(app):
        text = shown(app)
        assert "a.txt:2:10" in text
        assert "[red] or b***@acme-corp.com, j***@acme-corp.com" in text, "no markup"
        assert "^^^" in text
        assert "3 left" in text
        assert not any(mail in text for mail in MAILS)

    play(reviewed(), "j", check=check)


def test_a_finding_is_accepted_with_reason_and_last_day(dlpctl):
    def check(app):
        assert "1 left" in shown(app)
        assert "accepted" in shown(app)

    play(
        reviewed(),
        "a",
        "text:ours",
        "enter",
        "ctrl+u",
        "text:never",
        "enter",
        check=check,
    )
    assert "EMAIL owner=jane expires=never reason=ours" in EXCEPTIONS.read_text()
    assert found(dlpctl) == [(2, 10)], "the value is accepted in both of its places"


def test_without_a_reason_or_with_a_wrong_day_nothing_is_accepted(dlpctl):
    review = reviewed()
    play(review, "a", "enter", "enter", check=lambda app: "say why" in shown(app))
    keys = ("a", "x", "enter", "x", "enter")
    play(review, *keys, check=lambda app: "nor days such as 90d" in shown(app))
    play(review, "a", "x", "escape")
    assert not EXCEPTIONS.exists()
    assert len(found(dlpctl)) == 3


def test_accepted_findings_are_reviewed_and_count_again(dlpctl):
    dlpctl("allow", "a.txt:2:10", "--reason", "ours", "--owner", "jane")
    assert len(found(dlpctl)) == 2
    review = reviewed(of_accepted=True)
    assert len(review.results) == 1
    play(review, "d")
    assert len(found(dlpctl)) == 3
    assert review.left() == 1


def test_a_finding_is_masked_in_its_place_after_a_question(dlpctl):
    Path("a.txt").chmod(0o640)
    play(reviewed(), "m", "n")
    assert Path("a.txt").read_text() == TEXT
    play(reviewed(), "j", "m", "y", check=lambda app: "2 left" in shown(app))
    assert Path("a.txt").read_text() == TEXT.replace(MAILS[1], "b***@acme-corp.com")
    assert Path("a.txt").stat().st_mode & 0o777 == 0o640
    assert found(dlpctl) == [(1, 10), (2, 30)]


def test_a_file_that_has_changed_is_not_masked():
    review = reviewed()
    Path("a.txt").write_text(f"! {TEXT}")
    play(review, "m", "y", check=lambda app: "has changed" in shown(app))
    assert Path("a.txt").read_text() == f"! {TEXT}"


def test_a_document_is_not_masked_in_place_and_the_error_names_the_command():
    Path("a.json").write_text(json.dumps({"mail": MAILS[0]}))
    import zipfile

    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("inner.txt", TEXT)
    play(reviewed("a.zip"), "m", "y", check=lambda app: "'dlpctl mask' writes" in shown(app))


def test_it_explains_findings_and_how_to_replace_a_secret():
    Path("a.txt").write_text(pem_key(Random(3)))

    def check(app):
        assert "PRIVATE_KEY" in shown(app)
        assert re.search(r"score [01]\.\d\d", shown(app))
        assert "Make another key pair" in " ".join(shown(app).split())

    play(reviewed(), "x", check=check)


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+2", "a.txt"]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+2", "a.txt"]),
        ("code --wait", ["code", "--wait", "--goto", "a.txt:2:10"]),
        ("hx", ["hx", "a.txt:2:10"]),
        ("", ["vi", "+2", "a.txt"]),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="the usual editor is another")
def test_editors_open_the_line(editor, command):
    review = reviewed("a.txt")
    assert review.editor(review.results[1], {"EDITOR": editor}) == command


def test_without_a_terminal_there_is_an_error(dlpctl, piped):
    done = piped("review")
    assert done.returncode == 2
    assert b"review needs a terminal" in done.stderr


needs_terminal = pytest.mark.skipif(os.name != "posix", reason="needs a pseudoterminal")


class Terminal:
    """`dlpctl review a.txt` in its own terminal."""

    def __init__(self, **environ: str) -> None:
        self._mine, theirs = os.openpty()
        sizes = {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dlpctl", "review", "a.txt"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, **sizes, **environ},
            start_new_session=True,
        )
        os.close(theirs)

    def press(self, keys: bytes) -> None:
        os.write(self._mine, keys)

    def read(self, until: bytes) -> bytes:
        """Return everything shown up to a text."""
        seen = b""
        while until not in seen:
            assert select.select([self._mine], [], [], 120)[0], seen[-500:]
            seen += os.read(self._mine, 65536)
        return seen

    def end(self) -> int:
        return self.process.wait(120)

    def go(self) -> None:
        """Close the terminal. The process gets no SIGHUP, since the terminal does not control
        it.
        """
        os.close(self._mine)
        self._mine = -1

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self._mine >= 0:
            os.close(self._mine)


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    """Open terminals, and end the processes that a failed test leaves in them."""
    opened: list[Terminal] = []

    def open_one(**environ: str) -> Terminal:
        opened.append(Terminal(**environ))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@needs_terminal
def test_a_finding_fixed_in_the_editor_disappears(tmp_path, terminal):
    """The editor is a script that removes the line."""
    editor = tmp_path / "editor"
    editor.write_text(
        f'#!/bin/sh\necho "$@" > {shlex.quote(str(tmp_path / "called"))}\nsed -i 1d a.txt\n'
    )
    editor.chmod(0o755)
    review = terminal(EDITOR=str(editor))
    review.read(b"3 left")
    review.press(b"e")
    review.read(b"2 left")
    review.press(b"q")
    review.read(b"2 findings left in")
    assert review.end() == 20
    assert (tmp_path / "called").read_text() == "+1 a.txt\n"


@needs_terminal
@pytest.mark.parametrize("how", ["key", "key in a dialog", "signal"])
def test_ctrl_c_ends_the_review_and_leaves_the_files(dlpctl, terminal, how):
    dlpctl("allow", "a.txt:1:10", "--reason", "ours", "--owner", "jane")
    before = EXCEPTIONS.read_text()
    review = terminal()
    review.read(b"1 left")
    if how == "key in a dialog":
        review.press(b"a")
        review.read(b"Why?")
    if how == "signal":
        review.process.send_signal(signal.SIGINT)
    else:
        review.press(b"\x03")
    assert b"Traceback" not in review.read(b"\x1b[?1049l"), "back from the alternate screen"
    assert review.end() == 130
    assert (Path("a.txt").read_text(), EXCEPTIONS.read_text()) == (TEXT, before)


@needs_terminal
def test_the_review_ends_with_its_terminal(terminal):
    review = terminal()
    review.read(b"3 left")
    review.go()
    assert review.end() == 130
