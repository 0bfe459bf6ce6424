"""The interface of the control plane, declared once: one module per resource.

Each module declares the fields of requests and answers, and the operations. The routes and the
description of the service, the client for a server and the control plane itself are derived from
these declarations.
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
"""In the order in which the description lists them."""

OPERATIONS: dict[str, Operation] = {
    operation.name: operation for resource in RESOURCES for operation in resource.operations
}
