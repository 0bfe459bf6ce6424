"""Show the settings and where each comes from.

Examples:
    dlpctl config show
    dlpctl config path user
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated, Any

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.render import Printer

SECTION = ("Detection and policies", 12)

app = App(__doc__)


class PathName(StrEnum):
    PROJECT = "project"
    USER = "user"
    CONFIG = "config"
    DATA = "data"
    CACHE = "cache"


_MEANINGS = {
    PathName.PROJECT: "the nearest dlpctl.toml, in this folder or above",
    PathName.USER: "your own settings",
    PathName.CONFIG: "the folder of your settings",
    PathName.DATA: "keys and vaults",
    PathName.CACHE: "compiled patterns; can be deleted",
}


@app.command()
def show(form: options.Format = options.Output.HUMAN) -> None:
    """Show each setting, its value and its origin: default, file, variable or flag.

    Examples:
        dlpctl config show
        DLPCTL_MIN_SCORE=0.7 dlpctl config show --format json
    """
    from dlpctl.config import SETTINGS, load_config

    config = load_config()
    out = Printer(config.color)
    if form is options.Output.JSON:
        rows = [
            {
                "key": key,
                "value": _plain(config.get(key)),
                "layer": config.origin(key).layer,
                "origin": config.origin(key).name,
                "variable": setting.variable,
                "meaning": setting.meaning,
            }
            for key, setting in SETTINGS.items()
        ]
        out.json({"settings": rows})
        return
    table = [(key, _readable(config.get(key)), config.origin(key).name) for key in SETTINGS]
    out.table(table, head=("setting", "value", "from"))


@app.command()
def path(
    name: Annotated[
        PathName | None,
        typer.Argument(
            metavar="[NAME]",
            help="One of project, user, config, data and cache.",
            show_default=False,
        ),
    ] = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Print the files and folders of dlpctl, whether they exist or not.

    Examples:
        dlpctl config path
        dlpctl config path data
    """
    from dlpctl.config import locate
    from dlpctl.errors import ConfigError

    locations = locate(os.environ)
    paths = {each: getattr(locations, each.value) for each in PathName}
    out = Printer()
    if name is not None and paths[name] is None:
        raise ConfigError(
            f"there is no dlpctl.toml in {locations.working} or above;"
            " create one to have project settings"
        )
    if form is options.Output.JSON:
        out.json({each.value: _plain(paths[each]) for each in PathName if name in (None, each)})
    elif name is not None:
        out.line(str(paths[name]))
    else:
        out.table((each.value, str(paths[each] or "-"), _MEANINGS[each]) for each in PathName)


def _plain(value: Any) -> Any:
    """Return a value as plain JSON data."""
    if type(value) is tuple:
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _readable(value: Any) -> str:
    """Return a value as one line of TOML."""
    import json

    return "-" if value is None else json.dumps(_plain(value), ensure_ascii=False)
