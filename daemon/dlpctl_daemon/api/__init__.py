"""Functions for operations whose request or answer is more than JSON: files, streams, health.

All others call a method of the control plane, which their declaration names.
"""

from __future__ import annotations

from dlpctl_daemon.api import audit, links, operation, preflight
from dlpctl_daemon.endpoints import Handler

HANDLERS: dict[str, Handler] = {
    handler.__name__: handler
    for module in (preflight, audit, links, operation)
    for handler in module.HANDLERS
}
"""By the names of their operations."""
