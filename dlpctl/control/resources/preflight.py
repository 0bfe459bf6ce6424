"""Checks of texts and files: the requests, answers and operations of the resource."""

from __future__ import annotations

from collections.abc import Sequence

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Credential, Resource
from dlpctl.control.resources.shapes import Answer, Json, Request
from dlpctl.types import Decision, Destination

_ORG = fields.text("must be the organization of the key, by id or slug")
_POLICY = fields.text("another policy of the key's organization")
DESTINATION = fields.one_of(Destination, "where the content is to go")


class TextCheck(Request):
    """A text to check."""

    text: str = fields.text("1 MiB of UTF-8 at most, if not set otherwise")
    destination: str = DESTINATION
    org_id: str | None = fields.optional(_ORG)
    policy_id: str | None = fields.optional(_POLICY)


class FileCheck(Request):
    """A file to check."""

    file: str = fields.text(
        "50 MiB at most, if not set otherwise", contentMediaType="application/octet-stream"
    )
    destination: str = DESTINATION
    org_id: str | None = fields.missing(_ORG)
    policy_id: str | None = fields.missing(_POLICY)


class CheckedDetection(Answer, name="Detection"):
    """All findings of one type."""

    type: str = fields.text("such as EMAIL")
    count: int = fields.integer(low=1)
    sample: str | None = fields.any_value(
        {
            "type": ["string", "null"],
            "description": "partly masked, or null where that tells too much",
        }
    )


class CheckResult(Answer, name="PreflightResult"):
    """The decision on a content, what was found in it, and its masked copy.

    It is in the store: the answer to a check, or what is answered later on.
    """

    preflight_id: str = fields.text()
    decision: str = fields.one_of(Decision)
    summary: str = fields.text("for people")
    detected: Sequence[CheckedDetection] = fields.array(CheckedDetection)
    masked_content: str | None = fields.omitted(
        fields.any_value(
            {
                "type": ["string", "null"],
                "description": "of a text: the masked copy, where it may go;"
                " not stored, so null later on",
            }
        )
    )
    masked_file_url: str | None = fields.omitted(
        fields.any_value(
            {
                "type": ["string", "null"],
                "description": "of a file: where to get the masked copy within 15 minutes;"
                " null where it is blocked, and later on",
            }
        )
    )
    """A path with a query; the service prepends its address."""
    policy_version: str = fields.text()
    created_at: str = fields.moment()
    is_file: bool = fields.internal()

    def to_dict(self, base_url: str = "") -> Json:
        """Return the fields for a text or a file; the masked copy of the other kind is omitted."""
        answer: Json = {
            "preflight_id": self.preflight_id,
            "decision": self.decision,
            "summary": self.summary,
            "detected": [detection.to_dict() for detection in self.detected],
        }
        if self.is_file:
            url = self.masked_file_url
            answer["masked_file_url"] = f"{base_url}{url}" if url else None
        else:
            answer["masked_content"] = self.masked_content
        return answer | {"policy_version": self.policy_version, "created_at": self.created_at}


class PreviewRequest(Request):
    """A text to mask without a record."""

    text: str = fields.text("1 MiB of UTF-8 at most, if not set otherwise")
    destination: str = DESTINATION


class Preview(Answer):
    """The decision of a policy on a content that was not checked for real."""

    decision: str = fields.one_of(Decision)
    summary: str = fields.text("for people")
    detected: Sequence[CheckedDetection] = fields.array(CheckedDetection)
    masked_content: str | None = fields.any_value({"type": ["string", "null"]})
    policy_version: str = fields.text()


resource = Resource(
    "Preflight", "Checks of content before it goes somewhere, by the policy whose key opens them."
)
_ONE = "/api/preflight/<preflight:preflight_id>"
_SIGNED = fields.text("as in masked_file_url")

resource.operation(
    "check_text",
    "POST /api/preflight/text",
    "",
    CheckResult,
    "Check a text",
    body=TextCheck,
    credential=Credential.POLICY_KEY,
    fails=(404, 429),
    is_direct=True,
)
resource.operation(
    "check_file",
    "POST /api/preflight",
    "",
    CheckResult,
    "Check a file",
    form=FileCheck,
    credential=Credential.POLICY_KEY,
    fails=(404, 429),
)
resource.operation(
    "get_check",
    f"GET {_ONE}",
    "checks.get",
    CheckResult,
    "Show an earlier check by the key's policy, or one that the key asked for",
    credential=Credential.POLICY_KEY,
    fails=(429,),
)
resource.operation(
    "get_masked_file",
    f"GET {_ONE}/file",
    "",
    fields.text("the file", contentMediaType="application/octet-stream"),
    "Give the masked copy of a file, by the address that its check has given",
    query={"expires": _SIGNED, "signature": _SIGNED},
    credential=Credential.POLICY_KEY,
    media="application/octet-stream",
    fails=(429,),
)
resource.operation(
    "preview_text",
    "POST /api/orgs/<org_id>/policies/<policy_id>/preview/text",
    "previews.text",
    Preview,
    "Show how a policy masks a text; nothing is recorded or counted",
    body=PreviewRequest,
)
