"""Checks that licensed clients make by themselves."""

from __future__ import annotations

from dlpctl_daemon.endpoints import Call, Guard, Resource

resource = Resource(
    "Usage", "Checks that clients make by themselves under a license, told afterwards."
)


@resource.endpoint(
    "POST",
    "/v1/license/usage",
    answer="UsageReceipt",
    guard=Guard.LICENSE_KEY,
    body="UsageReport",
    fails=(429,),
)
def report_usage(call: Call) -> object:
    """Put checks that a client has made into the log; each counts once, however often it is told"""
    return call.control.usage.report(call.key, call.body).to_dict()


@resource.endpoint(
    "POST",
    "/v1/metrics/batch",
    answer="MetricsReceipt",
    guard=Guard.LICENSE_KEY,
    body="MetricsBatch",
    fails=(429,),
)
def report_metrics(call: Call) -> object:
    """Count checks that a client library reports as sums: in analytics, not in the log"""
    return call.control.client_metrics.report(call.key, call.body).to_dict()
