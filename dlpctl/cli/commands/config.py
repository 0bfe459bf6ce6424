"""`dlpctl config`: which settings hold, and where they come from."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated, Any

import typer

from dlpctl.cli import options
from dlpctl.cli.render import Printer

app = typer.Typer(add_completion=False, no_args_is_help=True)


class Place(StrEnum):
    PROJECT = "project"
    USER = "user"
    CONFIG = "config"
    DATA = "data"
    CACHE = "cache"


_MEANINGS = {
    Place.PROJECT: "the nearest dlpctl.toml, here or above",
    Place.USER: "your own settings",
    Place.CONFIG: "the folder of your settings",
    Place.DATA: "keys and vaults",
    Place.CACHE: "what can be made anew",
}


@app.callback()
def _group() -> None:
    """Show settings and where they come from."""


@app.command()
def show(form: options.Format = options.Output.HUMAN) -> None:
    """Print each setting, its value, and who set it last: default, project, user, environment."""
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
        Place | None, typer.Argument(help="Print this path alone.", show_default=False)
    ] = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Print the files and folders that dlpctl uses, there or not. Works whatever the settings say."""
    from dlpctl.config import locate
    from dlpctl.errors import ConfigError

    places = locate(os.environ)
    paths = {each: getattr(places, each.value) for each in Place}
    out = Printer()
    if name is not None and paths[name] is None:
        raise ConfigError(
            f"there is no dlpctl.toml in {places.working} or above; create one to have project settings"
        )
    if form is options.Output.JSON:
        out.json({each.value: _plain(paths[each]) for each in Place if name in (None, each)})
    elif name is not None:
        out.line(str(paths[name]))
    else:
        out.table((each.value, str(paths[each] or "-"), _MEANINGS[each]) for each in Place)


def _plain(value: Any) -> Any:
    """As JSON can hold it."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _readable(value: Any) -> str:
    """As TOML would have it, on one line."""
    import json

    return "-" if value is None else json.dumps(_plain(value), ensure_ascii=False)
