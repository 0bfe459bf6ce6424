"""The guardrail for LiteLLM."""

from __future__ import annotations

import base64
import json
from typing import Any

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


def test_it_needs_the_key_of_a_policy(caller: Any) -> None:
    assert caller.client.post(PATH, json={"input_type": "request"}).status_code == 401
