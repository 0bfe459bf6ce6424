"""Inspect the messages between an MCP client and a server: content in known methods is masked or
refused, and unknown methods pass unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.agents.attachments import attachments, with_attachments, without_attachments
from dlpctl.agents.inspection import inspect
from dlpctl.errors import DlpctlError
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dlpctl.agents.sessions import SessionVault
    from dlpctl.files.checking import FileChecker
    from dlpctl.preflight import Checker

_REQUESTS: dict[str, tuple[str, ...]] = {
    # The parameters in which requests and notifications carry content; empty means all.
    "tools/call": ("arguments",),
    "prompts/get": ("arguments",),
    "resources/read": ("uri",),
    "completion/complete": ("argument", "context"),
    "sampling/createMessage": ("messages", "systemPrompt"),
    "elicitation/create": ("message", "requestedSchema"),
    "notifications/message": ("data",),
    "notifications/progress": ("message",),
    "notifications/tasks/status": ("statusMessage",),
}
_ANSWERS = frozenset(_REQUESTS) | {"tasks/result"}
"""Requests whose responses carry content."""
_REFUSED = -32001
_UNCONSTRAINED = {"type", "title", "description", "default", "examples", "$comment"}

Message = dict[str, Any]


class Forwarded(NamedTuple):
    """A message to forward, a message to return to the sender, or neither."""

    onward: Message | None = None
    back: Message | None = None


class _RefusedError(Exception):
    """Content that may not pass."""


class Inspector:
    """Inspects the messages of one session, in both directions."""

    def __init__(self, checker: Checker, files: FileChecker, vault: SessionVault) -> None:
        self._checker = checker
        self._files = files
        self._vault = vault
        self._schemas: dict[str, Any] = {}
        """The output schemas of tools."""
        self._pending: dict[tuple[bool, str, object], tuple[str, str]] = {}
        """The methods of pending requests and the tools that they call, by sender and id."""

    def forward(self, message: Any, *, to_server: bool) -> Forwarded:
        """Return what to do with a message from the client or from the server."""
        if not isinstance(message, dict):
            return Forwarded()
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str):
            return self._request(message, method, to_server=to_server)
        if number is None:
            return Forwarded(message) if "error" not in message else self._answer(message, "", "")
        key = (not to_server, type(number).__name__, _hashable(number))
        method, tool = self._pending.pop(key, ("", ""))
        return self._answer(message, method, tool)

    def _request(self, message: Message, method: str, *, to_server: bool) -> Forwarded:
        params = message.get("params")
        tool = str(params.get("name", "")) if isinstance(params, dict) else ""
        number = message.get("id")
        if number is not None:
            key = (to_server, type(number).__name__, _hashable(number))
            self._pending[key] = (method, tool)
        if method not in _REQUESTS or not isinstance(params, dict):
            return Forwarded(message)
        names = [name for name in _REQUESTS[method] if name in params]
        try:
            changed = self._masked({name: params[name] for name in names})
        except _RefusedError as refusal:
            if number is None:
                return Forwarded()
            self._pending.pop(key, None)
            return Forwarded(back=_refusal(number, method, str(refusal)))
        if changed is None:
            return Forwarded(message)
        return Forwarded(message | {"params": params | changed})

    def _answer(self, message: Message, method: str, tool: str) -> Forwarded:
        name = "error" if "error" in message else "result"
        content = message.get(name)
        if method == "tools/list" and isinstance(content, dict):
            self._learn_schemas(content)
        if name == "result" and method not in _ANSWERS:
            return Forwarded(message)
        try:
            changed = self._masked(content)
            if changed is not None and isinstance(content, dict) and tool in self._schemas:
                self._require_schema(content, changed, self._schemas[tool])
        except _RefusedError as refusal:
            return Forwarded(_refusal(message.get("id"), method, str(refusal)))
        return Forwarded(message if changed is None else message | {name: changed})

    def _masked(self, content: Any) -> Any:
        """Return content with its values masked; None if it has none."""
        try:
            for data, name in attachments(content):
                report = self._files.check(data, name)
                if report.decision is not Decision.ALLOWED:
                    raise _RefusedError(f"an attachment may not pass: {report.summary}")
            without = without_attachments(content)
            found = inspect(self._checker, without, self._vault)
        except DlpctlError as problem:
            raise _RefusedError(problem.message) from None
        if found.decision is Decision.ALLOWED:
            return None
        if found.decision is Decision.BLOCKED or found.content is None:
            raise _RefusedError(f"the content has {found.summary}, which may not pass")
        return with_attachments(found.content, content)

    def _learn_schemas(self, listed: Mapping[str, Any]) -> None:
        tools = listed.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("outputSchema"), dict):
                self._schemas[str(tool.get("name"))] = tool["outputSchema"]

    def _require_schema(self, before: Message, after: Message, schema: Any) -> None:
        """Refuse a result that may no longer satisfy the output schema of its tool."""
        key = "structuredContent"
        if key in before and not _still_fits(before[key], after.get(key), schema):
            raise _RefusedError("the structured content cannot be masked within its outputSchema")


def _still_fits(before: Any, after: Any, schema: Any) -> bool:
    """Return whether a masked value satisfies a schema that the original satisfied; False for any
    schema that is not simple.
    """
    if before == after:
        return True
    if not isinstance(schema, dict) or type(before) is not type(after):
        return False
    if isinstance(before, str):
        return not schema.keys() - _UNCONSTRAINED and schema.get("type", "string") == "string"
    if isinstance(before, list):
        items = schema.get("items", {})
        return all(_still_fits(old, new, items) for old, new in zip(before, after, strict=True))
    if isinstance(before, dict) and before.keys() == after.keys():
        members, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        fallback = {} if others is True else others
        return all(_still_fits(before[k], after[k], members.get(k, fallback)) for k in before)
    return False


def _refusal(number: object, method: str, reason: str) -> Message:
    """Return the response to a request that was refused, or whose response was refused."""
    text = f"dlpctl: refused: {reason}"
    answer: Message = {"jsonrpc": "2.0", "id": number}
    if method == "tools/call":
        result = {"content": [{"type": "text", "text": text}], "isError": True}
        return answer | {"result": result}
    return answer | {"error": {"code": _REFUSED, "message": text}}


def _hashable(number: object) -> object:
    return number if isinstance(number, str | int | float) else str(number)
