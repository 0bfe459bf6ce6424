"""The source of objects in stores and on the web, read by fsspec in ranges.

Credentials come from the provider's own chain: environment, profile, metadata service.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from random import SystemRandom
from typing import Any, NamedTuple, TypeVar, cast

from dlpctl.errors import UsageError, did_you_mean
from dlpctl.scan.failures import is_transient, reason_of, status_of
from dlpctl.scan.local import read_fully
from dlpctl.scan.results import Skip, Why
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import DATABASES, File, Read, UnreadError, address_shown

T = TypeVar("T")
_SECONDS_TO_CONNECT, _SECONDS_TO_READ = 10, 30
_DELAYS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Seconds between attempts, randomized by half."""
_AT_ONCE = 16
"""The number of small objects that a worker fetches concurrently."""
_DEEPEST = 100
_RANGE = 8 << 20
_CHANGED = "it changed while it was read"
_VERSIONS = (
    *("ETag", "etag", "blob_id", "generation", "md5Hash", "Last-Modified", "LastModified"),
    *("last_modified", "modified", "mtime", "updated", "created"),
)
"""Fields of fsspec's descriptions that change with the content, best first."""


class _Provider(NamedTuple):
    package: str = ""
    """The package that fsspec needs for the provider."""
    has_containers: bool = True
    """True if names start with a bucket or container, which may vanish with all objects."""
    retries: bool = False
    """True if the package itself retries failed requests."""


PROVIDERS = {
    "s3": _Provider("s3fs"),
    "gs": _Provider("gcsfs", retries=True),
    "az": _Provider("adlfs", retries=True),
    "abfs": _Provider("adlfs", retries=True),
    "abfss": _Provider("adlfs", retries=True),
    "hf": _Provider("huggingface_hub", has_containers=False),
    "http": _Provider("aiohttp", has_containers=False),
    "https": _Provider("aiohttp", has_containers=False),
    "memory": _Provider(has_containers=False),
}
"""The schemes of object stores, and the packages that read them."""


class ObjectStore:
    """The objects below one address."""

    noun = "object"
    has_threads = True

    def __init__(self, address: str) -> None:
        """Raise `UsageError` for an invalid address or a missing package."""
        self._scheme = address.partition("://")[0]
        if self._scheme not in PROVIDERS:
            known = [*PROVIDERS, *DATABASES]
            hint = did_you_mean(self._scheme, known) or f"; there are {', '.join(known)}"
            raise UsageError(f"{self._scheme}://: unknown kind of source{hint}")
        self._provider = PROVIDERS[self._scheme]
        self._is_web = self._scheme in ("http", "https")
        if self._is_web and "@" in address.partition("://")[2].partition("/")[0]:
            raise UsageError(f"{self._scheme}://: an address with a password is not accepted")
        self._address = address
        self._shown = address_shown(address)
        try:
            import fsspec

            self._class: Any = fsspec.get_filesystem_class(self._scheme)
            # The errors of a scan replace the warnings of the package.
            logging.getLogger(self._provider.package).addHandler(logging.NullHandler())
        except ImportError:
            raise UsageError(
                f"{self._scheme}:// needs the package {self._provider.package or 'fsspec'}:"
                " install it, or dlpctl with its extra, dlpctl[cloud]"
            ) from None
        self._opened: tuple[int, Any] | None = None
        self._threads: ThreadPoolExecutor | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_opened": None, "_threads": None}

    @property
    def _store(self) -> Any:
        """Return the connection of this process; a connection does not survive a fork."""
        if self._opened is None or self._opened[0] != os.getpid():
            options = self._class._get_kwargs_from_urls(self._address)
            store = self._class(**options, **self._options())
            if self._scheme == "s3":
                store.retries = 1
            self._opened = (os.getpid(), store)
            self._threads = None
        return self._opened[1]

    def _options(self) -> dict[str, Any]:
        import fsspec

        configured = fsspec.config.conf.get(self._scheme, {})
        options: dict[str, Any] = {"use_listings_cache": False}
        if self._scheme == "s3":
            options["config_kwargs"] = {
                "connect_timeout": _SECONDS_TO_CONNECT,
                "read_timeout": _SECONDS_TO_READ,
                "retries": {"total_max_attempts": 1},
            } | configured.get("config_kwargs", {})
        elif self._is_web and "client_kwargs" not in configured:
            import aiohttp

            timeout = aiohttp.ClientTimeout(
                None, sock_connect=_SECONDS_TO_CONNECT, sock_read=_SECONDS_TO_READ
            )
            options["client_kwargs"] = {"timeout": timeout}
        return options

    def files(self, selection: Selection) -> Iterator[File | Skip]:
        try:
            root = self._class._strip_protocol(self._address)
            described = self._described_root(root)
            if described is not None and described["type"] != "directory":
                yield self._selected(described, root.rpartition("/")[2], selection)
                if self._scheme != "s3":
                    return
            if self._scheme == "s3":
                yield from self._keys(root, selection)
            else:
                yield from self._tree(root.rstrip("/"), selection)
        except UnreadError as error:
            detail = error.detail or "there is no such object, bucket or folder"
            yield Skip(self._shown, Why.UNREADABLE, detail)

    def _described_root(self, root: str) -> dict[str, Any] | None:
        """Return the description of the address itself; None if its form is that of a bucket or
        folder.
        """
        if self._address.endswith("/") or (self._provider.has_containers and "/" not in root):
            return None
        return cast("dict[str, Any]", self._retried(lambda: self._store.info(root)))

    def _keys(self, root: str, selection: Selection) -> Iterator[File | Skip]:
        """Yield the objects of S3 page by page: a flat bucket may have millions of keys."""
        bucket, _, key = root.partition("/")
        wanted = {"Bucket": bucket, "Prefix": f"{key}/" if key else ""}

        def listed() -> dict[str, Any]:
            page = self._retried(partial(self._store.call_s3, "list_objects_v2", **wanted))
            return cast("dict[str, Any]", page)

        page = listed()
        while True:
            following = None
            if page.get("IsTruncated"):  # fetch the next page while this one is scanned
                wanted["ContinuationToken"] = page["NextContinuationToken"]
                following = self._pool().submit(listed)
            for each in page.get("Contents", ()):
                name = each["Key"]
                if name.endswith("/") and not each["Size"]:
                    continue  # the marker of a folder
                described = {"name": f"{bucket}/{name}", "size": each["Size"], "ETag": each["ETag"]}
                yield self._selected(described, name[len(wanted["Prefix"]) :], selection)
            if following is None:
                return
            page = following.result()

    def _tree(self, root: str, selection: Selection) -> Iterator[File | Skip]:
        stack = [iter(self._entries(root, root))]
        folders = [root]
        while stack:
            for each in stack[-1]:
                path = each["name"].rstrip("/")
                inside, shown = path[len(root) + 1 :], self._name(path)
                if each["type"] != "directory":
                    yield self._selected(each, inside, selection)
                elif why := selection.why_not_folder(inside, shown):
                    yield Skip(shown, why)
                elif len(stack) > _DEEPEST:
                    yield Skip(shown, Why.UNREADABLE, "nested too deep")
                else:
                    try:
                        entries = self._entries(each["name"], root)
                    except UnreadError as error:
                        yield Skip(shown, Why.UNREADABLE, str(error))
                        continue
                    stack.append(iter(entries))
                    folders.append(path)
                    break
            else:
                stack.pop()
                folders.pop()

    def _entries(self, folder: str, root: str) -> list[dict[str, Any]]:
        """Return the entries of a folder; for a web page, the links that lead below the page."""
        listed = self._retried(lambda: self._store.ls(folder, detail=True))
        below = f"{folder.rstrip('/')}/"
        entries = [each for each in listed if each["name"].startswith(below)]
        entries = [each for each in entries if each["name"] != below]
        if self._is_web:
            entries = [each for each in entries if _is_plain(each["name"])]
        unknown = [each for each in entries if each["size"] is None and each["type"] == "file"]
        described = zip(unknown, self._in_threads(self._describe, unknown), strict=True)
        sizes = {each["name"]: found for each, found in described}
        entries = [sizes.get(each["name"], each) for each in entries]
        return sorted(entries, key=lambda each: str(each["name"]))

    def _describe(self, each: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._retried(lambda: self._store.info(each["name"]))
        except UnreadError as error:
            return each | {"unread": error}

    def _selected(self, each: dict[str, Any], inside: str, selection: Selection) -> File | Skip:
        path = each["name"]
        shown = self._name(path)
        if "unread" in each:
            error = each["unread"]
            return Skip(shown, Why.UNREADABLE, str(error))
        size = each["size"]
        if why := selection.why_not_inside(inside, shown, size or 0):
            return Skip(shown, why)
        if path.endswith("/") and not self._is_web:
            return Skip(shown, Why.UNREADABLE, "a name that ends with a slash")
        is_stream = size is None or (self._is_web and not each.get("partial"))
        return File(path, shown, size or 0, is_stream and size != 0, _version_of(each))

    def _name(self, path: str) -> str:
        return address_shown(path) if self._is_web else f"{self._scheme}://{path.lstrip('/')}"

    def key(self, file: File) -> str:
        return file.shown

    def read_all(self, files: Sequence[File]) -> Iterator[bytes | UnreadError]:
        yield from self._in_threads(self._complete, files)

    def _in_threads(self, read: Callable[[Any], T], items: Sequence[Any]) -> Iterator[T]:
        if len(items) < 2:
            return map(read, items)
        return self._pool().map(read, items)

    def _pool(self) -> ThreadPoolExecutor:
        _ = self._store  # a fork has none of its parent's threads
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_AT_ONCE)
        return self._threads

    def _complete(self, file: File) -> bytes | UnreadError:
        if not file.size:
            return b""
        try:
            data = self._retried(lambda: self._fetched(file, 0, file.size + 1))
        except UnreadError as error:
            return error
        if len(data) == file.size:
            return data
        return UnreadError(Why.UNREADABLE, _CHANGED)

    def read_range(self, file: File, first: int, last: int) -> bytes:
        last = min(last, file.size)
        if first >= last:
            return b""
        data = self._retried(lambda: self._fetched(file, first, last))
        self._require_unchanged(file)
        if len(data) != last - first:
            raise UnreadError(Why.UNREADABLE, _CHANGED)
        return data

    def _fetched(self, file: File, first: int, last: int) -> bytes:
        if not self._is_web:
            data: bytes = self._store.cat_file(file.path, start=first, end=last)
            return data
        headers = {"Accept-Encoding": "identity"}
        if first or last < file.size:
            headers["Range"] = f"bytes={first}-{last - 1}"
        with self._store.open(file.path, block_size=0, size=1, headers=headers) as opened:
            if "Range" in headers and opened.r.status != 206:
                raise UnreadError(Why.UNREADABLE, "the server does not send ranges")
            return read_fully(opened.read, last - first)

    def _require_unchanged(self, file: File) -> None:
        self._store.invalidate_cache()
        described = self._retried(lambda: self._store.info(file.path))
        if _version_of(described) != file.version or described["size"] not in (None, file.size):
            raise UnreadError(Why.UNREADABLE, _CHANGED)

    @contextmanager
    def open(self, file: File) -> Iterator[Read]:
        if not file.stream:
            position = 0

            def read(size: int) -> bytes:
                nonlocal position
                data = self.read_range(file, position, position + min(size, _RANGE))
                position += len(data)
                return data

            yield lambda size: read_fully(read, size)
            return
        headers = {"Accept-Encoding": "identity"}
        with self._retried(
            lambda: self._store.open(file.path, block_size=0, size=1, headers=headers)
        ) as opened:
            # A stream cannot be read again: a failure from here on is final.
            yield lambda size: self._retried(lambda: read_fully(opened.read, size), again=False)
        if file.size or file.version:
            self._require_unchanged(file)

    def next_data(self, file: File, position: int) -> int:
        return position

    def _retried(self, call: Callable[[], T], *, again: bool = True) -> T:
        """Return the result of a request, retrying it while its failure is transient."""
        delays = _DELAYS if again and not self._provider.retries else ()
        for delay in (*delays, None):
            try:
                return call()
            except UnreadError:
                raise
            except Exception as problem:  # each provider's package has its own errors
                if delay is None or not is_transient(problem):
                    raise self._unread(problem) from None
                time.sleep(delay * SystemRandom().uniform(0.5, 1.5))
        raise AssertionError

    def _unread(self, problem: Exception) -> UnreadError:
        if isinstance(problem, FileNotFoundError) and status_of(problem) in (None, 404):
            container = self._class._strip_protocol(self._address).partition("/")[0]
            if self._provider.has_containers and not self._exists(container):
                return UnreadError(Why.UNREADABLE, f"there is no bucket {container}")
            return UnreadError(Why.GONE)
        return UnreadError(Why.UNREADABLE, reason_of(problem))

    def _exists(self, container: str) -> bool:
        try:
            if self._scheme == "s3":
                self._store.call_s3("head_bucket", Bucket=container)
            else:
                self._store.info(container)
        except Exception:  # whatever the reason, do not report the objects as gone
            return False
        return True


def _is_plain(link: str) -> bool:
    return not any(part in link for part in ("?", "#", "/../"))


def _version_of(described: dict[str, Any]) -> str:
    """Return the version in a description, with the size; empty if there is none."""
    value = next((described[name] for name in _VERSIONS if described.get(name)), None)
    return (
        f"{str(value).removeprefix('W/').strip(chr(34))} {described.get('size')}" if value else ""
    )
