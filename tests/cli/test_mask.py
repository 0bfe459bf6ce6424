from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from dlpctl.detect.validators.secrets_examples import pem_key

TEXT = "Mail john.doe@example.com, card 4111 1111 1111 1111"
MASKED = "Mail j***@example.com, card **** **** **** 1111"


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_stdout_is_the_masked_text_and_nothing_else(piped, end):
    result = piped("mask", stdin=f"{TEXT}{end}".encode())
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{MASKED}{end}".encode(), b"")


def test_bytes_that_are_not_utf8_stay_as_they_are(piped):
    result = piped("mask", stdin=b"\xff\xfea \xe9 john.doe@example.com \xc3")
    assert result.stdout == b"\xff\xfea \xe9 j***@example.com \xc3"


def test_empty_input_gives_empty_output(piped):
    assert piped("mask", stdin=b"").stdout == b""


def test_an_unknown_binary_passes_only_if_accepted(piped):
    program = b"\x7fELF\0\0\0 john.doe@example.com \0\0"
    result = piped("mask", stdin=program)
    assert (result.returncode, result.stdout) == (20, b"")
    assert (
        b"not inspected: program or library (ELF): only its strings were searched" in result.stderr
    )
    assert b"john" not in result.stderr
    result = piped("mask", "--on-uninspected", "warn", stdin=program)
    assert (result.returncode, result.stdout, result.stderr) == (0, program, b"")


def test_a_secret_in_a_binary_is_never_let_through(piped):
    program = b"\x7fELF\0\0\0 postgres://admin:Xk29vQpLw81z@db.acme.io/prod \0\0"
    result = piped("mask", "--on-uninspected", "warn", stdin=program)
    assert (result.returncode, result.stdout) == (20, b"")
    assert b"cannot be masked" in result.stderr
    assert b"Xk29" not in result.stderr


def test_a_paused_source_gets_its_lines_at_once():
    """Each line is written after the previous one has come back."""
    command = [sys.executable, "-m", "dlpctl", "mask"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"first a@example.com\n")
        assert process.stdout.readline() == b"first ***@example.com\n"  # startup is over now
        for number in range(10):
            process.stdin.write(f"line {number} john.doe@example.com\n".encode())
            assert process.stdout.readline() == f"line {number} j***@example.com\n".encode()
        process.stdin.write(b"no line end john.doe@example.com")
        process.stdin.close()
        assert process.stdout.read() == b"no line end j***@example.com"


def test_a_key_that_arrives_line_by_line_is_held_back_until_complete():
    key = [*pem_key(Random(7)).splitlines(), ""]
    command = [sys.executable, "-m", "dlpctl", "mask", "--operator", "redact"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin
        assert process.stdout
        for line in key:
            process.stdin.write(f"{line}\n".encode())
            time.sleep(0.03)
        process.stdin.close()
        assert process.stdout.read() == b"[PRIVATE_KEY]\n\n"


def test_a_reader_that_stops_early_causes_no_error():
    command = [sys.executable, "-m", "dlpctl", "mask"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stdin
        try:
            process.stdin.write(b"line\n" * 100_000)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.stderr
        assert process.stderr.read() == b""
        assert process.wait(300) == 1


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("redact", "Mail [EMAIL], card [CREDIT_CARD]"),
        ("remove", "Mail , card "),
        ("replace:---", "Mail ---, card ---"),
        ("token", "Mail <EMAIL_1>, card <CREDIT_CARD_1>"),
    ],
)
def test_operators(dlpctl, operator, expected):
    Path("in.txt").write_text(TEXT)
    assert dlpctl("mask", "in.txt", "--operator", operator).out == expected


def test_the_same_key_gives_the_same_hash(dlpctl):
    Path("in.txt").write_text(TEXT)
    first, second = (dlpctl("mask", "in.txt", "--operator", "hash").out for _ in range(2))
    assert first == second
    assert "john" not in first


def test_a_vault_restores_tokens(dlpctl, monkeypatch):
    assert "leave out --operator" in dlpctl("mask", "--vault", "x", "--operator", "hash").err
    assert "the folder gone does not exist" in dlpctl("mask", "--vault", "gone/v.vault").err
    Path("in.txt").write_text(TEXT)
    masked = dlpctl("mask", "in.txt", "--vault", "v.vault").out
    assert masked == "Mail <EMAIL_1>, card <CREDIT_CARD_1>"
    Path("answer.txt").write_text(
        "I wrote to \\<email\\_1\\> about `<CREDIT_CARD_1>` and <EMAIL_9>."
    )
    restored = dlpctl("unmask", "answer.txt", "--vault", "v.vault")
    assert "john.doe@example.com" in restored.out
    assert "4111 1111 1111 1111" in restored.out
    assert "<EMAIL_9>" in restored.out
    assert restored.err == "dlpctl: note: not in v.vault, left as is: <EMAIL_9>\n"
    if os.name == "posix":
        assert Path("v.vault").stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("DLPCTL_LICENSE_KEY", "dlp_lk_x")
    assert "but no server is; the organization's policies" in dlpctl("mask", "in.txt").err


def test_tokens_are_restored_only_in_text(dlpctl):
    Path("in.txt").write_text(TEXT)
    dlpctl("mask", "in.txt", "--vault", "v.vault")
    Path("answer.docx").write_bytes(b"PK\x03\x04\0\0<EMAIL_1>")
    result = dlpctl("unmask", "answer.docx", "--vault", "v.vault")
    assert (result.status, result.out) == (1, "")
    assert "answer.docx: is not text" in result.err


def test_a_vault_with_another_key_is_refused(dlpctl, monkeypatch):
    Path("in.txt").write_text(TEXT)
    dlpctl("mask", "in.txt", "--vault", "v.vault")
    monkeypatch.setenv("DLPCTL_VAULT_KEY", "ab" * 32)
    result = dlpctl("unmask", "in.txt", "--vault", "v.vault")
    assert (result.status, result.out) == (1, "")
    assert "another key" in result.err
    assert result.err.count("\n") == 1


def test_output_files_are_complete_or_not_written(dlpctl):
    Path("in.txt").write_text(TEXT)
    assert dlpctl("mask", "in.txt", "-o", "out.txt").out == ""
    assert Path("out.txt").read_text() == MASKED
    assert dlpctl("mask", "missing.txt", "-o", "out.txt").status == 1
    assert Path("out.txt").read_text() == MASKED
    assert sorted(path.name for path in Path().iterdir()) == ["in.txt", "out.txt"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
@pytest.mark.parametrize("name", ["in.txt", "in.csv"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_pipe_or_device_is_written_to_and_stays(dlpctl, name, force):
    Path(name).write_text(f"{TEXT}\n")
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        assert dlpctl("mask", name, "-o", "pipe", *force).status == 0
        assert reader.communicate(timeout=300)[0].decode() == f"{MASKED}\n"
    assert Path("pipe").is_fifo()
    assert dlpctl("mask", name, "-o", "-").out == f"{MASKED}\n"


@pytest.mark.parametrize("name", ["in.txt", "in.csv"])
@pytest.mark.parametrize("command", [("mask",), ("check", "-d", "VENDOR"), ("scan",)])
def test_an_unwritable_target_is_reported_before_any_work(dlpctl, monkeypatch, name, command):
    Path(name).write_text(f"{TEXT}\n")
    Path("folder").mkdir()
    for place, why in {
        "no/such/out": f"the folder {Path('no/such')} does not exist; create it or name another file",
        f"{name}/out": f"cannot be written, since {name} is not a folder; name another file",
        "folder": "is a folder; name a file in it",
    }.items():
        output = ["--report", f"json={place}"] if command == ("scan",) else ["-o", place]
        result = dlpctl(*command, name, *output)
        assert (result.status, result.out, result.err) == (1, "", f"dlpctl: {Path(place)}: {why}\n")


def test_stats_go_to_stderr(dlpctl):
    Path("in.txt").write_text(f"{TEXT} x@example.org")
    result = dlpctl("mask", "in.txt", "--stats")
    assert "@" in result.out
    assert result.err == "dlpctl: masked 3 values: 2 EMAIL, 1 CREDIT_CARD\n"


def test_a_value_that_repeats_without_its_label_is_masked_too(dlpctl):
    Path("in.txt").write_text("SSN 219-09-9999, once more 219 09 9999")
    assert "9 09 9" not in dlpctl("mask", "in.txt").out


def test_a_value_that_cannot_be_removed_stops_the_output(dlpctl):
    Path("in.txt").write_text(
        "jd@acme.io is amRAYWNtZS5pbw in base64, too short to be looked through"
    )
    result = dlpctl("mask", "in.txt")
    assert (result.status, result.out) == (20, "")
    assert "still holds a value of EMAIL" in result.err
    assert "acme" not in result.err
