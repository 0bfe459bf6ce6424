"""Requests of clients: inspected and masked, or refused with the reason."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from dlpctl.errors import DlpctlError, InputError
from dlpctl.gateway import jsonbody
from dlpctl.gateway.bodies import RefusedError, form_parts, parameters
from dlpctl.gateway.inspecting import Inspected
from dlpctl.gateway.protocol import Body, Route, Shape
from dlpctl.gateway.streams import path_parts
from dlpctl.regex import lazy
from dlpctl.types import Decision

if TYPE_CHECKING:
    from dlpctl.gateway.admission import Grant
    from dlpctl.gateway.conversations import Conversation, Conversations

CONVERSATION_HEADER = "x-dlpctl-conversation"
_QUERY_VALUE = lazy(r"[A-Za-z0-9_.:;=/+-]{0,512}")
_MODEL = lazy(r"[A-Za-z0-9_.:/-]{1,100}")
_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "x-dlpctl-key")
_NO_TURN = ("cache_control", "role", "type", "id")
_UPLOAD_COMMAND, _UPLOAD_OFFSET = "x-goog-upload-command", "x-goog-upload-offset"
_LONGEST_TURN = 1 << 16


class Request(NamedTuple):
    """A request as the client sent it."""

    protocol: str
    route: Route
    ids: tuple[str, ...]
    """The identifiers in its path."""
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    body: bytes
    """The body without its content encoding."""


class Prepared(NamedTuple):
    """A request that may be sent on."""

    body: bytes
    conversation: Conversation
    decision: Decision
    counts: Counter[str]
    names: frozenset[str] = frozenset()
    """The names of tokens, and the surrogates, whose values may be in the answer."""
    model: str = ""


def prepare(request: Request, grant: Grant, conversations: Conversations) -> Prepared:
    """Inspect a request and mask its body; raise `RefusedError` if it may not be sent on."""
    try:
        if request.route.body is Body.ANY:
            return _any(request, grant, conversations)
        _check_query(request)
        if request.route.body is Body.FORM:
            return _form(request, grant, conversations)
        if request.route.body is Body.UPLOAD and _UPLOAD_COMMAND in request.headers:
            return _upload(request, grant, conversations)
        if not request.body and request.route.body is Body.NONE:
            conversation, names = _conversation(request, None, grant, conversations)
            return Prepared(b"", conversation, Decision.ALLOWED, Counter(), names)
        return _json(request, grant, conversations)
    except RefusedError:
        raise
    except InputError as problem:
        raise RefusedError(400, problem.message) from None
    except DlpctlError as problem:
        raise RefusedError(503, f"the request cannot be inspected: {problem.message}") from None


def _check_query(request: Request) -> None:
    given = dict(request.query)
    for name, value in request.query:
        if name not in request.route.query:
            raise RefusedError(400, "the query has a parameter that cannot be inspected")
        if not _QUERY_VALUE.fullmatch(value):
            raise RefusedError(400, f"the parameter {name} of the query is not valid")
    for name, value in request.route.required.items():
        if given.get(name) != value:
            raise RefusedError(400, f"the query needs {name}={value}")


def _any(request: Request, grant: Grant, conversations: Conversations) -> Prepared:
    """Inspect a request of an application by the content type of its body."""
    conversation, names = _conversation(request, None, grant, conversations)
    _, decision, _, _ = _pairs(request.query, grant, conversation)
    if decision is not Decision.ALLOWED:
        raise RefusedError(400, "the query has values that may not pass; send them in the body")
    media_type = _media_type(request)
    if not request.body:
        return Prepared(b"", conversation, Decision.ALLOWED, Counter(), names)
    if media_type == "application/json" or media_type.endswith("+json"):
        return _json(request, grant, conversations)
    if media_type == "multipart/form-data":
        return _form(request, grant, conversations)
    if media_type == "application/x-www-form-urlencoded":
        given = parse_qsl(jsonbody.decoded(request.body), keep_blank_values=True)
        masked, decision, counts, added = _pairs(given, grant, conversation)
        body = request.body if decision is Decision.ALLOWED else urlencode(masked).encode()
        return Prepared(body, conversation, decision, counts, names | added)
    if media_type in ("text/plain", "text/markdown"):
        _require_utf8(request)
        found, body = _field(request.body, grant, conversation)
        _require(found)
        return Prepared(body, conversation, found.decision, found.counts, names | found.names)
    raise RefusedError(415, "this content type cannot be inspected")


def _pairs(
    pairs: Sequence[tuple[str, str]], grant: Grant, conversation: Conversation
) -> tuple[list[tuple[str, str]], Decision, Counter[str], frozenset[str]]:
    """Return masked names and values, the decision, the counts of types, and the names of
    tokens.
    """
    masked: list[tuple[str, str]] = []
    decision, counts, names = Decision.ALLOWED, Counter[str](), frozenset[str]()
    for name, value in pairs:
        text = json.dumps({name: value})
        found = grant.inspector.inspect(text, {name: value}, Shape(), conversation)
        _require(found)
        counts.update(found.counts)
        names |= found.names
        if found.decision is not Decision.ALLOWED:
            decision = found.decision
        masked += json.loads(jsonbody.spliced(text, found.splices)).items()
    return masked, decision, counts, names


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _require_utf8(request: Request) -> None:
    charset = parameters(request.headers.get("content-type", "")).get("charset", "utf-8").lower()
    if charset not in ("utf-8", "utf8"):
        raise RefusedError(415, "the body must be UTF-8")


def _json(request: Request, grant: Grant, conversations: Conversations) -> Prepared:
    if request.route.body is not Body.ANY and _media_type(request) != "application/json":
        raise RefusedError(415, "the content type must be application/json")
    _require_utf8(request)
    text = jsonbody.decoded(request.body)
    document = jsonbody.loads(text)
    shape = request.route.shape
    _refuse_numbers(document, shape)
    conversation, names = _conversation(request, document, grant, conversations)
    found = grant.inspector.inspect(text, document, shape, conversation)
    _require(found)
    body = request.body
    if found.splices:
        body = jsonbody.spliced(text, found.splices).encode("utf-8")
    model = document.get("model") if isinstance(document, dict) else None
    return Prepared(
        body,
        conversation,
        found.decision,
        found.counts,
        found.names | names,
        _model(model, request),
    )


def _model(given: Any, request: Request) -> str:
    name = given if isinstance(given, str) else "".join(request.ids[:1])
    return name if _MODEL.fullmatch(name) else ""


def _require(found: Inspected) -> None:
    if found.reason:
        raise RefusedError(400, f"the request was not sent: {found.reason}", found)
    if found.decision is Decision.BLOCKED:
        from dlpctl.policy.summary import counted

        listed = ", ".join(counted(*each, {}) for each in found.counts.most_common(5))
        raise RefusedError(400, f"the request was not sent: the policy blocks {listed}", found)


def _refuse_numbers(document: Any, shape: Shape) -> None:
    """Refuse texts that are given as token numbers of a model."""
    for path in shape.numbers:
        given = jsonbody.at(document, path_parts(path))
        if isinstance(given, list) and any(isinstance(each, int | float | list) for each in given):
            raise RefusedError(400, f"{path}: token numbers cannot be inspected; send text")


def _conversation(
    request: Request, document: Any, grant: Grant, conversations: Conversations
) -> tuple[Conversation, frozenset[str]]:
    """Return the conversation of a request, and the names of the tokens that it refers to."""
    shape = request.route.shape
    name = request.headers.get(CONVERSATION_HEADER) or _name(document, shape)
    names = (request.protocol, caller_of(request), name or os.urandom(16).hex())
    conversation = conversations.open(grant.key, *names)
    referred = [jsonbody.at(document, path_parts(path)) for path in shape.refers]
    recalled: set[str] = set()
    for each in (*request.ids, *referred):
        if isinstance(each, str):
            reference = f"{names[0]} {names[1]} {each}"
            recalled |= conversations.recall(grant.key, reference, conversation)
    return conversation, frozenset(recalled)


def caller_of(request: Request) -> str:
    """Return an identifier of the caller that does not contain its credentials."""
    caller = hashlib.sha256()
    given = [request.headers.get(name, "") for name in _CREDENTIALS]
    for value in (*given, dict(request.query).get("key", "")):
        caller.update(value.encode("utf-8", "surrogatepass") + b"\0")
    return caller.hexdigest()


def keep(
    ids: Sequence[str],
    request: Request,
    grant: Grant,
    conversations: Conversations,
    values: Mapping[str, str],
) -> None:
    """Keep the values of a request for later requests that refer to its answer."""
    caller = caller_of(request)
    for each in ids:
        name = each.rpartition("/")[2]  # Google's ids include the name of their resource
        conversations.keep(grant.key, f"{request.protocol} {caller} {name}", values)


def _name(document: Any, shape: Shape) -> str:
    """Return the identity of a conversation: a name, or else its first turn."""
    for path in shape.named:
        given = jsonbody.at(document, path_parts(path))
        if isinstance(given, str) and given:
            return f"named {given}"
    for path in shape.turns:
        turns = jsonbody.at(document, path_parts(path))
        if isinstance(turns, str):
            return f"turn {turns}"
        if isinstance(turns, list) and turns:
            by_user = (
                each for each in turns if isinstance(each, dict) and each.get("role") == "user"
            )
            first = next(by_user, turns[0])
            return f"turn {''.join(_texts(first))[:_LONGEST_TURN]}"
    return ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key not in _NO_TURN:
                yield from _texts(each)


def _form(request: Request, grant: Grant, conversations: Conversations) -> Prepared:
    """Inspect the files and fields of a form."""
    content_type = request.headers.get("content-type", "")
    if _media_type(request) != "multipart/form-data":
        raise RefusedError(415, "the content type must be multipart/form-data")
    conversation, names = _conversation(request, None, grant, conversations)
    found = Inspected(Decision.ALLOWED, Counter(), [])
    pieces: list[bytes] = []
    position = 0
    for part in form_parts(request.body, content_type):
        data = request.body[part.start : part.end]
        if part.filename is not None:
            each, new = _file(data, part.filename, grant, conversation)
        else:
            each, new = _field(data, grant, conversation)
        _require(each)
        found.counts.update(each.counts)
        names |= each.names
        if each.decision is not Decision.ALLOWED:
            found = found._replace(decision=each.decision)
        pieces += (request.body[position : part.start], new)
        position = part.end
    pieces.append(request.body[position:])
    return Prepared(b"".join(pieces), conversation, found.decision, found.counts, names)


def _upload(request: Request, grant: Grant, conversations: Conversations) -> Prepared:
    """Inspect the start of an upload, or the file in it."""
    command = request.headers[_UPLOAD_COMMAND].replace(" ", "").lower()
    if command == "start":
        return _json(request, grant, conversations)
    conversation, names = _conversation(request, None, grant, conversations)
    if command in ("query", "cancel") and not request.body:
        return Prepared(b"", conversation, Decision.ALLOWED, Counter(), names)
    if command != "upload,finalize" or request.headers.get(_UPLOAD_OFFSET, "0") != "0":
        raise RefusedError(400, "a file must come in one piece, since parts cannot be inspected")
    name = f"upload{mimetypes.guess_extension(_media_type(request)) or ''}"
    found, data = _file(request.body, name, grant, conversation)
    _require(found)
    return Prepared(data, conversation, found.decision, found.counts, names | found.names)


def _field(data: bytes, grant: Grant, conversation: Conversation) -> tuple[Inspected, bytes]:
    value = jsonbody.decoded(data)
    text = json.dumps(value)
    found = grant.inspector.inspect(text, value, Shape(), conversation)
    if found.splices and not found.reason:
        data = json.loads(jsonbody.spliced(text, found.splices)).encode("utf-8", "surrogatepass")
    return found, data


def _file(
    data: bytes, name: str, grant: Grant, conversation: Conversation
) -> tuple[Inspected, bytes]:
    named, _ = _field(name.encode("utf-8", "surrogatepass"), grant, conversation)
    if named.decision is not Decision.ALLOWED:
        reason = "the name of a file has values that may not pass; rename it"
        return named._replace(reason=reason), data
    with conversation.lock:
        conversation.given.clear()
        report = grant.files.check(data, name, masker=conversation.masker)
        names = frozenset(conversation.given)
    counts = Counter({each.type: each.occurrences for each in report.report.detected})
    found = Inspected(report.decision, counts, [], names=names)
    if report.masked is None:
        return found._replace(reason=report.summary), data
    return found, report.masked
