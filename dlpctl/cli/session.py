"""The configuration, patterns, policies and keys of one run of a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlpctl.cli.licensing import Licensed
    from dlpctl.cli.options import ContentOptions
    from dlpctl.cli.render import Printer
    from dlpctl.config import Config
    from dlpctl.detect.allow import AllowList
    from dlpctl.detect.engine import Detector
    from dlpctl.detect.patterns.model import Pattern
    from dlpctl.files.checking import FileChecker
    from dlpctl.masking.masker import Masker
    from dlpctl.masking.vault import Vault
    from dlpctl.policy.model import Catalogue, Policy
    from dlpctl.preflight import Checker, Report
    from dlpctl.types import Decision, Sensitivity


class Session:
    """One run of one command."""

    def __init__(
        self,
        config: Config,
        patterns: Sequence[Path] | None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.config = config
        self._environ = environ
        self._files = [*config.patterns, *(patterns or ())]
        self._license: Licensed | None = None
        self._detector: Detector | None = None
        self._destination = config.destination

    @classmethod
    def start(cls, patterns: Sequence[Path] | None = None, server: str | None = None) -> Session:
        from dlpctl.config import load_config

        return cls(load_config({"server": server}), patterns)

    def asks_control_plane(self, org: str | None, api_key_file: Path | None) -> bool:
        """Return whether a control plane decides: a policy key, organization or server is given."""
        if org is not None or api_key_file is not None or os.environ.get("DLPCTL_API_KEY"):
            return True
        return self.config.server is not None and not os.environ.get("DLPCTL_LICENSE_KEY")

    def record(
        self, decision: Decision, report: Report | None, size: int, *, is_file: bool
    ) -> None:
        """Record a check that was made under a license."""
        if self._license is not None:
            self._license.record(decision, self._destination, report, size=size, is_file=is_file)

    def tell(self) -> None:
        if self._license is not None:
            self._license.send()

    def _licensed_policy(self, name: str | None) -> Policy | None:
        """Return the organization's policy, if there is a license that its server confirms."""
        key = os.environ.get("DLPCTL_LICENSE_KEY", "").strip()
        if not key:
            return None
        if self.config.server is None:
            sys.stderr.write(
                "dlpctl: DLPCTL_LICENSE_KEY is set, but no server is;"
                " the organization's policies do not apply\n"
            )
            return None
        from dlpctl.cli.licensing import Licensed

        self._license = Licensed.start(self.config.server, key, self.config.data_folder)
        return None if self._license is None else self._license.policy(name)

    def printer(self, *, quiet: bool = False) -> Printer:
        from dlpctl.cli.render import Printer

        return Printer(self.config.color, quiet=quiet)

    def detector(self) -> Detector:
        """Return the detector, which everything in the run shares."""
        if self._detector is None:
            self._detector = self._new_detector()
        return self._detector

    def _new_detector(self) -> Detector:
        from dlpctl.detect.automaton.cache import Cache
        from dlpctl.detect.engine import Detector
        from dlpctl.system.forked import LeaveToFork

        cache = Cache(self.config.cache_folder)
        detector = Detector(files=self._files, cache=cache, on_compile=_note_compiling)
        if not detector.is_compiled:
            from dlpctl.cli.compiling import compile_afterwards

            compile_afterwards(detector, cache)
        detector.leave = LeaveToFork()
        return detector

    def pattern_files(self) -> list[Pattern]:
        """All patterns that can be found, as the files define them, including examples."""
        from dlpctl.detect.entities.taggers import TAGGED
        from dlpctl.detect.patterns.library import builtin_files, load_patterns

        return [*TAGGED, *load_patterns([*builtin_files(), *self._files])]

    def checker(
        self,
        destination: str | None,
        policy: str | None,
        operator: str | None = None,
        sensitivity: Sensitivity | None = None,
        *,
        for_mask: bool = False,
    ) -> Checker:
        """Return a checker. `for_mask` also includes possible findings if an AI tool gets the text:
        a value that is masked needlessly there is restored, or does not matter.
        """
        from dlpctl.operators import DEFAULT_OPERATOR
        from dlpctl.policy.selectors import parse_destination
        from dlpctl.preflight import Checker
        from dlpctl.types import Destination

        self._destination = parse_destination(destination or self.config.destination)
        is_prompt = for_mask and self._destination is Destination.AI_TOOL
        chosen = self._licensed_policy(policy) or self._tiered(policy, sensitivity, is_prompt)
        usual = self.config.operator or DEFAULT_OPERATOR
        return Checker(
            self.detector(),
            chosen,
            self._destination,
            operator=operator,
            usual_operator=usual,
            key=self.key() if _needs_key(chosen, operator, usual) else None,
        )

    def _tiered(self, name: str | None, sensitivity: Sensitivity | None, is_prompt: bool) -> Policy:
        """Return a policy with the threshold of a flag or the settings. Without either, a policy
        file keeps its own, and a built-in policy gets the command's default.
        """
        from dlpctl.config import Layer
        from dlpctl.policy.files import builtin_names
        from dlpctl.types import Sensitivity

        policy = self.policy(name)
        if sensitivity is None and self.config.origin("sensitivity").layer is not Layer.DEFAULT:
            sensitivity = Sensitivity(self.config.sensitivity)
        if sensitivity is None and is_prompt and (name or self.config.policy) in builtin_names():
            sensitivity = Sensitivity.HIGH
        return policy if sensitivity is None else policy._replace(min_score=sensitivity.min_score)

    def file_checker(self, checker: Checker, content: ContentOptions | None = None) -> FileChecker:
        """Return a checker of files with the limits of the settings."""
        from dlpctl.cli.options import ContentOptions
        from dlpctl.files.checking import FileChecker
        from dlpctl.files.choices import parse_metadata, parse_on_uninspected

        given, config = content or ContentOptions(), self.config
        return FileChecker(
            checker,
            limits=config.limits,
            on_uninspected=parse_on_uninspected(given.on_uninspected or config.on_uninspected),
            metadata=parse_metadata(given.metadata or config.metadata),
            flatten=given.flatten or config.flatten,
        )

    def policy(self, name: str | None) -> Policy:
        """Return a built-in policy by name or one from a file, with its names checked."""
        from dlpctl.policy.files import builtin_names
        from dlpctl.policy.model import Policy

        wanted = name or self.config.policy
        if wanted in builtin_names():
            return Policy.builtin(wanted)
        if not Path(wanted).suffix:
            from dlpctl.errors import PolicyError, did_you_mean

            hint = did_you_mean(wanted, builtin_names()) or "; see 'dlpctl policy list'"
            raise PolicyError(f"{wanted!r} is neither a built-in policy nor a .toml file{hint}")
        from dlpctl.detect.patterns.library import custom_patterns

        return Policy.load(
            Path(wanted), known_types=self.catalogue(), check_patterns=custom_patterns
        )

    def catalogue(self) -> Catalogue:
        """The types and patterns that a policy may name."""
        from dlpctl.policy.model import Catalogue

        return Catalogue.of(self.detector().pattern_names)

    def key(self) -> bytes:
        """The key for operators, vaults and fingerprints; created when first needed."""
        from dlpctl.masking.vault import vault_key

        return vault_key(self.config.data_folder / "mask.key", self._environ, create=True)

    def vault(self, file: Path, *, create: bool) -> Vault:
        from dlpctl.cli.outputs import require_place
        from dlpctl.masking.vault import Vault

        require_place(file)
        return Vault(file, self.key(), create=create)

    def allow_list(self) -> AllowList:
        from dlpctl.detect.allow import AllowList

        allow = self.config.allow
        return AllowList(allow.values, allow.regexes, allow.paths)


def print_gaps(detector: Detector) -> None:
    """Warn on stderr that a listing lacks findings that could not be searched for."""
    if detector.not_inspected:
        sys.stderr.write(
            f"dlpctl: note: names and addresses were not inspected: {detector.not_inspected}\n"
        )


def _needs_key(policy: Policy, operator: str | None, usual: str) -> bool:
    from dlpctl.operators import OPERATORS

    named = (
        [operator]
        if operator
        else [usual, *(name for rule in policy.rules for _, name in rule.masking)]
    )
    return any(exception.hmac for rule in policy.rules for exception in rule.exceptions) or any(
        OPERATORS[name].needs_key for full in named if (name := full.partition(":")[0]) in OPERATORS
    )


def _note_compiling() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("dlpctl: compiling patterns for the first use ...\n")


@contextmanager
def open_masker(store: Vault | None, checker: Checker) -> Iterator[Masker]:
    """Yield a masker. A vault's tokens are on disk before the masked text is output."""
    with store.transaction() if store is not None else nullcontext():
        yield checker.masker(store)
