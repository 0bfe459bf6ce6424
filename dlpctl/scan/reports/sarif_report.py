"""SARIF 2.1.0, in the form that GitHub's code scanning reads."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import quote

from dlpctl.scan.reports import BaseReport, Setting, Write, message_of, shortcomings
from dlpctl.scan.reports.advice import advice, rotation
from dlpctl.scan.results import FAILURES, Result, Skip, Summary
from dlpctl.scan.source import is_address

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SEVERITY = {"SECRETS": "8.5", "PHI": "8.0", "FINANCIAL": "7.0", "PII": "6.0", "CUSTOM": "5.0"}
"""GitHub sorts by this value, and calls 7 or more high."""


class Sarif(BaseReport):
    """Writes results as they come, followed by their rules and the problems of the scan."""

    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        self._rules: dict[str, dict[str, Any]] = {}
        self._rule_numbers: dict[str, int] = {}
        self._notifications: list[dict[str, Any]] = []
        write(
            f'{{"$schema": "{_SCHEMA}", "version": "2.1.0",'
            ' "runs": [{"columnKind": "unicodeCodePoints", "results": ['
        )

    def add(self, result: Result) -> None:
        rule = self._rule_numbers.setdefault(result.pattern_id, len(self._rule_numbers))
        if result.pattern_id not in self._rules:
            self._rules[result.pattern_id] = _rule(result)
        found: dict[str, Any] = {
            "ruleId": result.pattern_id,
            "ruleIndex": rule,
            "level": self.level(result),
            "message": {"text": message_of(result)},
            "locations": [{"physicalLocation": _physical_location(result)}],
            "partialFingerprints": {"dlpctl/v1": result.identity},
            "properties": {"type": result.type, "category": result.category, "score": result.score},
        }
        if result.fingerprint:
            found["fingerprints"] = {"dlpctlValue/v1": result.fingerprint}
        if result.commit:
            found["properties"] |= {"commit": result.commit, "date": result.date}
        self.write_item(json.dumps(found))

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES:
            location = {"physicalLocation": {"artifactLocation": _artifact(skip.path)}}
            problem = _notification(skip.reason, "error")
            self._notifications.append(problem | {"locations": [location]})

    def finish(self, summary: Summary) -> None:
        remarks = [
            *self._notifications,
            *(_notification(sentence, "warning") for sentence in shortcomings(summary)),
        ]
        invocation = {
            "executionSuccessful": summary.is_complete,
            "toolExecutionNotifications": remarks,
        }
        driver = {
            "name": "dlpctl",
            "semanticVersion": self._setting.version,
            "rules": list(self._rules.values()),
        }
        self._write(
            f'\n], "tool": {json.dumps({"driver": driver})},'
            f' "invocations": {json.dumps([invocation])},'
            f' "properties": {json.dumps(summary.to_dict())}}}]}}\n'
        )


def _rule(result: Result) -> dict[str, Any]:
    message, how = advice(result), rotation(result)
    name = "".join(part.capitalize() for part in result.pattern_id.replace("_", "-").split("-"))
    rule: dict[str, Any] = {
        "id": result.pattern_id,
        "name": name,
        "shortDescription": {"text": result.label},
        "fullDescription": {"text": f"{result.label} ({result.type}, {result.category})"},
        "help": {"text": message, "markdown": f"**{result.label}** (`{result.type}`)\n\n{message}"},
        "defaultConfiguration": {"level": "error"},
        "properties": {
            "tags": list(dict.fromkeys(("security", result.category, result.type))),
            "precision": "high",
            "security-severity": _SEVERITY.get(result.category, "5.0"),
        },
    }
    if how is not None:
        rule["properties"]["rotation"] = how.to_dict()
    return rule | ({"helpUri": how.page} if how and how.page else {})


def _physical_location(result: Result) -> dict[str, Any]:
    region = {"startLine": result.line}
    if result.has_columns:
        region |= {
            "startColumn": result.column,
            "endLine": result.end_line,
            "endColumn": result.end_column,
        }
    return {"artifactLocation": _artifact(result.path), "region": region}


def _artifact(path: str) -> dict[str, str]:
    """Return a URI reference; bytes that are not UTF-8 are percent-encoded, too."""
    if path.startswith(("http://", "https://")):
        return {"uri": path}
    scheme, mark, rest = path.partition("://") if is_address(path) else ("", "", path)
    return {"uri": scheme + mark + quote(os.fsencode(rest), safe="/-._~")}


def _notification(text: str, level: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}}


REPORT = Sarif
