"""One HTML page that needs nothing else: a table to filter and sort. Only its script may run."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from pathlib import Path

from dlpctl.scan.reports import (
    BaseReport,
    Setting,
    Write,
    headline,
    place_of,
    shortcomings,
    skipped_by_reason,
)
from dlpctl.scan.results import Result, Summary

_FOLDER = Path(__file__).parent


class Html(BaseReport):
    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        style, script = (_FOLDER / name for name in ("report.css", "report.js"))
        head, self._tail = (_FOLDER / "report.html").read_text("utf-8").split("@ROWS@")
        self._script = script.read_text("utf-8")
        values = {"STYLE": style.read_text("utf-8")}
        values["STYLE_HASH"], values["SCRIPT_HASH"] = _hash(values["STYLE"]), _hash(self._script)
        for name, value in values.items():
            head = head.replace(f"@{name}@", value)
        write(head)

    def add(self, result: Result) -> None:
        level = self.level(result)
        commit = f"commit {result.commit[:12]}, {result.date[:10]}" if result.commit else ""
        sample = f"<code>{_shown(result.sample)}</code>" if result.sample else _dim("hidden")
        where = f"<code>{_shown(result.path)}:{_shown(place_of(result))}</code>"
        cells = (
            f'<td><span class="badge {level}">{level}</span></td>',
            f'<td class="path">{where}{f"<br>{_dim(commit)}" if commit else ""}</td>',
            f"<td>{_shown(result.type)}<br>{_dim(result.category)}</td>",
            f"<td>{_shown(result.label)}</td>",
            f"<td>{sample}</td>",
            f'<td class="score">{result.score:.2f}</td>',
        )
        data = f'data-type="{_shown(result.type)}" data-level="{level}"'
        self._write(f'<tr class="finding" {data}>{"".join(cells)}</tr>\n')

    def finish(self, summary: Summary) -> None:
        found, where = headline(summary)
        self._write(f"</tbody>\n</table>\n<p><strong>{found}</strong>{where}.</p>\n")
        notes = [_shown(sentence) for sentence in shortcomings(summary)]
        notes += [
            f"<code>{_shown(skip.path)}</code>: {_shown(skip.detail or skip.why.value)}"
            for skip in self._unread
        ]
        for note in notes:
            self._write(f'<p class="short">{note}</p>\n')
        if skipped := skipped_by_reason(summary):
            self._write(f'<p class="dim">Not scanned: {_shown(skipped)}.</p>\n')
        self._write(self._tail.replace("@SCRIPT@", self._script).lstrip("\n"))


def _dim(text: str) -> str:
    return f'<span class="dim">{_shown(text)}</span>'


def _shown(text: str) -> str:
    return escape("".join(char if char.isprintable() else "\ufffd" for char in text))


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


REPORT = Html
