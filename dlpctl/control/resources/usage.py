"""Checks that licensed clients make by themselves: the requests, answers and operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlpctl.control.resources import fields
from dlpctl.control.resources.licenses import MAX_CHECKS
from dlpctl.control.resources.operations import Credential, Resource
from dlpctl.control.resources.shapes import Answer, Request
from dlpctl.types import Decision, Destination

MOST_CHECKS = 500
MOST_TYPES = 200
MOST_FINDINGS = 1_000_000_000
MOST_SUMMED_CHECKS = 1_000_000
_MOST_MILLISECONDS = 86_400_000
_LONGEST_VERSION = 100
_TYPE_NAME = "[A-Z][A-Z0-9_]{0,63}"


class ReportedDetection(Request):
    """The number of findings of a type."""

    type: str = fields.like(_TYPE_NAME, "the name of a type such as EMAIL", "such as EMAIL")
    count: int = fields.integer(low=1, high=MOST_FINDINGS)


class ReportedCheck(Request):
    """A check: what was decided, and never what was checked."""

    preflight_id: str = fields.like(
        "pf_[0-9a-f]{24}",
        "'pf_' and 24 hexadecimal digits",
        "made by the client; told twice, the check counts once",
    )
    created_at: str = fields.given_moment(
        "a day or a moment in the life of the license, give or take a day; ISO 8601"
    )
    destination: str = fields.one_of(Destination, "where the content is to go")
    decision: str = fields.one_of(Decision)
    policy_id: str = fields.like(
        "pol_[0-9a-f]{24}", "the id of a policy", "of a policy that the organization has or had"
    )
    policy_version: str = fields.like(r"[0-9]{1,9}\.[0-9]{1,9}", "a version such as 1.0")
    bytes: int = fields.integer("of the content")
    is_file: bool = fields.flag(default=False)
    detected: Sequence[ReportedDetection] = fields.array(
        ReportedDetection, "types", most=MOST_TYPES
    )


class UsageReport(Request):
    """Checks that a client has made by itself, under a license."""

    checks: Sequence[ReportedCheck] = fields.array(
        ReportedCheck, "checks", least=1, most=MOST_CHECKS
    )


class UsageReceipt(Answer):
    """The result of a report."""

    recorded: int = fields.integer("checks that are now in the log")
    known: int = fields.integer("checks that were reported before")
    checks_this_month: int = fields.integer("of the license")
    max_checks_per_month: int = MAX_CHECKS


class MetricsSums(Request):
    """The number of checks by decision, by destination and by type found."""

    total_checks: int = fields.integer(low=1, high=MOST_SUMMED_CHECKS)
    bytes_scanned: int = fields.integer()
    decisions: Mapping[str, int] = fields.numbers(
        Decision, MOST_SUMMED_CHECKS, "they add up to total_checks"
    )
    detections: Mapping[str, int] = fields.numbers(
        None, MOST_FINDINGS, "findings by type, such as EMAIL", like=_TYPE_NAME, most=MOST_TYPES
    )
    avg_duration_ms: float = fields.number(_MOST_MILLISECONDS)
    destinations: Mapping[str, int] = fields.numbers(
        Destination, MOST_SUMMED_CHECKS, "they add up to total_checks"
    )


class MetricsBatch(Request):
    """Sums of checks that a client's library has made under a license."""

    license_key: object = fields.optional(
        fields.text(
            "the key that the request is sent with, once more; not kept", check=fields.as_given
        )
    )
    sdk_version: str | None = fields.optional(fields.text(longest=_LONGEST_VERSION))
    policy_group: str | None = fields.optional(
        fields.text("the name of a policy group that the license covers")
    )
    period: str = fields.like(
        f"{fields.MOMENT}/{fields.MOMENT}",
        'two moments in ISO 8601 with "/" between them',
        "two moments in the life of the license; what is told counts on the day of the second",
    )
    aggregated: MetricsSums = fields.as_field(MetricsSums)


class MetricsReceipt(Answer):
    """The result of a report of sums."""

    recorded: int = fields.integer("checks that now count in analytics")
    checks_this_month: int = fields.integer("of the license")
    max_checks_per_month: int = MAX_CHECKS


resource = Resource(
    "Usage", "Checks that clients make by themselves under a license, told afterwards."
)

resource.operation(
    "report_usage",
    "POST /v1/license/usage",
    "usage.report",
    UsageReceipt,
    "Put checks that a client has made into the log; each counts once, however often it is told",
    body=UsageReport,
    credential=Credential.LICENSE_KEY,
    fails=(429,),
)
resource.operation(
    "report_metrics",
    "POST /v1/metrics/batch",
    "usage.report_sums",
    MetricsReceipt,
    "Count checks that a client library reports as sums: in analytics, not in the log",
    body=MetricsBatch,
    credential=Credential.LICENSE_KEY,
    fails=(429,),
)
