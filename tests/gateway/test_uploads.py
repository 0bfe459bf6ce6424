"""Files and batches: uploads are inspected, and values are restored in the results."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.standin import Reply, Running, Sent

MAIL = "maria.lopez@acme-corp.com"
UPLOAD = "/gemini/upload/v1beta/files"


def token_in(sent: Sent) -> str:
    text = sent.body.decode()
    assert MAIL not in text
    return text[text.index("<EMAIL_") : text.index(">", text.index("<EMAIL_")) + 1]


def lines(*documents: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in documents)


def test_results_of_a_batch_of_openai_are_restored(gateway: Running) -> None:
    openai = pytest.importorskip("openai")
    file = {"object": "file", "bytes": 1, "created_at": 1, "filename": "b.jsonl", "status": "ok"}
    batch = {
        "id": "batch_1",
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": "file-in",
        "completion_window": "24h",
        "created_at": 1,
        "status": "completed",
    }

    def reply(sent: Sent) -> Reply:
        if sent.path.endswith("/content"):
            token = token_in(gateway.provider.sent[0])
            call = {"function": {"name": "f", "arguments": json.dumps({"to": token})}}
            message = {"content": f"To {token}", "tool_calls": [call]}
            body = {"choices": [{"message": message}]}
            results = [{"custom_id": n, "response": {"body": body}} for n in "ab"]
            return Reply(lines(*results), content_type="application/octet-stream")
        made = file | {"id": "file-in", "purpose": "batch"}
        if "batches" in sent.path:
            made = batch | ({"output_file_id": "file-out"} if sent.method == "GET" else {})
        return Reply(json.dumps(made).encode())

    gateway.provider.reply = reply
    with openai.OpenAI(base_url=f"{gateway.url}/openai/v1", api_key="made-up") as client:
        asked = {"messages": [{"role": "user", "content": f"Write to {MAIL}"}], "model": "m"}
        requests = lines(
            *(
                {"custom_id": n, "method": "POST", "url": "/v1/chat/completions", "body": asked}
                for n in "ab"
            )
        )
        given = client.files.create(file=("b.jsonl", io.BytesIO(requests)), purpose="batch")
        made = client.batches.create(
            input_file_id=given.id, endpoint="/v1/chat/completions", completion_window="24h"
        )
        done = client.batches.retrieve(made.id)
        results = client.files.content(done.output_file_id).text
    answers = results.splitlines()
    assert len(answers) == 2
    for line in answers:
        message = json.loads(line)["response"]["body"]["choices"][0]["message"]
        assert message["content"] == f"To {MAIL}"
        assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"to": MAIL}
    # Another key gets tokens.
    headers = {"authorization": "Bearer another"}
    other = gateway.ask("/openai/v1/files/file-out/content", headers=headers, method="GET")[2]
    assert MAIL.encode() not in other


def test_results_of_a_batch_of_anthropic_are_restored(gateway: Running) -> None:
    def reply(sent: Sent) -> Reply:
        if sent.method == "POST":
            return Reply(b'{"id": "msgbatch_1"}')
        content = [{"type": "text", "text": f"To {token_in(gateway.provider.sent[0])}"}]
        result = {"type": "succeeded", "message": {"content": content}}
        made = lines({"custom_id": "a", "result": result})
        return Reply(made, content_type="application/x-jsonl")

    gateway.provider.reply = reply
    params = {"messages": [{"role": "user", "content": f"Write to {MAIL}"}]}
    asked = {"requests": [{"custom_id": "a", "params": params}]}
    gateway.ask("/anthropic/v1/messages/batches", asked)
    path = "/anthropic/v1/messages/batches/msgbatch_1/results"
    answer = json.loads(gateway.ask(path, method="GET")[2])
    assert answer["result"]["message"]["content"][0]["text"] == f"To {MAIL}"


def test_results_of_a_batch_of_gemini_are_restored(gateway: Running) -> None:
    def reply(sent: Sent) -> Reply:
        made: Any = {"name": "batches/b-1"}
        if sent.method == "GET":
            part = {"text": f"To {token_in(gateway.provider.sent[0])}"}
            answer = {"response": {"candidates": [{"content": {"parts": [part]}}]}}
            made["response"] = {"inlinedResponses": {"inlinedResponses": [answer]}}
        return Reply(json.dumps(made).encode())

    gateway.provider.reply = reply
    asked = {"request": {"contents": [{"parts": [{"text": f"Write to {MAIL}"}]}]}}
    batch = {"batch": {"inputConfig": {"requests": {"requests": [asked]}}}}
    gateway.ask("/gemini/v1beta/models/g-1:batchGenerateContent", batch)
    answer = gateway.ask("/gemini/v1beta/batches/b-1", method="GET")[2]
    assert f"To {MAIL}".encode() in answer


def uploading(gateway: Running) -> None:
    def reply(sent: Sent) -> Reply:
        headers = {name.lower(): value for name, value in sent.headers}
        if headers.get("x-goog-upload-command") == "start":
            address = f"{gateway.provider.url}/upload/v1beta/files?upload_id=u1"
            return Reply(b"{}", headers={"x-goog-upload-url": address})
        uri = "https://generativelanguage.googleapis.com/v1beta/files/abc-1"
        file = {"file": {"name": "files/abc-1", "uri": uri, "mimeType": "text/csv"}}
        return Reply(json.dumps(file).encode(), headers={"x-goog-upload-status": "final"})

    gateway.provider.reply = reply


def test_googles_client_uploads_a_masked_file(gateway: Running, tmp_path: Path) -> None:
    genai = pytest.importorskip("google.genai")
    uploading(gateway)
    table = tmp_path / "people.csv"
    table.write_text(f"name,mail\nM,{MAIL}\n")
    options = genai.types.HttpOptions(base_url=f"{gateway.url}/gemini")
    client = genai.Client(api_key="made-up", http_options=options)
    try:
        file = client.files.upload(file=table)
    finally:
        client.close()
    start, sent = gateway.provider.sent
    assert file.name == "files/abc-1"
    assert b"people.csv" not in sent.body
    assert "x-goog-upload-header-content-length" not in {n.lower() for n, _ in start.headers}
    assert sent.path.startswith("/upload/v1beta/files?upload_id=u1")
    token_in(sent)
    # The uploaded file may be referred to, but no other URL.
    for address, status in ((file.uri, 200), ("https://example.com/files/abc-1", 400)):
        part = {"fileData": {"mimeType": "text/csv", "fileUri": address}}
        asked = {"contents": [{"parts": [part]}]}
        path = "/gemini/v1beta/models/g-1:generateContent"
        assert gateway.ask(path, asked)[0] == status


@pytest.mark.parametrize(
    "headers",
    [
        {"x-goog-upload-command": "upload"},
        {"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "8"},
        {"x-goog-upload-command": "unknown"},
        {},
        {"content-type": "multipart/related; boundary=x"},
    ],
)
def test_parts_of_files_are_refused(gateway: Running, headers: dict[str, str]) -> None:
    status, _, answer = gateway.ask(f"{UPLOAD}?upload_id=u1", b"name,mail\n", headers)
    assert status in (400, 415)
    assert json.loads(answer)["error"]["message"].startswith("dlpctl: ")
    assert not gateway.provider.sent


def test_an_upload_url_of_another_host_is_refused(gateway: Running) -> None:
    gateway.provider.reply = lambda _: Reply(
        b"{}", headers={"x-goog-upload-url": "https://elsewhere.example/upload"}
    )
    headers = {"x-goog-upload-command": "start"}
    status, named, _ = gateway.ask(UPLOAD, {"file": {"displayName": "a"}}, headers)
    assert status == 502
    assert "x-goog-upload-url" not in named
