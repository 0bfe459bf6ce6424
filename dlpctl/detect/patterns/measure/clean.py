"""Precision: clean text, from a Python installation and generated from a seed."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import random
import re
import sysconfig
import uuid
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from dlpctl.detect.engine import THRESHOLD, Detector
from dlpctl.detect.patterns.measure.values import planted_table
from dlpctl.detect.patterns.prose import plain_prose

UNIT = 200_000
"""The number of bytes to which counts of findings refer."""
_SIZE = 110_000


_LANGUAGES = ("German", "French", "Spanish", "Italian", "Portuguese", "English")
_MAIL = re.compile(r"[\w.+-]@\w+\.\w")


class Precision(NamedTuple):
    text_kind: str
    size: int
    findings: tuple[tuple[str, str], ...]
    """The pattern of each finding, and the text around it."""

    @property
    def rate(self) -> float:
        """Return the number of findings per 200 KB."""
        return len(self.findings) * UNIT / self.size


def measure(detector: Detector, seed: int, threshold: float = THRESHOLD) -> list[Precision]:
    """Return the findings of patterns in each kind of clean text, except names and addresses."""
    patterns = detector.for_known(
        {each.type for each in detector.patterns} - {"PERSON_NAME", "ADDRESS"}
    )
    measured = []
    for text_kind, text in texts(seed):
        found = tuple(
            (each.pattern_id, text[max(0, each.start - 40) : each.end + 20].replace("\n", " "))
            for each in patterns.scan(text, threshold)
        )
        measured.append(Precision(text_kind, len(text.encode()), found))
    return measured


def texts(seed: int) -> Iterator[tuple[str, str]]:
    """Yield the kinds of clean text; generated ones depend only on the seed."""
    yield "Python modules", _shipped()
    for text_kind, write in _WRITTEN.items():
        source = random.Random(f"{seed} {text_kind}")
        parts: list[str] = []
        size = 0
        while size < _SIZE:
            parts.append(write(source))
            size += len(parts[-1])
        yield text_kind, "".join(parts)


def _shipped() -> str:
    """Return modules of the standard library, without lines that contain an author's address."""
    root = Path(sysconfig.get_paths()["stdlib"])
    files = [root / f"{name}.py" for name in planted_table("clean.toml")["modules"].split()] + [
        root / name / "__init__.py" for name in planted_table("clean.toml")["modules"].split()
    ]
    lines = (
        line
        for file in files
        if file.exists()
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
    )
    return "\n".join(line for line in lines if not _MAIL.search(line))


def _hex(source: random.Random, count: int) -> str:
    return source.randbytes(count // 2).hex()


def _prose(language: str) -> Callable[[random.Random], str]:
    words = planted_table("clean.toml")["words"][language].split()

    def write(source: random.Random) -> str:
        sentence = " ".join(source.choices(words, k=source.randint(6, 16)))
        number = f" {source.randint(2, 999)}" if source.random() < 0.2 else ""
        return f"{sentence[0].upper()}{sentence[1:]}{number}.{source.choice([' ', ' ', chr(10)])}"

    return write


def _log(source: random.Random) -> str:
    stamp = (
        f"2026-{source.randint(1, 12):02}-{source.randint(1, 28):02}T{source.randint(0, 23):02}"
        f":{source.randint(0, 59):02}:{source.randint(0, 59):02}"
    )
    level = source.choice(["INFO", "WARN", "DEBUG", "ERROR"])
    return (
        f"{stamp}.{source.randint(0, 999):03}Z {level} [worker-{source.randint(1, 64)}] "
        f"request_id={uuid.UUID(int=source.getrandbits(128))} "
        f"trace={_hex(source, 32)} span={_hex(source, 16)} "
        f"ts={source.randint(1_600_000_000_000, 1_800_000_000_000)}"
        f" order={source.randint(10**8, 10**10)} "
        f"took {source.randint(1, 9000)}ms, wrote {source.randint(1, 10**9)} bytes in "
        f"{source.randint(1, 900)} blocks\n"
    )


def _lock_file(source: random.Random) -> str:
    name = (
        source.choice(["left", "fast", "tiny", "deep", "safe"])
        + "-"
        + source.choice(["pad", "glob", "merge", "tokens", "keys"])
    )
    version = f"{source.randint(0, 20)}.{source.randint(0, 99)}.{source.randint(0, 99)}"
    integrity = base64.b64encode(source.randbytes(64)).decode()
    return (
        f'    "node_modules/{name}": {{\n      "version": "{version}",\n      "resolved": '
        f'"https://packages.invalid/{name}/-/{name}-{version}.tgz",\n'
        f'      "integrity": "sha512-{integrity}",\n      "engines": {{ "node": '
        f'">={source.randint(8, 20)}.{source.randint(0, 9)}.0" }}\n    }},\n'
        f'{{ url = "https://files.invalid/{_hex(source, 60)}/{name}-{version}.tar.gz", hash = '
        f'"sha256:{_hex(source, 64)}", size = {source.randint(1000, 10**6)} }},\n'
    )


def _json(source: random.Random) -> str:
    value = {
        "id": str(uuid.UUID(int=source.getrandbits(128))),
        "count": source.randint(0, 10**9),
        "ratio": source.random(),
        "updated_at": source.randint(1_500_000_000, 1_900_000_000),
        "tags": source.choices(["alpha", "beta", "gamma", "delta"], k=3),
        "size": [source.randint(1, 4096), source.randint(1, 4096)],
        "checksum": _hex(source, 40),
        "version": (
            f"{source.randint(1, 9)}.{source.randint(0, 30)}.{source.randint(0, 30)}"
            f".{source.randint(0, 25)}"
        ),
    }
    return json.dumps(value, indent=source.choice([None, 2])) + "\n"


def _git_objects(source: random.Random) -> str:
    names = "".join(f"100644 blob {_hex(source, 40)}\tsrc/part_{at}.c\n" for at in range(4))
    return (
        f"commit {_hex(source, 40)}\ntree {_hex(source, 40)}\nparent {_hex(source, 40)}\n\n    "
        f"Make part {source.randint(1, 99)} smaller\n\n{names}"
        f"index {_hex(source, 7 + source.randint(0, 1))}..{_hex(source, 8)} 100644\n@@ "
        f"-{source.randint(1, 900)},{source.randint(1, 20)} +{source.randint(1, 900)},7 @@\n"
    )


def _image(source: random.Random) -> str:
    data = b"\x89PNG\r\n\x1a\n" + zlib.compress(source.randbytes(1500))
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(data).decode()}">\n'


def _style(source: random.Random) -> str:
    return (
        f".c{source.randint(1, 9999)}{{color:#{_hex(source, 6)};margin:{source.randint(0, 40)}px "
        f"{source.random():.3f}rem;"
        f"transform:translate({source.random() * 100:.4f}%,-{source.randint(1, 50)}px)}}"
        f"@media(min-width:{source.randint(300, 1900)}px){{.d{source.randint(1, 999)}"
        f"{{flex:{source.randint(0, 3)} 0 {source.randint(1, 99)}%}}}}"
    )


def _script(source: random.Random) -> str:
    a, b, c = (
        source.choice("abcdefghijklmnop") + source.choice(["", "e", "t", "n"]) for _ in range(3)
    )
    return (
        f"function {a}({b},{c}){{return {b}[{source.randint(0, 4_294_967_295)}"
        f">>>{source.randint(1, 31)}]^{c}.charCodeAt({source.randint(0, 255)})}}"
        f"var {c}=!0,{a}={source.random():.12f},{b}"
        f"=[{','.join(str(source.randint(-(2**31), 2**31)) for _ in range(8))}];"
    )


def _number_table(source: random.Random) -> str:
    rows = io.StringIO()
    writer = csv.writer(rows, delimiter=source.choice(" \t,;"))
    widths = source.choices([1, 2, 3, 4, 5, 6, 9], k=8)
    writer.writerows([source.randint(0, 10**width) for width in widths] for _ in range(12))
    return rows.getvalue()


def _hex_dump(source: random.Random) -> str:
    data = (
        source.randbytes(16)
        if source.random() < 0.7
        else bytes(source.choices(b"0123456789 :.", k=16))
    )
    shown = "".join(chr(code) if 33 <= code < 127 else "." for code in data)
    pairs = data.hex(" ", 2) if source.random() < 0.5 else data.hex(" ")
    return f"{source.randrange(0, 1 << 24, 16):08x}: {pairs}  {shown}\n"


def _versions(source: random.Random) -> str:
    four = ".".join(str(source.randint(0, 25)) for _ in range(4))
    return (
        f"library-{source.randint(1, 99)} {source.randint(0, 9)}.{source.randint(0, 99)}"
        f".{source.randint(0, 999)} (build {four}, revision r{source.randint(10**4, 10**6)}) "
        f"released {source.randint(2001, 2026)}-{source.randint(1, 12):02}"
        f"-{source.randint(1, 28):02}; section {source.randint(1, 9)}.{source.randint(1, 30)}"
        f".{source.randint(1, 30)}.{source.randint(1, 30)}\n"
    )


def _digests(source: random.Random) -> str:
    data = source.randbytes(20)
    return (
        f"{hashlib.sha256(data).hexdigest()}  dist/part-{source.randint(1, 999)}.whl\n"
        f"{uuid.UUID(bytes=data[:16])}\n"
    )


_WRITTEN: dict[str, Callable[[random.Random], str]] = {
    **{f"{language} prose": _prose(language) for language in _LANGUAGES},
    "English stories": lambda _: plain_prose(),
    "logs": _log,
    "lock files": _lock_file,
    "JSON": _json,
    "git objects": _git_objects,
    "base64 images": _image,
    "style sheets": _style,
    "minified scripts": _script,
    "tables of numbers": _number_table,
    "hex dumps": _hex_dump,
    "version lists": _versions,
    "digests and UUIDs": _digests,
}


def by_pattern(measured: list[Precision]) -> Counter[str]:
    return Counter(pattern for each in measured for pattern, _ in each.findings)
