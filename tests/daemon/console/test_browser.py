"""The console in a real Chromium: signed in by a link, accessible, by keyboard, dark, on a phone.

It needs Chromium, and axe-core in a folder that AXE_CORE names: `npm install axe-core`.
"""

from __future__ import annotations

import json

import pytest

from dlpctl.agents.audit import audit_log
from dlpctl.gateway.calls import CallLog, CallRecord, call_log

from .browser import AXE, CHROMIUM, chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM or not AXE.exists(), reason="needs Chromium and axe-core"),
]
MODES = {"light": {}, "dark": {"dark": True}, "phone": {"width": 390, "height": 844}}


def leave_traffic(folder) -> None:
    """Write the logs of a gateway and of agents."""
    calls, actions = CallLog(call_log(folder)), audit_log(folder)
    for number, decision in enumerate(("ALLOWED", "ALLOWED_WITH_MASKING", "BLOCKED", "REFUSED")):
        counts = {"EMAIL": number} if number else {}
        route = "anthropic POST /v1/messages/batches"
        calls.write(CallRecord("gw_1", route, "model-of-today", decision, counts, 500, 2.5, 200))
    for action in ("masked", "refused", "restored"):
        session = "claude-code.0123456789abcdef"
        actions.write(
            session=session, event="PostToolUse", tool="Bash", action=action, counts={"EMAIL": 1}
        )


class Visitor:
    """Somebody with a browser at a service."""

    def __init__(self, page, service) -> None:
        self.page = page
        self.base = f"http://127.0.0.1:{service.port}"
        self.service = service
        self.key = service.key()
        for destination in ("AI_TOOL", "VENDOR", "CUSTOMER"):
            body = {"text": "write to jane.doe@corp.example.net", "destination": destination}
            service.ask("POST", "/api/preflight/text", body, X_Service_API_Key=self.key)
        leave_traffic(service.folder)
        policies = service.administer("GET", "/api/orgs/acme/policies")
        self.policy = f"/console/policies/{policies[0]['policy_id']}"

    def sign_in(self) -> None:
        link = self.service.administer("POST", "/api/console/links")["url"]
        self.page.go(link)
        self.page.until("document.body.classList.contains('framed')")

    def go(self, path: str) -> None:
        self.page.go(self.base + path)


@pytest.fixture
def visitor(start, tmp_path):
    with start() as service, chromium(tmp_path / "profile") as page:
        page.look()
        yield Visitor(page, service)
        assert page.problems == []


def test_each_page_is_accessible_in_each_mode_and_as_wide_as_the_screen(visitor):
    page = visitor.page
    visitor.go("/console/sign-in")
    assert page.violations() == []
    visitor.sign_in()
    check = visitor.service.administer("GET", "/api/audit")["items"][0]["preflight_id"]
    license_id = visitor.service.administer("GET", "/api/orgs/acme/licenses")[0]["license_id"]
    paths = [
        *("/console/", "/console/checks", f"/console/checks/{check}", "/console/audit"),
        *("/console/policies", visitor.policy, f"{visitor.policy}/versions"),
        *("/console/policies/new", "/console/groups", "/console/licenses"),
        *("/console/organizations", "/console/organizations/acme", "/console/tokens"),
        *(f"/console/licenses/{license_id}", "/console/playground"),
        *("/console/gateway", "/console/gateway?search=zebra", "/console/agents"),
    ]
    for mode, how in MODES.items():
        page.look(**how)
        for path in paths:
            visitor.go(path)
            assert page.violations() == [], (mode, path)
            assert page.run("document.documentElement.scrollWidth - innerWidth") <= 0, (mode, path)
            dark = page.run("matchMedia('(prefers-color-scheme: dark)').matches")
            assert dark is (mode == "dark")


def test_all_is_done_by_keyboard(visitor):
    page = visitor.page
    token = (visitor.service.folder / "admin.token").read_text("ascii").strip()
    visitor.go("/")
    assert page.run("document.activeElement.id") == "token"
    page.type(token)
    page.press("Enter")
    page.until("document.body.classList.contains('framed')")
    page.press("Tab")
    assert page.run("document.activeElement.textContent") == "Skip to the content"
    page.press("Enter")
    assert page.run("document.activeElement.id") == "main"
    visitor.go("/console/checks")
    for _ in range(30):
        if page.run("document.activeElement.id") == "search":
            break
        page.press("Tab")
        outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", page.run("document.activeElement.outerHTML")
    page.type("vendor")
    page.press("Enter")
    page.until("location.search.includes('vendor')")
    assert page.run("document.querySelectorAll('tbody tr').length") == 1


def test_traffic_is_filtered_by_keyboard(visitor):
    page = visitor.page
    visitor.sign_in()
    visitor.go("/console/gateway")
    page.run("document.getElementById('by-decision').focus()")
    page.type("blocked")
    page.press("b", text="b")
    page.until("location.search.includes('decision=BLOCKED')")
    page.until("document.querySelectorAll('table.cards tbody tr').length === 1")
    assert page.violations() == []


def test_a_link_leaves_no_code_in_the_address_or_the_history(visitor):
    visitor.sign_in()
    assert visitor.page.run("location.hash") == ""
    assert visitor.page.run("location.pathname") == "/console/"


def test_the_playground_masks_as_one_types(visitor):
    page = visitor.page
    visitor.sign_in()
    visitor.go("/console/playground")
    page.until("document.getElementById('masked').value.includes('j***@example.com')")
    page.run("document.getElementById('text').select()")
    page.type("<b>bob@corp.example.net</b>")
    page.until("document.getElementById('masked').value === '<b>b***@corp.example.net</b>'")
    page.until("document.getElementById('verdict').textContent.includes('Masked 1 email')")
    page.run("""(() => {
        const files = new DataTransfer();
        files.items.add(new File(["to eve@corp.example.net"], "<img src=x>.txt"));
        const input = document.getElementById("file");
        input.files = files.files;
        input.dispatchEvent(new Event("change"));
    })()""")
    page.until("document.querySelector('#copy a') !== null")
    assert page.run("document.querySelector('#copy a').download") == "<img src=x>.masked.txt"
    assert page.run("document.querySelector('#copy a').href").startswith("blob:")
    assert visitor.service.administer("GET", "/api/audit")["total"] == 3


def test_the_editor_lints_compares_and_replays(visitor):
    page = visitor.page
    visitor.sign_in()
    visitor.go(visitor.policy)
    page.until("document.getElementById('lint-state').textContent !== 'Not checked yet.'")
    page.run("""(() => {
        const draft = document.getElementById("draft");
        draft.value = draft.value.replaceAll("action: MASK", "action: BLOCK");
        draft.dispatchEvent(new Event("input"));
        document.getElementById("replay").click();
    })()""")
    page.until("document.getElementById('result').textContent.includes('decides 3 otherwise')")
    assert page.violations() == []
    page.run("document.getElementById('compare').click()")
    page.until("document.querySelector('.diff .added') !== null")
    assert page.violations() == []
    page.run("""(() => {
        const draft = document.getElementById("draft");
        draft.value = draft.value.replace("- SECRETS", "- SECRTS");
        draft.dispatchEvent(new Event("input"));
    })()""")
    page.until("document.querySelector('#lint li.error button') !== null")
    page.run("document.querySelector('#lint button').click()")
    chosen = "document.getElementById('draft')"
    selected = page.run(f"{chosen}.value.slice({chosen}.selectionStart, {chosen}.selectionEnd)")
    assert selected.strip() == "- SECRTS"
    page.run("document.querySelector('#editor button.main').click()")
    page.until("document.querySelector('.notice.error') !== null")
    assert json.loads(page.run("JSON.stringify(document.title)")).startswith("default")
