"""JUnit XML: a test suite for each file with findings, and a failure for each finding."""

from __future__ import annotations

import re
from html import escape

from dlpctl.scan.reports import BaseReport, Setting, Write, counted, message_of, shortcomings
from dlpctl.scan.results import Result, Summary

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JUnit(BaseReport):
    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        self._group: list[Result] = []
        write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="dlpctl">\n')

    def add(self, result: Result) -> None:
        if self._group and self._group[0].path != result.path:
            self._end_group()
        self._group.append(result)

    def finish(self, summary: Summary) -> None:
        self._end_group()
        if self._unread:
            errors = len(self._unread)
            self._start_suite("unreadable", errors, errors=errors)
            for skip in self._unread:
                message = _attribute(skip.detail or skip.why.value)
                path = _attribute(skip.path)
                self._write(
                    f'    <testcase name="{path}" classname="{path}">'
                    f'<error message="{message}"/></testcase>\n'
                )
            self._write("  </testsuite>\n")
        reasons = " ".join(shortcomings(summary))
        error = "" if summary.is_complete else f'<error message="{_attribute(reasons)}"/>'
        self._start_suite("dlpctl scan", 1, errors=int(bool(error)))
        self._write(f'    <testcase name="scan" classname="dlpctl">{error}</testcase>\n')
        account = " ".join(
            filter(None, [f"{counted(summary.files, summary.noun)} scanned", reasons])
        )
        self._write(f"    <system-out>{_text(account)}</system-out>\n")
        self._write("  </testsuite>\n</testsuites>\n")

    def _start_suite(self, name: str, tests: int, *, failures: int = 0, errors: int = 0) -> None:
        counts = f'tests="{tests}" failures="{failures}" errors="{errors}"'
        self._write(f'  <testsuite name="{_attribute(name)}" {counts}>\n')

    def _end_group(self) -> None:
        group, self._group = self._group, []
        if not group:
            return
        self._start_suite(group[0].path, len(group), failures=len(group))
        path = _attribute(group[0].path)
        for each in group:
            location = each.inner or f"line {each.line}, column {each.column}"
            commit = f", commit {each.commit}" if each.commit else ""
            name = _attribute(f"{each.type} at {location}{commit}")
            self._write(
                f'    <testcase name="{name}" classname="{path}" file="{path}" line="{each.line}">'
                f'<failure type="{_attribute(each.pattern_id)}"'
                f' message="{_attribute(message_of(each))}">'
                f"{_text(f'{self.level(each)}, score {each.score:g}')}</failure></testcase>\n"
            )
        self._write("  </testsuite>\n")


def _text(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text), quote=False)


def _attribute(text: str) -> str:
    return (
        escape(_NO_XML.sub("\ufffd", text))
        .replace("\n", "&#10;")
        .replace("\r", "&#13;")
        .replace("\t", "&#9;")
    )


REPORT = JUnit
