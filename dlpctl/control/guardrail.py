"""Checks for third-party gateways, authorized by a policy's key: masked texts, or a reason to
block.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from dlpctl.control.checks import Checks, Limits
from dlpctl.control.inspection import check_file
from dlpctl.control.resources.guardrail import GuardrailAnswer, GuardrailRequest, Intervention
from dlpctl.errors import TooLargeError
from dlpctl.policy.summary import counted
from dlpctl.types import Decision, Destination

if TYPE_CHECKING:
    from dlpctl.preflight import Checker, Report

_MARGIN = 64
"""Characters at the end of a text that may belong to a value that only later text reveals."""
_LONGEST_WORD = 4_096
_ENCODED = ("file_data", "data", "base64")
_ADDRESSES = (
    *("image_url", "file_url", "file_id", "source.url"),
    *("image_url.url", "video_url.url", "audio_url.url"),
)
"""Fields that hold a file, and fields that hold the address of a file."""
_SEALED = {"thinking": ("signature",), "redacted_thinking": ("data",)}
"""Fields that a provider has signed or encrypted, by the type of their block."""
_TO = {"request": Destination.AI_TOOL, "response": Destination.CUSTOMER}


class Guardrails:
    def __init__(self, checks: Checks, limits: Limits) -> None:
        self._checks = checks
        self._limits = limits

    def check(self, api_key: str | None, body: Mapping[str, Any]) -> GuardrailAnswer:
        """Check the content of a request for AI_TOOL, or of an answer for CUSTOMER."""
        given = GuardrailRequest.read(body)
        opened = self._checks.open(api_key, _TO[given.input_type])
        found = _Found(opened.checker(), self._limits)
        texts = [found.mask(each) for each in given.texts or ()]
        for image in given.images or ():
            found.judge_file(image, "image")
        for what, value in (("calls", given.tool_calls), ("definitions", given.tools)):
            found.judge(value, f"the {what} of tools have values that cannot be masked there")
        seen = {*(given.texts or ()), *(given.images or ())}
        seen.update(_strings([given.tool_calls, given.tools]))
        found.judge_rest(given.structured_messages, seen)
        changed = texts != list(given.texts or ())
        decision = Decision.ALLOWED_WITH_MASKING if changed else Decision.ALLOWED
        size = sum(len(each.encode("utf-8", "surrogatepass")) for each in given.texts or ())
        opened.record(Decision.BLOCKED if found.reasons else decision, found.counts, size)
        if found.reasons:
            listed = ", ".join(counted(*each, {}) for each in found.counts.most_common(5))
            reason = f"dlpctl: {found.reasons[0]}{f' ({listed})' if listed else ''}"
            return GuardrailAnswer(Intervention.BLOCKED.value, reason, None, None)
        held = None
        if given.input_type == "response":
            held = [found.open_end(*each) for each in zip(given.texts or (), texts, strict=True)]
        if not changed:
            return GuardrailAnswer(Intervention.NONE.value, None, None, held)
        return GuardrailAnswer(Intervention.INTERVENED.value, None, texts, held)


class _Found:
    """The findings in the content of a request or an answer."""

    def __init__(self, checker: Checker, limits: Limits) -> None:
        self._checker = checker
        self._limits = limits
        self.counts: Counter[str] = Counter()
        self.reasons: list[str] = []
        """The reasons to block."""

    def mask(self, text: str) -> str:
        report = self._checked(text)
        if report.masked_content is None:
            self.reasons.append("the policy blocks a value")
            return text
        return report.masked_content

    def _checked(self, text: str) -> Report:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > self._limits.text_bytes:
            raise TooLargeError(f"texts: {size:,} bytes are too many for one of them")
        report = self._checker.check(text)
        self._count(report)
        return report

    def open_end(self, text: str, masked: str) -> int:
        """Return the length of the end of a masked text that later text may change: the last
        characters with their word, and the values that extend into them.
        """
        sure = max(len(text) - _MARGIN, 0)
        start = max(sure - _LONGEST_WORD, 0)
        sure = max(text.rfind(blank, start, sure) for blank in " \n\t") + 1 or start
        if masked == text:
            return len(text) - sure
        for finding in sorted(self._checker.scan(text), key=attrgetter("end"), reverse=True):
            if finding.end > sure:
                sure = min(sure, finding.start)
        before = self._checker.check(text[:sure]).masked_content or ""
        return max(len(masked) - len(before), 0)

    def judge(self, value: object, reason: str) -> None:
        """Inspect content that cannot be masked in place."""
        if value:
            report = self._checked(json.dumps(value, ensure_ascii=False))
            if report.decision is not Decision.ALLOWED:
                self.reasons.append(reason)

    def judge_rest(self, messages: object, seen: set[str]) -> None:
        """Inspect the files and texts of messages that were not inspected elsewhere."""
        files: list[tuple[str, str]] = []
        rest = _unseen(messages, "", seen, files)
        for content, name in files:
            self.judge_file(content, name)
        self.judge(rest, "a message has values in a field that cannot be masked")

    def judge_file(self, content: str, name: str) -> None:
        """Inspect a file and block it if it has values: LiteLLM sends the original, whatever the
        answer.
        """
        what = "image" if name == "image" else "file"
        head, _, encoded = content.partition(",")
        try:
            if not (head.lower().startswith("data:") and ";base64" in head.lower()):
                raise ValueError
            data = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            self.reasons.append(f"the content of a {what} is not in the message, or unreadable")
            return
        report, masked = check_file(self._checker, data, name, self._limits.reading)
        self._count(report)
        if report.decision is Decision.BLOCKED:
            self.reasons.append(f"a {what} may not pass")
        elif masked not in (None, data):
            self.reasons.append(f"a {what} has values that cannot be masked there")

    def _count(self, report: Report) -> None:
        self.counts.update({each.type: each.occurrences for each in report.detected})


def _unseen(value: object, key: str, seen: set[str], files: list[tuple[str, str]]) -> object:
    """Return a message without its files and without strings that were already inspected."""
    if isinstance(value, str):
        if value in seen:
            return None
        if key in _ENCODED and value[:5].lower() != "data:":
            value = f"data:;base64,{value}"
        if key in (*_ENCODED, *_ADDRESSES) or value[:5].lower() == "data:":
            files.append((value, "image" if "url" in key else "file"))
            return None
        return value
    if isinstance(value, list):
        return [left for each in value if (left := _unseen(each, key, seen, files))] or None
    if not isinstance(value, dict):
        return value
    name = str(value.get("filename") or f"file.{value.get('format', '')}")
    sealed = _SEALED.get(str(value.get("type")), ())
    own: list[tuple[str, str]] = []
    rest = {
        each: left
        for each, field in value.items()
        if each not in sealed and (left := _unseen(field, _key(key, each), seen, own))
    }
    files += [(content, name if what == "file" else what) for content, what in own]
    return rest or None


def _key(parent: str, name: str) -> str:
    return f"{parent}.{name}" if name == "url" else name


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
