"""Checks of texts and files."""

from __future__ import annotations

from collections import Counter
from urllib.parse import quote

from flask import Request, Response, request

from dlpctl.control.resources.preflight import CheckResult, FileCheck, TextCheck
from dlpctl.errors import RequestError
from dlpctl_daemon.bodies import body_length
from dlpctl_daemon.endpoints import Call, Handler
from dlpctl_daemon.forms import Part, read_parts
from dlpctl_daemon.options import Options

_OPTIONAL = ("org_id", "policy_id")
"""Fields of the form that browsers and libraries send empty where nothing was chosen."""


def check_text(call: Call) -> object:
    given = TextCheck.read(call.body)
    submitted = call.control.checks.submit_text(
        call.key,
        given.text,
        given.destination,
        org_id=given.org_id,
        policy_id=given.policy_id,
    )
    call.context.ticket = submitted.ticket
    return _answer(call, "text", submitted.result)


def check_file(call: Call) -> object:
    fields, file = _form(request)
    result = call.control.checks.check_file(
        call.key,
        file.data,
        base_name(file.filename or ""),
        fields.destination,
        org_id=fields.org_id,
        policy_id=fields.policy_id,
    )
    return _answer(call, "file", result)


def get_check(call: Call, preflight_id: str) -> object:
    return call.control.checks.get(call.key, preflight_id).to_dict(base_url(call.service.options))


def get_masked_file(call: Call, preflight_id: str) -> Response:
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
    """Return the public address of the service, or else the one that the client has used."""
    return options.public_url or request.host_url.rstrip("/")


def _answer(call: Call, content: str, result: CheckResult) -> object:
    call.context.content, call.context.decision = content, result.decision
    return result.to_dict(base_url(call.service.options) if result.is_file else "")


def _form(sent: Request) -> tuple[FileCheck, Part]:
    """Return the fields that are not empty, and the file."""
    boundary = sent.mimetype_params["boundary"]
    parts = read_parts(sent.environ["wsgi.input"], boundary, body_length(sent.environ))
    for name, times in Counter(part.name for part in parts).items():
        if times > 1 and name in FileCheck.fields:
            raise RequestError(f"{name}: is there {times} times; once is enough")
    files = {part.name: part for part in parts if part.filename is not None}
    texts = {
        part.name: part.data.decode("utf-8", "replace") for part in parts if part.filename is None
    }
    fields = {name: text for name, text in texts.items() if text or name not in _OPTIONAL}
    if "file" in fields:
        raise RequestError("file: must be sent as a file, with a filename")
    return FileCheck.read(fields | dict.fromkeys(files, "")), files["file"]


def base_name(name: str) -> str:
    """Return the name without folders of whatever system and without what cannot be printed."""
    last = name.replace("\\", "/").rpartition("/")[2]
    printable = "".join(character for character in last if character.isprintable())
    return "" if printable in (".", "..") else printable


HANDLERS: tuple[Handler, ...] = (check_text, check_file, get_check, get_masked_file)
