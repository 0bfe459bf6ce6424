"""One address for all changes: a form names an operation, its path parameters and its body."""

from __future__ import annotations

from flask import request
from werkzeug.exceptions import NotFound

from dlpctl.control.resources import OPERATIONS
from dlpctl.control.resources.shapes import plain
from dlpctl.errors import DlpctlError, UnauthorizedError
from dlpctl_daemon.console.forms import body_of
from dlpctl_daemon.console.pages import Answer, Pages, Visit, see_other

_DONE = {
    "create_organization": "The organization was created. Its license key:",
    "update_organization": "The organization was changed.",
    "delete_organization": "The organization was deleted; its audit log stays.",
    "create_group": "The group was created.",
    "update_group": "The group was changed.",
    "delete_group": "The group was deleted; its policies stay.",
    "create_license": "The license was created. Its key:",
    "extend_license": "The license was changed.",
    "revoke_license": "The license was revoked, and the policies of its groups were deactivated.",
    "update_policy": "The policy was changed.",
    "delete_policy": "The policy was deleted.",
    "regenerate_key": "The policy has a new key; the old one no longer works:",
    "create_token": "The token was created. It is shown only once:",
    "revoke_token": "The token was revoked.",
    "rotate_keys": "License tokens are signed with a new key.",
}
"""The operations that forms may run, and the message on the next page."""
_SHOWN_ONCE = {
    "create_organization": "license_key",
    "create_license": "license_key",
    "regenerate_key": "api_key",
    "create_token": "token",
}
_PATH = "path."


def act(visit: Visit, operation: str) -> Answer:
    if operation not in _DONE:
        raise NotFound
    declared, form = OPERATIONS[operation], request.form
    after = form.get("next", "")
    given: list[object] = [form.get(f"{_PATH}{name}", "") for name in declared.parameters]
    if declared.body is not None:
        given.append(body_of(declared.body, form))
    try:
        answer = visit.ask(operation, *given)
    except UnauthorizedError:
        raise
    except DlpctlError as error:
        if error.http_status >= 500:
            raise
        visit.announce_refusal(error)
        visit.session.refused = (operation, form.to_dict())
        return see_other(form.get("here", after))
    secret = plain(answer).get(_SHOWN_ONCE.get(operation), "") if answer is not None else ""
    visit.announce(_DONE[operation], secret)
    return see_other(after)


def add_pages(pages: Pages) -> None:
    pages.post("/console/do/<operation>", act)
