"""Build what a release has besides its distributions, from the same sources as `dlpctl --help`.

python build.py man FILE         the man page
python build.py site FOLDER      the static site: README, topics, commands
python build.py formula FOLDER   the Homebrew formula, beside the distributions that it names
"""

from __future__ import annotations

import hashlib
import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def source() -> str:
    """Return the URL of the repository: the declared one, else that of the pipeline that builds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = project.get("urls", {}).get("Source", "").rstrip("/")
    if declared:
        return declared
    if (server := os.environ.get("GITHUB_SERVER_URL")) and "GITHUB_REPOSITORY" in os.environ:
        return f"{server}/{os.environ['GITHUB_REPOSITORY']}"
    sys.exit("the repository is not known: declare Source in [project.urls] of pyproject.toml")


def write_man_page(file: Path) -> None:
    from manual import man_page

    file.write_text(man_page(), "utf-8")


def write_site(folder: Path) -> None:
    from site_pages import pages

    folder.mkdir(parents=True, exist_ok=True)
    for name, content in pages(ROOT).items():
        (folder / name).write_bytes(content)


def write_formula(folder: Path) -> None:
    from dlpctl.version import __version__

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    values = {
        "DESCRIPTION": project["description"].partition(":")[0],
        "SOURCE": source(),
        "VERSION": __version__,
        "SDIST_SHA256": _digest(folder / f"dlpctl-{__version__}.tar.gz"),
        "MAN_SHA256": _digest(folder / "dlpctl.1"),
    }
    text = (Path(__file__).parent / "formula.rb").read_text("utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    (folder / "dlpctl.rb").write_text(text, "utf-8")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


BUILDERS = {"man": write_man_page, "site": write_site, "formula": write_formula}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in BUILDERS:
        sys.exit(__doc__)
    BUILDERS[sys.argv[1]](Path(sys.argv[2]))
