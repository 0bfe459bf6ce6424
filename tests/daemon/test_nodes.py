"""Several services with folders of their own, which share keys and one PostgreSQL."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlencode

import pytest

pytest.importorskip("psycopg")
_FORM = "application/x-www-form-urlencoded"
_SHARED = ("control.key", "mask.key")


def _starter(stack, folder, database, run_service):
    """Return what starts a node, each in a folder of its own; it has keys of the first."""
    numbers = itertools.count()

    def start(keys=_SHARED, **settings):
        home = folder / f"node-{next(numbers)}"
        (home / "data").mkdir(parents=True, mode=0o700)
        first = folder / "node-0" / "data"
        for name in keys:
            if (first / name).exists():
                shutil.copy(first / name, home / "data")
        return stack.enter_context(run_service(home, database=database, **settings))

    return start


def _two(start):
    first = start()
    key = first.key()
    assert first.check(key).status == 200  # makes the key for masks
    return first, start(processes=2 if hasattr(os, "fork") else 1), key


@pytest.fixture
def start_node(tmp_path, postgres, run_service):
    """Starts a node on a database of this test."""
    with ExitStack() as stack:
        yield _starter(stack, tmp_path, postgres, run_service)


@pytest.fixture
def own_nodes(start_node):
    """Two nodes for a test that does something to them, and the key of a policy."""
    return _two(start_node)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, new_postgres, run_service):
    """Two nodes that have their keys in common, and the key of a policy."""
    with ExitStack() as stack:
        folder = tmp_path_factory.mktemp("nodes")
        yield _two(_starter(stack, folder, new_postgres(), run_service))


def test_nodes_are_one_service(nodes):
    first, second, _ = nodes
    key = first.key("one")
    policy = first.administer("GET", "/api/orgs/one/policies")[0]
    path = f"/api/orgs/one/policies/{policy['policy_id']}"
    made = first.check(key).json
    assert made["decision"] == "ALLOWED_WITH_MASKING"
    kept = second.ask("GET", f"/api/preflight/{made['preflight_id']}", X_Service_API_Key=key)
    assert kept.json == made | {"masked_content": None}
    rule = {"name": "r", "dataTypes": ["EMAIL"], "destinations": ["VENDOR"], "action": "BLOCK"}
    for node, other, action, decision in (
        (first, second, "BLOCK", "BLOCKED"),
        (second, first, "ALLOW", "ALLOWED"),
    ):
        node.administer("PATCH", path, {"rules": [rule | {"action": action}]})
        assert other.check(key).json["decision"] == decision
    second.administer("POST", f"{path}/regenerate-key")
    assert first.check(key).status == 401
    assert second.administer("GET", "/api/audit/verify")["intact"]


def test_a_masked_file_is_given_by_any_node(nodes):
    first, second, key = nodes
    form = (
        b'--x\r\nContent-Disposition: form-data; name="destination"\r\n\r\nVENDOR\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        b"write to jane.doe@corp.example.net\r\n--x--\r\n"
    )
    headers = {"Content-Type": "multipart/form-data; boundary=x", "X-Service-API-Key": key}
    made = json.loads(_sent(first, "/api/preflight", form, headers)[1])
    path = made["masked_file_url"].partition("/api/")[2]
    given = second.ask("GET", f"/api/{path}", X_Service_API_Key=key)
    assert (given.status, given.body) == (200, b"write to j***@corp.example.net")


def test_people_sign_in_to_all_nodes(nodes):
    first, second, _ = nodes
    code = first.administer("POST", "/api/console/links")["url"].partition("#")[2]
    form = urlencode({"token": code}).encode()
    entered, _ = _sent(second, "/console/sign-in", form, {"Content-Type": _FORM})
    assert entered.status == 303
    again, _ = _sent(first, "/console/sign-in", form, {"Content-Type": _FORM})
    assert again.status == 401
    cookie = {"Cookie": entered.headers["Set-Cookie"].partition(";")[0]}
    for node in (first, second):
        answer, page = _sent(node, "/console/", None, cookie)
        assert answer.status == 200
        csrf = re.search(r'data-csrf="([^"]+)"', page)
    left, _ = _sent(
        first,
        "/console/sign-out",
        urlencode({"csrf": csrf[1]}).encode(),
        cookie | {"Content-Type": _FORM},
    )
    assert left.status == 303
    assert _sent(second, "/console/", None, cookie)[0].status == 303


def _sent(node, path, body, headers):
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=300)
    connection.request("POST" if body else "GET", path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def test_a_quota_is_exact_over_nodes(nodes):
    first, second, _ = nodes
    key = first.key("quota")
    for place, each in enumerate(first.administer("GET", "/api/orgs/quota/licenses")):
        path = f"/api/orgs/quota/licenses/{each['license_id']}"
        second.administer("PATCH", path, {"max_checks_per_month": (10, 15)[place]})
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit((first, second)[number % 2].check, key) for number in range(50)]
        answers = sorted(each.result().status for each in asked)
    assert answers == [200] * 25 + [429] * 25
    used = [
        each["checks_this_month"] for each in first.administer("GET", "/api/orgs/quota/licenses")
    ]
    assert sorted(used) == [10, 15]
    assert second.administer("GET", "/api/audit/verify")["intact"]


@pytest.mark.skipif(os.name != "posix", reason="no SIGKILL")
def test_a_node_that_is_killed_loses_nothing_that_it_answered(own_nodes, wait_for, load_of):
    first, second, key = own_nodes
    with load_of(first, key) as lost, load_of(second, key) as going_on:
        wait_for(lambda: len(lost.answered) >= 20 and len(going_on.answered) >= 20)
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait()
        answered = len(going_on.answered)
        wait_for(lambda: len(going_on.answered) >= answered + 20)
    token = (second.folder / "admin.token").read_text("ascii").strip()
    log = second.ask("GET", "/api/audit/export", Authorization=f"Bearer {token}").body
    recorded = {json.loads(line)["preflight_id"] for line in log.splitlines()}
    assert lost.answered | going_on.answered <= recorded
    assert second.administer("GET", "/api/audit/verify")["problems"] == []


@pytest.mark.slow
def test_a_node_without_the_keys_of_the_others_does_not_answer(own_nodes, start_node):
    _, _, key = own_nodes
    with pytest.raises(AssertionError, match=r"control\.key: does not exist.*from another node"):
        start_node(keys=())
    third = start_node(keys=("control.key",))
    assert third.ask("GET", "/readyz").status == 503
    assert third.check(key).status == 503
    assert "is not the key of the other nodes" in third.log.read_text("utf-8")


def test_a_database_that_is_gone_for_a_while(own_nodes, postgres_server, wait_for):
    first, second, key = own_nodes
    os.kill(postgres_server.get_pid(), signal.SIGINT)
    wait_for(lambda: first.check(key).status == 503)
    try:
        for node in (first, second):
            answer = node.check(key)
            assert (answer.status, "nothing was done" in answer.json["detail"]) == (503, True)
            assert int(answer.headers["Retry-After"]) > 0
            assert node.ask("GET", "/readyz").status == 503
            assert node.ask("GET", "/healthz").status == 200
    finally:
        wait_for(lambda: not (postgres_server.pgdata / "postmaster.pid").exists())
        postgres_server.ensure_postgres_running()
    for node in (first, second):
        assert [node.check(key).status for _ in range(5)] == [200] * 5
    assert first.administer("GET", "/api/audit/verify")["problems"] == []
