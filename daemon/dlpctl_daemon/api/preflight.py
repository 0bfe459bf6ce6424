"""Checks of texts and files."""

from __future__ import annotations

from collections import Counter
from urllib.parse import quote

from flask import Request, Response, request

from dlpctl.control.records import CheckResult
from dlpctl.errors import RequestError
from dlpctl_daemon.bodies import body_length, fits
from dlpctl_daemon.endpoints import Call, Guard, Resource
from dlpctl_daemon.forms import Part, read_parts
from dlpctl_daemon.options import Options
from dlpctl_daemon.schemas import SCHEMAS, text

resource = Resource(
    "Preflight", "Checks of content before it goes somewhere, by the policy whose key opens them."
)

_RATE = (429,)
_OPTIONAL = ("org_id", "policy_id")
"""Fields of the form that browsers and libraries send empty where nothing was chosen."""
_ONE = "/api/preflight/<preflight:preflight_id>"


@resource.endpoint(
    "POST",
    "/api/preflight/text",
    answer="PreflightResult",
    guard=Guard.POLICY_KEY,
    body="TextCheck",
    fails=(404, *_RATE),
    is_direct=True,
)
def check_text(call: Call) -> object:
    """Check a text"""
    body = call.body
    fits("TextCheck", body)
    submitted = call.control.checks.submit_text(
        call.key,
        body["text"],
        body["destination"],
        org_id=body.get("org_id"),
        policy_id=body.get("policy_id"),
    )
    call.note.ticket = submitted.ticket
    return _answer(call, "text", submitted.result)


@resource.endpoint(
    "POST",
    "/api/preflight",
    answer="PreflightResult",
    guard=Guard.POLICY_KEY,
    form="FileCheck",
    fails=(404, *_RATE),
)
def check_file(call: Call) -> object:
    """Check a file"""
    fields, file = _form(request)
    result = call.control.checks.check_file(
        call.key,
        file.data,
        _base_name(file.filename or ""),
        fields["destination"],
        org_id=fields.get("org_id"),
        policy_id=fields.get("policy_id"),
    )
    return _answer(call, "file", result)


@resource.endpoint("GET", _ONE, answer="PreflightResult", guard=Guard.POLICY_KEY, fails=_RATE)
def get_check(call: Call, preflight_id: str) -> object:
    """Show an earlier check by the key's policy, or one that the key asked for"""
    return call.control.checks.get(call.key, preflight_id).to_dict(base_url(call.service.options))


@resource.endpoint(
    "GET",
    f"{_ONE}/file",
    answer=text("the file", contentMediaType="application/octet-stream"),
    guard=Guard.POLICY_KEY,
    query={"expires": text("as in masked_file_url"), "signature": text("as in masked_file_url")},
    media="application/octet-stream",
    fails=_RATE,
)
def get_masked_file(call: Call, preflight_id: str) -> Response:
    """Give the masked copy of a file, by the address that its check has given"""
    query = call.query
    file = call.control.checks.file(
        call.key, preflight_id, query.get("expires"), query.get("signature")
    )
    named = quote(file.name or "masked", safe="")
    return Response(
        file.data,
        content_type="application/octet-stream",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{named}"},
    )


def base_url(options: Options) -> str:
    """The address that the client has used, or that it is known by."""
    return options.public_url or request.host_url.rstrip("/")


def _answer(call: Call, kind: str, result: CheckResult) -> object:
    call.note.kind, call.note.decision = kind, result.decision
    return result.to_dict(base_url(call.service.options) if result.is_file else "")


def _form(sent: Request) -> tuple[dict[str, str], Part]:
    """Return the fields that hold something, and the file."""
    boundary = sent.mimetype_params["boundary"]
    parts = read_parts(sent.environ["wsgi.input"], boundary, body_length(sent.environ))
    for name, times in Counter(part.name for part in parts).items():
        if times > 1 and name in SCHEMAS["FileCheck"]["properties"]:
            raise RequestError(f"{name}: stands there {times} times; once is enough")
    files = {part.name: part for part in parts if part.filename is not None}
    texts = {
        part.name: part.data.decode("utf-8", "replace") for part in parts if part.filename is None
    }
    fields = {name: text for name, text in texts.items() if text or name not in _OPTIONAL}
    if "file" in fields:
        raise RequestError("file: must be sent as a file, with a filename")
    fits("FileCheck", fields | dict.fromkeys(files, ""))
    return fields, files["file"]


def _base_name(name: str) -> str:
    """The name alone, without folders of whatever system and without what cannot be printed."""
    last = name.replace("\\", "/").rpartition("/")[2]
    printable = "".join(character for character in last if character.isprintable())
    return "" if printable in (".", "..") else printable
