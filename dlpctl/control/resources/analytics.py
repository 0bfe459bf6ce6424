"""Analytics of an organization's checks: the answers and operations of the resource."""

from __future__ import annotations

from collections.abc import Sequence

from dlpctl.control.resources.fields import Field, array, day, integer, number, one_of, text
from dlpctl.control.resources.operations import Resource
from dlpctl.control.resources.shapes import Answer

PERIODS = {"7d": 7, "30d": 30, "90d": 90}
DEFAULT_PERIOD = "30d"
PERIOD: Field = one_of(PERIODS, default=DEFAULT_PERIOD)


class OrganizationAnalytics(Answer):
    """Sums over a period."""

    org_id: str = text()
    org_name: str = text()
    total_checks: int = integer()
    bytes_protected: int = integer("of checks that were masked or blocked")
    allowed: int = integer()
    masked: int = integer()
    blocked: int = integer()
    safe_share_rate: float = number(100, "percent")
    prevented_exposures: int = integer("findings in checks that were masked or blocked")
    from_date: str = day()
    to_date: str = day()


class Day(Answer):
    """A day."""

    date: str = day()
    checks_total: int = integer()
    allowed: int = integer()
    masked: int = integer()
    blocked: int = integer()
    bytes_processed: int = integer()


class TimeSeries(Answer):
    """Sums by day."""

    org_id: str = text()
    period: str = text()
    data: Sequence[Day] = array(Day)


class DetectedType(Answer):
    """All findings of one type."""

    type: str = text()
    label: str = text("for people")
    count: int = integer()
    percentage: float = number(100)


class DetectionBreakdown(Answer):
    """Findings by type."""

    org_id: str = text()
    total_detections: int = integer()
    types: Sequence[DetectedType] = array(DetectedType)
    from_date: str = day()
    to_date: str = day()


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
