"""The program that agents run for each event: it asks the warm process of this user, or does the
work itself if there is none.

It starts anew for each event, so every millisecond counts: it imports next to nothing and runs
under `python -I -S`. An event that cannot be answered is refused.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket as Connection  # noqa: N812
    from collections.abc import Mapping

LARGEST = 64 << 20
"""The size in bytes of the largest accepted event."""
SECONDS = 20.0
"""The time limit for an answer; agents wait longer."""
REFUSED = 2
_TOO_LATE = "there was no answer in time"
_LONGEST_PATH = 100
NONCE = 16
DIGEST = 32
_SECRET = 32
_VARIABLES = (
    *("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"),
    *("USERPROFILE", "APPDATA", "LOCALAPPDATA"),
)


def run_folder(environ: Mapping[str, str]) -> str:
    """Return the folder that holds the socket."""
    if home := environ.get("DLPCTL_HOME"):
        home = os.path.abspath(os.path.expanduser(home))  # noqa: PTH100, PTH111
        return os.path.join(home, "run")  # noqa: PTH118
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(runtime, "dlpctl")  # noqa: PTH118
    if local := environ.get("LOCALAPPDATA"):
        return os.path.join(local, "dlpctl", "run")  # noqa: PTH118
    return f"/tmp/dlpctl-{os.getuid()}"  # noqa: S108 -- its owner and mode are checked


def socket_name() -> str:
    """Return the name of the socket, which changes with every installation of dlpctl."""
    found = os.stat(__file__)  # noqa: PTH116
    return f"agents-{found.st_ino:x}-{found.st_mtime_ns:x}.sock"


def port_name() -> str:
    """Return the name of the file that holds the port and secret of a process without a socket."""
    return socket_name() + ".port"


def is_private(folder: str) -> bool:
    """Return whether the folder belongs to this user and is closed to all others."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    is_folder = found.st_mode & 0o170000 == 0o040000
    if sys.platform == "win32":
        return is_folder  # it is in the user's profile, which is closed to other users
    return is_folder and found.st_uid == os.getuid() and not found.st_mode & 0o077


def connected() -> Connection | None:
    """Return a connection to the warm process; None if there is none."""
    folder = run_folder(os.environ)
    if not is_private(folder):
        return None
    import _socket  # not `socket`, whose classes take milliseconds to import

    try:
        if hasattr(_socket, "AF_UNIX"):
            connection = _socket.socket(_socket.AF_UNIX)
            connection.settimeout(SECONDS)
            if _reaches_socket(connection, folder):
                return connection
            connection.close()
        return _over_loopback(folder)
    except TimeoutError:
        raise
    except OSError:
        return None


def _reaches_socket(connection: Connection, folder: str) -> bool:
    """Connect to the process of this user; return whether it exists."""
    import _socket

    path = os.path.join(folder, socket_name())  # noqa: PTH118
    descriptor = None
    try:
        if len(path) > _LONGEST_PATH:
            descriptor = os.open(folder, os.O_RDONLY)
            path = f"/proc/self/fd/{descriptor}/{socket_name()}"
        connection.connect(path)
        if hasattr(_socket, "SO_PEERCRED"):
            peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
            return int.from_bytes(peer[4:8], sys.byteorder) == os.getuid()
    except TimeoutError:
        raise
    except OSError:
        return False
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return True


def _over_loopback(folder: str) -> Connection:
    """Return a connection to the process that a file names, after both sides have proved that they
    know the secret in it: another user may have taken over the port.
    """
    with open(os.path.join(folder, port_name()), "rb") as file:  # noqa: PTH118, PTH123
        stored = file.read()
    import _socket

    connection = _socket.socket(_socket.AF_INET)
    try:
        connection.settimeout(SECONDS)
        connection.connect(("127.0.0.1", int.from_bytes(stored[_SECRET:], "little")))
        own = os.urandom(NONCE)
        connection.sendall(own)
        theirs = receive(connection, NONCE)
        if receive(connection, DIGEST) != proof(stored[:_SECRET], b"process", own + theirs):
            raise ConnectionError
        connection.sendall(proof(stored[:_SECRET], b"client", own + theirs))
    except OSError:
        connection.close()
        raise
    return connection


def proof(secret: bytes, side: bytes, nonces: bytes) -> bytes:
    from _blake2 import blake2b

    return bytes(blake2b(nonces, digest_size=DIGEST, key=secret, person=side).digest())


def blob(data: bytes) -> bytes:
    return len(data).to_bytes(8, "little") + data


def ask(connection: Connection, event: bytes) -> tuple[int, bytes, bytes]:
    """Return the exit status, output and error text that the warm process answers."""
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
    """Return exactly `size` bytes; raise `ConnectionError` if the other side closes earlier."""
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def work_alone(event: bytes) -> int:
    """Replace this process with the full program, which reads the event again."""
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
    limit_time()
    event = sys.stdin.buffer.read(LARGEST + 1)
    if len(event) > LARGEST:
        return refuse(f"the event is larger than {LARGEST:,} bytes")
    try:
        connection = connected()
        if connection is not None:
            status, out, error = ask(connection, event)
            sys.stdout.buffer.write(out)
            sys.stdout.buffer.flush()
            sys.stderr.buffer.write(error)
            return status
    except TimeoutError:
        return refuse(_TOO_LATE)
    except OSError:
        pass  # it ended meanwhile
    return work_alone(event)


def limit_time(*, over: bool = False) -> None:
    """Refuse the event when its time is up; the full program gets the rest of the time. With
    `over`, remove the limit.
    """
    try:
        from _signal import (  # type: ignore[import-not-found]
            ITIMER_REAL,
            SIGALRM,
            getitimer,
            setitimer,
            signal,
        )
    except ImportError:
        return

    def too_late(_number: int, _frame: object) -> None:
        status = refuse(_TOO_LATE)
        sys.stderr.flush()
        os._exit(status)

    signal(SIGALRM, too_late)
    setitimer(ITIMER_REAL, 0 if over else getitimer(ITIMER_REAL)[0] or SECONDS)


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
