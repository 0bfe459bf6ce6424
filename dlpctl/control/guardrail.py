"""Checks for gateways of others, by a policy's key: masked texts, or the reason to block."""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dlpctl.control.checks import Checks, Limits
from dlpctl.control.filecheck import check_file
from dlpctl.control.resources.guardrail import GuardrailAnswer, GuardrailRequest, Intervention
from dlpctl.errors import TooLargeError
from dlpctl.policy.summary import counted
from dlpctl.types import Decision, Destination

if TYPE_CHECKING:
    from dlpctl.preflight import Checker, Report

_TO = {"request": Destination.AI_TOOL, "response": Destination.CUSTOMER}


class Guardrails:
    def __init__(self, checks: Checks, limits: Limits) -> None:
        self._checks = checks
        self._limits = limits

    def check(self, api_key: str | None, body: Mapping[str, Any]) -> GuardrailAnswer:
        """Check the content of a request for AI_TOOL, and that of an answer for CUSTOMER."""
        given = GuardrailRequest.read(body)
        opened = self._checks.open(api_key, _TO[given.input_type])
        checker = opened.checker()
        counts: Counter[str] = Counter()
        reasons: list[str] = []
        texts = [self._text(checker, each, counts, reasons) for each in given.texts or ()]
        for image in given.images or ():
            self._judge_image(checker, image, counts, reasons)
        for what, value in (("calls", given.tool_calls), ("definitions", given.tools)):
            written = json.dumps(value, ensure_ascii=False) if value else ""
            if self._text(checker, written, counts, reasons) != written:
                reasons.append(f"the {what} of tools have values that cannot be masked there")
        changed = texts != list(given.texts or ())
        decision = Decision.ALLOWED_WITH_MASKING if changed else Decision.ALLOWED
        size = sum(len(each.encode("utf-8", "surrogatepass")) for each in given.texts or ())
        opened.record(Decision.BLOCKED if reasons else decision, counts, size)
        if reasons:
            found = ", ".join(counted(*each, {}) for each in counts.most_common(5))
            reason = f"dlpctl: {reasons[0]}{f' ({found})' if found else ''}"
            return GuardrailAnswer(Intervention.BLOCKED.value, reason, None)
        if not changed:
            return GuardrailAnswer(Intervention.NONE.value, None, None)
        return GuardrailAnswer(Intervention.INTERVENED.value, None, texts)

    def _text(self, checker: Checker, text: str, counts: Counter[str], reasons: list[str]) -> str:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > self._limits.text_bytes:
            raise TooLargeError(f"texts: {size:,} bytes are too many for one of them")
        report = checker.check(text)
        _count(report, counts)
        if report.masked_content is None:
            reasons.append("the policy blocks a value")
            return text
        return report.masked_content

    def _judge_image(
        self, checker: Checker, image: str, counts: Counter[str], reasons: list[str]
    ) -> None:
        """Let an image without values pass: LiteLLM sends the original, whatever is answered."""
        head, comma, encoded = image.partition(",")
        try:
            if not comma or not head.lower().startswith("data:") or ";base64" not in head.lower():
                raise ValueError
            data = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            reasons.append("an image is no data: URI and cannot be inspected")
            return
        report, masked = check_file(checker, data, "image", self._limits.reading)
        _count(report, counts)
        if report.decision is Decision.BLOCKED:
            reasons.append("an image may not pass")
        elif masked not in (None, data):
            reasons.append("an image has values that cannot be masked there")


def _count(report: Report, counts: Counter[str]) -> None:
    counts.update({each.type: each.occurrences for each in report.detected})
