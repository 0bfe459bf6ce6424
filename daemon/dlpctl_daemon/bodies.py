"""Reads bodies and queries of requests.

A body that can be read in two ways is refused: another program may read it the other way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # not known to typeshed
from typing import TYPE_CHECKING, Any, NoReturn

from flask import Request
from werkzeug.http import parse_options_header

from dlpctl.control.resources.fields import Field
from dlpctl.errors import DlpctlError, RequestError, TooLargeError

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_BLANKS = re.compile(r"[ \t\r\n]*")
_LARGEST_UNSEEN = 1 << 19
"""Bytes of JSON that are parsed in a few milliseconds, whatever they are."""
_MOST_FIELDS = 16
_HALF_CHARACTER = re.compile(rb"\\[uU][dD][89a-fA-F]")


class MalformedError(DlpctlError):
    """A request that cannot be read at all."""

    code = "malformed"
    http_status = 400


class MediaTypeError(DlpctlError):
    """A body whose media type is not taken."""

    code = "media-type"
    http_status = 415


def check_json(environ: WSGIEnvironment, limit: int) -> None:
    """Refuse a JSON body by its headers."""
    if environ.get("CONTENT_TYPE") != "application/json":  # as nearly all write it
        mimetype, parameters = parse_options_header(environ.get("CONTENT_TYPE"))
        if mimetype.lower() != "application/json":
            raise MediaTypeError("Content-Type: must be application/json")
        if parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
            raise MediaTypeError("Content-Type: JSON is always UTF-8")
    if environ.get("HTTP_CONTENT_ENCODING", "identity") != "identity":
        raise MediaTypeError("Content-Encoding: bodies are taken as they are, not compressed")
    refuse_larger(environ, limit)


def check_form(environ: WSGIEnvironment, limit: int) -> None:
    """Refuse a form with a file by its headers."""
    mimetype, parameters = parse_options_header(environ.get("CONTENT_TYPE"))
    if mimetype.lower() != "multipart/form-data":
        raise MediaTypeError("Content-Type: must be multipart/form-data")
    if not parameters.get("boundary"):
        raise MalformedError("Content-Type: names no boundary")
    refuse_larger(environ, limit)


def read_json(environ: WSGIEnvironment) -> dict[str, Any]:
    return parse_json(environ["wsgi.input"].read(body_length(environ)))


def read_texts(environ: WSGIEnvironment) -> dict[str, Any]:
    """Read a JSON object whose fields are texts; a large one with others is refused before it is
    parsed.
    """
    data = environ["wsgi.input"].read(body_length(environ))
    if len(data) > _LARGEST_UNSEEN and not _holds_texts(data):
        raise RequestError("the fields of a large request must be texts, and few")
    return parse_json(data)


def _holds_texts(data: bytes) -> bool:
    """Return whether this is a JSON object of a few texts, or no JSON at all.

    Nothing else may run while JSON is parsed. A large text takes a millisecond, but the same size
    of numbers a quarter of a second.
    """
    text = data.decode("utf-8", "replace")
    try:
        at = _skip(text, 0)
        if not text.startswith("{", at):
            return not text.startswith("[", at)
        for _ in range(_MOST_FIELDS):
            at = _skip(text, at + 1)  # over the brace or comma
            if not text.startswith('"', at):
                return text.startswith("}", at)
            at = _skip(text, scanstring(text, at + 1)[1])
            at = _skip(text, at + 1)  # over the colon
            if text.startswith('"', at):
                at = scanstring(text, at + 1)[1]
            elif text.startswith("null", at):
                at += len("null")
            else:
                return False
            at = _skip(text, at)
            if not text.startswith(",", at):
                return True
    except json.JSONDecodeError:
        return True
    return False


def _skip(text: str, at: int) -> int:
    """Return where the blanks from there end."""
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def parse_json(data: bytes) -> dict[str, Any]:
    try:
        value = _DECODER.decode(data.decode("utf-8"))
    except UnicodeDecodeError as problem:
        raise MalformedError(f"the body is not UTF-8 at byte {problem.start}") from None
    except json.JSONDecodeError as problem:
        raise MalformedError(
            f"the body is not JSON: {problem.msg} at line {problem.lineno}, column {problem.colno}"
        ) from None
    except RecursionError:
        raise MalformedError("the body is nested too deeply") from None
    except ValueError:
        raise MalformedError("the body holds a number with too many digits") from None
    if not isinstance(value, dict):
        raise RequestError("the request must be a JSON object")
    if _HALF_CHARACTER.search(data) and not _is_text(value):
        raise MalformedError("the body holds half of a surrogate pair, which is no character")
    return value


def refuse_larger(environ: WSGIEnvironment, limit: int) -> None:
    if body_length(environ) > limit:
        raise TooLargeError(f"the body is larger than {limit:,} bytes, which is the limit here")


def body_length(environ: WSGIEnvironment) -> int:
    """Return the length of the body, which the server knows once it has read the body."""
    given = environ.get("CONTENT_LENGTH", "")
    return int(given) if given.isdecimal() else 0


def read_query(request: Request, wanted: Mapping[str, Field]) -> dict[str, Any]:
    """Return the parameters that are there, numbers as numbers."""
    read: dict[str, Any] = {}
    for name, field in wanted.items():
        values = request.args.getlist(name)
        if not values:
            continue
        if len(values) > 1:
            raise RequestError(f"{name}: is there {len(values)} times; once is enough")
        schema = field.schema or {}
        if schema["type"] != "integer":
            read[name] = values[0]
        elif _WHOLE.fullmatch(values[0]):
            read[name] = int(values[0])
        else:
            raise RequestError(f"{name}: must be a whole number")
    return read


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise MalformedError("the body names a field twice in one object")
    return table


def _no_constants(name: str) -> NoReturn:
    raise MalformedError(f"the body holds {name}, which is no JSON")


def _is_text(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


_DECODER = json.JSONDecoder(object_pairs_hook=_no_repeats, parse_constant=_no_constants)
