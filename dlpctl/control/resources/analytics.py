"""Analytics of an organization's checks: the answers and operations of the resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Resource
from dlpctl.control.resources.shapes import Answer

PERIODS = {"7d": 7, "30d": 30, "90d": 90}
DEFAULT_PERIOD = "30d"
PERIOD: fields.Field = fields.one_of(PERIODS, default=DEFAULT_PERIOD)


class OrganizationAnalytics(Answer):
    """Sums over a period."""

    org_id: str = fields.text()
    org_name: str = fields.text()
    total_checks: int = fields.integer()
    bytes_protected: int = fields.integer("of checks that were masked or blocked")
    allowed: int = fields.integer()
    masked: int = fields.integer()
    blocked: int = fields.integer()
    safe_share_rate: float = fields.number(100, "percent")
    prevented_exposures: int = fields.integer("findings in checks that were masked or blocked")
    from_date: str = fields.day()
    to_date: str = fields.day()


class Day(Answer):
    """A day."""

    date: str = fields.day()
    checks_total: int = fields.integer()
    allowed: int = fields.integer()
    masked: int = fields.integer()
    blocked: int = fields.integer()
    bytes_processed: int = fields.integer()


class TimeSeries(Answer):
    """Sums by day."""

    org_id: str = fields.text()
    period: str = fields.text()
    data: Sequence[Day] = fields.array(Day)


class DetectedType(Answer):
    """All findings of one type."""

    type: str = fields.text()
    label: str = fields.text("for people")
    count: int = fields.integer()
    percentage: float = fields.number(100)


class DetectionBreakdown(Answer):
    """Findings by type."""

    org_id: str = fields.text()
    total_detections: int = fields.integer()
    types: Sequence[DetectedType] = fields.array(DetectedType)
    from_date: str = fields.day()
    to_date: str = fields.day()


class DestinationSums(Answer):
    """Checks of contents that were to go to a destination; empty where it is not known."""

    destination: str = fields.text()
    allowed: int = fields.integer()
    masked: int = fields.integer()
    blocked: int = fields.integer()


class PolicySums(Answer):
    """Checks by a policy."""

    policy_id: str = fields.text()
    name: str = fields.text()
    org_slug: str = fields.text()
    allowed: int = fields.integer()
    masked: int = fields.integer()
    blocked: int = fields.integer()


class TypeByDestination(Answer):
    """Findings of a type, in all and by destination."""

    type: str = fields.text()
    label: str = fields.text("for people")
    count: int = fields.integer()
    destinations: Mapping[str, int] = fields.any_value(
        {"type": "object", "additionalProperties": {"type": "integer"}}
    )


class Overview(Answer):
    """Sums over a period, in all and by day, destination, policy and type."""

    data: Sequence[Day] = fields.array(Day)
    destinations: Sequence[DestinationSums] = fields.array(DestinationSums)
    policies: Sequence[PolicySums] = fields.array(PolicySums, description="the ten with most")
    types: Sequence[TypeByDestination] = fields.array(TypeByDestination)
    bytes_protected: int = fields.integer("of checks that were masked or blocked")
    prevented_exposures: int = fields.integer("findings in checks that were masked or blocked")
    from_date: str = fields.day()
    to_date: str = fields.day()


resource = Resource(
    "Analytics", "What an organization's checks came to. A period ends today, in UTC."
)
_PATH = "/api/orgs/<org_id>/analytics"
_QUERY = {"period": PERIOD}

resource.operation(
    "get_analytics",
    f"GET {_PATH}",
    "analytics.organization",
    OrganizationAnalytics,
    "Sums over a period",
    query=_QUERY,
)
resource.operation(
    "get_timeseries",
    f"GET {_PATH}/timeseries",
    "analytics.timeseries",
    TimeSeries,
    "Sums by day",
    query=_QUERY,
)
resource.operation(
    "get_detections",
    f"GET {_PATH}/detections",
    "analytics.detections",
    DetectionBreakdown,
    "Findings by type",
    query=_QUERY,
)
resource.operation(
    "get_overview",
    "GET /api/analytics",
    "analytics.overview",
    Overview,
    "Sums over a period, for all organizations or one",
    query=_QUERY | {"org_id": fields.text("of this organization alone, by id or slug")},
    fails=(404,),
)
