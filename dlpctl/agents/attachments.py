"""Images, audio and files in JSON, as base64 next to their media type."""

from __future__ import annotations

import base64
import binascii
import mimetypes
from collections.abc import Iterator, Mapping
from typing import Any

from dlpctl.errors import InputError

_CONTENTS = ("base64", "blob", "data")
_MEDIA_TYPES = ("mimeType", "media_type", "mediaType", "type")


def attachments(value: Any) -> Iterator[tuple[bytes, str]]:
    """Yield attached files, with names whose suffixes give their formats; raise `InputError` for an
    attachment that cannot be decoded.
    """
    if isinstance(value, dict):
        for key, each in value.items():
            media_type = _media_type(value, key)
            if media_type:
                suffix = mimetypes.guess_extension(media_type) or ""
                try:
                    yield base64.b64decode(each, validate=True), f"attachment{suffix}"
                except (binascii.Error, ValueError):
                    raise InputError("an attachment is not base64") from None
            else:
                yield from attachments(each)
    elif isinstance(value, list):
        for each in value:
            yield from attachments(each)


def without_attachments(value: Any) -> Any:
    """Return a copy in which attachments are empty."""
    if isinstance(value, dict):
        return {
            key: "" if _media_type(value, key) else without_attachments(each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [without_attachments(each) for each in value]
    return value


def with_attachments(changed: Any, original: Any) -> Any:
    """Return a changed copy with the attachments of the original."""
    if isinstance(changed, dict) and isinstance(original, dict):
        pairs = zip(changed.items(), original.items(), strict=True)
        return {
            key: before if _media_type(original, name) else with_attachments(after, before)
            for (key, after), (name, before) in pairs
        }
    if isinstance(changed, list) and isinstance(original, list):
        return [with_attachments(*pair) for pair in zip(changed, original, strict=True)]
    return changed


def _media_type(value: Mapping[str, Any], key: str) -> str:
    """Return the media type of a field; empty if it is not an attachment."""
    if key not in _CONTENTS or not isinstance(value[key], str):
        return ""
    found = (value.get(name) for name in _MEDIA_TYPES)
    return next((each for each in found if isinstance(each, str) and "/" in each), "")
