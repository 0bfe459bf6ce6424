"""The program that agents run for each event: it asks the warm process of this user, and works
without one where there is none.

Every millisecond of it is paid for each event, so it imports next to nothing and is started with
`python -I -S`. An event that it cannot have answered is refused.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket as Connection  # noqa: N812
    from collections.abc import Mapping

LARGEST = 64 << 20
SECONDS = 20.0
"""When an answer is too late; agents wait longer."""
REFUSED = 2
_LONGEST_PATH = 100
_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")


def run_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the socket."""
    if home := environ.get("DLPCTL_HOME"):
        home = os.path.abspath(os.path.expanduser(home))  # noqa: PTH100, PTH111
        return os.path.join(home, "run")  # noqa: PTH118
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(runtime, "dlpctl")  # noqa: PTH118
    return f"/tmp/dlpctl-{os.getuid()}"  # noqa: S108 -- its owner and mode are checked


def socket_name() -> str:
    """Return the name of the socket, which changes with every installation of dlpctl."""
    found = os.stat(__file__)  # noqa: PTH116
    return f"agents-{found.st_ino:x}-{found.st_mtime_ns:x}.sock"


def is_private(folder: str) -> bool:
    """Return whether a folder is ours, and closed to all others."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    is_folder = found.st_mode & 0o170000 == 0o040000
    return is_folder and found.st_uid == os.getuid() and not found.st_mode & 0o077


def connected() -> Connection | None:
    """Return a connection to the warm process; None if there is none."""
    folder = run_folder(os.environ)
    if not is_private(folder):
        return None
    import _socket  # without the classes of `socket`, which take milliseconds to import

    path = os.path.join(folder, socket_name())  # noqa: PTH118
    descriptor = None
    try:
        if len(path) > _LONGEST_PATH:
            descriptor = os.open(folder, os.O_RDONLY)
            path = f"/proc/self/fd/{descriptor}/{socket_name()}"
        connection = _socket.socket(_socket.AF_UNIX)
        try:
            connection.settimeout(SECONDS)
            connection.connect(path)
            if hasattr(_socket, "SO_PEERCRED"):
                peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
                if int.from_bytes(peer[4:8], sys.byteorder) != os.getuid():
                    raise OSError
        except OSError:
            connection.close()
            return None
        return connection
    finally:
        if descriptor is not None:
            os.close(descriptor)


def blob(data: bytes) -> bytes:
    return len(data).to_bytes(8, "little") + data


def ask(connection: Connection, event: bytes) -> tuple[int, bytes, bytes]:
    """Return status, output and error of the warm process's answer."""
    variables = b"\0".join(
        os.fsencode(f"{name}={value}")
        for name, value in os.environ.items()
        if name.startswith("DLPCTL_") or name in _VARIABLES
    )
    folder = os.fsencode(os.getcwd())  # noqa: PTH109
    connection.sendall(blob(blob(folder) + blob(variables) + blob(event)))
    size = int.from_bytes(receive(connection, 8), "little")
    body = receive(connection, size)
    status = int.from_bytes(body[:8], "little")
    length = int.from_bytes(body[8:16], "little")
    return status, body[16 : 16 + length], body[24 + length :]


def receive(connection: Connection, size: int) -> bytes:
    """Return so many bytes; raise `ConnectionError` where the other side ends before."""
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def work_alone(event: bytes) -> int:
    """Become the full program, which reads the event anew."""
    import tempfile

    command = [sys.executable, "-P", "-m", "dlpctl", "hook", "agent", "--alone"]
    if sys.platform == "win32":
        import subprocess

        return subprocess.run(command, input=event, check=False).returncode
    with tempfile.TemporaryFile() as file:
        file.write(event)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        os.dup2(file.fileno(), 0)
    return os.execv(sys.executable, command)  # noqa: S606 -- no shell is meant


def main() -> int:
    event = sys.stdin.buffer.read(LARGEST + 1)
    if len(event) > LARGEST:
        return refuse(f"the event is larger than {LARGEST:,} bytes")
    connection = connected() if hasattr(os, "getuid") else None
    if connection is not None:
        try:
            status, out, error = ask(connection, event)
        except TimeoutError:
            return refuse(f"no answer within {SECONDS:.0f} seconds")
        except OSError:
            pass  # it ended meanwhile
        else:
            sys.stdout.buffer.write(out)
            sys.stdout.buffer.flush()
            sys.stderr.buffer.write(error)
            return status
    return work_alone(event)


def refuse(reason: str) -> int:
    allowed = os.environ.get("DLPCTL_AGENTS_ON_FAILURE") == "allow"
    verdict = "not inspected" if allowed else "refused"
    sys.stderr.write(f"dlpctl: {verdict}: {reason}\n")
    return 0 if allowed else REFUSED


if __name__ == "__main__":
    try:
        exit_status = main()
    except BaseException as problem:
        exit_status = refuse(type(problem).__name__)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_status)
