"""The baseline: accepted findings with an owner, a reason and an expiry date, in a shared file.

A line identifies a value by a keyed hash of its type and content. The exception thus applies
wherever the value moves, depends on nothing else, and does not reveal the value. Lines are sorted
by the hash, which spreads additions; git's union driver merges the rest, so a file that two
branches started separately may have two salts.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import BaselineError, did_you_mean, os_errors
from dlpctl.system.regular import open_file
from dlpctl.types import Destination

if TYPE_CHECKING:
    from dlpctl.scan.results import Result

KEY_VARIABLE = "DLPCTL_BASELINE_KEY"
NEVER = "never"
_HEAD = (
    "# Findings that 'dlpctl scan' accepts: see 'dlpctl help baselines'."
    " Change it with 'dlpctl baseline'.\n"
)
_SALT = "salt"
_KEY_BYTES = 32
_MAX_BYTES = 64 << 20
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_FIELD = re.compile(r'\s*([a-z]+)=("(?:[^"\\]|\\.)*"|[^\s"]\S*)(?=\s|$)')
_PLAIN = re.compile(r'[^\s"#][^\s]*')
_BOOKKEEPING = re.compile(
    rb"(?m)^(?:salt [0-9a-f]{64}|[0-9a-f]{32}(?= [A-Z]))|(?<= )expires=[0-9]{4}-[0-9]{2}-[0-9]{2}\b"
    rb'|(?<= )owner=(?:"(?:[^"\\\n]|\\.)*"|[^\s"]\S*)'
)
_FIELDS = ("owner", "expires", "reason", "path", "destination")


class Entry(NamedTuple):
    """One exception."""

    fingerprint: str
    type: str
    owner: str
    expires: date | None
    """The last day on which the exception applies."""
    reason: str
    path: str = ""
    """A glob for files, relative to the folder of the exceptions; empty for every file."""
    destination: str = ""

    def line(self) -> str:
        shown = {
            "owner": self.owner,
            "expires": self.expires.isoformat() if self.expires else NEVER,
            "reason": self.reason,
            "path": self.path,
            "destination": self.destination,
        }
        fields = " ".join(f"{name}={_quoted(value)}" for name, value in shown.items() if value)
        return f"{self.fingerprint} {self.type} {fields}\n"

    def has_expired(self, today: date) -> bool:
        return self.expires is not None and self.expires < today


class Baseline(NamedTuple):
    """A file of exceptions; the first of its keys makes the fingerprints of new ones."""

    file: Path
    salts: tuple[bytes, ...]
    """The keys that the file contains."""
    key: bytes | None
    """The key from the environment: without it, the file lets nobody guess values or add
    exceptions.
    """
    entries: tuple[Entry, ...] = ()

    @property
    def keys(self) -> tuple[bytes, ...]:
        return (self.key,) if self.key else self.salts

    @classmethod
    def start(cls, file: Path, environ: Mapping[str, str]) -> Baseline:
        """Return an empty baseline that is not written yet."""
        import secrets

        key = _key_from(environ)
        return cls(file, () if key else (secrets.token_bytes(_KEY_BYTES),), key)

    @classmethod
    def load(cls, file: Path, environ: Mapping[str, str]) -> Baseline:
        try:
            with open_file(file) as opened:
                content = opened.read(_MAX_BYTES + 1)
        except FileNotFoundError:
            raise BaselineError(
                f"{file}: there is no such file; 'dlpctl baseline create' makes one"
            ) from None
        except OSError as problem:
            raise BaselineError(f"{file}: cannot be read: {problem.strerror}") from None
        if len(content) > _MAX_BYTES:
            raise BaselineError(
                f"{file}: is larger than {_MAX_BYTES:,} bytes; that is not a list of exceptions"
            )
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            raise BaselineError(f"{file}: is not UTF-8 at byte {problem.start}") from None
        salts, entries = _parse(file.name, text)
        key = _key_from(environ)
        if not salts and not key:
            if not entries:
                return cls.start(file, environ)
            raise BaselineError(
                f"{file}: was made with a key that is kept elsewhere; set {KEY_VARIABLE} to it"
            )
        return cls(file, salts, key, entries)

    def with_entries(self, entries: Iterable[Entry]) -> Baseline:
        return self._replace(entries=tuple(sorted(set(entries), key=_order)))

    def save(self) -> None:
        """Write the file in one step."""
        from dlpctl.system.newfiles import write_whole

        salts = sorted(salt.hex() for salt in self.salts)
        content = _HEAD + "".join(f"{_SALT} {salt}\n" for salt in salts)
        content += "".join(entry.line() for entry in sorted(set(self.entries), key=_order))
        with os_errors(BaselineError, f"{self.file}: cannot be written"):
            mode = self.file.stat().st_mode & 0o777 if self.file.exists() else 0o644
            write_whole(self.file, content.encode("utf-8", "backslashreplace"), mode=mode)


class Acceptance:
    """Decides whether findings are accepted on a day, and counts those that match expired
    exceptions.
    """

    def __init__(self, baseline: Baseline, today: date, destination: str | None = None) -> None:
        self._root = baseline.file.absolute().parent
        self._today = today
        self._destination = destination
        self._by_fingerprint: dict[str, list[Entry]] = {}
        for entry in baseline.entries:
            self._by_fingerprint.setdefault(entry.fingerprint, []).append(entry)
        self.expired: Counter[Entry] = Counter()
        """Exceptions that would have accepted findings if they had not expired."""

    def concerned(self, result: Result) -> list[Entry]:
        """Return the exceptions for a finding, including expired ones and those for other
        destinations.
        """
        return [
            entry
            for fingerprint in result.fingerprint.split()
            for entry in self._by_fingerprint.get(fingerprint, ())
            if entry.type == result.type and self._reaches(entry, result.path)
        ]

    def accepts(self, result: Result) -> bool:
        found = [
            each for each in self.concerned(result) if each.destination in ("", self._destination)
        ]
        if any(not each.has_expired(self._today) for each in found):
            return True
        self.expired.update(found[:1])
        return False

    def remarks(self) -> list[str]:
        """Return a sentence for each expired exception that matched a finding."""
        return [
            f"The exception {entry.fingerprint[:12]} of {entry.owner} for {entry.type}"
            f" expired on {entry.expires}: {count}"
            f" {'finding counts' if count == 1 else 'findings count'} again."
            for entry, count in sorted(self.expired.items(), key=lambda item: _order(item[0]))
        ]

    def _reaches(self, entry: Entry, path: str) -> bool:
        """Return whether an exception applies to a file, by its path in git or as given."""
        if not entry.path:
            return True
        try:
            relative = os.path.relpath(path, self._root)
        except ValueError:  # on another drive
            relative = path
        return fnmatchcase(path, entry.path) or fnmatchcase(
            relative.replace(os.sep, "/"), entry.path
        )


def without_bookkeeping(content: bytes) -> bytes:
    """Return the content of a baseline with hashes, dates and owners blanked, so that scans skip
    them.
    """
    return _BOOKKEEPING.sub(lambda found: b" " * len(found[0]), content)


def expiry(text: str, today: date) -> date | None:
    """Parse `2027-01-31`, `90d` or `never`; return the expiry date."""
    from datetime import timedelta

    if text == NEVER:
        return None
    try:
        return (
            today + timedelta(days=int(text[:-1]))
            if text.endswith("d")
            else date.fromisoformat(text)
        )
    except (ValueError, OverflowError):
        raise ValueError(
            "is neither a day such as 2027-01-31, nor days such as 90d, nor never"
        ) from None


def _parse(name: str, text: str) -> tuple[tuple[bytes, ...], tuple[Entry, ...]]:
    salts: list[bytes] = []
    entries: set[Entry] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        location = f"{name}:{number}"
        if line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
            raise BaselineError(
                f"{location}: is the mark of a merge conflict; keep the lines of both sides"
            )
        first, _, rest = line.strip().partition(" ")
        if first == _SALT:
            salts.append(_salt(location, rest))
        else:
            entries.add(_entry(location, first, rest))
    return tuple(sorted(set(salts))), tuple(sorted(entries, key=_order))


def _salt(location: str, text: str) -> bytes:
    try:
        salt = bytes.fromhex(text)
    except ValueError:
        salt = b""
    if len(salt) != _KEY_BYTES:
        raise BaselineError(f"{location}: the salt must be {_KEY_BYTES} bytes in hexadecimal")
    return salt


def _entry(location: str, fingerprint: str, rest: str) -> Entry:
    type_name, _, text = rest.strip().partition(" ")
    if not _FINGERPRINT.fullmatch(fingerprint) or not type_name or "=" in type_name:
        raise BaselineError(
            f"{location}: must start with a fingerprint of 32 hexadecimal digits and a type"
        )
    given = _fields(location, text)
    for name in ("owner", "expires", "reason"):
        if name not in given:
            raise BaselineError(
                f"{location}: {name} is missing; who accepts it, why, and until when?"
            )
    if (destination := given.get("destination", "")) and destination not in list(Destination):
        hint = did_you_mean(destination, Destination)
        raise BaselineError(f"{location}: destination {destination!r} is not one{hint}")
    try:
        expires = None if given["expires"] == NEVER else date.fromisoformat(given["expires"])
    except ValueError:
        raise BaselineError(
            f"{location}: expires is neither a day such as 2027-01-31 nor never"
        ) from None
    return Entry(
        fingerprint,
        type_name,
        given["owner"],
        expires,
        given["reason"],
        given.get("path", ""),
        destination,
    )


def _fields(location: str, text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    at = 0
    while text[at:].strip():
        found = _FIELD.match(text, at)
        if found is None:
            raise BaselineError(f'{location}: must continue with fields such as reason="test data"')
        name, value = found.groups()
        if name not in _FIELDS or name in given:
            why = (
                "occurs twice" if name in given else f"is not a field{did_you_mean(name, _FIELDS)}"
            )
            raise BaselineError(f"{location}: {name} {why}")
        try:
            given[name] = str(json.loads(value)) if value.startswith('"') else value
        except ValueError:
            raise BaselineError(
                f"{location}: {name} holds a backslash that JSON does not know"
            ) from None
        if not given[name].strip():
            raise BaselineError(f"{location}: {name} is empty")
        at = found.end()
    return given


def _quoted(value: str) -> str:
    plain = _PLAIN.fullmatch(value) and value.isprintable()
    return value if plain else json.dumps(value, ensure_ascii=not value.isprintable())


def _order(entry: Entry) -> tuple[str, ...]:
    return (
        entry.fingerprint,
        entry.path,
        entry.destination,
        str(entry.expires),
        entry.owner,
        entry.reason,
    )


def _key_from(environ: Mapping[str, str]) -> bytes | None:
    text = environ.get(KEY_VARIABLE, "").strip()
    if not text:
        return None
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) < _KEY_BYTES:
        raise BaselineError(
            f"{KEY_VARIABLE}: must be {_KEY_BYTES} bytes in hexadecimal: openssl rand -hex 32"
        )
    return key


def merged_by_union(file: Path) -> bool:
    """Let git keep added lines of both branches; return whether the attribute is new."""
    attributes = file.parent / ".gitattributes"
    line = f"{file.name} merge=union"
    with os_errors(BaselineError, f"{attributes}: cannot be written"):
        text = attributes.read_text("utf-8", "surrogateescape") if attributes.exists() else ""
        if line in text.splitlines():
            return False
        end = "" if not text or text.endswith("\n") else "\n"
        with attributes.open("a", encoding="utf-8", newline="\n") as opened:
            opened.write(f"{end}{line}\n")
    return True
