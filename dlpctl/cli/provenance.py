"""The source that dlpctl was installed from, for templates that install it elsewhere.

Nothing is guessed: whoever registers an unused package name, or creates a missing repository, would
control the users' pipelines.
"""

from __future__ import annotations

import json
import re
import shlex
from importlib import metadata
from typing import Any, NamedTuple

from dlpctl.errors import UsageError

_PACKAGE = "dlpctl"
_SCHEMES = ("git+https://", "git+ssh://", "https://")
_URL = re.compile(r"(?P<scheme>[a-z+]+://)(?:(?P<user>[^/@]+)@)?[^/@\s]+/[\w./~%+=@:#&,-]+")
_REVISION = re.compile(r"(?P<repository>git\+.+/[^/@#]+)@(?P<revision>[^/@#]+)")
_CREDENTIALS = re.compile(r"^((?:git\+)?https://)[^/@]*@")
"""Some installers record credentials, which must not end up in a template."""
_UNKNOWN = (
    "the source of this installation is not known: pass --install-from"
    " 'git+https://HOST/ORG/dlpctl@COMMIT' with its repository"
)


class Source(NamedTuple):
    """An address that pip can install dlpctl from."""

    url: str

    @property
    def repository(self) -> tuple[str, str]:
        """Return the URL of the git repository, and the commit."""
        found = _REVISION.fullmatch(self.url)
        if found is None:
            raise UsageError(
                "pre-commit installs from a git repository: pass --install-from"
                " 'git+https://HOST/ORG/dlpctl@COMMIT'"
            )
        return found["repository"].removeprefix("git+"), found["revision"]


def source(passed: str | None = None) -> Source:
    """Return the source that the user passes, else the source of this installation, else the
    declared one.
    """
    if passed is not None:
        return Source(_checked(passed))
    distribution = metadata.distribution(_PACKAGE)
    url = _direct(distribution) or _declared(distribution)
    if url is None:
        raise UsageError(_UNKNOWN)
    return Source(url)


def extra_packages(extra: str) -> str:
    """Return the packages of an extra as shell arguments."""
    required = (each.partition(";") for each in metadata.requires(_PACKAGE) or ())
    marker_of_extra = re.compile(rf"""extra == ["']{re.escape(extra)}["']""")
    return shlex.join(
        name.strip() for name, _, marker in required if marker_of_extra.search(marker)
    )


def _checked(url: str) -> str:
    found = _URL.fullmatch(url)
    if found is None or found["scheme"] not in _SCHEMES:
        raise UsageError(
            f"--install-from {url!r}: write a URL such as 'git+https://HOST/ORG/dlpctl@COMMIT',"
            " or that of a wheel with https://"
        )
    if found["user"] and (":" in found["user"] or "ssh" not in found["scheme"]):
        raise UsageError("--install-from: leave the credentials out; the address ends up in a file")
    if url.startswith("git+") and not _REVISION.fullmatch(url):
        raise UsageError(
            f"--install-from {url!r}: add @COMMIT, so that what is installed cannot change"
        )
    return url


def _direct(distribution: metadata.Distribution) -> str | None:
    """Return the origin that the installer recorded (PEP 610), if others can install from it."""
    text = distribution.read_text("direct_url.json")
    noted: dict[str, Any] = json.loads(text) if text else {}
    url = str(noted.get("url", ""))
    vcs, archive = noted.get("vcs_info"), noted.get("archive_info")
    if vcs is not None and vcs.get("vcs") == "git":
        url = f"git+{url}@{vcs['commit_id']}"
    elif archive is not None:
        digest = (archive.get("hashes") or {}).get("sha256")
        url = f"{url}#sha256={digest}" if digest else url
    else:
        return None
    return _CREDENTIALS.sub(r"\1", url) if url.startswith(_SCHEMES) else None


def _declared(distribution: metadata.Distribution) -> str | None:
    """Return the tag of this version in the repository that the metadata declares."""
    for entry in distribution.metadata.get_all("Project-URL") or ():
        label, _, url = entry.partition(",")
        if label.strip().lower() == "source" and url.strip().startswith("https://"):
            return f"git+{url.strip().rstrip('/')}@v{distribution.version}"
    return None
