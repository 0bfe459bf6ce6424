"""A span processor of OpenTelemetry that masks values before another one exports them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.trace import Event, ReadableSpan, SpanProcessor
from opentelemetry.trace import Link, Status

from dlpctl.errors import DlpctlError
from dlpctl.preflight import Checker

_WITHHELD = "[withheld by dlpctl: the attribute cannot be inspected]"


class MaskingSpanProcessor(SpanProcessor):
    """Wraps the processor that exports: `MaskingSpanProcessor(checker, batch)`."""

    def __init__(self, checker: Checker, following: SpanProcessor) -> None:
        self._checker = checker
        self._following = following

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        self._following.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        events = [
            Event(self._masked(each.name), self._attributes(each.attributes), each.timestamp)
            for each in span.events
        ]
        links = [Link(each.context, self._attributes(each.attributes)) for each in span.links]
        self._following.on_end(
            ReadableSpan(
                name=self._masked(span.name),
                context=span.context,
                parent=span.parent,
                resource=span.resource,
                attributes=self._attributes(span.attributes),
                events=events,
                links=links,
                kind=span.kind,
                status=self._status(span.status),
                start_time=span.start_time,
                end_time=span.end_time,
                instrumentation_scope=span.instrumentation_scope,
            )
        )

    def shutdown(self) -> None:
        self._following.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._following.force_flush(timeout_millis)

    def _status(self, status: Status) -> Status:
        told = status.description
        return Status(status.status_code, None if told is None else self._masked(told))

    def _attributes(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        return {name: self._value(value) for name, value in (given or {}).items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._masked(value)
        if isinstance(value, tuple | list):
            return tuple(map(self._value, value))
        return value

    def _masked(self, text: str) -> str:
        try:
            return self._checker.mask(text)
        except DlpctlError:
            return _WITHHELD
