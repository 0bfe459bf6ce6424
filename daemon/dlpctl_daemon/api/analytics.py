"""What an organization's checks came to."""

from __future__ import annotations

from dlpctl_daemon.endpoints import Call, Resource
from dlpctl_daemon.schemas import one_of

resource = Resource(
    "Analytics", "What an organization's checks came to. A period ends today, in UTC."
)

_PATH = "/api/orgs/<org_id>/analytics"
_PERIOD = {"period": one_of(("7d", "30d", "90d")) | {"default": "30d"}}


@resource.endpoint("GET", _PATH, answer="OrganizationAnalytics", query=_PERIOD)
def get_analytics(call: Call, org_id: str) -> object:
    """Sums over a period"""
    return call.control.analytics.organization(call.access, org_id, **call.query).to_dict()


@resource.endpoint("GET", f"{_PATH}/timeseries", answer="TimeSeries", query=_PERIOD)
def get_timeseries(call: Call, org_id: str) -> object:
    """Sums by day"""
    return call.control.analytics.timeseries(call.access, org_id, **call.query).to_dict()


@resource.endpoint("GET", f"{_PATH}/detections", answer="DetectionBreakdown", query=_PERIOD)
def get_detections(call: Call, org_id: str) -> object:
    """Findings by type"""
    return call.control.analytics.detections(call.access, org_id, **call.query).to_dict()
