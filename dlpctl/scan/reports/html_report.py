"""A self-contained HTML page: a summary, and a table to filter and sort."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable
from html import escape
from pathlib import Path, PurePosixPath

from dlpctl.detect.patterns.rotation import Rotation
from dlpctl.scan.reports import (
    BaseReport,
    Setting,
    Write,
    headline,
    place_of,
    shortcomings,
    skipped_by_reason,
)
from dlpctl.scan.reports.advice import rotation
from dlpctl.scan.results import Result, Summary

_FOLDER = Path(__file__).parent
_LEVELS = ("error", "warning", "note")
_MOST_BARS = 12
_STYLES = ("tokens.css", "report.css")
"""The console of the service uses the same design tokens."""


class Html(BaseReport):
    """Rows are written as they come; the summary follows, and the script moves it to the top."""

    def __init__(self, write: Write, setting: Setting) -> None:
        super().__init__(write, setting)
        self._counts = {"level": Counter[str](), "type": Counter[str](), "folder": Counter[str]()}
        self._rotations: dict[Rotation, str] = {}
        style = "".join((_FOLDER / name).read_text("utf-8") for name in _STYLES)
        script = _FOLDER / "report.js"
        head, self._tail = (_FOLDER / "report.html").read_text("utf-8").split("@ROWS@")
        self._script = script.read_text("utf-8")
        about = "".join(f"<dt>{name}</dt><dd>{_shown(text)}</dd>" for name, text in setting.about)
        values = {"ABOUT": about, "STYLE": style}
        values["STYLE_HASH"], values["SCRIPT_HASH"] = _hash(values["STYLE"]), _hash(self._script)
        for name, value in values.items():
            head = head.replace(f"@{name}@", value)
        write(head)

    def add(self, result: Result) -> None:
        level = self.level(result)
        folder = str(PurePosixPath(result.path).parent)
        for name, value in (("level", level), ("type", result.type), ("folder", folder)):
            self._counts[name][value] += 1
        if how := rotation(result):
            self._rotations.setdefault(how, result.label)
        commit = f"commit {result.commit[:12]}, {result.date[:10]}" if result.commit else ""
        where = f"<code>{_shown(result.path)}:{_shown(place_of(result))}</code>"
        cells = {
            "Level": f'<span class="badge {level}">{level}</span>',
            "Where": f"{where}{f'<br>{_dim(commit)}' if commit else ''}{self._excerpt(result)}",
            "Type": f"{_shown(result.type)}<br>{_dim(result.category)}",
            "What": _shown(result.label),
            "Value": f"<code>{_shown(result.sample)}</code>" if result.sample else _dim("hidden"),
            "Score": f"{result.score:.2f}",
        }
        data = {"type": result.type, "level": level, "folder": folder, "file": result.path}
        named = " ".join(f'data-{name}="{_shown(value)}"' for name, value in data.items())
        row = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in cells.items())
        self._write(f'<tr class="finding" {named}>{row}</tr>\n')

    def _excerpt(self, result: Result) -> str:
        """Return the line of a finding with its masked value marked."""
        if not result.excerpt:
            return ""
        line, marks = result.excerpt, [(result.mark, len(result.sample or "(hidden)"))]
        if self._setting.conceal is not None:
            line, concealed = self._setting.conceal(line, marks)
            marks = [*concealed]
        start, size = marks[0]
        before, value, after = line[:start], line[start : start + size], line[start + size :]
        marked = f"{_shown(before)}<mark>{_shown(value)}</mark>{_shown(after)}"
        return f'<code class="line">{marked}</code>'

    def finish(self, summary: Summary) -> None:
        self._write("</tbody>\n</table>\n")
        found, where = headline(summary)
        self._write('<section id="summary" aria-label="Summary">\n')
        self._write(f'<p class="headline"><strong>{found}</strong>{where}.</p>\n')
        remarks = [_shown(sentence) for sentence in shortcomings(summary)]
        remarks += [
            f"<code>{_shown(skip.path)}</code>: {_shown(skip.detail or skip.why.value)}"
            for skip in self._unread
        ]
        for remark in remarks:
            self._write(f'<p class="short">{remark}</p>\n')
        if skipped := skipped_by_reason(summary):
            self._write(f'<p class="dim">Not scanned: {_shown(skipped)}.</p>\n')
        if summary.findings:
            levels = [(name, self._counts["level"][name]) for name in _LEVELS]
            charts = {
                "By level": [level for level in levels if level[1]],
                "By type": _most(self._counts["type"]),
                "By folder": _most(self._counts["folder"]),
            }
            bars = "".join(_chart(title, rows) for title, rows in charts.items())
            self._write(f'<div class="charts">{bars}</div>\n')
        self._write(_rotation_list(self._rotations))
        self._write("</section>\n")
        self._write(self._tail.replace("@SCRIPT@", self._script).lstrip("\n"))


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return the most frequent items, with the others summed up."""
    listed = counts.most_common(_MOST_BARS)
    others = counts.total() - sum(count for _, count in listed)
    return [*listed, (f"{len(counts) - len(listed)} others", others)] if others else listed


def _chart(title: str, rows: Iterable[tuple[str, int]]) -> str:
    """Return bars with their numbers; the page's security policy forbids style attributes."""
    rows = list(rows)
    largest = max(count for _, count in rows)
    body = "".join(
        f'<tr><th scope="row">{_shown(name)}</th><td class="number">{count:,}</td>'
        '<td><svg aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none">'
        f'<rect width="{max(1, round(100 * count / largest))}" height="8"/></svg></td></tr>'
        for name, count in rows
    )
    return f"<table><caption>{title}</caption><tbody>{body}</tbody></table>"


def _rotation_list(rotations: dict[Rotation, str]) -> str:
    if not rotations:
        return ""
    rows = []
    for how, label in rotations.items():
        page = f' <a href="{_shown(how.page)}" rel="noreferrer">{_shown(how.page)}</a>'
        command = f"<br><code>{_shown(how.command)}</code>" if how.command else ""
        advice = f"<strong>{_shown(label)}</strong>: {_shown(how.advice)}"
        rows.append(f"<li>{advice}{page if how.page else ''}{command}</li>\n")
    return f"<h2>How to replace these secrets</h2>\n<ul>\n{''.join(rows)}</ul>\n"


def _dim(text: str) -> str:
    return f'<span class="dim">{_shown(text)}</span>'


def _shown(text: str) -> str:
    return escape("".join(char if char.isprintable() else "\ufffd" for char in text))


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


REPORT = Html
