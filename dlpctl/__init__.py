"""Data-loss-prevention preflight: find, decide and mask before content leaves.

    from dlpctl import Detector, Policy, check, check_file, mask, mask_file, unmask

Importing the package is cheap; each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dlpctl.version import __version__ as __version__

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector as Detector
    from dlpctl.files.library import check_file as check_file
    from dlpctl.files.library import mask_file as mask_file
    from dlpctl.files.report import FileReport as FileReport
    from dlpctl.masking.tokens import TokenStore as TokenStore
    from dlpctl.masking.unmask import unmask_text as unmask
    from dlpctl.masking.vault import Vault as Vault
    from dlpctl.policy.model import Policy as Policy
    from dlpctl.preflight import Report as Report
    from dlpctl.preflight import check as check
    from dlpctl.preflight import mask as mask
    from dlpctl.types import Decision as Decision
    from dlpctl.types import Destination as Destination
    from dlpctl.types import Finding as Finding

_MODULES = {
    "Decision": ("dlpctl.types", "Decision"),
    "Destination": ("dlpctl.types", "Destination"),
    "Detector": ("dlpctl.detect.engine", "Detector"),
    "FileReport": ("dlpctl.files.report", "FileReport"),
    "Finding": ("dlpctl.types", "Finding"),
    "Policy": ("dlpctl.policy.model", "Policy"),
    "Report": ("dlpctl.preflight", "Report"),
    "TokenStore": ("dlpctl.masking.tokens", "TokenStore"),
    "Vault": ("dlpctl.masking.vault", "Vault"),
    "check": ("dlpctl.preflight", "check"),
    "check_file": ("dlpctl.files.library", "check_file"),
    "mask": ("dlpctl.preflight", "mask"),
    "mask_file": ("dlpctl.files.library", "mask_file"),
    "unmask": ("dlpctl.masking.unmask", "unmask_text"),
}
__all__ = (
    "Decision",
    "Destination",
    "Detector",
    "FileReport",
    "Finding",
    "Policy",
    "Report",
    "TokenStore",
    "Vault",
    "__version__",
    "check",
    "check_file",
    "mask",
    "mask_file",
    "unmask",
)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _MODULES[name]
    value = globals()[name] = getattr(import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
