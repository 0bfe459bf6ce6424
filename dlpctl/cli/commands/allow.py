"""Accept one finding with a reason and an expiry date.

Scans and hooks ignore its value until then.

Examples:
    dlpctl allow config.py:7 --reason "published test key"
    dlpctl allow FINGERPRINT --reason "sample data" --expires 2027-01-31
"""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import accepted, options
from dlpctl.cli.app import App
from dlpctl.cli.scans.new_exceptions import ExceptionOptions, baseline_to_add_to, save
from dlpctl.cli.session import Session
from dlpctl.errors import UsageError
from dlpctl.scan.baseline import Acceptance

SECTION = ("Repositories, shells and help", 31)

app = App()


@app.command(help=__doc__)
def allow(
    finding: Annotated[
        str,
        typer.Argument(
            metavar="FINDING", help="FILE:LINE, FILE:LINE:COLUMN, or its 'id' in a report."
        ),
    ],
    reason: Annotated[str, typer.Option(metavar="REASON", help="Why it is accepted.")],
    exception: ExceptionOptions,
    types: options.Types = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    from dlpctl.cli.finding_lookup import FindingLookup
    from dlpctl.cli.search import HOOK, search

    if not reason.strip():
        raise UsageError("--reason is empty; say why the finding is accepted")
    template = exception.entry_template(reason)
    baseline = baseline_to_add_to(exception.file)
    session = Session.start()
    searches = [search(session, types=types), search(session, types=types, defaults=HOOK)]
    found = FindingLookup(session, searches, baseline.keys).find(finding)
    entry = template._replace(fingerprint=found.fingerprint.partition(" ")[0], type=found.type)
    acceptance = Acceptance(baseline, accepted.today())
    added = [] if acceptance.accepts(found) else [entry]
    kept = [each for each in baseline.entries if each not in acceptance.expired]
    save(baseline, [*added, *kept], form)
