"""Sessions of the console: sign-in, expiry, and attacks from pages of other sites."""

from __future__ import annotations

import itertools
import re

from dlpctl_daemon.console.sessions import IDLE_SECONDS, LINK_SECONDS, LONGEST_SECONDS, Sessions


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def actions(caller) -> list[str]:
    return [each["action"] for each in caller("GET", "/api/audit/events").json["items"]]


def test_the_root_leads_to_the_console_and_that_to_the_sign_in(caller):
    assert caller.client.get("/").headers["Location"] == "/console/"
    assert caller.client.get("/console/").headers["Location"] == "/console/sign-in"
    later = caller.client.get("/console/checks?search=a").headers["Location"]
    assert later == "/console/sign-in?next=%2Fconsole%2Fchecks%3Fsearch%3Da"


def test_a_token_signs_in_and_out_and_the_chain_records_both(caller, person, control):
    answer = person.signed_in
    cookie = answer.headers["Set-Cookie"]
    assert answer.status_code == 303
    assert {"HttpOnly", "SameSite=Strict", "Path=/console/"} <= set(cookie.split("; "))
    assert caller.token not in cookie
    assert actions(caller)[0] == "console.signed-in"
    person.send("/console/sign-out")
    assert actions(caller)[0] == "console.signed-out"
    assert person.see("/console/").status_code == 303
    assert caller("GET", "/api/audit/verify").json["intact"]
    assert caller.token not in caller.log.getvalue()


def test_over_tls_the_cookie_is_for_tls_alone(caller):
    answer = caller.client.post(
        "/console/sign-in", data={"token": caller.token}, base_url="https://localhost"
    )
    assert "Secure" in answer.headers["Set-Cookie"].split("; ")


def test_invalid_tokens_are_refused(caller):
    for token in ("", "x", "dlp_at_" + "0" * 49, "é" * 50, caller.key):
        answer = caller.client.post("/console/sign-in", data={"token": token})
        assert answer.status_code == 401
        assert "Set-Cookie" not in answer.headers
    assert "console.signed-in" not in actions(caller)


def test_a_link_signs_in_once(caller):
    link = caller("POST", "/api/console/links").json
    address, _, code = link["url"].partition("#")
    assert address == "http://localhost/console/sign-in"
    assert link["expires_in"] == LINK_SECONDS
    first = caller.client.post("/console/sign-in", data={"token": code})
    assert first.status_code == 303
    again = caller.client.application.test_client().post("/console/sign-in", data={"token": code})
    assert again.status_code == 401
    assert code not in caller.log.getvalue()


def test_links_and_sessions_expire():
    clock = Clock()
    sessions = Sessions(clock)
    code, late = sessions.link("tok_1"), sessions.link("tok_1")
    identifier, idle = sessions.open("tok_1"), sessions.open("tok_2")
    assert sessions.redeem(code) == "tok_1"
    assert sessions.redeem(code) is None
    clock.now = LINK_SECONDS + 1
    assert sessions.redeem(late) is None
    assert sessions.find(identifier) is not None
    while clock.now < LONGEST_SECONDS - IDLE_SECONDS:
        clock.now += IDLE_SECONDS - 1
        assert sessions.find(identifier) is not None
    assert sessions.find(idle) is None
    clock.now = LONGEST_SECONDS + 1
    assert sessions.find(identifier) is None
    assert sessions.find("") is None


def test_a_revoked_token_ends_its_sessions(caller, enter, token_of):
    person = enter(token_of("editor"))
    assert person.see("/console/").status_code == 200
    tokens = caller("GET", "/api/tokens").json
    caller("DELETE", f"/api/tokens/{tokens[-1]['token_id']}")
    assert person.see("/console/").headers["Location"] == "/console/sign-in"
    asked = person.ask("/console/lint", {"draft": ""})
    assert asked.status_code == 401
    assert "sign in" in asked.json["detail"]


def test_an_expired_token_ends_its_sessions(caller, enter, token_of, clock):
    person = enter(token_of("auditor", expires_at="2026-03-11"))
    assert person.see("/console/").status_code == 200
    clock.forward(hours=13)
    assert person.see("/console/").status_code == 303


def test_other_sites_can_send_nothing(caller, person):
    marks = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site")]
    marks += [("Origin", "https://evil.example"), ("Origin", "null")]
    paths = ("/console/sign-in", "/console/do/create_organization", "/console/sign-out")
    for path, mark in itertools.product(paths, marks):
        headers = dict([mark])
        answer = person.client.post(
            path, data={"csrf": person.csrf, "token": caller.token, "name": "X"}, headers=headers
        )
        assert answer.status_code == 403
    assert [each["name"] for each in caller("GET", "/api/organizations").json] == ["Acme"]


def test_a_form_needs_the_token_of_its_session(caller, person, enter):
    other = enter()
    for csrf in ("", "x", other.csrf):
        answer = person.send("/console/do/create_organization", csrf=csrf, name="X", fields="name")
        assert answer.status_code == 403
    assert len(caller("GET", "/api/organizations").json) == 1


def test_a_sign_in_leads_to_pages_of_the_console_alone(caller):
    elsewhere = ("https://evil.example", "//evil.example", "/api/tokens", "/console/\\evil", "\n/")
    for after in elsewhere:
        given = {"token": caller.token, "next": after}
        answer = caller.client.post("/console/sign-in", data=given)
        assert answer.headers["Location"] == "/console/"


def test_bodies_are_bounded(person):
    assert person.send("/console/do/create_organization", name="x" * 300_000).status_code == 413
    assert person.ask("/console/lint", {"draft": "x" * 300_000}).status_code == 413


def test_pages_bring_their_own_files_and_run_nothing_else(caller, person):
    page = person.see("/console/policies/new")
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert page.headers["Cache-Control"] == "no-store"
    linked = re.findall(r'(?:src|href)="(/console/static/[^"]+)"', page.text)
    assert len(linked) == 5
    everything = page.text
    for address in linked:
        file = caller.client.get(address)
        assert file.status_code == 200
        everything += file.text
    assert "innerHTML" not in everything
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", everything) == []
    assert re.findall(r"<style|<script(?! src)|\sstyle=|\son[a-z]+=", page.text) == []
    assert caller.client.get("/console/static/pages.py").status_code == 404
