"""A policy, read from files and requests here, and applied by `decide`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.policy.rules import DEFAULT_MIN_SCORE, PatternCheck, PolicyFields
from dlpctl.policy.rules import Catalogue as Catalogue
from dlpctl.policy.rules import Exemption as Exemption
from dlpctl.policy.rules import Rule as Rule

if TYPE_CHECKING:
    from pathlib import Path


class Policy(PolicyFields):
    """The rules, and the defaults for findings that no rule covers."""

    __slots__ = ()

    @staticmethod
    def load(
        path: Path | str,
        *,
        known_types: Catalogue | None = None,
        check_patterns: PatternCheck | None = None,
    ) -> Policy:
        """Read a TOML, YAML or JSON file; raise `PolicyError` with all mistakes of the file."""
        from pathlib import Path

        from dlpctl.policy.files import read_table_file
        from dlpctl.policy.loading import read_policy

        file = read_table_file(Path(path))
        return Policy(*read_policy(file.data, file.source, known_types, check_patterns))

    @staticmethod
    def from_dict(
        data: object,
        *,
        known_types: Catalogue | None = None,
        check_patterns: PatternCheck | None = None,
        source: str = "",
    ) -> Policy:
        """Read the table of a file or a request; errors (`PolicyError`) name the `source`."""
        from dlpctl.errors import PolicyError
        from dlpctl.mappings import Source
        from dlpctl.policy.loading import read_policy

        collected = Source(source, PolicyError)
        return Policy(*read_policy(data, collected, known_types, check_patterns))

    @staticmethod
    def builtin(name: str = "default") -> Policy:
        """Return one of the policies that come with dlpctl; raises `PolicyError`."""
        from dlpctl.policy.files import builtin_path

        return Policy.load(builtin_path(name))

    def to_dict(self) -> dict[str, object]:
        """Return the table of a policy file; `from_dict` restores the same policy."""
        table: dict[str, object] = {
            "name": self.name,
            "description": self.description,
            "version": self.version,
            "tags": list(self.tags),
            "rules": [rule.to_dict() for rule in self.rules],
        }
        if self.min_score != DEFAULT_MIN_SCORE:
            table["minScore"] = self.min_score
        if self.default_action is not None:
            table["defaultAction"] = str(self.default_action)
        if self.custom_patterns:
            table["customPatterns"] = [dict(pattern) for pattern in self.custom_patterns]
        return table
