"""The socket that the service listens on, taken before anything else, so that a second service
fails at once.
"""

from __future__ import annotations

import contextlib
import socket
import stat
from pathlib import Path

from dlpctl.errors import UsageError
from dlpctl.system import listening
from dlpctl_daemon.options import Options


def listen(options: Options) -> socket.socket:
    if options.unix_socket is not None:
        return _listen_unix(Path(options.unix_socket))
    return listening.listen(options.settings.host.strip("[]"), options.settings.port)


def _listen_unix(file: Path) -> socket.socket:
    """Bind a socket file; users who may write to it can connect, and the umask decides that, as for
    any file.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise UsageError("--unix-socket: this system has none; use --host and --port")
    _remove_left(file)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(str(file))
        made.listen(listening.BACKLOG)
    except OSError as problem:
        made.close()
        raise UsageError(f"{file}: cannot be listened on: {problem.strerror or problem}") from None
    return made


def _remove_left(file: Path) -> None:
    """A socket that nobody listens on was left by a service that was killed."""
    try:
        if not stat.S_ISSOCK(file.lstat().st_mode):
            raise UsageError(f"{file}: is there already, and is no socket; choose another name")
    except FileNotFoundError:
        return
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        try:
            probe.connect(str(file))
        except ConnectionRefusedError:
            file.unlink()
        else:
            raise UsageError(
                f"{file}: another service listens there; end it, or choose another name"
            )


def address(made: socket.socket) -> str:
    name = made.getsockname()
    if not isinstance(name, tuple):
        return f"unix:{name}"
    host, port = name[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
