from __future__ import annotations

import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse


class Person:
    """Somebody with a browser who has signed in."""

    def __init__(self, client: FlaskClient, token: str) -> None:
        self.client = client
        self.signed_in = client.post("/console/sign-in", data={"token": token})
        page = client.get("/console/").text
        found = re.search(r'data-csrf="([^"]+)"', page)
        self.csrf = found[1] if found else ""

    def see(self, path: str, **query: str) -> TestResponse:
        return self.client.get(path, query_string=query)

    def send(self, path: str, follow: bool = True, **fields: Any) -> TestResponse:
        """Send a form, and return the page after it."""
        data = {"csrf": self.csrf} | fields
        return self.client.post(path, data=data, follow_redirects=follow)

    def do(self, operation: str, **fields: Any) -> TestResponse:
        """Send the form of an operation; `path_x` is a parameter of its path."""
        path = {f"path.{k[5:]}": v for k, v in fields.items() if k.startswith("path_")}
        rest = {k.replace("__", "."): v for k, v in fields.items() if not k.startswith("path_")}
        names = ",".join(rest)
        return self.send(f"/console/do/{operation}", next="/console/", fields=names, **path, **rest)

    def ask(self, path: str, body: Any, **headers: str) -> TestResponse:
        return self.client.post(path, json=body, headers={"X-CSRF-Token": self.csrf} | headers)


@pytest.fixture
def enter(caller):
    """Lets a person sign in with a token, by default the first."""

    def entered(token: str | None = None) -> Person:
        return Person(caller.client.application.test_client(), token or caller.token)

    return entered


@pytest.fixture
def person(enter) -> Person:
    return enter()


@pytest.fixture
def token_of(caller):
    """Makes a token of a role."""

    def made(role: str, **more: str) -> str:
        return str(caller("POST", "/api/tokens", {"role": role} | more).json["token"])

    return made
