"""Scans on clusters of Dask: as on this machine, whatever goes wrong on the way."""

from __future__ import annotations

import itertools
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

distributed = pytest.importorskip("distributed")

from dlpctl.errors import EngineError  # noqa: E402
from dlpctl.scan import cluster_worker, dask_pool  # noqa: E402

if TYPE_CHECKING:
    from limits import Limiter

pytestmark = pytest.mark.filterwarnings("default")
MAIL = "jane.doe@northwind.org"
Dlpctl = Callable[..., Any]
Wait = Callable[[Callable[[], object]], None]


def cluster_here(workers: int = 2) -> Any:
    """Start a scheduler and workers that are threads of this process, reached by TCP."""
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=2,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with cluster_here() as running:
        yield running.scheduler_address
    for scan in list(cluster_worker._scans):  # of clients whose scheduler went away
        cluster_worker.end(scan)


@pytest.fixture(autouse=True)
def tree(_own_home: None) -> Path:
    folder = Path("tree")
    folder.mkdir()
    for number in range(200):
        text = f"ask {MAIL} about {number}\n" if number % 10 == 0 else "nothing\n"
        (folder / f"{number:03}.txt").write_text(text)
    (folder / "cut.zip").write_bytes(b"PK\x03\x04 cut off")
    return folder


def report(result: Any) -> dict[str, Any]:
    assert MAIL not in result.out + result.err
    parsed: dict[str, Any] = json.loads(result.out)
    parsed["summary"].pop("notes")
    return parsed


SCAN = ("scan", "tree", "--types", "EMAIL", "--format", "json")


def test_a_cluster_that_runs_finds_the_same(dlpctl: Dlpctl, cluster: str) -> None:
    here, there = dlpctl(*SCAN), dlpctl(*SCAN, "--cluster", cluster)
    assert (there.status, there.err) == (here.status, here.err) == (1, "")
    assert there.out == here.out
    assert len(report(there)["findings"]) == 20


def test_with_own_patterns_and_a_state(dlpctl: Dlpctl, cluster: str) -> None:
    Path("own.toml").write_text(
        "[[pattern]]\nid = 'ticket'\ntype = 'TICKET'\ncategory = 'CUSTOM'\nlabel = 'Ticket'\n"
        "regex = 'TCK-[0-9]{6}'\nscore = 0.8\nexamples = {match = ['TCK-123456'], skip = ['TCK-1']}\n"
    )
    Path("tree/001.txt").write_text("TCK-424242\n")
    more = ("--patterns", "own.toml", "--types", "TICKET,EMAIL", "--keep-going", "--no-names")
    here = dlpctl("scan", "tree", "-f", "json", *more)
    there = dlpctl("scan", "tree", "-f", "json", *more, "--cluster", cluster, "--state", "known")
    assert "TICKET" in report(there)["summary"]["types"]
    assert report(there)["findings"] == report(here)["findings"]
    again = dlpctl("scan", "tree", "-f", "json", *more, "--cluster", cluster, "--state", "known")
    assert report(again)["findings"] == report(here)["findings"]
    assert report(again)["summary"]["unchanged"] == 200


def test_a_journal_in_the_scanned_folder_is_not_read(
    dlpctl: Dlpctl, cluster: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "cut.zip").unlink()
    home = tree / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_DATA_HOME", str(home.absolute()))
    here, there = dlpctl(*SCAN), dlpctl(*SCAN, "--cluster", cluster)
    assert (there.status, there.out) == (here.status, here.out)
    assert here.status == 20


def test_objects_are_read_by_the_workers(dlpctl: Dlpctl, cluster: str) -> None:
    store = pytest.importorskip("fsspec").filesystem("memory")
    store.pipe({f"/shop/{n}.txt": f"ask {MAIL}\n".encode() for n in range(100)})
    try:
        here = dlpctl("scan", "memory://shop", "--format", "json")
        there = dlpctl("scan", "memory://shop", "--format", "json", "--cluster", cluster)
    finally:
        store.rm("/shop", recursive=True)
    assert there.out == here.out
    assert report(there)["summary"]["findings"] == 100


def test_a_scan_resumes_after_its_scheduler_is_gone(
    dlpctl: Dlpctl,
    cluster: str,
    scheduler_that_goes: Callable[[Callable[[], None]], None],
) -> None:
    with cluster_here() as own:
        scheduler_that_goes(own.close)
        stopped = dlpctl(*SCAN, "--cluster", own.scheduler_address)
        assert stopped.status == 1
        assert stopped.err.count("\n") == 1
        assert "the scheduler has gone; run the scan again with --resume" in stopped.err
        assert report(stopped)["summary"]["partial"] is True
    resumed = dlpctl(*SCAN, "--cluster", cluster, "--resume")
    (note,) = json.loads(resumed.out)["summary"]["notes"]
    assert note.endswith("contents were scanned before the scan was stopped.")
    assert report(resumed) == report(dlpctl(*SCAN))
    assert not [*Path(os.environ["XDG_DATA_HOME"]).rglob("*.journal")]


class Missing:
    """It can be read only where a module is installed that is nowhere."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return import_module, ("dlpctl_that_is_missing",)


def test_a_worker_without_dlpctl_is_refused(cluster: str) -> None:
    with closing(dask_pool.DaskPool(cluster)) as pool:
        pool.prepare([], object, object)
        pool.send(1, Missing())  # type: ignore[arg-type]
        answers = itertools.chain.from_iterable(pool.answers(wait=True) for _ in range(1000))
        with pytest.raises(EngineError, match="'dlpctl_that_is_missing'; install this version"):
            next(answers)


@pytest.mark.parametrize("address", ["foo", "tcp://h", "local:0", "tcp://h:99999999", "http://h:1"])
def test_an_invalid_address_is_an_error(dlpctl: Dlpctl, address: str) -> None:
    refused = dlpctl("scan", "tree", "--cluster", address)
    assert refused.status == 2
    assert refused.err.startswith(f"dlpctl: --cluster {address}: write tcp://HOST:PORT")


@pytest.mark.parametrize(
    "arguments",
    [
        ("-", "--cluster", "local:1"),
        ("--staged", "--cluster", "local:1"),
        ("sqlite:///x.db", "--cluster", "local:1"),
        ("tree", "--jobs", "2", "--cluster", "local:1"),
        ("tree", "--resume"),
    ],
)
def test_options_that_clusters_do_not_support_are_refused(
    dlpctl: Dlpctl, arguments: tuple[str, ...]
) -> None:
    refused = dlpctl("scan", *arguments)
    assert refused.status == 2
    assert refused.err.count("\n") == 1
    assert "--cluster" in refused.err


def test_a_scheduler_that_cannot_be_reached(dlpctl: Dlpctl, limit: Limiter) -> None:
    limit("dlpctl.scan.dask_pool._CONNECT_SECONDS", 0.3)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        refused = dlpctl("scan", "tree", "--cluster", address)
    assert refused.status == 1
    assert refused.err.startswith(f"dlpctl: --cluster {address}: the scheduler cannot be reached")
    assert refused.err.count("\n") == 1


def test_workers_that_cannot_be_started(dlpctl: Dlpctl, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("no process is left")

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    refused = dlpctl("scan", "tree", "--cluster", "local:2")
    assert refused.status == 1
    assert refused.err == (
        "dlpctl: --cluster local:2: the workers cannot be started: no process is left\n"
    )


def test_tls_needs_a_certificate(dlpctl: Dlpctl) -> None:
    refused = dlpctl("scan", "tree", "--cluster", "tls://127.0.0.1:9")
    assert refused.status == 2
    assert "names no certificate; set distributed.comm.tls" in refused.err


def test_a_server_that_is_no_scheduler(dlpctl: Dlpctl, limit: Limiter) -> None:
    limit("dlpctl.scan.dask_pool._CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        refused = dlpctl("scan", "tree", "--cluster", address)
    for thread in threading.enumerate():
        if thread.name == dask_pool.CONNECTING:
            thread.join(300)
    assert refused.status == 1
    assert refused.err.startswith(f"dlpctl: --cluster {address}: the scheduler cannot be reached")
    assert refused.err.count("\n") == 1


def test_a_cluster_without_workers(dlpctl: Dlpctl, limit: Limiter) -> None:
    limit("dlpctl.scan.dask_pool._WORKERLESS_SECONDS", 0.0)
    limit("dlpctl.scan.dask_pool._THREADS_EVERY", 0.0)
    with cluster_here(workers=0) as empty:
        refused = dlpctl("scan", "tree", "--cluster", empty.scheduler_address)
    assert refused.status == 1
    assert "there are no workers" in refused.err


def test_the_extra_is_named_if_it_is_missing(
    dlpctl: Dlpctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    refused = dlpctl("scan", "tree", "--cluster", "local:1")
    assert (refused.status, "dlpctl[dask]" in refused.err) == (2, True)


def started(*more: str, cluster: str = "local:2") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dlpctl", *SCAN, "--cluster", cluster, *more]
    with Path("out.json").open("wb") as out, Path("err").open("wb") as err:
        return subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)


def test_workers_of_this_machine_and_ctrl_c(
    dlpctl: Dlpctl, wait_for: Wait, tree: Path, cluster: str
) -> None:
    for number in range(200, 2500):
        (tree / f"{number}.txt").write_text(f"ask {MAIL}\n")
    running = started()
    wait_for(lambda: any(file.stat().st_size > 10_000 for file in journals()))
    os.killpg(running.pid, signal.SIGINT)
    assert running.wait(300) == 130
    assert Path("err").read_bytes() == b""
    assert json.loads(Path("out.json").read_bytes())["summary"]["partial"] is True
    resumed = dlpctl(*SCAN, "--cluster", cluster, "--resume")
    assert json.loads(resumed.out)["summary"]["notes"]
    assert report(resumed) == report(dlpctl(*SCAN))


def journals() -> list[Path]:
    return [*Path(os.environ["XDG_DATA_HOME"]).rglob("*.journal")]


class Cluster:
    """A scheduler and two workers in processes of their own, as `dask scheduler` starts them."""

    def __init__(self, folder: Path, wait_for: Wait) -> None:
        folder.mkdir()
        file = folder / "scheduler.json"
        common = ["--scheduler-file", str(file), "--no-dashboard", "--host", "127.0.0.1"]
        self.scheduler = self._started(folder, "dask_scheduler", "--port", "0", *common)
        wait_for(lambda: file.exists() and file.read_text().endswith("}"))
        self.address: str = json.loads(file.read_bytes())["address"]
        self.nannies = self._started(
            folder, "dask_worker", "--nworkers", "2", "--nthreads", "1", *common
        )

    @staticmethod
    def _started(folder: Path, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        code = f"from distributed.cli.{module} import main; main()"
        with (folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", code, *arguments], stdout=log, stderr=log
            )

    def end(self) -> None:
        """Kill all of it: without a scheduler, nannies try for minutes to reach it."""
        for worker in workers_of(self.nannies):
            worker.kill()
        for process in (self.nannies, self.scheduler):
            process.kill()
            process.wait()


def many_files(tree: Path) -> None:
    for number in range(200, 12_000):
        (tree / f"{number}.txt").write_text(f"ask {MAIL} about {number}\n" * 20)


def kept() -> int:
    """Return the size of what clients have noted in their journals."""
    return sum(file.stat().st_size for file in journals())


def workers_of(owner: subprocess.Popen[bytes]) -> list[Any]:
    """Return the workers that run; one that was killed is replaced after a while."""
    psutil = pytest.importorskip("psutil")
    running = []
    for each in psutil.Process(owner.pid).children(recursive=True):
        with suppress(psutil.Error):  # it has ended meanwhile
            if "spawn_main" in " ".join(each.cmdline()):
                running.append(each)
    return running


def kill_a_worker_of(owner: subprocess.Popen[bytes], wait_for: Wait) -> None:
    """Kill it once the journal has grown, so that it has started to work."""
    goal = kept() + 400_000
    wait_for(lambda: kept() > goal and workers_of(owner))
    workers_of(owner)[-1].kill()


def assert_all_is_found_once(dlpctl: Dlpctl) -> None:
    found = json.loads(Path("out.json").read_bytes())
    assert "were scanned before the scan was stopped" in found["summary"]["notes"][0]
    assert found["findings"] == json.loads(dlpctl(*SCAN).out)["findings"]
    assert len(found["findings"]) == 20 + 20 * 11_800


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_if_clients_and_their_workers_are_killed(
    dlpctl: Dlpctl, wait_for: Wait, tree: Path
) -> None:
    many_files(tree)
    for _ in range(2):
        client = started("--resume")
        kill_a_worker_of(client, wait_for)
        kill_a_worker_of(client, wait_for)
        client.kill()
        client.wait()
    client = started("--resume")
    kill_a_worker_of(client, wait_for)
    assert client.wait(300) == 1
    assert_all_is_found_once(dlpctl)


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_if_the_scheduler_is_killed_as_well(
    dlpctl: Dlpctl, wait_for: Wait, tree: Path, tmp_path: Path
) -> None:
    """Workers are killed five times, the client twice and the scheduler once."""
    many_files(tree)
    running = Cluster(tmp_path / "first", wait_for)
    try:
        client = started("--resume", cluster=running.address)
        kill_a_worker_of(running.nannies, wait_for)
        kill_a_worker_of(running.nannies, wait_for)
        client.kill()
        client.wait()
        client = started("--resume", cluster=running.address)
        kill_a_worker_of(running.nannies, wait_for)
        running.scheduler.kill()
        assert client.wait(300) == 1
        assert b"run the scan again with --resume" in Path("err").read_bytes()
    finally:
        running.end()
    running = Cluster(tmp_path / "second", wait_for)
    try:
        client = started("--resume", cluster=running.address)
        kill_a_worker_of(running.nannies, wait_for)
        client.kill()
        client.wait()
        client = started("--resume", cluster=running.address)
        kill_a_worker_of(running.nannies, wait_for)
        assert client.wait(300) == 1
    finally:
        running.end()
    assert_all_is_found_once(dlpctl)
