"""Pictures, audio and documents in requests: checked as files and replaced by masked copies."""

from __future__ import annotations

import base64
import binascii
import mimetypes
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.errors import InputError
from dlpctl.gateway.conversations import UnitResult
from dlpctl.gateway.jsonbody import Splice
from dlpctl.regex import lazy
from dlpctl.types import Decision

if TYPE_CHECKING:
    from dlpctl.files.checking import FileChecker
    from dlpctl.masking.masker import Masker

_ADDRESS = lazy(r"(?:https?|gs|s3)://", 2)
_TO_STANDARD = str.maketrans("-_", "+/")
_TO_URL = str.maketrans("+/", "-_")


class Attachment(NamedTuple):
    """A file in a text; without data, it is at a URL that only the provider reads."""

    data: bytes | None
    name: str
    start: int = 0
    """The start of the base64 in the text."""
    end: int = 0
    is_for_urls: bool = False
    """True if its base64 uses the URL-safe alphabet."""


def attachment(text: str, sibling: str, parent: Any) -> Attachment | None:
    """Return the file that a text holds; None if it is text for people or an identifier.

    `sibling` names the field of the parent that gives the media type or format; `*` means that the
    text is always base64.
    """
    if _ADDRESS.match(text):
        return Attachment(None, "")
    if text[:5].lower() == "data:":
        head, comma, encoded = text.partition(",")
        parameters = head[5:].split(";")
        if not comma or parameters[-1].strip().lower() != "base64":
            return None
        return _file(encoded, parameters[0], len(text) - len(encoded))
    if sibling == "*":
        return _file(text, "", 0)
    if not sibling or not isinstance(parent, dict) or parent.get("type") == "text":
        return None
    return _file(text, str(parent.get(sibling, "")), 0)


def _file(encoded: str, media_type: str, start: int) -> Attachment:
    is_for_urls = "-" in encoded or "_" in encoded
    standard = encoded.translate(_TO_STANDARD) if is_for_urls else encoded
    try:
        data = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise InputError("an attachment is not base64") from None
    suffix = mimetypes.guess_extension(media_type) or (f".{media_type}" if media_type else "")
    name = f"attachment{suffix if suffix.replace('.', '').isalnum() else ''}"
    return Attachment(data, name, start, start + len(encoded), is_for_urls)


def checked(file: Attachment, files: FileChecker, masker: Masker) -> UnitResult:
    """Return the decision on a file; the splice is relative to the text that contains it."""
    if file.data is None:
        reason = "a file at a URL cannot be inspected; send the file itself"
        return UnitResult(Decision.ALLOWED, reason=reason)
    report = files.check(file.data, file.name, masker=masker)
    counts = Counter({each.type: each.occurrences for each in report.report.detected})
    if report.masked is None:
        gaps = report.coverage.not_inspected
        reason = f"an attachment may not pass: {report.summary}" if gaps else ""
        return UnitResult(Decision.BLOCKED, counts, reason=reason)
    if report.decision is Decision.ALLOWED:
        return UnitResult()
    written = base64.b64encode(report.masked).decode("ascii")
    if file.is_for_urls:
        written = written.translate(_TO_URL)
    return UnitResult(report.decision, counts, (Splice(file.start, file.end, written),))
