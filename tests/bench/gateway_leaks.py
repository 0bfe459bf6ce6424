"""Send requests of all protocols through the gateway, with values planted wherever a client puts
text, and counts the values that reach a fake provider.

    python tests/bench/gateway_leaks.py [--requests N] [--seed N] [--short] [--json] [--details]

Judged are the bodies as the provider gets them: as they are, without JSON escapes at any depth,
without base64, and by tesseract in pictures. --details names each leak by its seed, never its value.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import io
import json
import re
import string
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, NamedTuple

from gateway import gateway
from leak_pictures import Plan

_LETTERS = string.ascii_letters + string.digits
_SENTENCE = "please look at the order of last week and tell the customer when it will be paid"
_WORDS = _SENTENCE.split()
_PLAIN = re.compile(r"[^0-9A-Za-z]")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")


Write = Callable[[str, str, str, str], str]
"""Writes a label and its value between two other texts."""
_TOLD: dict[str, Write] = {
    "sentence": lambda label, value, before, after: f"{before}, {label} {value}, {after}",
    "after an escape": lambda label, value, before, after: (
        rf'{before} "{label}:\n{value}\n{after}"'
    ),
    "after a tab": lambda label, value, before, after: rf"{before} {label}\t{value}\t{after}",
    "mark": lambda label, value, before, after: f"<query>\n{label} {value}\n</query> {after}",
}
_ASSIGNED: dict[str, Write] = {
    "line": lambda label, value, before, after: f"{before}\n{label}: {value}\n{after}",
    "table": lambda label, value, before, after: (
        f"| name | {label} |\n| --- | --- |\n| {before} | {value} |\n{after}"
    ),
    "assignment": lambda label, value, before, after: (
        f"{before}\n```sh\nexport {label}={value}\n```\n{after}"
    ),
    "JSON": lambda label, value, before, after: json.dumps(
        {"note": before, label: value, "n": [1, {"b": after}]}
    ),
    "JSON in a fence": lambda label, value, before, after: (
        f"{before}\n```json\n{json.dumps({label: value, 'n': after}, indent=2)}\n```"
    ),
    "escaped JSON": lambda label, value, before, after: json.dumps(
        {"result": json.dumps({label: value, "t": before}), "n": after}
    ),
    "escaped JSON in a fence": lambda label, value, before, after: (
        "```json\n"
        + json.dumps({"log": f"{before}\n{value}\n{after}", "raw": json.dumps({label: value})})
        + "\n```"
    ),
    "YAML": lambda label, value, before, after: (
        f"config:\n  {label}: {value}\n  note: {before} {after}"
    ),
    "XML": lambda label, value, before, after: (
        f"<row><{label}>{value}</{label}><n>{before} {after}</n></row>"
    ),
}


class Values(Plan):
    """Random values, each with the text that tells it, in the forms in which clients send it."""

    def drawn(self, length: int, alphabet: str = _LETTERS) -> str:
        return "".join(self.chance.choice(alphabet) for _ in range(length))

    def token(self) -> str:
        body = self.drawn(30)
        number, check = zlib.crc32(body.encode()), ""
        for _ in range(6):
            number, digit = divmod(number, 62)
            check = (string.digits + string.ascii_uppercase + string.ascii_lowercase)[digit] + check
        return f"ghp_{body}{self.chance.choice([check, self.drawn(6)])}"

    def key(self) -> str:
        # All letters are 4 % of the keys, and read as words at times, which the detector rejects.
        return f"AKIA{self.drawn(15, string.ascii_uppercase + '234567')}{self.drawn(1, '234567')}"

    def live_key(self) -> str:
        return f"sk_live_{self.drawn(24)}"

    def named(self, *, told: bool = False) -> tuple[str, str]:
        """Return a label and a value; a password only where it is assigned, not told in a text."""
        kinds: dict[str, Callable[[], str]] = {
            "card": self.card,
            "IBAN": self.iban,
            "SSN": self.ssn,
            "phone": self.phone,
            "email": self.mail,
            "GITHUB_TOKEN": self.token,
            "AWS_ACCESS_KEY_ID": self.key,
            "STRIPE_SECRET_KEY": self.live_key,
        }
        if not told:
            kinds["DB_PASSWORD"] = lambda: self.drawn(14) + "7x"
        label = self.chance.choice(list(kinds))
        return label, self.planted(kinds[label]())

    def text(self) -> str:
        """Return a text with one value."""
        before, after = (" ".join(self.chance.choices(_WORDS, k=6)) for _ in range(2))
        name = self.chance.choice([*_TOLD, *_ASSIGNED])
        label, value = self.named(told=name in _TOLD)
        write = _TOLD.get(name) or _ASSIGNED[name]
        return write(label, value, before, after)

    def picture(self) -> str:
        """Return a picture of two values in base64."""
        from PIL import Image, ImageDraw, ImageFont

        image = Image.new("RGB", (900, 160), "white")
        lines = "\n".join(f"{label}: {value}" for label, value in (self.pair(), self.pair()))
        font = ImageFont.load_default(size=34)
        ImageDraw.Draw(image).text((20, 20), lines, "black", font)
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        return base64.b64encode(buffer.getvalue()).decode()

    def arguments(self) -> dict[str, Any]:
        """Return arguments of a tool, with two values."""
        (first, value), (second, other) = self.named(), self.named()
        return {first: value, "options": {"rows": [{second: other, "n": 3}], "dry": False}}


def anthropic(values: Values, *, picture: bool) -> tuple[str, Any]:
    text = values.text
    call = {"type": "tool_use", "id": "toolu_01", "name": "run", "input": values.arguments()}
    result = values.chance.choice(
        [text(), [{"type": "text", "text": text(), "cache_control": {"type": "ephemeral"}}]]
    )
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln" * 40}
    user: list[Any] = [{"type": "text", "text": text()}]
    if picture:
        source = {"type": "base64", "media_type": "image/png", "data": values.picture()}
        user.append({"type": "image", "source": source})
    schema = {"type": "object", "properties": {"to": {"type": "string", "default": text()}}}
    body = {
        "model": "claude-x",
        "max_tokens": 100,
        "system": [{"type": "text", "text": text(), "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "run", "description": text(), "input_schema": schema}],
        "messages": [
            {"role": "user", "content": user},
            {"role": "assistant", "content": [thinking, call]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": result}],
            },
        ],
    }
    path = values.chance.choice(["", "", "/count_tokens", "/batches"])
    if path == "/batches":
        body = {"requests": [{"custom_id": "a", "params": body}]}
    return f"/anthropic/v1/messages{path}", body


def chat(values: Values, *, picture: bool) -> tuple[str, Any]:
    text = values.text
    arguments = json.dumps(values.arguments())
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "run", "arguments": arguments},
    }
    content: Any = text()
    if picture:
        url = f"data:image/png;base64,{values.picture()}"
        content = [
            {"type": "text", "text": text()},
            {"type": "image_url", "image_url": {"url": url}},
        ]
    tool = {"name": "run", "description": text(), "parameters": {"type": "object"}}
    return values.chance.choice(["/openai/v1/chat/completions", "/ollama/v1/chat/completions"]), {
        "model": "gpt-x",
        "messages": [
            {"role": values.chance.choice(["system", "developer"]), "content": text()},
            {"role": "user", "content": content, "name": "u"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": text()},
        ],
        "tools": [{"type": "function", "function": tool}],
        "metadata": {"note": text()},
    }


def responses(values: Values, *, picture: bool) -> tuple[str, Any]:
    text = values.text
    parts: list[Any] = [{"type": "input_text", "text": text()}]
    if picture:
        url = f"data:image/png;base64,{values.picture()}"
        parts.append({"type": "input_image", "image_url": url})
    return "/openai/v1/responses", {
        "model": "gpt-x",
        "instructions": text(),
        "input": [
            {"role": "user", "content": parts},
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "run",
                "arguments": json.dumps(values.arguments()),
            },
            {"type": "function_call_output", "call_id": "call_1", "output": text()},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z0FB" * 30},
        ],
        "tools": [{"type": "function", "name": "run", "description": text(), "parameters": {}}],
        "store": False,
    }


def gemini(values: Values, *, picture: bool) -> tuple[str, Any]:
    text = values.text
    parts: list[Any] = [{"text": text()}]
    if picture:
        parts.append({"inlineData": {"mimeType": "image/png", "data": values.picture()}})
    declared = {"name": "run", "description": text(), "parameters": {"type": "OBJECT"}}
    path = values.chance.choice(["generateContent", "countTokens", "streamGenerateContent?alt=sse"])
    return f"/gemini/v1beta/models/gemini-x:{path}", {
        "systemInstruction": {"parts": [{"text": text()}]},
        "contents": [
            {"role": "user", "parts": parts},
            {
                "role": "model",
                "parts": [{"functionCall": {"name": "run", "args": values.arguments()}}],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "run", "response": {"output": text()}}}],
            },
        ],
        "tools": [{"functionDeclarations": [declared]}],
    }


def ollama(values: Values, *, picture: bool) -> tuple[str, Any]:
    text = values.text
    user: dict[str, Any] = {"role": "user", "content": text()}
    if picture:
        user["images"] = [values.picture()]
    call = {"function": {"name": "run", "arguments": values.arguments()}}
    return "/ollama/api/chat", {
        "model": "llama",
        "messages": [
            {"role": "system", "content": text()},
            user,
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_name": "run", "content": text()},
        ],
    }


def plain(values: Values, *, picture: bool) -> tuple[str, Any]:
    """Return a request of a route that takes texts alone."""
    del picture
    texts = [values.text() for _ in range(4)]
    return values.chance.choice(
        [
            ("/openai/v1/embeddings", {"model": "e", "input": texts}),
            ("/openai/v1/moderations", {"model": "m", "input": texts}),
            ("/openai/v1/completions", {"model": "m", "prompt": texts}),
            ("/ollama/api/embed", {"model": "m", "input": texts}),
            ("/ollama/api/generate", {"model": "m", "prompt": texts[0], "system": texts[1:]}),
            (
                "/gemini/v1beta/models/e:batchEmbedContents",
                {"requests": [{"content": {"parts": [{"text": each}]}} for each in texts]},
            ),
        ]
    )


MAKERS = (anthropic, anthropic, chat, responses, gemini, ollama, plain)


class Case(NamedTuple):
    """A request with the values in it."""

    number: int
    maker: str
    path: str
    body: bytes
    values: list[str]


def cases(requests: int, seed: int, pictures: int) -> Iterator[Case]:
    """Yield requests, of which each so manieth has a picture."""
    for number in range(requests):
        values = Values(f"{seed} {number}")
        maker = MAKERS[number % len(MAKERS)]
        path, made = maker(values, picture=number % pictures == 0)
        body = json.dumps(made, ensure_ascii=values.chance.random() < 0.5).encode()
        yield Case(number, maker.__name__, path, body, values.values)


# ---- what the provider gets


def readings(body: bytes) -> Iterator[str]:
    """Yield a body as a provider may read it."""
    text = body.decode()
    yield text
    waiting = [text]
    while waiting:
        each = waiting.pop()
        try:
            waiting += strings(json.loads(each))
        except ValueError:
            yield each
            if "\\" in each:
                yield re.sub(r"\\+[nrt\"]", " ", each)
        for encoded in _BASE64.findall(each):
            yield from decoded(encoded)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)
        if isinstance(value, dict):
            yield from value


def decoded(encoded: str) -> Iterator[str]:
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        return
    if data.startswith(b"\x89PNG"):
        import subprocess

        command = ["tesseract", "-", "-", "--psm", "6"]
        yield subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()
    else:
        yield data.decode("utf-8", "replace")


def remaining(case: Case, got: bytes) -> list[str]:
    """Return the values that a provider can read."""
    texts = list(readings(got))
    squeezed = "\n".join(_PLAIN.sub("", each) for each in texts)
    return [each for each in case.values if _PLAIN.sub("", each) in squeezed]


class Provider:
    """Keeps the bodies that it gets, by the number of the case in a header."""

    def __init__(self) -> None:
        self.bodies: dict[int, bytes] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                provider.bodies[int(self.headers["x-case"])] = body
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def asked(url: str, case: Case) -> int:
    """Send a request, and return the status of its answer."""
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=120)) as client:
        headers = {"content-type": "application/json", "x-case": str(case.number)}
        client.request("POST", case.path, case.body, headers)
        answer = client.getresponse()
        answer.read()
        return answer.status


def measured(requests: int, seed: int, pictures: int, details: bool) -> dict[str, Any]:
    names = ("anthropic", "openai", "gemini", "ollama")
    counted: Counter[str] = Counter()
    leaks: Counter[str] = Counter()
    numbers = count(1)
    with closing(Provider()) as provider:
        upstreams = [f"--upstream={name}={provider.url}" for name in names]
        with gateway(*upstreams) as through, ThreadPoolExecutor(2) as clients:

            def judge(case: Case) -> None:
                status = asked(through.url, case)
                got = provider.bodies.pop(case.number, None)
                counted["requests"] += 1
                counted["values"] += len(case.values)
                counted["refused" if got is None else "sent"] += 1
                counted["failed"] += status not in (200, 400)
                for value in remaining(case, got) if got else ():
                    leaks[case.maker] += 1
                    if details:
                        before = readings_around(case, value)
                        print(f"case {case.number} {case.path}: {before}", file=sys.stderr)
                if next(numbers) % 500 == 0:
                    print(f"{sum(leaks.values())} leaks in {counted}", file=sys.stderr)

            for _ in clients.map(judge, cases(requests, seed, pictures)):
                pass
    return {**counted, "leaks": sum(leaks.values()), "by maker": dict(leaks)}


def readings_around(case: Case, value: str) -> str:
    """Return the text around a value, without it."""
    position = case.body.decode().find(json.dumps(value)[1:-1])
    start = max(position - 60, 0)
    return case.body.decode()[start : position + len(value) + 30].replace(value, "<value>")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pictures", type=int, default=100, help="a picture in each Nth request")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--details", action="store_true")
    given = parser.parse_args()
    requests, pictures = (70, 35) if given.short else (given.requests, given.pictures)
    figures = measured(requests, given.seed, pictures, given.details)
    print(json.dumps(figures) if given.json else figures)


if __name__ == "__main__":
    main()
