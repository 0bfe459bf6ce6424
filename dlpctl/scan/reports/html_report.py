"""One page that needs nothing else: a table to look at, filter and sort. Its policy lets only its
own script and style run.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from dlpctl.scan.reports import Setting, Write, fell_short, headline, level_of, skipped_by_reason
from dlpctl.scan.results import FAILURES, Result, Skip, Summary

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --dim: #888; --error: #c62828; --warning: #b26a00; --note: #607d8b; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; }
p { margin: .2rem 0; }
.short { border-left: 4px solid var(--warning); padding: .3rem .8rem; margin: .6rem 0; }
.tools { display: flex; flex-wrap: wrap; gap: .6rem; position: sticky; top: 0; padding: .8rem 0; background: Canvas; }
input, select { font: inherit; padding: .35rem .6rem; border: 1px solid var(--line); border-radius: .4rem; background: Canvas; color: CanvasText; }
input { flex: 1 1 20rem; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; cursor: pointer; user-select: none; white-space: nowrap; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.path { overflow-wrap: anywhere; }
td.score { text-align: right; font-variant-numeric: tabular-nums; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.badge { border-radius: .3rem; padding: 0 .4rem; color: #fff; font-size: .8rem; white-space: nowrap; }
.error { background: var(--error); } .warning { background: var(--warning); } .note { background: var(--note); }
.dim { color: var(--dim); }
"""
_SCRIPT = """
"use strict";
const rows = [...document.querySelectorAll("tbody tr.finding")];
const text = document.querySelector("#text"), type = document.querySelector("#type"), level = document.querySelector("#level");
const shown = document.querySelector("#shown");
const names = [...new Set(rows.map(row => row.dataset.type))].sort();
for (const name of names) type.add(new Option(name, name));
function filter() {
  const wanted = text.value.toLowerCase();
  let count = 0;
  for (const row of rows) {
    const hit = (!type.value || row.dataset.type === type.value)
      && (!level.value || row.dataset.level === level.value)
      && (!wanted || row.textContent.toLowerCase().includes(wanted));
    row.hidden = !hit;
    count += hit;
  }
  shown.textContent = `${count} of ${rows.length} shown`;
}
for (const control of [text, type, level]) control.addEventListener("input", filter);
document.querySelectorAll("th").forEach((head, column) => head.addEventListener("click", () => {
  const down = head.dataset.down !== "yes";
  head.dataset.down = down ? "yes" : "no";
  const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent;
  const sign = down ? 1 : -1;
  rows.sort((one, other) => sign * key(one).localeCompare(key(other), undefined, { numeric: true }));
  rows[0]?.parentNode.append(...rows);
}));
filter();
"""


class Html:
    def __init__(self, write: Write, setting: Setting) -> None:
        self._write = write
        self._setting = setting
        self._unread: list[Skip] = []
        policy = f"default-src 'none'; style-src '{_hash(_STYLE)}'; script-src '{_hash(_SCRIPT)}'; base-uri 'none'; form-action 'none'"
        write(
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>dlpctl scan</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>dlpctl scan</h1>\n"
            '<div class="tools"><input id="text" type="search" placeholder="Filter by path, type or value" aria-label="Filter">'
            '<select id="type" aria-label="Type"><option value="">every type</option></select>'
            '<select id="level" aria-label="Level"><option value="">every level</option><option>error</option>'
            '<option>warning</option><option>note</option></select><span id="shown" class="dim"></span></div>\n'
            "<table>\n<thead><tr><th>Level</th><th>Where</th><th>Type</th><th>What</th><th>Value</th><th>Score</th></tr></thead>\n<tbody>\n"
        )

    def add(self, result: Result) -> None:
        level = level_of(result, self._setting)
        place = result.inner or f"{result.line}:{result.column}"
        commit = (
            f'<br><span class="dim">commit {escape(result.commit[:12])}, {escape(result.date[:10])}</span>'
            if result.commit
            else ""
        )
        value = (
            f"<code>{_shown(result.sample)}</code>"
            if result.sample
            else '<span class="dim">hidden</span>'
        )
        self._write(
            f'<tr class="finding" data-type="{_shown(result.type)}" data-level="{level}">'
            f'<td><span class="badge {level}">{level}</span></td>'
            f'<td class="path"><code>{_shown(result.path)}:{_shown(place)}</code>{commit}</td>'
            f"<td>{_shown(result.type)}<br><span class=dim>{result.category}</span></td>"
            f'<td>{_shown(result.label)}</td><td>{value}</td><td class="score">{result.score:.2f}</td></tr>\n'
        )

    def skip(self, skip: Skip) -> None:
        if skip.why in FAILURES:
            self._unread.append(skip)

    def finish(self, summary: Summary) -> None:
        found, where = headline(summary)
        self._write(f"</tbody>\n</table>\n<p><strong>{found}</strong>{where}.</p>\n")
        for sentence in fell_short(summary):
            self._write(f'<p class="short">{_shown(sentence)}</p>\n')
        for skip in self._unread:
            self._write(
                f'<p class="short"><code>{_shown(skip.path)}</code>: {_shown(skip.detail or skip.why.value)}</p>\n'
            )
        if skipped := skipped_by_reason(summary):
            self._write(f'<p class="dim">Not scanned: {_shown(skipped)}.</p>\n')
        self._write(f"<script>{_SCRIPT}</script>\n</body>\n</html>\n")


def _shown(text: str) -> str:
    return escape("".join(char if char.isprintable() else "\ufffd" for char in text))


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


REPORT = Html
