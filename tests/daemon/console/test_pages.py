"""Pages of the console: what they show, to whom, and what they let people change."""

from __future__ import annotations

import html
import io
import json
import re
from base64 import b64decode

from dlpctl.agents.audit import audit_log
from dlpctl.gateway.calls import call_log

PAGES = (
    "/console/",
    "/console/checks",
    "/console/audit",
    "/console/policies",
    "/console/policies/new",
    "/console/groups",
    "/console/licenses",
    "/console/organizations",
    "/console/tokens",
    "/console/playground",
    "/console/gateway",
    "/console/agents",
)
SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"{SCRIPT}\"'><img src=x onerror=alert(2)>{{{{7*7}}}}"


def text_of(answer) -> str:
    """The text of a page as people see it."""
    body = answer.text.partition("<main")[2]
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", body).split()))


def policy_id(caller) -> str:
    return str(caller("GET", "/api/orgs/acme/policies").json[0]["policy_id"])


def test_each_page_is_shown_to_each_role(caller, enter, token_of):
    caller.check()
    for role in ("admin", "editor", "auditor"):
        person = enter(token_of(role))
        for path in PAGES:
            answer = person.see(path)
            assert answer.status_code == 200, path
            assert answer.content_type == "text/html; charset=utf-8"
            assert caller.key not in answer.text


def test_an_error_is_a_page(person):
    answer = person.see(f"/console/{SCRIPT}")
    assert answer.status_code == 404
    assert "There is no such page." in answer.text
    assert SCRIPT not in answer.text
    assert person.see("/console/checks/pf_1").status_code == 404
    assert person.see("/console/checks", offset="-1").status_code == 422
    assert person.see("/console/groups/nothing").status_code == 404


def test_the_overview_sums_up(caller, person):
    for destination in ("AI_TOOL", "AI_TOOL", "VENDOR"):
        caller.check(destination=destination)
    caller.check("nothing", destination="CUSTOMER")
    shown = text_of(person.see("/console/", period="7d"))
    assert "Checks 4 Allowed 1 25.0% Masked 3 75.0% Blocked 0 0.0%" in shown
    assert "2026-03-10: 1 allowed, 3 masked, 0 blocked" in shown
    assert re.search(r"Email AI tool 2, Vendor 1, Customer 0, Not known 0 3", shown)
    assert "default acme 1 allowed, 3 masked, 0 blocked 4" in shown
    assert "/api/preflight/text" in shown
    assert person.see("/console/", period="1d").status_code == 422


def test_a_page_is_about_the_organization_that_was_chosen(caller, person):
    caller.check()
    caller("POST", "/api/organizations", {"name": "Globex", "slug": "globex"})
    assert "Checks 1 " in text_of(person.see("/console/"))
    assert "Checks 0 " in text_of(person.see("/console/", org="globex"))
    assert "Globex" in text_of(person.see("/console/policies"))
    assert "Checks 1 " in text_of(person.see("/console/", org=""))
    person.see("/console/", org="globex")
    caller("DELETE", "/api/organizations/globex")
    assert "Checks 1 " in text_of(person.see("/console/"))
    assert "Checks 1 " in text_of(person.see("/console/", org="nothing"))


def test_a_token_of_one_organization_sees_no_other(caller, enter, token_of):
    checked = caller.check().json
    caller("POST", "/api/organizations", {"name": "Globex", "slug": "globex"})
    person = enter(token_of("admin", org_id="globex"))
    for path in PAGES:
        assert "Acme" not in person.see(path).text
        assert "Acme" not in person.see(path, org="acme").text
    person.see("/console/", org="")
    assert person.see(f"/console/checks/{checked['preflight_id']}").status_code == 404
    assert person.see(f"/console/policies/{policy_id(caller)}").status_code == 404
    refused = person.do("update_organization", path_org_id="acme", name="Mine")
    assert "there is no such organization" in text_of(refused)
    assert person.see("/console/agents").status_code == 403


def test_checks_are_searched_and_shown(caller, person):
    checked = caller.check().json
    caller.check("nothing", destination="CUSTOMER")
    assert "1 to 1 of 1" in text_of(person.see("/console/checks", search="vendor"))
    assert "Nothing was found." in text_of(person.see("/console/checks", search="zebra"))
    shown = text_of(person.see(f"/console/checks/{checked['preflight_id']}"))
    assert "EMAIL 1" in shown
    assert "a text of 34 B" in shown
    assert "jane" not in shown


def test_events_are_searched(caller, person):
    shown = text_of(person.see("/console/audit", search="organization.CREATED"))
    assert "1 to 1 of 1" in shown
    assert "None" in text_of(person.see("/console/audit", search="zebra"))
    assert caller("GET", "/api/audit/events?search=signed-in").json["total"] == 1


def test_the_chain_is_verified_also_up_to_a_head(caller, person):
    caller.check()
    before = text_of(person.see("/console/audit"))
    assert "Not verified since the service started." in before
    head = caller("GET", "/api/audit/head").json["head"]
    shown = text_of(person.send("/console/audit/verify", head=head))
    assert "The chain is intact: 1 checks" in shown
    wrong = head[:-4] + ("0000" if not head.endswith("0000") else "1111")
    assert "The chain is broken" in text_of(person.send("/console/audit/verify", head=wrong))


def test_records_are_made_changed_and_removed(caller, person):
    made = person.do("create_organization", name="Globex", slug="", settings__retention="NONE")
    assert "The organization was created." in text_of(made)
    assert re.search(r"dlp_lk_\w{49}", made.text)
    assert "dlp_lk_" not in person.see("/console/").text
    globex = caller("GET", "/api/organizations/globex").json
    assert globex["settings"] == {"retention": "NONE"}
    person.do(
        "update_organization", path_org_id="globex", name="Globex Inc", settings__retention=""
    )
    globex = caller("GET", "/api/organizations/globex").json
    assert (globex["name"], globex["settings"]) == ("Globex Inc", {})
    policies = [policy_id(caller)]
    person.do("create_group", path_org_id="acme", name="legal", description="", policy_ids=policies)
    legal = caller("GET", "/api/orgs/acme/groups/legal").json
    assert legal["policy_ids"] == policies
    person.do("update_group", path_org_id="acme", path_group_id=legal["group_id"], policy_ids="")
    shown = person.do(
        "create_license", path_org_id="acme", license_type="standard", expires_at="2027-01-31",
        max_checks_per_month="7", policy_groups="legal",
    )  # fmt: skip
    license_key = re.search(r"dlp_lk_\w{49}", shown.text)
    assert license_key
    licenses = caller("GET", "/api/orgs/acme/licenses").json
    assert licenses[-1]["max_checks_per_month"] == 7
    assert "0 of 7" in text_of(person.see("/console/licenses"))
    person.do("revoke_license", path_org_id="acme", path_license_id=licenses[-1]["license_id"])
    assert caller("GET", "/api/orgs/acme/licenses").json[-1]["status"] == "revoked"
    token = person.do("create_token", role="auditor", name="jane", org_id="", expires_at="")
    assert re.search(r"dlp_at_\w{49}", token.text)
    person.do("delete_group", path_org_id="acme", path_group_id="legal")
    actions = [each["action"] for each in caller("GET", "/api/audit/events").json["items"]]
    assert actions[:2] == ["group.deleted", "token.created"]


def test_a_refused_form_shows_the_reason_and_keeps_its_input(person):
    answer = person.send(
        "/console/do/create_organization",
        here="/console/organizations", next="/console/", fields="name,slug", name="Initech",
        slug="Not a slug",
    )  # fmt: skip
    assert "slug: must be 1 to 63" in text_of(answer)
    assert 'value="Initech"' in answer.text
    assert 'value="Initech"' not in person.see("/console/organizations").text


def test_a_role_changes_what_it_may(caller, enter, token_of):
    for role in ("auditor", "editor"):
        person = enter(token_of(role))
        assert "this needs the role admin" in text_of(person.do("create_organization", name="X"))
        assert "Create organization" not in person.see("/console/organizations").text
        assert "this needs the role admin" in text_of(person.do("create_token", role="admin"))
        shown = person.see("/console/policies/" + policy_id(caller), key="shown").text
        assert (caller.key in shown) is (role == "editor")
        assert ("Save as a new version" in shown) is (role == "editor")
        made = text_of(person.do("create_group", path_org_id="acme", name="legal"))
        assert ("The group was created." in made) is (role == "editor")


def test_operations_without_a_form_are_not_found(person):
    for operation in ("check_text", "list_tokens", "nothing", "validate_license"):
        assert person.do(operation).status_code == 404


def test_scripts_in_values_are_text_on_each_page(caller, person, control):
    caller("PATCH", "/api/organizations/acme", {"name": HOSTILE})
    policy = {"name": HOSTILE, "description": HOSTILE, "tags": [HOSTILE]}
    made = caller("POST", "/api/orgs/acme/policies", policy).json
    caller("PATCH", f"/api/orgs/acme/policies/{made['policy_id']}", {"description": "other"})
    caller("POST", "/api/orgs/acme/groups", {"name": HOSTILE, "description": HOSTILE})
    caller("POST", "/api/tokens", {"role": "auditor", "name": HOSTILE})
    checked = caller.check(key=made["api_key"]).json
    caller.check_file(b"write to jane.doe@corp.example.net", f"{SCRIPT}.txt")
    names = ("tool", "event", "action", "session", "time", "route", "model", "decision", "id")
    entry = dict.fromkeys(names, HOSTILE) | {"counts": {HOSTILE: 1, "A": HOSTILE}, "bytes": HOSTILE}
    for file in (call_log(control.folder), audit_log(control.folder).path):
        file.parent.mkdir()
        file.write_text(json.dumps(entry) + '\n[]\nno json\n{"counts": [1]}\n')
    groups = caller("GET", "/api/orgs/acme/groups").json
    pages = [
        *PAGES,
        f"/console/checks?search={HOSTILE}",
        f"/console/checks/{checked['preflight_id']}",
        f"/console/policies/{made['policy_id']}",
        f"/console/policies/{made['policy_id']}/versions",
        f"/console/groups/{groups[-1]['group_id']}",
        "/console/organizations/acme",
        f"/console/sign-in?next={HOSTILE}",
        f"/console/?period={HOSTILE}",
        f"/console/policies/new?from={HOSTILE}",
    ]
    for path in pages:
        answer = person.client.get(path)
        assert answer.status_code < 500, (path, caller.log.getvalue()[-500:])
        assert SCRIPT not in answer.text, path
        assert "<img" not in answer.text, path
    refused = person.do("create_group", path_org_id=HOSTILE, name=HOSTILE)
    assert SCRIPT not in refused.text


def draft_of(person, caller) -> str:
    page = person.see(f"/console/policies/{policy_id(caller)}").text
    found = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert found
    return html.unescape(found[1])


def test_a_policy_is_edited_compared_and_its_versions_are_kept(caller, person):
    draft = draft_of(person, caller)
    assert draft.startswith("name: default\n")
    at = f"/console/policies/{policy_id(caller)}"
    changed = draft.replace("action: MASK", "action: BLOCK")
    compared = person.ask(f"{at}/compare", {"draft": changed}).json
    assert any("action: MASK -> BLOCK" in rule for rule in compared["rules"])
    assert {"css_class": "added", "text": "    action: BLOCK"} in compared["lines"]
    saved = text_of(person.send(at, draft=changed))
    assert "default was saved as version 1.1." in saved
    shown = text_of(person.see(f"{at}/versions"))
    assert "1.0 to 1.1" in shown
    assert "action: MASK -> BLOCK" in shown
    assert person.see(f"{at}/versions", before="9.9").status_code == 422
    assert caller.check().json["decision"] == "BLOCKED"


def test_a_wrong_draft_is_refused_with_its_lines_and_stays(caller, person):
    at = f"/console/policies/{policy_id(caller)}"
    draft = draft_of(person, caller).replace("- SECRETS", "- SECRTS", 1)
    problems = person.ask("/console/lint", {"draft": draft}).json
    line = draft.splitlines().index("      - SECRTS") + 1
    assert [each["level"] for each in problems] == ["error"]
    assert problems[0]["message"].startswith(f"draft:{line}: rules[0].dataTypes[0]: ")
    answer = person.send(at, draft=draft)
    assert f"draft:{line}:" in text_of(answer)
    assert "- SECRTS" in answer.text
    assert caller("GET", f"/api/orgs/acme/policies/{policy_id(caller)}").json["version"] == "1.0"


def test_lint_reports_unreadable_drafts(person):
    drafts = {
        "": "must be a table",
        "a: [": "draft: ",
        "a: &a [1]\nb: *a": "draft:2: aliases are not allowed here",
        "\x00": "draft: ",
    }
    for draft, said in drafts.items():
        problems = person.ask("/console/lint", {"draft": draft}).json
        assert said in problems[0]["message"], draft


def test_a_new_policy_starts_from_a_built_in_one(caller, person):
    page = person.see("/console/policies/new", **{"from": "pci-dss"}).text
    assert "name: pci-dss" in page
    rule = "{name: r, dataTypes: [EMAIL], destinations: [VENDOR], action: ALLOW}"
    saved = person.send("/console/policies/new", draft=f"name: mine\nrules: [{rule}]")
    assert "mine was saved as version 1.0." in text_of(saved)
    assert [each["name"] for each in caller("GET", "/api/orgs/acme/policies").json] == [
        "default",
        "mine",
    ]


def test_a_replay_shows_the_decisions_of_a_draft(caller, person):
    for text in ("write to jane.doe@corp.example.net", "write to a@b.example.net", "nothing"):
        caller.check(text)
    draft = draft_of(person, caller).replace("action: MASK", "action: BLOCK")
    at = f"/console/policies/{policy_id(caller)}/replay"
    answer = person.ask(at, {"draft": draft, "checks": 100})
    shown = " ".join(re.sub(r"<[^>]+>", " ", answer.text).split())
    assert "Of the last 3 checks, the draft decides 2 otherwise." in shown
    assert "masked 2 0" in shown
    assert "blocked 0 2" in shown
    assert person.ask(at, {"draft": draft, "checks": 10**6}).status_code == 422


def test_the_playground_masks_and_records_nothing(caller, person):
    before = caller("GET", "/api/audit").json["total"]
    given = {"org": "acme", "policy": policy_id(caller), "destination": "VENDOR"}
    text = "write to jane.doe@corp.example.net"
    answer = person.ask("/console/preview/text", given | {"text": text}).json
    assert answer["masked_content"] == "write to j***@corp.example.net"
    assert answer["decision"] == "ALLOWED_WITH_MASKING"
    file = (io.BytesIO(text.encode()), f"{SCRIPT}.txt")
    sent = person.client.post(
        "/console/preview/file",
        data=given | {"file": file},
        headers={"X-CSRF-Token": person.csrf},
    ).json
    assert b64decode(sent["masked_file"]).decode() == answer["masked_content"]
    assert "jane.doe" not in json.dumps(sent)
    wrong = person.ask("/console/preview/text", given | {"text": text, "policy": "x"})
    assert wrong.status_code == 404
    assert caller("GET", "/api/audit").json["total"] == before
    assert caller("GET", "/api/orgs/acme/licenses").json[0]["checks_this_month"] == before
