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
    from dlpctl.masking.unmask import unmask as unmask
    from dlpctl.masking.vault import Vault as Vault
    from dlpctl.operators.tokens import TokenStore as TokenStore
    from dlpctl.policy.model import Policy as Policy
    from dlpctl.preflight import check as check
    from dlpctl.preflight import mask as mask
    from dlpctl.text_report import Report as Report
    from dlpctl.types import Decision as Decision
    from dlpctl.types import Destination as Destination
    from dlpctl.types import Finding as Finding

_MODULES = {
    "Decision": "dlpctl.types",
    "Destination": "dlpctl.types",
    "Detector": "dlpctl.detect.engine",
    "FileReport": "dlpctl.files.report",
    "Finding": "dlpctl.types",
    "Policy": "dlpctl.policy.model",
    "Report": "dlpctl.text_report",
    "TokenStore": "dlpctl.operators.tokens",
    "Vault": "dlpctl.masking.vault",
    "check": "dlpctl.preflight",
    "check_file": "dlpctl.files.library",
    "mask": "dlpctl.preflight",
    "mask_file": "dlpctl.files.library",
    "unmask": "dlpctl.masking.unmask",
}
__all__ = ("__version__", *_MODULES)  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def module_of(name: str) -> str:
    """Return the module that defines a public name."""
    return _MODULES.get(name, __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
