"""Fixtures for all tests: the library, compiled once for each of its states."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.engine import Detector

sys.path.insert(0, str(Path(__file__).with_name("support")))
pytest_plugins = ("added", "faults", "limits", "played_tesseract", "workers_here")

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# How long an example takes depends on what else the machine does. The examples of a commit are the
# same in each run; `--hypothesis-profile=explore` draws others.
settings.register_profile(
    "dlpctl",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    max_examples=50,
)
settings.register_profile(
    "explore", settings.get_profile("dlpctl"), derandomize=False, max_examples=200
)
settings.load_profile("dlpctl")


def pytest_configure(config: pytest.Config) -> None:
    """Let programs that tests start have what they have when a user starts them: bytecode, and an
    interrupt that ends them, which a shell takes from what it starts in the background; and let
    all tests share their compiled patterns, apart from the user's.
    """
    os.environ["XDG_CACHE_HOME"] = str(config.rootpath / ".pytest_cache")
    # Hundreds of programs are started; without bytecode each would compile its modules anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Return one more than there are processors: many tests wait for processes and clocks."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Trace nothing in a test marked `no_cover`: in a parallel worker, pytest-cov alone leaves its
    tracer installed, which slows the test down.
    """
    trace = sys.gettrace()
    if item.get_closest_marker("no_cover"):
        sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(trace)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL of one's own, which is started when it is needed."""
    pytest.importorskip("psycopg")
    pgserver = pytest.importorskip("pgserver")
    # Not below pytest's own folder: every run of pytest closes that to other users, and the server
    # runs as one of them.
    with tempfile.TemporaryDirectory() as folder:
        server = pgserver.get_server(Path(folder, "data"), cleanup_mode="delete")
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def new_postgres(postgres_server: Any) -> Callable[[], str]:
    """Makes a database, which goes with its server, and returns its address."""
    import psycopg

    numbers = itertools.count()

    def made() -> str:
        name = f"test_{next(numbers)}"
        with psycopg.connect(postgres_server.get_uri(), autocommit=True) as server:
            server.execute(f"CREATE DATABASE {name}")
        return str(postgres_server.get_uri(name))

    return made


@pytest.fixture
def postgres(new_postgres: Callable[[], str]) -> str:
    """The address of a database of one's own."""
    return new_postgres()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of the control plane on both databases, except those about a file."""
    if "database" in metafunc.fixturenames:
        databases = [None, pytest.param("emptied_postgres", marks=pytest.mark.slow)]
        if any(metafunc.definition.iter_markers("of_a_file")):
            databases.pop()
        metafunc.parametrize(
            "database", databases, ids=["", "postgresql"][: len(databases)], indirect=True
        )


@pytest.fixture
def database(request: pytest.FixtureRequest) -> str | None:
    """The address of the database; None for a file."""
    return None if request.param is None else str(request.getfixturevalue(request.param))


@pytest.fixture(scope="session")
def filled_postgres(postgres_server: Any) -> str:
    """The address of a database that tests use one after the other: making one takes longer than
    most of them.
    """
    from dlpctl.control.postgresql.database import PostgresDatabase

    address = str(postgres_server.get_uri())
    database = PostgresDatabase.of(address)
    with database.opened() as connection:
        database.upgrade(connection)
    return address


@pytest.fixture
def emptied_postgres(filled_postgres: str) -> str:
    """The address of a database as a new one is."""
    from dlpctl.control.postgresql.database import PostgresDatabase

    with PostgresDatabase.of(filled_postgres).opened() as connection:
        connection.execute("SET session_replication_role = replica")
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'dlpctl'")
        tables = {row["tablename"] for row in rows} - {"steps"}
        connection.execute("; ".join(f"DELETE FROM {table}" for table in sorted(tables)))
        connection.execute("INSERT INTO state VALUES ('generation', randomblob(8))")
        connection.execute("INSERT INTO seals VALUES ('unsealed', '', randomblob(0))")
    return filled_postgres


HANG_SECONDS = 300
"""When a test that waits for an event fails: long, since a loaded machine is slow and no test
measures time.
"""


@pytest.fixture(scope="session")
def wait_for() -> Callable[[Callable[[], object]], None]:
    """Wait until a condition holds."""

    def wait(condition: Callable[[], object]) -> None:
        end = time.monotonic() + HANG_SECONDS
        while not condition():
            assert time.monotonic() < end, "what a test waits for does not happen"
            time.sleep(0.01)

    return wait


@pytest.fixture(scope="session")
def compiled_cache(request: pytest.FixtureRequest) -> Path:
    """A cache folder with the compiled library, shared by parallel workers and kept from run to
    run.
    """
    folder = Path(request.config.rootpath / ".pytest_cache" / "dlpctl")
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "dlpctl.lock").open("w") as lock:
        if fcntl is not None:  # the first worker compiles, and the others wait for it
            fcntl.flock(lock, fcntl.LOCK_EX)
        Detector(cache=Cache(folder)).compile()
    return folder


@pytest.fixture(scope="session")
def library(compiled_cache: Path) -> Detector:
    """A detector with every built-in pattern."""
    return Detector(cache=Cache(compiled_cache))


@pytest.fixture
def cache_of_gates(compiled_cache: Path, tmp_path: Path) -> Cache:
    """A cache folder of one's own without patterns, but with the gates of derived texts, which take
    longest to compile.
    """
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    for entry in compiled_cache.glob("gates-*"):
        shutil.copy(entry, folder)
    return Cache(folder)


@pytest.fixture
def in_browser(tmp_path: Path) -> Callable[..., Any]:
    """Runs a script in a page, as `async () => ...`, in a real Chromium with axe-core.

    axe-core is in the folder that AXE_CORE names: `npm install axe-core`.
    """
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or ""
    axe = Path(os.environ.get("AXE_CORE", "node_modules/axe-core")) / "axe.min.js"
    if not chromium or not axe.exists():
        pytest.skip("needs Chromium and axe-core")

    def call(content: str, script: str, *flags: str) -> Any:
        page = re.sub(r"<meta http-equiv=[^>]*>", "", content)  # its policy runs no script of ours
        run = f"({script})().then(found => document.title = JSON.stringify(found))"
        injected = (
            f"<script>{axe.read_text(encoding='utf-8')}</script><script>{run}</script></body>"
        )
        file = tmp_path / "page.html"
        file.write_text(page.replace("</body>", injected), encoding="utf-8")
        command = [chromium, "--headless=old", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        command += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=60000"]
        done = subprocess.run(
            [*command, *flags, file.as_uri()],
            capture_output=True,
            text=True,
            check=True,
            timeout=HANG_SECONDS,
        )
        title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL)
        assert title, done.stderr
        return json.loads(title[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))

    return call
