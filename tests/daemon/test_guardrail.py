"""The guardrail for LiteLLM."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

PATH = "/beta/litellm_basic_guardrail_api"
EMAIL = "jane.doe@corp.example.net"
SECRET = "-----BEGIN PRIVATE KEY-----\n" + "A" * 60 + "\n-----END PRIVATE KEY-----"


def ask(caller: Any, **body: Any) -> Any:
    given = {"input_type": "request", "litellm_call_id": "x", "request_data": {}} | body
    answer = caller.client.post(PATH, json=given, headers={"X-Service-API-Key": caller.key})
    assert answer.status_code == 200, answer.text
    return answer.json


def test_texts_are_masked_and_counted(caller: Any) -> None:
    assert ask(caller, texts=["hello"]) == {"action": "NONE"}
    answer = ask(caller, texts=["hello", f"write to {EMAIL}"])
    assert answer == {
        "action": "GUARDRAIL_INTERVENED",
        "texts": ["hello", "write to j***@corp.example.net"],
    }
    blocked = ask(caller, texts=["a", SECRET])
    assert blocked["action"] == "BLOCKED"
    assert "AAAA" not in json.dumps(blocked)


def test_calls_of_tools_that_cannot_be_masked_are_blocked(caller: Any) -> None:
    call = {"function": {"name": "send", "arguments": json.dumps({"to": EMAIL})}}
    answer = ask(caller, texts=[], tool_calls=[call], input_type="response")
    assert answer["action"] == "BLOCKED"
    assert EMAIL not in answer["blocked_reason"]


def test_definitions_of_tools_with_values_are_blocked(caller: Any) -> None:
    tool = {"type": "function", "function": {"name": "send", "description": f"mails {EMAIL}"}}
    assert ask(caller, texts=["hi"], tools=[tool])["action"] == "BLOCKED"
    tool["function"]["description"] = "sends a mail"
    assert ask(caller, texts=["hi"], tools=[tool]) == {"action": "NONE"}


def test_images_are_inspected_or_blocked(caller: Any) -> None:
    table = base64.b64encode(f"a,b\n1,{EMAIL}\n".encode()).decode()
    answer = ask(caller, images=[f"data:text/csv;base64,{table}"])
    assert answer["action"] == "BLOCKED", "LiteLLM would send the original"
    clean = base64.b64encode(b"a,b\n1,2\n").decode()
    assert ask(caller, images=[f"data:text/csv;base64,{clean}"]) == {"action": "NONE"}
    assert ask(caller, images=["https://example.com/a.png"])["action"] == "BLOCKED"


CLEAN = base64.b64encode(b"a,b\n1,2\n").decode()
SOUND = base64.b64encode(b"RIFF\x24\0\0\0WAVEfmt " + bytes(range(256))).decode()
FOUND = base64.b64encode(f"a,b\n1,{EMAIL}\n".encode()).decode()


def messages(*blocks: Any, **more: Any) -> list[Any]:
    return [{"role": "user", "content": [{"type": "text", "text": "hi"}, *blocks], **more}]


@pytest.mark.parametrize(
    "block",
    [
        {
            "type": "file",
            "file": {"filename": "a.csv", "file_data": f"data:text/csv;base64,{FOUND}"},
        },
        {"type": "file", "file": {"filename": "a.csv", "file_data": FOUND}},
        {"type": "file", "file": {"file_id": "file-made-up"}},
        {"type": "file", "file": {"file_data": "https://example.com/a.pdf"}},
        {"type": "input_audio", "input_audio": {"data": SOUND, "format": "wav"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "made-up", "deep": [{"note": f"ask {EMAIL}"}]},
    ],
)
def test_files_and_fields_of_messages_are_inspected_or_blocked(caller: Any, block: Any) -> None:
    answer = ask(caller, texts=["hi"], structured_messages=messages(block))
    assert answer["action"] == "BLOCKED"
    assert EMAIL not in json.dumps(answer)


def test_messages_that_were_seen_or_are_clean_pass(caller: Any) -> None:
    file = {"filename": "a.csv", "file_data": f"data:text/csv;base64,{CLEAN}"}
    sealed = [{"type": "thinking", "thinking": "so", "signature": "not+base64?"}]
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    cited = [{"type": "url_citation", "url_citation": {"url": "https://example.com/a"}}]
    given = messages(
        {"type": "text", "text": f"write to {EMAIL}"},
        {"type": "file", "file": file},
        thinking_blocks=sealed,
        tool_calls=[call],
        annotations=cited,
    )
    texts = ["hi", f"write to {EMAIL}"]
    answer = ask(caller, texts=texts, tool_calls=[call], structured_messages=given)
    assert answer["texts"] == ["hi", "write to j***@corp.example.net"]


def test_fields_that_texts_leave_out_are_blocked(caller: Any) -> None:
    given = [{"role": "system", "content": f"You serve {EMAIL}"}, *messages()]
    assert ask(caller, texts=["hi"], structured_messages=given)["action"] == "BLOCKED"


def test_the_end_of_an_answer_is_held_back_while_it_comes(caller: Any) -> None:
    """LiteLLM asks about a stream as far as it has come, and sends what is not held back."""
    text = f"{'All is well. ' * 20}Write to {EMAIL} today, then wait. {'More to come. ' * 20}End."
    sent = ""
    for size in range(1, len(text) + 1, 3):
        part = text[:size]
        answer = ask(caller, texts=[part], input_type="response")
        (masked,) = answer.get("texts", [part])
        (held,) = answer["stream_holdback_chars"]
        assert masked.startswith(sent), "what was sent cannot be changed"
        assert 0 <= held <= len(masked)
        sent = masked[: max(len(sent), len(masked) - held)]
        assert EMAIL[:4] not in sent
    assert len(sent) > len(text) / 2
    assert "j***@corp.example.net" in sent
    assert "stream_holdback_chars" not in ask(caller, texts=[text])


@pytest.mark.parametrize("header", ["X-API-Key", "Authorization"])
def test_the_key_comes_in_the_header_that_litellm_sends(caller: Any, header: str) -> None:
    value = f"Bearer {caller.key}" if header == "Authorization" else caller.key
    body = {"input_type": "request", "texts": [EMAIL]}
    answer = caller.client.post(PATH, json=body, headers={header: value})
    assert answer.status_code == 200
    assert answer.json["action"] == "GUARDRAIL_INTERVENED"
    refused = caller.client.post(PATH, json=body, headers={header: "Bearer unknown"})
    assert refused.status_code == 401
    check = {"text": EMAIL, "destination": "VENDOR"}
    other = caller.client.post("/api/preflight/text", json=check, headers={header: value})
    assert other.status_code == 401, "only the guardrail reads it"


def test_it_needs_the_key_of_a_policy(caller: Any) -> None:
    assert caller.client.post(PATH, json={"input_type": "request"}).status_code == 401
