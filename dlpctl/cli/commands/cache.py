"""Show, build and clear the cache of compiled patterns.

Examples:
    dlpctl cache show
    RUN dlpctl cache build    # in a Dockerfile
"""

from __future__ import annotations

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.compiling import compile_visibly
from dlpctl.cli.session import Session
from dlpctl.detect.automaton.cache import Cache
from dlpctl.errors import OutputError, os_errors

SECTION = ("Repositories, shells and help", 35)

app = App(__doc__)


@app.command()
def show(form: options.Format = options.Output.HUMAN) -> None:
    """Show the folder of the cache, its size, and whether all patterns are compiled.

    Examples:
        dlpctl cache show
        dlpctl cache show --format json
    """
    session = Session.start()
    folder = session.config.cache_folder
    sizes = Cache(folder).sizes()
    is_compiled = session.detector().is_compiled
    out = session.printer()
    if form is options.Output.JSON:
        shown = {"folder": str(folder), "entries": len(sizes), "bytes": sum(sizes.values())}
        out.json(shown | {"compiled": is_compiled})
        return
    complete = "yes" if is_compiled else "no: 'dlpctl cache build' compiles what is missing"
    size = f"{sum(sizes.values()) / 1e6:.1f} MB in {len(sizes)} files"
    out.table([("folder", str(folder)), ("size", size), ("all patterns", complete)])


@app.command()
def build(quiet: options.Quiet = False) -> None:
    """Compile all patterns now, so that later commands need not.

    A cache of another version, machine or pattern file is never used; its patterns are compiled
    again.

    Examples:
        dlpctl cache build
        DLPCTL_HOME=/opt/dlpctl dlpctl cache build --quiet
    """
    session = Session.start()
    folder = session.config.cache_folder
    unwritable = OutputError(f"{folder}: the cache cannot be written; see 'dlpctl doctor'")
    if not Cache(folder).is_writable():
        raise unwritable
    compile_visibly(session.detector(), quiet=quiet)
    if not session.detector().is_compiled:
        raise unwritable
    session.printer(quiet=quiet).line(f"all patterns are compiled in {folder}")


@app.command()
def clear() -> None:
    """Remove all compiled patterns; later commands compile them again.

    Examples:
        dlpctl cache clear
        dlpctl cache clear && dlpctl cache build
    """
    session = Session.start()
    folder = session.config.cache_folder
    cache = Cache(folder)
    count = len(cache.sizes())
    with os_errors(OutputError, f"{folder}: cannot be cleared"):
        cache.clear()
    session.printer().line(f"removed {count} files from {folder}")
