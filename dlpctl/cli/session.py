"""What a command needs of configuration, patterns, policies and keys, made from its options."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.detect.cache import Cache
from dlpctl.detect.engine import Detector

if TYPE_CHECKING:
    from dlpctl.config import Config
    from dlpctl.detect.allow import AllowList
    from dlpctl.masking.operators import Masker
    from dlpctl.masking.vault import Vault
    from dlpctl.policy.model import Policy
    from dlpctl.preflight import Checker


class Session:
    """One run of one command."""

    def __init__(self, config: Config, patterns: Sequence[Path] | None) -> None:
        self.config = config
        self._files = [*config.patterns, *(patterns or ())]

    @classmethod
    def begin(cls, patterns: Sequence[Path] | None = None) -> Session:
        from dlpctl.config import load_config

        return cls(load_config(), patterns)

    def detector(self) -> Detector:
        return Detector(files=self._files, cache=Cache(self.config.cache_folder), on_compile=_say_compiling)

    def checker(self, destination: str | None, policy: str | None, operator: str | None = None) -> Checker:
        from dlpctl.preflight import Checker, parse_destination

        return Checker(
            self.detector(),
            self.policy(policy),
            parse_destination(destination or self.config.destination),
            operator=operator or self.config.operator,
            key=self._key_for(operator),
        )

    def policy(self, name: str | None) -> Policy:
        from dlpctl.policy.files import builtin_names
        from dlpctl.policy.model import Policy

        wanted = name or self.config.policy
        return Policy.builtin(wanted) if wanted in builtin_names() else Policy.load(Path(wanted))

    def _key_for(self, operator: str | None) -> bytes | None:
        from dlpctl.masking.operators import OPERATORS

        name = (operator or "").partition(":")[0]
        return self.key() if name in OPERATORS and OPERATORS[name].needs_key else None

    def key(self) -> bytes:
        """The key for operators, vaults and fingerprints; made when it is needed first."""
        import os

        from dlpctl.masking.vault import vault_key

        return vault_key(self.config.data_folder / "mask.key", os.environ, create=True)

    def vault(self, file: Path, *, create: bool) -> Vault:
        from dlpctl.masking.vault import Vault

        return Vault(file, self.key(), create=create)

    def allow_list(self) -> AllowList:
        from dlpctl.detect.allow import AllowList

        allow = self.config.allow
        return AllowList(allow.values, allow.regexes, allow.paths)


def _say_compiling() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("dlpctl: compiling patterns for the first use ...\n")


@contextmanager
def opened(store: Vault | None, checker: Checker) -> Iterator[Masker]:
    """A masker; where there is a vault, its tokens are on disk before what holds them is given out."""
    with store.transaction() if store is not None else nullcontext():
        yield checker.masker(store)
