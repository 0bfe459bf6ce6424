"""Signing in and out: with an admin token, or with a link from `dlpctl console`."""

from __future__ import annotations

from typing import NamedTuple

from flask import Response, redirect, render_template, request

from dlpctl.control.access import Access
from dlpctl.errors import UnauthorizedError
from dlpctl_daemon.bodies import refuse_larger
from dlpctl_daemon.console.pages import (
    COOKIE,
    FORM_BYTES,
    SIGN_IN,
    Answer,
    Pages,
    Visit,
    refuse_cross_site,
    see_other,
)
from dlpctl_daemon.console.sessions import LONGEST_SECONDS
from dlpctl_daemon.context import HEADERS_ONLY, request_context
from dlpctl_daemon.endpoints import Service

_SIGNED_IN, _SIGNED_OUT = "console.signed-in", "console.signed-out"
_HOME = "/console/"


class _Entrance(NamedTuple):
    service: Service

    def show(self) -> Answer:
        request_context().route = SIGN_IN
        return _form(request.args.get("next", ""))

    def enter(self) -> Answer:
        """Sign in with the token that was typed or the code of the link."""
        request_context().route = SIGN_IN
        refuse_cross_site()
        refuse_larger(request.environ, FORM_BYTES)
        if HEADERS_ONLY in request.environ:
            raise UnauthorizedError("sign in first")
        after = request.form.get("next", "")
        try:
            access = self._access(request.form.get("token", "").strip())
        except UnauthorizedError as error:
            return Response(_form(after, error.message), 401)
        request_context().caller = access.token_id
        self.service.control.tokens.record_session(access, _SIGNED_IN)
        answer = see_other(after or _HOME)
        answer.set_cookie(
            COOKIE,
            self.service.sessions.open(access.token_id),
            max_age=int(LONGEST_SECONDS),
            path=_HOME,
            secure=request.scheme == "https",
            httponly=True,
            samesite="Strict",
        )
        return answer

    def leave(self, visit: Visit) -> Answer:
        self.service.sessions.close(request.cookies.get(COOKIE, ""))
        self.service.control.tokens.record_session(visit.access, _SIGNED_OUT)
        answer = see_other(SIGN_IN)
        answer.delete_cookie(COOKIE, path=_HOME)
        return answer

    def _access(self, given: str) -> Access:
        tokens = self.service.control.tokens
        token_id = self.service.sessions.redeem(given)
        return tokens.access_of(token_id) if token_id else tokens.authenticate(given or None)


def _form(after: str, problem: str = "") -> str:
    return render_template("console/sign_in.html", title="Sign in", after=after, problem=problem)


def _to_console() -> Answer:
    request_context().route = request.path
    return redirect(_HOME, Response=Response)  # type: ignore[return-value]


def add_pages(pages: Pages) -> None:
    entrance = _Entrance(pages.service)
    pages.add_view("GET", "/", _to_console)
    pages.add_view("GET", "/console", _to_console)
    pages.add_view("GET", SIGN_IN, entrance.show)
    pages.add_view("POST", SIGN_IN, entrance.enter)
    pages.post("/console/sign-out", entrance.leave)
