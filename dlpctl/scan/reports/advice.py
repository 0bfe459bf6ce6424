"""Advice on findings, for reports with room for it."""

from __future__ import annotations

from dlpctl.scan.results import Result

_BY_CATEGORY = {
    "SECRETS": (
        "Revoke it where it was issued, and issue a new one: anyone who could read this file or the"
        " history of its repository may have it. Keep the new one in the environment or in a secret"
        " store."
    ),
    "PII": (
        "Remove it, or replace it by generated data: 'dlpctl mask --operator surrogate' does that."
        " If it must stay, add an exception that says who answers for it and until when."
    ),
    "PHI": (
        "Health data must only be where it is needed. Remove it, or mask the file with 'dlpctl"
        " mask', and ask whoever is responsible for privacy whether this has to be reported."
    ),
    "FINANCIAL": (
        "Remove it, or mask it with 'dlpctl mask'. Card numbers must never be kept in the clear;"
        " test data should use the numbers that the networks publish for tests."
    ),
    "CUSTOM": "Your organization defined this pattern: do what its policy says.",
}
_ACCEPT = (
    "To accept this finding: dlpctl allow FILE:LINE --reason TEXT. Lines with 'dlpctl:allow' are"
    " accepted, and so are the values in the table [allow] of the settings."
)


def advice(result: Result) -> str:
    return f"{_BY_CATEGORY[result.category]} {_ACCEPT}"
