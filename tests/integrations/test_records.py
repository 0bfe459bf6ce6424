"""Log records and spans are masked before they are written."""

from __future__ import annotations

import io
import logging

import pytest

from dlpctl.detect.engine import Detector
from dlpctl.integrations.logs import MaskingFilter
from dlpctl.policy.model import Policy
from dlpctl.preflight import Checker
from dlpctl.types import Destination

MAIL = "maria.lopez@acme-corp.com"


@pytest.fixture(scope="module")
def checker(library: Detector) -> Checker:
    return Checker(library, Policy.builtin(), Destination.VENDOR)


def test_messages_arguments_and_errors_are_masked(checker: Checker) -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.addFilter(MaskingFilter(checker))
    logger = logging.Logger("made-up")
    logger.addHandler(handler)
    logger.warning("sent to %s, %d times", MAIL, 3)
    logger.warning("broken %d", "x")
    try:
        raise ValueError(MAIL)
    except ValueError:
        logger.exception("failed")
    text = written.getvalue()
    assert MAIL not in text
    assert "sent to m***@acme-corp.com, 3 times" in text
    assert "ValueError: m***@acme-corp.com" in text
    assert "broken %d" in text


def test_extra_fields_are_masked(checker: Checker) -> None:
    record = logging.makeLogRecord({"msg": "sent", "to": MAIL, "count": 3, "exc_text": MAIL})
    record.all = {"first": [MAIL], "error": ValueError(MAIL)}
    assert MaskingFilter(checker).filter(record)
    assert MAIL not in repr(vars(record))
    assert vars(record)["count"] == 3
    assert vars(record)["to"] == "m***@acme-corp.com"


def test_the_errors_and_links_of_spans_are_masked(checker: Checker) -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace import Link

    from dlpctl.integrations.traces import MaskingSpanProcessor

    exporter = InMemorySpanExporter()
    provider = trace.TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(MaskingSpanProcessor(checker, SimpleSpanProcessor(exporter)))
    tracer = provider.get_tracer("made-up")
    with tracer.start_as_current_span("first") as first:
        link = Link(first.get_span_context(), {"to": MAIL})
    with (
        pytest.raises(ValueError, match="acme"),
        tracer.start_as_current_span("second", links=[link]),
    ):
        raise ValueError(MAIL)
    done = exporter.get_finished_spans()[1]
    assert MAIL not in done.to_json()
    assert done.status.description == "ValueError: m***@acme-corp.com"
    assert dict(done.links[0].attributes) == {"to": "m***@acme-corp.com"}


def test_spans_are_masked(checker: Checker) -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from dlpctl.integrations.traces import MaskingSpanProcessor

    exporter = InMemorySpanExporter()
    provider = trace.TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(MaskingSpanProcessor(checker, SimpleSpanProcessor(exporter)))
    with provider.get_tracer("made-up").start_as_current_span("send", attributes={"n": 3}) as span:
        span.set_attribute("to", MAIL)
        span.set_attribute("all", [MAIL, "b"])
        span.add_event("sent", {"to": MAIL})
    done = exporter.get_finished_spans()[0]
    assert MAIL not in done.to_json()
    assert done.attributes == {
        "n": 3,
        "to": "m***@acme-corp.com",
        "all": ("m***@acme-corp.com", "b"),
    }
