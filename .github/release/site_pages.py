"""The static site: the README, each topic of `dlpctl help`, and the help of each command."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from dlpctl.cli import topics
from dlpctl.cli.catalogue import command_entries
from dlpctl.cli.outline import Node, describe

HERE = Path(__file__).parent
PICTURE = ".github/recording/tour.svg"
_TOPIC = re.compile(r"<code>dlpctl help ([a-z-]+)</code>")
_NAMED = re.compile(r"<code>([a-z-]+)</code>")
_LINK = re.compile(r'<a href="(?!https?:|#)[^"]*">(.*?)</a>', re.DOTALL)


def pages(root: Path) -> dict[str, bytes]:
    """Return the files of the site by name."""
    style = (HERE / "site.css").read_text("utf-8")
    readme = _html((root / "README.md").read_text("utf-8"))
    readme = readme.replace(f'src="{PICTURE}"', 'src="tour.svg"')
    contents = {"index": ("dlpctl", _LINK.sub(r"\1", _with_names(readme)))}
    for name in topics.names():
        contents[name] = (topics.title(name), _linked(_html(topics.text(name))))
    contents["commands"] = ("Commands", _commands(describe()))
    menu = _menu(topics.names())
    files = {
        f"{name}.html": _page(title, body, menu, style).encode()
        for name, (title, body) in contents.items()
    }
    return files | {"tour.svg": (root / PICTURE).read_bytes()}


def _html(markdown: str) -> str:
    """Return Markdown as HTML; tables have a scrolling box of their own on narrow screens."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    html = renderer.render(markdown)
    html = html.replace("<table>", '<div class="wide" tabindex="0"><table>')
    return html.replace("</table>", "</table></div>").replace("<th></th>", "<td></td>")


def _linked(html: str) -> str:
    return _TOPIC.sub(r'<a href="\1.html"><code>dlpctl help \1</code></a>', html)


def _with_names(html: str) -> str:
    """Link the topics, which the README also lists by their names."""
    known = set(topics.names())

    def link(found: re.Match[str]) -> str:
        return f'<a href="{found[1]}.html">{found[0]}</a>' if found[1] in known else found[0]

    head, mark, listed = _linked(html).partition("<h2>More</h2>")
    return head + mark + _NAMED.sub(link, listed)


def _commands(program: Node) -> str:
    sections: dict[str, list[str]] = {}
    nodes = {node.path[0]: node for node in program.children}
    for entry in command_entries():
        listed = sections.setdefault(entry.section, [])
        listed += [_command(node) for node in nodes[entry.name].walk()]
    body = "".join(f"<h2>{escape(name)}</h2>{''.join(each)}" for name, each in sections.items())
    return f"<h1>Commands</h1>{body}"


def _command(node: Node) -> str:
    name = " ".join(node.path)
    rows = "".join(
        f"<dt><code>{escape(', '.join(option.names))} {escape(option.metavar)}</code></dt>"
        f"<dd>{escape(option.help)}</dd>"
        for option in node.options
        if "--help" not in option.names
    )
    options = f"<dl>{rows}</dl>" if rows else ""
    examples = escape("\n".join(node.examples))
    return (
        f'<h3 id="{"-".join(node.path)}">dlpctl {escape(name)}</h3><p>{escape(node.help)}.</p>'
        f"{options}<pre><code>{examples}</code></pre>"
    )


def _menu(names: list[str]) -> str:
    entries = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in names)
    start = '<li><a href="index.html">dlpctl</a></li>'
    return f'<nav aria-label="Topics"><ul>{start}{entries}</ul></nav>'


def _page(title: str, body: str, menu: str, style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src 'self'; style-src 'sha256-{digest}'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{menu}\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )
