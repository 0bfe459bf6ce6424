"""JUnit XML: a test suite for each file with findings, a failure for each of them."""

from __future__ import annotations

import re
from html import escape

from dlpctl.scan.reports import Setting, Write, counted, fell_short, level_of, message_of
from dlpctl.scan.results import FAILURES, Result, Skip, Summary

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JUnit:
    def __init__(self, write: Write, setting: Setting) -> None:
        self._write = write
        self._setting = setting
        self._group: list[Result] = []
        self._errors: list[Skip] = []
        write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="dlpctl">\n')

    def add(self, result: Result) -> None:
        if self._group and self._group[0].path != result.path:
            self._end_group()
        self._group.append(result)

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES:
            self._errors.append(skip)

    def finish(self, summary: Summary) -> None:
        self._end_group()
        if self._errors:
            self._write(
                f'  <testsuite name="unreadable" tests="{len(self._errors)}" failures="0" errors="{len(self._errors)}">\n'
            )
            for skip in self._errors:
                said = _attribute(skip.detail or skip.why.value)
                self._write(
                    f'    <testcase name="{_attribute(skip.path)}" classname="{_attribute(skip.path)}">'
                    f'<error message="{said}"/></testcase>\n'
                )
            self._write("  </testsuite>\n")
        short = " ".join(fell_short(summary))
        account = [f"{counted(summary.files, 'file')} scanned", short]
        error = "" if summary.is_whole else f'<error message="{_attribute(short)}"/>'
        self._write(
            f'  <testsuite name="dlpctl scan" tests="1" failures="0" errors="{int(bool(error))}">\n'
        )
        self._write(f'    <testcase name="scan" classname="dlpctl">{error}</testcase>\n')
        self._write(
            f"    <system-out>{_text(' '.join(filter(None, account)))}</system-out>\n  </testsuite>\n</testsuites>\n"
        )

    def _end_group(self) -> None:
        group, self._group = self._group, []
        if not group:
            return
        path = _attribute(group[0].path)
        self._write(
            f'  <testsuite name="{path}" tests="{len(group)}" failures="{len(group)}" errors="0">\n'
        )
        for one in group:
            place = one.inner or f"line {one.line}, column {one.column}"
            commit = f", commit {one.commit}" if one.commit else ""
            self._write(
                f'    <testcase name="{_attribute(f"{one.type} at {place}{commit}")}" classname="{path}" file="{path}" line="{one.line}">'
                f'<failure type="{_attribute(one.pattern_id)}" message="{_attribute(message_of(one))}">'
                f"{_text(f'{level_of(one, self._setting)}, score {one.score:g}')}</failure></testcase>\n"
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
