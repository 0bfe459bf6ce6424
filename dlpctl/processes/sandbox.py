"""A sandbox that a Linux process enters without privileges: Landlock for files, programs and TCP,
seccomp for sockets and for system calls that reach other processes or the kernel.

Features that the kernel lacks are left out, and `enter` returns those in force. Both also apply to
everything that the process starts, and cannot be lifted again.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2  # of prctl
_NEW_USER_AND_NETWORK = 0x10000000 | 0x40000000  # of unshare

# Landlock: system calls, which have the same numbers on all architectures, and rights.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_ALL_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_FILE_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14  # the last is for truncating
_OWN_FOLDER = _ALL_FILES[3] & ~(_EXECUTE | 1 << 6 | 1 << 11)  # no programs and no devices
_ALL_TCP, _ALL_SCOPES = 0b11, 0b11  # bind and connect; abstract Unix sockets and signals

# seccomp, in the classic Berkeley packet filter.
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_GREATER_OR_EQUAL, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET = 0, 4
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # with EPERM
_X32 = 0x40000000
"""From this number on, system calls of x86-64 belong to an ABI with short pointers."""


class _Calls(NamedTuple):
    """The system call numbers of an architecture."""

    audit: int
    """The number that identifies the architecture to a filter."""
    execute: tuple[int, ...]
    refused: tuple[int, ...]


# socket, connect, bind, listen; ptrace, process_vm_readv, process_vm_writev, pidfd_getfd; keyctl,
# add_key, request_key; bpf, perf_event_open, userfaultfd, io_uring_setup; mount, umount2,
# pivot_root, chroot, unshare, setns, move_mount, open_tree, fsopen; open_by_handle_at; kexec_load,
# init_module, finit_module, delete_module; execveat, memfd_create.
_CALLS = {
    "x86_64": _Calls(
        0xC000003E,
        (59,),
        (
            *(41, 42, 49, 50, 101, 310, 311, 438, 250, 248, 249, 321, 298, 323, 425, 165, 166),
            *(155, 161, 272, 308, 429, 428, 430, 304, 246, 175, 313, 176, 322, 319),
        ),
    ),
    "aarch64": _Calls(
        0xC00000B7,
        (221,),
        (
            *(198, 203, 200, 201, 117, 270, 271, 438, 219, 217, 218, 280, 241, 282, 425, 40, 39),
            *(41, 51, 97, 268, 429, 428, 430, 265, 104, 105, 273, 106, 281, 279),
        ),
    ),
}
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/nix/store", "/sys/devices/system/cpu", "/proc/cpuinfo"),
    *("/proc/meminfo", "/dev/urandom", "/dev/zero", "/etc/ld.so.cache", "/etc/localtime"),
    *("/etc/fonts", "/etc/mime.types", "/etc/httpd/mime.types", "/etc/httpd/conf/mime.types"),
    *("/etc/apache/mime.types", "/etc/apache2/mime.types"),
)
_LOADERS = (
    *("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"),
    *("/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"),
)
_SITES = ("site-packages", "dist-packages")


def enter(folder: str, programs: Iterable[str]) -> list[str]:
    """Restrict this process to its folder, the files of Python and the system, and the given
    programs. Return what the kernel refuses from now on.
    """
    if sys.platform != "linux":
        return []
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return []
    allowed = [os.path.realpath(program) for program in programs]
    refused = _landlock(libc, folder, allowed)
    calls = _CALLS.get(os.uname().machine) if sys.maxsize > 1 << 32 else None
    if calls is not None and _seccomp(libc, calls, may_execute=bool(allowed)):
        refused += ["sockets", "debugging"] + ([] if allowed else ["programs"])
    elif libc.unshare(_NEW_USER_AND_NETWORK) == 0:
        refused.append("sockets")
    return list(dict.fromkeys(refused))


def _landlock(libc: Any, folder: str, programs: list[str]) -> list[str]:
    """Enter a Landlock domain and return what it refuses; nothing without Landlock."""
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return []
    handled = _ALL_FILES[max(each for each in _ALL_FILES if each <= version)]
    attributes = struct.pack(
        "<QQQ", handled, _ALL_TCP if version >= 4 else 0, _ALL_SCOPES if version >= 6 else 0
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(_CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        return []
    try:
        for path, rights in _rules(folder, programs):
            _allow(libc, ruleset, path, rights & handled)
        if libc.syscall(_RESTRICT_SELF, ruleset, 0):
            return []
    finally:
        os.close(ruleset)
    return ["files", "programs"] + (["signals"] if version >= 6 else [])


def _allow(libc: Any, ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not Path(path).is_dir():
            rights &= _FILE_ONLY
        libc.syscall(_ADD_RULE, ruleset, 1, struct.pack("<Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


def _rules(folder: str, programs: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the paths that may be used, with their rights."""
    yield folder, _OWN_FOLDER
    yield os.devnull, _READ_FILE | _WRITE_FILE
    for path in (*_SYSTEM, *_python_folders()):
        yield path, _READ_FILE | _READ_DIR
    tessdata = os.environ.get("TESSDATA_PREFIX")
    if tessdata:
        yield tessdata, _READ_FILE | _READ_DIR
    for path in (*programs, *_LOADERS) if programs else ():
        yield path, _READ_FILE | _EXECUTE
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    prefixes = [Path(program).parents[1] for program in programs]
    beside = [str(prefix / name) for prefix in prefixes for name in ("lib", "share")]
    for path in (*filter(None, libraries), *beside):
        yield path, _READ_FILE | _READ_DIR


def _python_folders() -> set[str]:
    """Return the folders of the interpreter and of installed packages, not every folder that the
    user imports from, which may hold documents.
    """
    own = Path(__file__).parents[1]
    installed = any(own.parent.glob(f"{own.name}-*.dist-info"))
    sites = [path for path in sys.path if Path(path).name in _SITES and Path(path).is_dir()]
    linked = (folder for site in sites for folder in _linked(site))
    return {
        *(sys.prefix, sys.base_prefix, str(own.parent if installed else own), *sites),
        *(linked if Path(__file__).is_symlink() else ()),  # all packages are installed alike
    }


def _linked(site: str) -> Iterator[str]:
    """Yield the folders and modules that installed links lead to, if those have the same names."""
    for entry in os.scandir(site):
        target = os.path.realpath(entry)
        if entry.is_dir(follow_symlinks=False):
            links = (each for each in os.scandir(entry) if each.is_symlink())
            target = os.path.dirname(os.path.realpath(next(links, entry)))  # noqa: PTH120 -- fast
        if os.path.basename(target) == entry.name:  # noqa: PTH119 -- fast
            yield target


def _seccomp(libc: Any, calls: _Calls, *, may_execute: bool) -> bool:
    """Refuse system calls; return whether the filter is in force."""
    import ctypes

    refused = calls.refused + (() if may_execute else calls.execute)
    last = len(refused) + 1
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_OFFSET),
        (_JUMP_IF_EQUAL, 0, last + 2, calls.audit),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
        (_JUMP_IF_GREATER_OR_EQUAL, last, 0, _X32),
        *((_JUMP_IF_EQUAL, last - at, 0, number) for at, number in enumerate(refused, 1)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    instructions = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(program), ctypes.addressof(instructions))
    return bool(libc.prctl(_SET_SECCOMP, _FILTER, header, 0, 0) == 0)
