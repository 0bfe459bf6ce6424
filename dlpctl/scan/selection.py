"""Select contents by name and size, with a reason for each that is skipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlpctl.scan.ignore import Rules
from dlpctl.scan.results import Why


class Selection:
    """The wanted files of a tree, by globs in the syntax of `.gitignore` relative to its folder."""

    def __init__(
        self,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        allowed: Callable[[str], bool] | None = None,
        max_size: int | None = None,
        ignore_files: bool = True,
    ) -> None:
        """`allowed` returns whether all findings at a path, as shown in results, are accepted."""
        self._include = Rules(include)
        self._exclude = Rules(exclude)
        self._allowed = allowed
        self.max_size = max_size
        self.ignore_files = ignore_files

    def why_not_folder(self, path: str, shown: str) -> Why | None:
        if self._exclude and self._exclude.verdict(path, folder=True):
            return Why.EXCLUDED
        return Why.ALLOWED if self._allowed is not None and self._allowed(shown) else None

    def why_not_file(self, path: str, shown: str, size: int) -> Why | None:
        if self._exclude and self._exclude.verdict(path, folder=False):
            return Why.EXCLUDED
        if self._include and not self._include.covers(path):
            return Why.EXCLUDED
        if self.max_size is not None and size > self.max_size:
            return Why.TOO_LARGE
        return Why.ALLOWED if self._allowed is not None and self._allowed(shown) else None

    def why_not_inside(self, path: str, shown: str = "", size: int = 0) -> Why | None:
        """Return the reason to skip a path whose folders were not walked, as in git."""
        if self._exclude and self._exclude.covers(path):
            return Why.EXCLUDED
        return self.why_not_file(path, shown or path, size)
