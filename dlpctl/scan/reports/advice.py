"""What to do about a finding, for reports that have room to say so."""

from __future__ import annotations

from dlpctl.scan.results import Result

_BY_CATEGORY = {
    "SECRETS": (
        "Revoke it where it was issued and issue a new one: whoever could read this file, or the history of its repository, may have "
        "it. Keep the new one in the environment or in a secret store."
    ),
    "PII": (
        "Remove it, or replace it by invented data: 'dlpctl mask --operator surrogate' does that. If it must stay, say who answers for it "
        "and until when in an exception."
    ),
    "PHI": (
        "Health data must not lie where it is not needed. Remove it, or mask the file with 'dlpctl mask', and ask who is responsible "
        "for privacy whether this has to be reported."
    ),
    "FINANCIAL": (
        "Remove it, or mask it with 'dlpctl mask'. Card numbers must not be kept in the clear at all; test data should use the numbers "
        "that the networks publish for tests."
    ),
    "CUSTOM": "Your organization defined this pattern: do what its policy says.",
}


def advice(result: Result) -> str:
    accepted = (
        "To accept this finding: dlpctl allow FILE:LINE --reason TEXT. A line that holds 'dlpctl:allow' is"
        " accepted, as is what the configuration's [allow] lists."
    )
    return f"{_BY_CATEGORY[result.category]} {accepted}"
