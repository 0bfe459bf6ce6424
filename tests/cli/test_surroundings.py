"""Unusual homes, disks, locales and terminals, and interruptions."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dlpctl.cli.demonstration import INVOICE, make_pdf
from dlpctl.scan.reports import FORMS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="homes, pipes and signals of POSIX")
PROGRAM = [sys.executable, "-m", "dlpctl"]
MAIL = "jane.doe@example.com"
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("DLPCTL_")}
Done = subprocess.CompletedProcess[str]


@pytest.fixture(autouse=True)
def _files(_own_home):
    Path("a.txt").write_text(f"Mail {MAIL}\n")
    Path("invoice.pdf").write_bytes(make_pdf(INVOICE))


def can_mount() -> bool:
    command = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    return bool(shutil.which("unshare")) and not subprocess.run(command, check=False).returncode


needs_mount = pytest.mark.skipif(not can_mount(), reason="needs mounts of its own")


def run(*arguments: str, mount: str = "", **environ: str) -> Done:
    """Run a command; with `mount`, /mnt is a file system with these options."""
    command = [*PROGRAM, *arguments]
    if mount:
        script = f"mount -t tmpfs -o {mount} none /mnt"
        if "size" in mount:  # full
            script += "; head -c 1000000 /dev/zero > /mnt/fill 2>/dev/null"
        script += f"; exec {shlex.join(command)}"
        command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    return subprocess.run(
        command,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
        timeout=300,
    )


SLOW = pytest.mark.slow
HOMES = {
    "none": {"HOME": "/dev/null/home"},
    "read-only": {"HOME": "/mnt", "mount": "ro"},
    "full": {"HOME": "/mnt", "mount": "size=64k"},
}


@pytest.fixture(
    params=["none", *(pytest.param(name, marks=SLOW) for name in ("read-only", "full"))]
)
def home(request, monkeypatch) -> dict[str, str]:
    if "mount" in HOMES[request.param] and not can_mount():
        pytest.skip("needs mounts of its own")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name)
    return HOMES[request.param]


def test_without_a_home_to_write_to_content_is_decided_and_masked(home):
    done = run("mask", "a.txt", **home)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Mail j***@example.com\n", "")
    done = run("check", "invoice.pdf", "--destination", "VENDOR", **home)
    assert (done.returncode, done.stderr) == (10, "")
    assert Path("invoice.masked.pdf").read_bytes().startswith(b"%PDF")
    done = run("scan", "a.txt", "--report", "json=r.json", "--quiet", **home)
    assert (done.returncode, done.stderr) == (20, "")
    assert json.loads(Path("r.json").read_text())["summary"]["findings"] == 1


def test_a_missing_home_has_no_vaults_and_no_calls(home):
    for arguments in (["vault", "list"], ["gateway", "tail", "--once"]):
        done = run(*arguments, **home)
        assert (done.returncode, done.stderr) == (0, "")


@needs_mount
def test_a_complete_read_only_cache_is_fine(compiled_cache, tmp_path):
    """As in a container image that runs read-only."""
    home = tmp_path / "image"
    shutil.copytree(compiled_cache, home / "cache")
    script = f"mount --bind {home} {home}; mount -o remount,ro,bind {home}"
    script += f"; exec {shlex.join([*PROGRAM, 'doctor', '--format', 'json'])}"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        env={**PLAIN, "DLPCTL_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert re.search(r"read-only, with all patterns", done.stdout), done.stdout


def test_commands_that_need_a_home_report_in_one_line_that_it_is_unwritable(home, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    for arguments in (["mask", "--vault", "v", "a.txt"], ["cache", "build"], ["init"]):
        done = run(*arguments, **home)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert "cannot be written" in done.stderr
    assert not Path("v").exists()


@SLOW
@needs_mount
def test_a_full_disk_leaves_no_part_of_a_copy_and_no_lost_file():
    """The files are in the only folder with space for them."""
    for arguments in (
        ["check", "invoice.pdf", "-d", "VENDOR", "-o", "/mnt/out.pdf"],
        ["mask", "a.txt", "-o", "/mnt/out.txt"],
        ["scan", "a.txt", "--quiet", "--report", "html=/mnt/out.html"],
        ["baseline", "create", "a.txt", "--baseline", "/mnt/.dlpctl-allow"],
    ):
        command = shlex.join([*PROGRAM, *arguments])
        script = (
            "mount -t tmpfs -o size=64k none /mnt; head -c 1000000 /dev/zero > /mnt/fill"
            f" 2>/dev/null; {command}; echo $? >&2; ls -A /mnt"
        )
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.stdout.splitlines()[-1] == "fill", arguments
        message, status = done.stderr.splitlines()[-2:]
        assert "No space left on device" in message
        assert status in {"1", "2"}


@pytest.mark.parametrize("encoding", [pytest.param("C", marks=SLOW), "C with UTF-8 refused"])
def test_a_locale_without_utf_8_masks_the_same_bytes(encoding):
    name = os.fsdecode(b"d\xc3\xa9j\xc3\xa0 vu.txt")
    content = f"Mail {MAIL} caf\u00e9 ".encode() + b"\xff\n"
    Path(name).write_bytes(content)
    environ = {"LC_ALL": "C", "LANG": "C"}
    if "refused" in encoding:
        environ |= {"PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*PROGRAM, "mask", name],
        env={**os.environ, **environ},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == content.replace(MAIL.encode(), b"j***@example.com")
    for arguments in (["scan", name], ["check", name, "-q"], ["explain", name]):
        done = run(*arguments, **environ)
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 10, 20)
        assert MAIL not in done.stdout


def terminal(*arguments: str, columns: int = 80, term: str = "xterm", keys: bytes = b"") -> str:
    """Return the output of a command in a terminal of that width."""
    mine, theirs = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environ = {**os.environ, "TERM": term}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        environ.pop(name, None)
    process = subprocess.Popen(
        [*PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environ
    )
    os.close(theirs)
    shown = b""
    while select.select([mine], [], [], 300)[0]:
        try:
            part = os.read(mine, 65536)
        except OSError:  # the terminal is closed
            break
        if not part:
            break
        shown += part
    os.close(mine)
    process.wait(300)
    return shown.decode().replace("\r\n", "\n")


def test_a_dumb_terminal_gets_no_codes():
    for arguments in (["scan", "a.txt"], ["help", "ci"]):
        assert "\x1b" not in terminal(*arguments, term="dumb")
    assert "\x1b[" in terminal("scan", "a.txt")


@pytest.mark.parametrize("columns", [20, pytest.param(400, marks=SLOW)])
def test_in_any_width_lines_fit_and_carets_are_below_the_value(columns):
    Path("long.txt").write_text(f"{'word ' * 40}{MAIL} {'word ' * 40}\n")
    shown = re.sub("\x1b\\[[0-9;]*m", "", terminal("scan", "long.txt", columns=columns))
    line = next(line for line in shown.splitlines() if " | " in line and "^" not in line)
    carets = next(line for line in shown.splitlines() if "^" in line)
    assert max(len(line), len(carets)) <= columns
    first, last = carets.index("^"), carets.rindex("^") + 1
    assert line[first:last] == "j***@example.com"[: last - first]
    for arguments in (["check", "long.txt"], ["help"]):
        assert "Traceback" not in terminal(*arguments, columns=columns)


QUIET = (b"", b"dlpctl: interrupted\n")
WAITING = [["mask"], ["check"], ["scan", "-"]]
WAITING += [pytest.param(each, marks=SLOW) for each in (["explain"], ["unmask", "--vault", "v"])]


@pytest.mark.parametrize("arguments", WAITING)
def test_ctrl_c_ends_reading_of_stdin_with_one_line(dlpctl, arguments):
    """The command has started to read once it has taken more than a pipe holds."""
    dlpctl("mask", "--vault", "v", "a.txt")
    before = sorted(Path().iterdir())
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"plain words\n" * 20_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        assert process.stderr.read() in QUIET
    assert sorted(Path().iterdir()) == before


BUSY = {
    "cache build": ["cache", "build"],
    "doctor": ["doctor"],
    "demo": ["demo"],
}


@pytest.mark.parametrize(
    "name", ["cache build", *(pytest.param(n, marks=SLOW) for n in ("doctor", "demo"))]
)
def test_ctrl_c_ends_compiling_and_the_cache_stays_valid(name, tmp_path, wait_for):
    """Patterns are being compiled once the first of them are in the cache."""
    home = tmp_path / "fresh"
    with subprocess.Popen(
        [*PROGRAM, *BUSY[name]],
        env={**PLAIN, "DLPCTL_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        wait_for(lambda: process.poll() is not None or list(home.glob("cache/patterns-*")))
        assert process.poll() is None, "it was over before it could be interrupted"
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert err.removeprefix(b"dlpctl: compiling patterns, once\n") in QUIET
    assert not list(home.glob("cache/*.partial"))


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
@pytest.mark.parametrize("command", ["create", pytest.param("update", marks=SLOW)])
def test_ctrl_c_leaves_the_exceptions_unchanged(dlpctl, wait_for, command):
    """The scan of the tree takes seconds once the engine is loaded."""
    if command == "update":
        assert dlpctl("baseline", "create", "a.txt", "--owner", "jane").status == 0
    Path("tree").mkdir()
    for number in range(8):
        lines = (f"mail user{line}@acme-corp{number}.com please\n" for line in range(8000))
        Path(f"tree/{number}.txt").write_text("".join(lines))
    before = {file: file.read_bytes() for file in Path().iterdir() if file.is_file()}
    with subprocess.Popen(
        [*PROGRAM, "baseline", command, "tree", "--owner", "jane"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        maps = Path(f"/proc/{process.pid}/maps")
        wait_for(lambda: process.poll() is not None or "hyperscan" in maps.read_text())
        assert process.poll() is None, "it was over before it could be interrupted"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, b"")
    assert err in QUIET
    assert {file: file.read_bytes() for file in Path().iterdir() if file.is_file()} == before


def test_ctrl_c_shuts_the_server_down_gracefully():
    """At SIGINT, requests in progress are answered and the server exits with status 0."""
    with subprocess.Popen(
        [*PROGRAM, "serve", "--unix-socket", "socket"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert " listening " in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert re.fullmatch(r"\S+ ended\n", process.stderr.read())
        assert process.wait(300) == 0
    assert not Path("socket").exists()


def test_ctrl_c_shuts_the_gateway_down_gracefully():
    """After the gateway reports that it listens, SIGINT lets calls end without further output."""
    with subprocess.Popen(
        [*PROGRAM, "gateway", "--port", "0"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        while "/ollama " not in (line := process.stderr.readline()):
            assert line
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == ""
        assert process.wait(300) == 130


def test_ctrl_c_ends_gateway_tail():
    log = Path("home/data/gateway/calls.jsonl")
    call = {"time": "2026-03-10T10:00:00", "status": 200, "decision": "ALLOWED", "route": "r"}
    call |= {"model": "m", "bytes": 1, "added_ms": 1.0, "counts": {}}
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps(call) + "\n")
    with subprocess.Popen(
        [*PROGRAM, "gateway", "tail"],
        env={**PLAIN, "DLPCTL_HOME": "home"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"2026-03-10" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        assert process.stderr.read() in QUIET


@pytest.mark.parametrize(
    "arguments", [["patterns", "list"], ["help", "types"], ["patterns", "types"]]
)
def test_a_reader_that_leaves_is_no_error(arguments):
    with subprocess.Popen(
        [*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(300) in (0, 1)


def test_an_unknown_type_is_named_with_the_nearest(dlpctl):
    result = dlpctl("patterns", "list", "--types", "EMAIL,EMIAL")
    assert (result.status, result.out) == (2, "")
    assert result.err == "dlpctl: 'EMIAL' is not a type; did you mean 'EMAIL'?\n"
    assert "'PIII' is not a category" in dlpctl("patterns", "list", "--category", "PIII").err


def test_all_mistakes_of_a_pattern_file_are_listed_with_their_lines(dlpctl):
    Path("mine.toml").write_text(
        '[[pattern]]\nid = "one"\ntype = "badge"\ncategory = "NOPE"\nlabel = "One"\nregex = "abc"\n'
        'score = 2\n\n[[pattern]]\nid = "two"\ntype = "TWO"\ncategory = "PII"\nregexp = "abc"\n'
        'score = 0.5\n[pattern.context]\nwords = ["a"]\n'
    )
    for command in (
        ["mask", "a.txt", "--patterns", "mine.toml"],
        ["patterns", "test", "mine.toml"],
    ):
        result = dlpctl(*command)
        assert result.status in (1, 2)
        found = [
            re.sub(r"dlpctl: (?:.*/)?mine.toml:(\d+): pattern '(\w+)': (\S+) .*", r"\1 \2 \3", line)
            for line in result.err.splitlines()
        ]
        assert sorted(found) == sorted(
            ["3 one type", "4 one category", "7 one score", "9 two label", "9 two regex",
             "13 two regexp", "15 two context.score"]
        )  # fmt: skip


def test_ids_that_the_library_has_are_all_named(dlpctl):
    table = '[[pattern]]\nid = "{}"\ntype = "A"\ncategory = "PII"\nlabel = "a"\nregex = "abc"\nscore = 1\n'
    Path("mine.toml").write_text(table.format("email") + table.format("iban") + table.format("x"))
    lines = dlpctl("mask", "a.txt", "--patterns", "mine.toml").err.splitlines()
    assert [re.findall(r"pattern '(\w+)'", line) for line in lines] == [["email"], ["iban"]]
    assert all("is already used in " in line for line in lines)


def test_scripts_in_names_and_values_are_text_in_every_report(dlpctl):
    hostile = "<img src=x onerror=alert(1)>'\"``&[x](javascript:1)`"
    Path(f"{hostile}.txt".replace("/", "_")).write_text(
        f"<script>alert(1)</script> mail <b>{MAIL}</b> </script><script>alert(2)</script>\n"
    )
    reports = [part for form in FORMS for part in ("--report", f"{form}=out.{form}")]
    assert dlpctl("scan", ".", "--all", "--quiet", *reports).status == 20
    page = Path("out.html").read_text()
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)" in page
    import xml.etree.ElementTree as ET

    assert {one.tag for one in ET.parse("out.junit").iter()} <= {
        "testsuites", "testsuite", "testcase", "failure", "error", "properties", "property", "system-out",
    }  # fmt: skip
    for form in ("json", "gitlab"):
        assert hostile in json.dumps(json.loads(Path(f"out.{form}").read_text())).replace(
            '\\"', '"'
        )
    markdown = Path("out.markdown").read_text()
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown)
    assert "<img" not in outside
    assert "javascript:" not in outside
    assert (
        "::"
        not in Path("out.github")
        .read_text()
        .partition("\n")[0]
        .partition("::")[2]
        .partition("::")[0]
    )
