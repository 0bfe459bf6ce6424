"""The interface of the control plane, declared once: a module for each resource.

Each module declares what requests and answers hold, and which operations there are. The service's
routes and description, the client of a server and the control plane itself all take it from here.
"""

from __future__ import annotations

from dlpctl.control.resources import (
    analytics,
    audit,
    console,
    groups,
    guardrail,
    health,
    licenses,
    organizations,
    policies,
    preflight,
    tokens,
    usage,
)
from dlpctl.control.resources.operations import Operation, Resource

RESOURCES: tuple[Resource, ...] = tuple(
    module.resource
    for module in (
        preflight,
        organizations,
        policies,
        groups,
        licenses,
        usage,
        tokens,
        analytics,
        audit,
        console,
        guardrail,
        health,
    )
)
"""In the order in which the description shows them."""

OPERATIONS: dict[str, Operation] = {
    operation.name: operation for resource in RESOURCES for operation in resource.operations
}
