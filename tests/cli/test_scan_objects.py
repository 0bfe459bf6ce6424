"""Objects are scanned as files are, from a real S3 protocol and over HTTP."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow
import pytest
from pyarrow import parquet

from dlpctl.formats.columnar import parquet_sections
from dlpctl.formats.containers import zip_sections
from dlpctl.formats.recognition import HEAD, ZIP_END
from dlpctl.scan import objects, reader, scanner
from dlpctl.scan.objects import ObjectStore
from dlpctl.scan.recognized import in_sections
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File

fsspec = pytest.importorskip("fsspec")
s3fs = pytest.importorskip("s3fs")
pytest.importorskip("moto.server")

from moto.core import DEFAULT_ACCOUNT_ID  # noqa: E402
from moto.s3.models import s3_backends  # noqa: E402

from tests.cli.object_server import LINE_END, Environ, ObjectServer, refusal  # noqa: E402

if TYPE_CHECKING:
    from limits import Limiter

pytestmark = pytest.mark.filterwarnings("default")
MAIL = "jane.doe@northwind.org"
LINE = f"ask {MAIL} today\n".encode()
BUCKET = "s3://shop"


class Ran(NamedTuple):
    status: int
    report: dict[str, Any]
    error: str

    @property
    def places(self) -> list[tuple[str, int]]:
        return [(one["file"], one["line"]) for one in self.report["findings"]]

    @property
    def skipped(self) -> dict[str, str]:
        return {one["file"]: f"{one['why']}: {one['detail']}" for one in self.report["skipped"]}


Scan = Callable[..., Ran]


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    running = ObjectServer()
    yield running
    running.close()


@pytest.fixture
def bucket(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith(("AWS_", "FSSPEC_"))]:
        monkeypatch.delenv(name)
    credentials = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    settings = {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    for name, value in (credentials | settings).items():
        monkeypatch.setenv(name, value)
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket("shop", "us-east-1")
    yield
    server.fault = lambda _: None
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].reset()


@pytest.fixture
def scan(dlpctl: Callable[..., Any], limit: Limiter) -> Scan:
    """Runs a scan in this process, with connections of its own and short pauses; two workers, which
    connect again, are for tests that need them.
    """
    limit("dlpctl.scan.objects._DELAYS", (0.01,) * 3)

    def call(*arguments: str, jobs: int = 1) -> Ran:
        fsspec.config.conf.clear()
        fsspec.config.set_conf_env(fsspec.config.conf)
        for store in map(fsspec.get_filesystem_class, ("s3", "http")):
            store.clear_instance_cache()
        options = ("--types", "EMAIL", "--format", "json", "--jobs", str(jobs))
        ran = dlpctl("scan", *arguments, *options)
        assert MAIL not in ran.out + ran.err
        assert "Traceback" not in ran.err
        start = ran.out.find("{")
        return Ran(ran.status, json.loads(ran.out[start:]) if start >= 0 else {}, ran.err)

    return call


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch, limit: Limiter) -> None:
    """Contents are large, and read in parts, from an eighth of the size on."""
    limit("dlpctl.scan.objects._RANGE", objects._RANGE // 8)
    for name in ("LARGE", "PART_SIZE"):
        size = getattr(reader, name) // 8
        for module in (reader, scanner):
            limit(f"{module.__name__}.{name}", size)
    for module in (parquet_sections, zip_sections):
        limit(f"{module.__name__}.SECTION_BYTES", module.SECTION_BYTES // 8)


def test_a_program_of_its_own_reads_a_bucket(bucket: None) -> None:
    """The other tests call its main function."""
    put("mail.txt", LINE)
    put("clean.txt", b"nothing\n")
    command = [sys.executable, "-m", "dlpctl", "scan", BUCKET, "--types", "EMAIL", "-f", "json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stderr) == (20, "")
    assert [one["file"] for one in json.loads(ran.stdout)["findings"]] == [f"{BUCKET}/mail.txt"]


def put(name: str, data: bytes) -> None:
    """Store an object under any name, of which boto3 would resolve some."""
    stored = name.replace("\n", LINE_END)
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object("shop", stored, data)


def test_objects_are_scanned_as_files_are(bucket: None, scan: Scan) -> None:
    rows = "id,mail\n" + "".join(f"{n},user{n}@northwind.org\n" for n in range(3))
    contents = {
        "a/clean.txt": b"nothing\n",
        "a/b/mail.txt": b"\n" + LINE,
        "a/empty": b"",
        "a/folder/": b"",
        "a/log.txt.gz": gzip.compress(LINE),
        "a/rows.csv": rows.encode(),
        "a2/other.txt": LINE,
        "a/../up.txt": LINE,
        "a/new\nline.txt": LINE,
        "a/left out.log": LINE,
        "a/deep/left.tmp/x.txt": LINE,
    }
    folder = Path("tree")
    for name, data in contents.items():
        put(name, data)
        if not name.endswith("/") and ".." not in name and name.startswith("a/"):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    options = ("--exclude", "*.log", "--exclude", "*.tmp/", "--verbose")
    there, here = scan(f"{BUCKET}/a", *options, jobs=2), scan("tree/a", *options)
    assert there.status == here.status == 20
    assert sorted(there.places) == sorted(
        [(place.replace("tree/", f"{BUCKET}/"), line) for place, line in here.places]
        + [(f"{BUCKET}/a/../up.txt", 1)]
    )
    assert there.report["summary"]["skipped"] == {"excluded": 2}
    both = scan("tree/a/b", f"{BUCKET}/a/b/mail.txt")
    assert both.places == [("tree/a/b/mail.txt", 2), (f"{BUCKET}/a/b/mail.txt", 2)]


def archive_of(*members: tuple[str, bytes]) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return output.getvalue()


def rows_of(count: int) -> bytes:
    """Return a Parquet file of row groups of a quarter of a megabyte, few of which are read as text."""
    mails = [None] * (count - 1) + [MAIL]
    noise = [random.Random(number).randbytes(250) for number in range(count)]
    output = io.BytesIO()
    table = pyarrow.table({"mail": mails, "noise": noise})
    parquet.write_table(table, output, row_group_size=1000, compression="none")
    return output.getvalue()


def test_members_and_row_groups_are_read_without_the_rest(
    server: ObjectServer, bucket: None, scan: Scan, small_parts: None
) -> None:
    members = [(f"zeros{number}.bin", bytes(7 << 17)) for number in range(3)]
    contents = {
        "all.zip": archive_of(*members, ("mail.txt", LINE), ("clean.txt", b"x")),
        "all.parquet": rows_of(12_000),
    }
    for name, data in contents.items():
        assert len(data) > 5 << 19
        put(name, data)
    server.served.clear()
    ran = scan(f"{BUCKET}/")
    assert [(one["file"], one["place"]) for one in ran.report["findings"]] == [
        (f"{BUCKET}/all.parquet", "row groups 9 to 12 > column 1, row 4000"),
        (f"{BUCKET}/all.zip", "mail.txt > line 1"),
    ]
    assert ran.report["summary"]["files"] == 2
    assert ran.report["summary"]["bytes"] < sum(map(len, contents.values()))
    assert max(server.served) < 9 << 17
    # The start and the end of each tell the format; then all is read once.
    ends = len(contents) * (HEAD + ZIP_END)
    assert sum(server.served) < sum(map(len, contents.values())) + ends + 10_000
    for name, data in contents.items():
        store = ObjectStore(f"{BUCKET}/{name}")
        (file,) = store.files(Selection())
        assert isinstance(file, File)
        server.served.clear()
        read = partial(store.read_range, file)
        found = in_sections(data[:HEAD], file, data[-ZIP_END:], read)
        assert found is not None
        *_, last = found.sections
        assert MAIL.encode() in read(last.first, last.last)
        assert sum(server.served) < len(data) / 2


def test_an_archive_is_left_out_or_damaged_as_a_whole(
    bucket: None, scan: Scan, small_parts: None
) -> None:
    data = archive_of(("zeros.bin", bytes(17 << 17)), ("mail.txt", LINE))
    put("a.zip", data)
    put("b.zip", data[:-40] + b"\0" * 18 + data[-22:])
    left_out = scan(f"{BUCKET}/a.zip", "--no-archives")
    assert left_out.report["summary"]["skipped"] == {"archive": 1}
    damaged = scan(f"{BUCKET}/b.zip")
    assert damaged.skipped == {
        f"{BUCKET}/b.zip": "unreadable: an entry of the ZIP archive is damaged"
    }


def test_large_objects_are_read_in_ranges_and_streams_unpacked(
    bucket: None, scan: Scan, small_parts: None
) -> None:
    filler = b"all work and no play\n" * 125_000
    big = filler + LINE + filler[: 1 << 20] + LINE
    put("big.txt", big)
    chance = random.Random(1)
    noise = b"".join(b"%d %s\n" % (n, chance.randbytes(40).hex().encode()) for n in range(43_750))
    packed = gzip.compress(noise[:112_500], 1) + gzip.compress(noise + LINE, 1)
    assert len(packed) > 2 << 20
    put("log.txt.gz", packed)
    put("cut.txt.gz", packed[: (2 << 20) + 10])
    ran = scan(BUCKET)
    assert ran.status == 1
    lines = [(125_001, f"{BUCKET}/big.txt"), (125_002 + (1 << 20) // 21, f"{BUCKET}/big.txt")]
    assert [(line, path) for path, line in ran.places if path.endswith("big.txt")] == lines
    # The first stream ends within a line, which the second one continues.
    place = f"line {noise.count(10) + noise[:112_500].count(10) + 1}"
    assert [one.get("place") for one in ran.report["findings"]][2:] == [place]
    assert ran.skipped == {f"{BUCKET}/cut.txt.gz": "unreadable: the gzip file is cut off"}


def test_unreadable_objects_are_reported_and_the_rest_scanned(
    bucket: None, scan: Scan, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSSPEC_S3", '{"config_kwargs": {"read_timeout": 1}}')
    names = ("breaks", "denied", "gone", "good", "hangs", "passes", "slow", "grew")
    for name in names:
        put(name, LINE)
    release = threading.Event()
    refused: list[str] = []

    def fault(environ: Environ) -> Any:
        if environ["REQUEST_METHOD"] != "GET":
            return None
        name = environ["PATH_INFO"].rpartition("/")[2]
        refused.append(name)
        if name == "slow" or (name == "passes" and refused.count(name) < 3):
            return refusal("503 Slow Down", "SlowDown")
        if name == "breaks" and refused.count(name) < 3:  # the connection ends in the answer
            return "206 Partial Content", [("Content-Length", "99")], [b"new"]
        if name == "denied":
            return refusal("403 Forbidden", "AccessDenied")
        if name == "gone":
            return refusal("404 Not Found", "NoSuchKey")
        if name == "grew":
            return "206 Partial Content", [("Content-Length", "3")], [b"new"]
        if name == "hangs":
            release.wait()
        return None

    server.fault = fault
    try:
        ran = scan(BUCKET, "--verbose")
    finally:
        release.set()
    assert ran.status == 1
    assert [path for path, _ in ran.places] == [
        f"{BUCKET}/{name}" for name in ("breaks", "good", "passes")
    ]
    assert {name.rpartition("/")[2]: why for name, why in ran.skipped.items()} == {
        "denied": "unreadable: access denied: AccessDenied, says the test.",
        "gone": "gone before it was read: ",
        "grew": "unreadable: it changed while it was read",
        "hangs": "unreadable: the server did not answer in time",
        "slow": "unreadable: SlowDown, says the test. (HTTP 503)",
    }
    assert refused.count("slow") > 3


def test_an_object_that_changes_between_two_ranges_is_not_scanned(
    bucket: None, scan: Scan, server: ObjectServer, small_parts: None
) -> None:
    put("big.txt", LINE + b"all work and no play\n" * 125_000)
    ranges: list[str] = []

    one_at_a_time = threading.Lock()

    def fault(environ: Environ) -> None:
        if "HTTP_RANGE" in environ:
            with one_at_a_time:
                ranges.append(environ["HTTP_RANGE"])
                if len(ranges) == 3:  # after the start and the end, which tell the format
                    put("big.txt", LINE + b"all play and no work\n" * 125_000)

    server.fault = fault
    ran = scan(BUCKET, jobs=2)
    assert ran.status == 1
    assert not ran.places
    assert ran.skipped == {f"{BUCKET}/big.txt": "unreadable: it changed while it was read"}


def test_a_bucket_that_vanishes_leaves_no_object_unreported(
    bucket: None, scan: Scan, server: ObjectServer
) -> None:
    for number in range(3):
        put(f"{number}.txt", LINE)
    read: list[str] = []

    def fault(environ: Environ) -> Any:
        if "list-type" in environ["QUERY_STRING"]:
            return None
        read.append(environ["PATH_INFO"])
        return refusal("404 Not Found", "NoSuchBucket")

    server.fault = fault
    ran = scan(BUCKET)
    assert ran.status == 1
    assert set(ran.skipped.values()) == {"unreadable: there is no bucket shop"}
    assert len(ran.skipped) == 3
    server.fault = lambda _: None
    none = scan("s3://nowhere/a/")
    assert none.status == 1
    assert none.skipped == {"s3://nowhere/a/": "unreadable: there is no bucket nowhere"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (("403 Forbidden", "InvalidAccessKeyId"), "access denied"),
        (("400 Bad Request", "ExpiredToken"), "access denied"),
    ],
)
def test_wrong_and_expired_credentials(
    bucket: None, scan: Scan, server: ObjectServer, answer: tuple[str, str], reason: str
) -> None:
    put("a.txt", LINE)
    server.fault = lambda _: refusal(*answer)
    ran = scan(f"{BUCKET}/")
    assert (ran.status, ran.error) == (1, "")
    assert list(ran.skipped) == [f"{BUCKET}/"]
    assert f"unreadable: {reason}: {answer[1]}, says the test." == ran.skipped[f"{BUCKET}/"]


def test_no_credentials(bucket: None, scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    ran = scan(f"{BUCKET}/")
    assert ran.status == 1
    assert "Unable to locate credentials" in ran.skipped[f"{BUCKET}/"]


class _Web(SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: Any) -> None:
        """Write nothing."""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server without ranges, and its folder."""
    folder = tmp_path / "web"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Web, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    thread.join()
    server.server_close()


def test_web_pages_and_their_folders(web: tuple[str, Path], scan: Scan, small_parts: None) -> None:
    url, folder = web
    (folder / "docs" / "old").mkdir(parents=True)
    (folder / "docs" / "a.txt").write_bytes(LINE)
    (folder / "docs" / "old" / "b c.txt").write_bytes(b"\n" + LINE)
    (folder / "out.txt").write_bytes(LINE)
    (folder / "docs" / "big.txt").write_bytes(b"all work\n" * 250_000 + LINE)
    ran = scan(f"{url}/docs/")
    assert (ran.status, ran.error) == (20, "")
    assert ran.places == [
        (f"{url}/docs/a.txt", 1),
        (f"{url}/docs/big.txt", 250_001),
        (f"{url}/docs/old/b%20c.txt", 2),
    ]
    signed = scan(f"{url}/out.txt?signature=hidden")
    assert signed.places == [(f"{url}/out.txt", 1)]
    assert "hidden" not in json.dumps(signed.report)
    missing = scan(f"{url}/none.txt?signature=hidden")
    assert missing.status == 1
    assert missing.skipped == {
        f"{url}/none.txt": "unreadable: there is no such object, bucket or folder"
    }


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://host/x", "unknown kind of source"),
        ("https://user:secret@host/x", "an address with a password is not accepted"),
        ("az://container", "needs the package adlfs"),
    ],
)
def test_addresses_that_are_refused(scan: Scan, address: str, message: str) -> None:
    if "adlfs" in message:
        pytest.importorskip("fsspec")
        if find_spec("adlfs"):
            pytest.skip("adlfs is installed")
    ran = scan(address)
    assert ran.status == 2
    assert message in ran.error
    assert ran.error.count("\n") == 1
    assert "secret" not in ran.error


def test_objects_in_the_memory_of_a_program() -> None:
    script = (
        "import sys, fsspec; from dlpctl.__main__ import main\n"
        "store = fsspec.filesystem('memory')\n"
        f"store.pipe('/box/a/x.txt', {LINE!r}); store.pipe('/box/y.txt', {LINE!r})\n"
        "sys.argv = ['dlpctl', 'scan', 'memory://box', '--types', 'EMAIL', '--format', 'json']\n"
        "main()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 20, ran.stderr
    found = [one["file"] for one in json.loads(ran.stdout)["findings"]]
    assert found == ["memory://box/a/x.txt", "memory://box/y.txt"]


def test_sarif_has_the_address_as_uri(bucket: None, scan: Scan, tmp_path: Path) -> None:
    put("a b/é.txt", LINE)
    report = tmp_path / "report.sarif"
    assert scan(BUCKET, "--report", f"sarif={report}").status == 20
    result = json.loads(report.read_text("utf-8"))["runs"][0]["results"][0]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"] == f"{BUCKET}/a%20b/%C3%A9.txt"


def test_a_state_reads_only_new_and_changed_objects(
    bucket: None, scan: Scan, server: ObjectServer, tmp_path: Path
) -> None:
    for number in range(5):
        put(f"a/{number}.txt", LINE if number % 2 else b"clean\n")
    state = ("--state", str(tmp_path / "state"))
    first = scan(f"{BUCKET}/a", *state)
    put("a/0.txt", LINE)
    server.requests.clear()
    second = scan(f"{BUCKET}/a", *state)
    read = [url for method, url in server.requests if method == "GET" and "?" not in url]
    assert read == [f"{server.url}/shop/a/0.txt"]
    assert (first.status, second.status) == (20, 20)
    assert second.places == [(f"{BUCKET}/a/0.txt", 1), *first.places]
    assert second.report["summary"]["unchanged"] == 4
    assert scan(f"{BUCKET}/a", *state, "--no-archives").report["summary"]["unchanged"] == 0
    for option in ("--show-values", "--history"):
        refused = scan(f"{BUCKET}/a", *state, option)
        assert refused.status == 2
        assert refused.error.count("\n") == 1


def test_a_sample_of_a_bucket(bucket: None, scan: Scan) -> None:
    for number in range(40):
        put(f"{number}.txt", LINE)
    ran = scan(BUCKET, "--sample", "25%", "--seed", "2")
    assert ran.status == 20
    assert ran.report["summary"]["sample"]["read"] == len(ran.places) == 10
    assert ran.report["summary"]["skipped"] == {"not in the sample": 30}
    for wrong in ("0", "101%", "some"):
        refused = scan(BUCKET, "--sample", wrong)
        assert refused.status == 2
        assert "write a share" in refused.error


def test_a_million_objects_are_listed_as_they_are_scanned(
    bucket: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most the page after the one that is scanned is in memory, however many there are."""
    pages: list[int] = []

    def page(_store: object, action: str, **wanted: str) -> dict[str, Any]:
        assert action == "list_objects_v2"
        number = int(wanted.get("ContinuationToken", 0))
        pages.append(number)
        names = (f"{number}/{each}" for each in range(1000))
        return {
            "Contents": [{"Key": name, "Size": 3, "ETag": '"1"'} for name in names],
            "IsTruncated": number < 999,
            "NextContinuationToken": str(number + 1),
        }

    store = ObjectStore(BUCKET)
    monkeypatch.setattr(s3fs.S3FileSystem, "call_s3", page)
    listed = store.files(Selection())
    for count in range(20_000):
        file = next(listed)
        assert isinstance(file, File)
        assert file.path == f"shop/{count // 1000}/{count % 1000}"
        assert len(pages) <= count // 1000 + 2


class _Endless(BaseHTTPRequestHandler):
    """One large text that is made up as it is sent, in ranges."""

    protocol_version = "HTTP/1.1"
    size = 200 << 20
    piece = b"all work and no play\n" * 50_000

    def log_message(self, *_arguments: Any) -> None:
        """Write nothing."""

    def _start(self) -> int:
        first, last = 0, self.size - 1
        if wanted := self.headers.get("Range"):
            first, last = map(int, wanted.removeprefix("bytes=").split("-"))
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"1"')
        self.end_headers()
        return last - first + 1

    def do_HEAD(self) -> None:
        self._start()

    def do_GET(self) -> None:
        left = self._start()
        while left > 0:
            left -= self.wfile.write(self.piece[:left])


def test_memory_does_not_grow_with_an_object() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Endless)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'dlpctl', 'scan', *sys.argv[1:]])\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    address = f"http://127.0.0.1:{server.server_port}/big.txt"
    command = [sys.executable, "-c", script, address, "--types", "EMAIL", "--quiet", "--jobs", "1"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    status, kilobytes = map(int, ran.stdout.split())
    assert (status, ran.stderr) == (0, "")
    assert kilobytes < _Endless.size >> 10, "a range is 8 MB, and this program some 100"
