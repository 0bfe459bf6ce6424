"""The frame of every page of the console: access control and error pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from flask import Blueprint, Response, redirect, render_template, request
from werkzeug.exceptions import HTTPException, NotFound

from dlpctl.control.access import Access, Role
from dlpctl.control.resources import OPERATIONS
from dlpctl.errors import DlpctlError, ForbiddenError, RequestError, UnauthorizedError
from dlpctl.types import LARGEST_NUMBER
from dlpctl.version import __version__
from dlpctl_daemon.bodies import refuse_larger
from dlpctl_daemon.console.sessions import Notice, Session
from dlpctl_daemon.console.shown import FILTERS
from dlpctl_daemon.context import HEADERS_ONLY, request_context

if TYPE_CHECKING:
    from dlpctl.control.resources.organizations import Organization
    from dlpctl.control.service import ControlPlane
    from dlpctl_daemon.endpoints import Service

COOKIE = "dlpctl_console"
SIGN_IN = "/console/sign-in"
FORM_BYTES = 1 << 18
_CSRF_HEADER = "X-CSRF-Token"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
}
_MENU = (
    ("Overview", "/console/"),
    ("Checks", "/console/checks"),
    ("Audit", "/console/audit"),
    ("Policies", "/console/policies"),
    ("Groups", "/console/groups"),
    ("Licenses", "/console/licenses"),
    ("Organizations", "/console/organizations"),
    ("Keys", "/console/tokens"),
    ("Playground", "/console/playground"),
    ("Gateway", "/console/gateway"),
    ("Agents", "/console/agents"),
)


class Visit(NamedTuple):
    """A request of a signed-in user."""

    service: Service
    session: Session
    access: Access

    @property
    def control(self) -> ControlPlane:
        return self.service.control

    @property
    def edits(self) -> bool:
        return self.access.role is not Role.AUDITOR

    @property
    def administers(self) -> bool:
        return self.access.role is Role.ADMIN

    def ask(self, operation: str, *given: object, **query: object) -> Any:
        """Run an operation of the API with the access of the token."""
        method = attrgetter(OPERATIONS[operation].does)(self.control)
        return method(self.access, *given, **query)

    @property
    def scope(self) -> str | None:
        """The chosen organization; None means all."""
        return self.session.org or None

    def organization(self) -> Organization | None:
        """Return the chosen organization, or else the first."""
        found = self.ask("list_organizations")
        return _chosen(found, self.session.org) or (found[0] if found else None)

    def choose(self, org: str) -> None:
        """Limit the pages to an organization, by id or slug, or else show all."""
        found = _chosen(self.ask("list_organizations"), org)
        self.session.org = found.slug if found else ""

    def page(self, template: str, title: str, **values: object) -> str:
        """Render a page in the frame of the console."""
        menu = [(name, path, _is_current(path)) for name, path in _MENU]
        return render_template(
            f"console/{template}.html",
            title=title,
            menu=menu,
            visit=self,
            organizations=self.ask("list_organizations"),
            notices=self.session.take_notices(),
            version=__version__,
            here=request.full_path.rstrip("?"),
            **values,
        )

    def announce(self, text: str, secret: str = "") -> None:
        """Show a message on the next page."""
        self.session.notices.append(Notice("ok", text, secret))

    def announce_refusal(self, error: DlpctlError) -> None:
        """Show on the next page why a request was refused."""
        self.announce_problem(" ".join(error.message.split()))

    def announce_problem(self, text: str) -> None:
        self.session.notices.append(Notice("error", text))


Answer = str | Response
Handler = Callable[..., Answer]
"""Takes the visit and the path parameters."""


class Pages:
    """Adds pages to the blueprint that only signed-in users can open."""

    def __init__(self, blueprint: Blueprint, service: Service) -> None:
        self.service = service
        self._blueprint = blueprint
        for name, function in FILTERS.items():
            blueprint.add_app_template_filter(function, name)
        blueprint.after_request(_add_headers)

    def get(self, path: str, handler: Handler) -> None:
        self.add_view("GET", path, self._guarded(path, handler))

    def post(self, path: str, handler: Handler, limit: int = FORM_BYTES) -> None:
        """Add a page that accepts a body of up to `limit` bytes."""
        self.add_view("POST", path, self._guarded(path, handler, limit))

    def add_view(self, method: str, path: str, view: Callable[..., Any]) -> None:
        """Add a page that everyone can open."""
        self._blueprint.add_url_rule(
            path,
            f"{method}-{path}".replace(".", "-"),
            view,
            methods=[method],
            provide_automatic_options=False,
        )

    def add_errors(self) -> None:
        """Answer errors of these pages with a page."""

        def missing(visit: Visit, rest: str) -> Answer:
            del visit, rest
            raise NotFound

        self.get("/console/<path:rest>", missing)
        self._blueprint.register_error_handler(DlpctlError, self._refused)
        self._blueprint.register_error_handler(HTTPException, _http_error)

    @contextmanager
    def _visit(self) -> Iterator[Visit]:
        """Yield the visit; raise `UnauthorizedError` for users who have not signed in."""
        with self.service.sessions.using(request.cookies.get(COOKIE, "")) as session:
            if session is None:
                raise UnauthorizedError("sign in first")
            access = self.service.control.tokens.access_of(session.token_id)
            yield Visit(self.service, session, access)

    def _guarded(self, path: str, handler: Handler, limit: int = 0) -> Callable[..., Answer]:
        def view(**parameters: str) -> Answer:
            request_context().route = path
            with self._visit() as visit:
                return answer(visit, **parameters)

        def answer(visit: Visit, **parameters: str) -> Answer:
            context = request_context()
            context.caller = visit.access.token_id
            context.add_path_ids(parameters)
            if request.method == "POST":
                refuse_cross_site()
                refuse_larger(request.environ, limit)
                if HEADERS_ONLY in request.environ:
                    context.is_admitted, context.body_limit = True, limit
                    return Response()
                request.max_form_memory_size = limit
                _check_csrf(visit.session)
            elif "org" in request.args or visit.session.org:
                visit.choose(request.args.get("org", visit.session.org))
            return handler(visit, **parameters)

        return view

    def _refused(self, error: DlpctlError) -> Answer:
        if isinstance(error, UnauthorizedError):
            return _to_sign_in()
        if error.http_status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise error
        message = " ".join(error.message.split())
        if _wants_json():
            return _json_error(message, error.http_status)
        return _error_page(error.http_status, message)


def _chosen(organizations: Sequence[Organization], org: str) -> Organization | None:
    return next((each for each in organizations if org in (each.slug, each.org_id)), None)


def see_other(address: str) -> Response:
    """Redirect the browser to another page of the console."""
    if not address.startswith("/console/") or "\\" in address or not address.isprintable():
        address = "/console/"
    made = redirect(address, HTTPStatus.SEE_OTHER, Response)
    return made if isinstance(made, Response) else Response(status=HTTPStatus.SEE_OTHER)


def address(path: str, **query: str | int | None) -> str:
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{quote(path)}?{urlencode(given)}" if given else quote(path)


def refuse_cross_site() -> None:
    """Refuse requests that a page of another site makes the browser send."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None:
        if site not in ("same-origin", "none"):
            raise ForbiddenError("the request comes from another site")
    elif origin is not None and urlsplit(origin).netloc != request.host:
        raise ForbiddenError("the request comes from another site")


def _check_csrf(session: Session) -> None:
    from hmac import compare_digest

    given = request.headers.get(_CSRF_HEADER)
    if given is None:
        given = request.form.get("csrf", "")
    if not compare_digest(given.encode(), session.csrf.encode()):
        raise ForbiddenError("the form is out of date; load the page again")


def offset_asked() -> int:
    """Return the first item to show of a list."""
    given = request.args.get("offset", "") or "0"
    if not given.isdecimal() or not given.isascii() or int(given[:19]) > LARGEST_NUMBER:
        raise RequestError(f"offset: must be a whole number from 0 to {LARGEST_NUMBER:,}")
    return int(given)


def _is_current(path: str) -> bool:
    return request.path == path or (path != "/console/" and request.path.startswith(f"{path}/"))


def _add_headers(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def _wants_json() -> bool:
    return request.headers.get(_CSRF_HEADER) is not None


def _json_error(message: str, status: int) -> Response:
    import json

    body = json.dumps({"detail": message})
    return Response(body, status, content_type="application/json")


def _to_sign_in() -> Answer:
    if _wants_json():
        return _json_error("the session has ended; sign in again", HTTPStatus.UNAUTHORIZED)
    if request.method == "GET" and request.path != "/console/":
        return see_other(address(SIGN_IN, next=request.full_path.rstrip("?")))
    return see_other(SIGN_IN)


def _http_error(error: HTTPException) -> Answer:
    status = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    message = "There is no such page." if status == HTTPStatus.NOT_FOUND else error.name
    return _error_page(status, message)


def _error_page(status: int, message: str) -> Response:
    page = render_template("console/error.html", title="Error", status=status, message=message)
    return Response(page, status, content_type="text/html; charset=utf-8")
