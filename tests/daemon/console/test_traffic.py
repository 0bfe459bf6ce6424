"""Pages of the console about the traffic of the gateway and of agents."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from dlpctl.agents.audit import audit_log
from dlpctl.gateway.calls import CallLog, CallRecord, call_log
from tests.daemon.console.test_pages import text_of

ROUTES = {"anthropic": "anthropic POST /v1/messages", "openai": "openai POST /v1/embeddings"}
MANY_BYTES = 5_000_000
"""More than are read."""
MASKED, BLOCKED = "ALLOWED_WITH_MASKING", "BLOCKED"


@pytest.fixture
def gateway(control):
    """Logs a call as the gateway does."""
    log = CallLog(call_log(control.folder))

    def logged(provider="anthropic", decision="ALLOWED", counts=None, **more):
        record = CallRecord("gw_1", ROUTES[provider], "m-1", decision, counts or {}, 100, 1.0, 200)
        log.write(record._replace(**more))

    return logged


@pytest.fixture
def agent(control):
    """Logs an action as the hooks of an agent do."""

    def logged(name, action, **counts):
        audit_log(control.folder).write(
            session=f"{name}.0123456789abcdef",
            event="PreToolUse",
            tool="Bash",
            action=action,
            counts=counts,
        )

    return logged


def test_calls_of_the_gateway_are_summed_up_and_listed(person, gateway):
    gateway(bytes=1_000, added_ms=2.0)
    gateway(decision=MASKED, counts={"EMAIL": 2, "SSN": 1}, bytes=2_000, added_ms=4.0)
    gateway("openai", BLOCKED, {"API_KEY": 1}, status=400, model="embedder", added_ms=30.0)
    gateway("openai", "REFUSED", status=405, bytes=0, model="")
    shown = text_of(person.see("/console/gateway"))
    assert "Calls 4 Allowed 1 Masked 1 Blocked 1 Refused 1" in shown
    assert "Inspected 3.1 KB Added, half within 2.0 ms Added, 95 % within 4.0 ms" in shown
    assert "anthropic POST /v1/messages 2" in shown
    assert "EMAIL 2" in shown
    rows = person.see("/console/gateway").text.split("<tbody>")[-1].split("<tr>")[1:]
    assert [("m-1" in each, "embedder" in each) for each in rows] == [
        (False, False),
        (False, True),
        (True, False),
        (True, False),
    ]
    assert "masked" in rows[2]
    assert "EMAIL 2, SSN 1" in rows[2]
    assert "2.0 KB" in rows[2]
    assert "4.0 ms" in rows[2]


def test_calls_are_searched_and_filtered(person, gateway):
    gateway(counts={"EMAIL": 1}, decision=MASKED)
    gateway(counts={"SSN": 1}, decision=BLOCKED)
    gateway("openai", MASKED, {"EMAIL": 1})
    gateway("openai", model="embedder", status=429)
    for query, total in [
        ({}, 4),
        ({"decision": MASKED}, 2),
        ({"route": ROUTES["openai"]}, 2),
        ({"model": "embedder"}, 1),
        ({"type": "EMAIL"}, 2),
        ({"type": "EMAIL", "route": ROUTES["openai"]}, 1),
        ({"search": "OPENAI"}, 2),
        ({"search": "messages ssn"}, 1),
        ({"search": "429"}, 1),
        ({"search": "zebra"}, 0),
        ({"decision": "zebra"}, 0),
    ]:
        answer = person.see("/console/gateway", **query)
        assert f"Calls {total} " in text_of(answer), query
        for value in query.values():
            if value != "zebra":
                assert f'value="{value}"' in answer.text
        assert ("Nothing was found." in answer.text) is (total == 0)


def test_a_page_has_fifty_calls_and_leads_to_the_others_with_the_same_filters(person, gateway):
    for number in range(120):
        gateway(model=f"m-{number:03}")
    shown = person.see("/console/gateway", search="m-", offset="50").text
    assert "51 to 100 of 120" in shown
    assert "m-069" in shown
    assert "m-070</td>" not in shown
    assert "/console/gateway?offset=100&amp;search=m-" in shown
    assert person.see("/console/gateway", offset="-1").status_code == 422


def test_an_organization_sees_its_own_calls(caller, enter, token_of, gateway):
    acme = caller("GET", "/api/organizations/acme").json["org_id"]
    globex = caller("POST", "/api/organizations", {"name": "Globex", "slug": "globex"}).json
    gateway(org=acme, policy="pol_acme", model="of-acme")
    gateway(org=globex["org_id"], policy="pol_globex", model="of-globex")
    gateway(model="of-nobody")
    everybody, own = enter(), enter(token_of("auditor", org_id="globex"))
    assert "Calls 3 " in text_of(everybody.see("/console/gateway"))
    chosen = everybody.see("/console/gateway", org="acme").text
    assert "of-acme" in chosen
    assert "of-globex" not in chosen
    assert "of-nobody" not in chosen
    seen = own.see("/console/gateway").text
    assert "of-globex" in seen
    for other in ("of-acme", "of-nobody", "pol_acme"):
        assert other not in seen
        assert other not in own.see("/console/gateway", org="acme").text
    assert own.see("/console/agents").status_code == 403


def test_a_log_is_read_backwards_and_continues_in_the_previous_file(person, control, gateway):
    gateway(model="previous")
    file = call_log(control.folder)
    file.rename(file.with_suffix(".old.jsonl"))
    gateway(model="newer")
    shown = person.see("/console/gateway").text
    assert shown.index("newer</td>") < shown.index("previous</td>")
    line = file.read_text()
    file.write_text(line.replace("newer", "first") + line * (MANY_BYTES // len(line)))
    found = text_of(person.see("/console/gateway"))
    assert "first" not in found
    assert "previous" not in found


def test_calls_are_shown_by_hour_and_after_two_days_by_day(person, control, gateway):
    gateway()
    file = call_log(control.folder)
    entry = json.loads(file.read_text())
    times = ["2026-03-08T10:59:00", "2026-03-08T12:00:00", "2026-03-09T11:00:00", "never"]
    file.write_text("".join(json.dumps(entry | {"time": each}) + "\n" for each in times))
    shown = text_of(person.see("/console/gateway"))
    assert "2026-03-08 10:00: 1 allowed, 0 masked" in shown
    assert "2026-03-08 11:00: 0 allowed, 0 masked" in shown
    assert "2026-03-09 11:00: 1 allowed" in shown
    times.append("2026-03-11T23:00:00")
    file.write_text("".join(json.dumps(entry | {"time": each}) + "\n" for each in times))
    shown = text_of(person.see("/console/gateway"))
    days = ["2026-03-08: 2", "2026-03-09: 1", "2026-03-10: 0", "2026-03-11: 1"]
    places = [shown.index(each) for each in days]
    assert all(first < second for first, second in pairwise(places))


def test_actions_of_agents_are_summed_up_and_filtered(person, agent):
    agent("claude-code", "masked", EMAIL=2)
    agent("claude-code", "restored", tokens=3)
    agent("codex", "refused", API_KEY=1)
    shown = text_of(person.see("/console/agents"))
    assert "Actions 3 Restored 1 Masked 1 Refused 1" in shown
    assert "claude-code 2" in shown
    assert "0123456789abcdef" in shown
    assert "Actions 1 " in text_of(person.see("/console/agents", agent="codex"))
    assert "Actions 2 " in text_of(person.see("/console/agents", search="claude"))
    assert "Actions 1 " in text_of(person.see("/console/agents", type="EMAIL", action="masked"))


def test_without_traffic_a_page_explains_how_to_get_some(person):
    assert "dlpctl gateway starts the gateway" in text_of(person.see("/console/gateway"))
    assert "dlpctl hook install --all" in text_of(person.see("/console/agents"))
