"""The comment on a pull request, which each run updates."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from dlpctl.errors import InputError, ServerError, UsageError, os_errors
from dlpctl.system.regular import read_regular

_MARK = "<!-- dlpctl scan -->"
"""The first line of the comment, by which later runs find it."""
_LONGEST = 60_000
"""The maximum length of a comment in characters; GitHub allows 65,536."""
_CUT = "\n\n... and more: see the report of the job.\n"
_PAGE = 100
_MOST_PAGES = 50
_SECONDS = 30
_NOT_HERE = (
    "this is not the pipeline of a pull request: GitHub sets GITHUB_EVENT_PATH, and GitLab"
    " CI_MERGE_REQUEST_IID"
)


class PullRequest(NamedTuple):
    """The API for the comments of a pull request."""

    comments: str
    """The URL of its comments."""
    changed: str
    """The base URL of a comment to change."""
    method: str
    headers: Mapping[str, str]

    @classmethod
    def of_pipeline(cls, environ: Mapping[str, str]) -> Self:
        """Return the pull request of the pipeline that runs this process; raise `UsageError`."""
        if iid := environ.get("CI_MERGE_REQUEST_IID"):
            api, project = _given(environ, "CI_API_V4_URL"), _given(environ, "CI_PROJECT_ID")
            comments = f"{api}/projects/{project}/merge_requests/{iid}/notes"
            return cls(
                comments, comments, "PUT", {"PRIVATE-TOKEN": _given(environ, "GITLAB_TOKEN")}
            )
        number = _number(environ.get("GITHUB_EVENT_PATH"))
        api, repository = _given(environ, "GITHUB_API_URL"), _given(environ, "GITHUB_REPOSITORY")
        issues = f"{api}/repos/{repository}/issues"
        token = f"Bearer {_given(environ, 'GITHUB_TOKEN')}"
        headers = {"Authorization": token, "Accept": "application/vnd.github+json"}
        return cls(f"{issues}/{number}/comments", f"{issues}/comments", "PATCH", headers)

    def write(self, body: str) -> bool:
        """Create or update the comment; return whether it is new."""
        for comment in self._all():
            if str(comment.get("body", "")).startswith(_MARK):
                self._ask(self.method, f"{self.changed}/{comment['id']}", body)
                return False
        self._ask("POST", self.comments, body)
        return True

    def _all(self) -> Iterator[dict[str, Any]]:
        for number in range(1, _MOST_PAGES + 1):
            found = self._ask("GET", f"{self.comments}?per_page={_PAGE}&page={number}")
            yield from found
            if len(found) < _PAGE:
                return

    def _ask(self, method: str, url: str, body: str | None = None) -> Any:
        data = None if body is None else json.dumps({"body": body}).encode()
        headers = {**self.headers, "Content-Type": "application/json", "User-Agent": "dlpctl"}
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as problem:
            hint = "; may the token write comments?" if problem.code in (401, 403, 404) else ""
            raise ServerError(f"the comment was refused with {problem.code}{hint}") from None
        except (OSError, ValueError) as problem:
            raise ServerError(f"the comment was not written: {problem}") from None


def comment(report: Path, environ: Mapping[str, str] = os.environ) -> bool:
    """Comment on the pull request of this pipeline; return whether the comment is new."""
    with os_errors(InputError, f"{report}: cannot be read"):
        text = read_regular(report).decode("utf-8", "replace")
    if len(text) > _LONGEST:
        text = text[: text.rfind("\n", 0, _LONGEST)] + _CUT
    return PullRequest.of_pipeline(environ).write(f"{_MARK}\n{text}")


def _number(event_file: str | None) -> int:
    try:
        event = json.loads(Path(event_file or "").read_text("utf-8"))
        return int(event["pull_request"]["number"])
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(_NOT_HERE) from None


def _given(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "").strip()
    if not value:
        hint = "; it holds a token that may write comments" if name.endswith("_TOKEN") else ""
        raise UsageError(f"{name} is not set{hint}")
    return value
