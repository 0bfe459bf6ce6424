"""The cost of hostile texts: processor milliseconds a MB without names, for a text and for twice
of it.

    python tests/bench/hostile.py [KIND...] [--size KB] [--profile] [--json] [--short]

A growth of 2 is linear.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import string
import time
import tomllib
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path

import dlpctl_patterns
from dlpctl.detect.engine import Detector

Pieces = Callable[[random.Random], Iterator[str]]
_SERVICES = tomllib.loads(
    Path(dlpctl_patterns.__path__[0], "secrets", "services.toml").read_text(encoding="utf-8")
)["fragments"]["services"]
_WORDS = ("value", "index", "buffer", "parser", "result", "config", "handler", "stream", "target")
_LABELS = (
    *("SSN", "card", "IBAN", "passport", "phone", "DOB", "password", "api_key", "secret", "token"),
    *("account", "routing", "MRN", "NHS", "tax_id", "Steuernummer", "BSN", "CPF", "NIF", "Aadhaar"),
)
_HEX = string.hexdigits[:16]


def _forever(make: Callable[[random.Random], str]) -> Pieces:
    def pieces(source: random.Random) -> Iterator[str]:
        while True:
            yield make(source)

    return pieces


def _repeated(make: Callable[[random.Random], str]) -> Pieces:
    return lambda source: repeat(make(source))


def _run(alphabet: str, length: int) -> Callable[[random.Random], str]:
    return lambda source: "".join(source.choices(alphabet, k=length))


def _lines_of_base64(source: random.Random) -> str:
    return base64.b64encode(source.randbytes(57)).decode() + "\n"


def _minified(source: random.Random) -> str:
    name = _run(string.ascii_letters, source.randint(1, 2))
    number = source.randrange(1000)
    return (
        f"function {name(source)}({name(source)},{name(source)}){{var {name(source)}={number},"
        f'{name(source)}="{source.choice(_WORDS)}";return {name(source)}?{name(source)}'
        f".{source.choice(_WORDS)}({name(source)}||{{{source.choice(_WORDS)}:!0}}):void 0}}"
    )


def _near_label(source: random.Random) -> str:
    digits = "".join(source.choices(string.digits, k=source.randint(3, 20)))
    return f"{source.choice(_LABELS)}{source.choice([': ', '=', ' ', ' is ', '#'])}{digits}x "


def _almost_password(source: random.Random) -> str:
    return f"{source.choice(['password', 'secret', 'pwd'])}={source.choice(_WORDS)}\n"


def _service(source: random.Random) -> str:
    return source.choice(_SERVICES) + " "


def _service_and_token(source: random.Random) -> str:
    return f'{source.choice(_SERVICES)}_key = "{_run(_HEX, 32)(source)}"\n'


KINDS: dict[str, Pieces] = {
    "random letters": _forever(_run(string.ascii_letters, 4096)),
    "random letters in words": _forever(lambda source: _run(string.ascii_letters, 8)(source) + " "),
    "random printable characters": _forever(_run(string.printable, 4096)),
    "digits": _forever(_run(string.digits, 4096)),
    "groups of digits": _forever(
        lambda source: _run(string.digits, source.choice([2, 3, 4, 5, 9, 11, 16]))(source) + " "
    ),
    "hexadecimal": _forever(_run(_HEX, 4096)),
    "one key again and again": _repeated(lambda source: f'api_key = "{_run(_HEX, 32)(source)}"\n'),
    "one key without a label": _repeated(
        lambda source: _run(string.ascii_letters + string.digits, 40)(source) + "\n"
    ),
    "base64 on one line": _forever(
        lambda source: base64.b64encode(source.randbytes(3072)).decode()
    ),
    "base64 in lines": _forever(_lines_of_base64),
    "minified code on one line": _forever(_minified),
    "near-labels": _forever(_near_label),
    "labels alone": _forever(lambda source: source.choice(_LABELS) + ": "),
    "words after passwords' names": _forever(_almost_password),
    "names of services": _forever(_service),
    "names of services with tokens": _forever(_service_and_token),
    "escapes": _forever(lambda source: f"\\u{source.randrange(65536):04x}"),
    "percent-encoded": _forever(lambda source: f"%{source.randrange(256):02X}"),
    "entities": _forever(lambda source: f"&#{source.randrange(32, 127)};"),
    "quotes and braces": _forever(_run("\"'{}[]()<>:=,", 4096)),
}


def text_of(kind: str, size: int) -> bytes:
    source = random.Random(kind)
    parts, length = [], 0
    for part in KINDS[kind](source):
        parts.append(part)
        length += len(part)
        if length >= size:
            break
    return "".join(parts)[:size].encode()


def seconds(detector: Detector, data: bytes, runs: int) -> float:
    """Return the least processor seconds of some scans."""
    least = float("inf")
    for _ in range(runs):
        began = time.process_time()
        detector.scan_bytes(data)
        least = min(least, time.process_time() - began)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="names that contain this")
    parser.add_argument("--size", type=int, default=512, metavar="KB")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--profile", action="store_true", help="show the most expensive functions")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    size = (16 if options.short else options.size) << 10
    kinds = [
        kind for kind in KINDS if not options.kinds or any(each in kind for each in options.kinds)
    ]
    detector = Detector().without_names()
    detector.scan_bytes(b"".join(text_of(kind, 4096) + b"\n" for kind in kinds))
    figures = {}
    for kind in kinds:
        data = text_of(kind, 2 * size)
        once, twice = (seconds(detector, data[: size * n], options.runs) for n in (1, 2))
        figures[kind] = {
            "ms a MB": round(twice / (2 * size) * 2**20 * 1000, 1),
            "growth": round(twice / once, 2),
        }
        if options.profile:
            _profile(detector, data)
        if not options.json:
            print(
                f"{kind:32}{figures[kind]['ms a MB']:>10}{figures[kind]['growth']:>8}", flush=True
            )
    if options.json:
        print(json.dumps(figures, indent=2))


def _profile(detector: Detector, data: bytes) -> None:
    import cProfile
    import pstats

    with cProfile.Profile() as profile:
        detector.scan_bytes(data)
    pstats.Stats(profile).sort_stats("tottime").print_stats(12)


if __name__ == "__main__":
    main()
