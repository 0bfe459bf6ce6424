"""Persistent tokens: an encrypted file that several processes may use at the same time.

The file is magic, nonce and ciphertext (AES-256-GCM, which also authenticates the magic) of JSON.
It is replaced atomically while a lock file next to it is held, so a reader sees one state or the
next, and two writers never give one token to two values.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar, Self

from dlpctl.errors import VaultError, os_errors
from dlpctl.operators.tokens import TokenStore
from dlpctl.system.filelock import lock, unlock
from dlpctl.system.newfiles import replacing
from dlpctl.system.regular import open_file
from dlpctl.values import derive_key

KEY_VARIABLE = "DLPCTL_VAULT_KEY"
_MAGIC = b"dlpctl-vault-1\n"
_NONCE_BYTES = 12
_KEY_BYTES = 32
_MAKE_KEY = 'python3 -c "import secrets; print(secrets.token_hex(32))"'


def vault_key(key_file: Path, environ: Mapping[str, str] | None, *, create: bool = False) -> bytes:
    """Return the key from the environment, else from the key file; `create` makes a missing
    file. Without an `environ`, the key can only be in a file.
    """
    if environ is not None and (text := environ.get(KEY_VARIABLE, "").strip()):
        return _parse_key(text, KEY_VARIABLE)
    if create and not key_file.exists():
        remedy = "set DLPCTL_HOME to another folder" if environ is None else f"set {KEY_VARIABLE}"
        _make_key_file(key_file, remedy)
    try:
        with open_file(key_file) as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            text = opened.read().decode("ascii").strip()
    except FileNotFoundError:
        raise VaultError(
            f"no key: {key_file} does not exist and {KEY_VARIABLE} is not set"
        ) from None
    except UnicodeDecodeError:
        raise VaultError(f"{key_file}: not a key; it must hold 32 bytes in hexadecimal") from None
    except OSError as error:
        raise VaultError(f"{key_file}: cannot be read: {error.strerror}") from None
    if os.name == "posix" and mode & 0o077:
        raise VaultError(
            f"{key_file}: others may read the key (mode {mode:04o}); run: chmod 600 {key_file}"
        )
    return _parse_key(text, str(key_file))


def _parse_key(text: str, where: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        try:
            key = base64.b64decode(text, validate=True)
        except ValueError:
            key = b""
    if len(key) == _KEY_BYTES:
        return key
    raise VaultError(
        f"{where}: must be 32 bytes in hexadecimal or base64; make them with: {_MAKE_KEY}"
    )


def _make_key_file(path: Path, remedy: str) -> None:
    """Write a key file atomically; the first of two processes wins."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError), replacing(path, overwrite=False) as file:
            file.write(f"{secrets.token_hex(_KEY_BYTES)}\n".encode())
    except OSError as error:
        raise VaultError(f"{path}: the key cannot be written: {error.strerror}; {remedy}") from None


class Vault(TokenStore):
    """A token store in a file; after a `transaction()` its tokens are on disk."""

    patience: ClassVar[float | None] = None
    """The seconds to wait for another process that holds the vault; None waits forever."""

    def __init__(self, path: Path, key: bytes, *, create: bool = False) -> None:
        """Open a vault, or with `create` make it if there is none."""
        super().__init__()
        self.path = path
        self._key = derive_key(key, "vault")
        self._seen: tuple[int, ...] | None = None
        self._held = False
        if not create and not path.exists():
            raise VaultError(f"{path}: there is no such vault; 'dlpctl mask --vault' makes one")
        self.refresh()

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """Hold the vault exclusively, with the tokens that other processes added; raise
        `VaultError`.
        """
        with self._locked():
            self.refresh()
            self._held = True
            before = len(self)
            try:
                yield self
                if len(self) != before:
                    self._write()
            except BaseException:
                # A token that is not on disk was never issued: another process may use its number.
                self.clear()
                self._seen = None
                raise
            finally:
                self._held = False

    def token(self, type_name: str, value: str) -> str:
        if not self._held:
            raise VaultError(f"{self.path}: tokens can only be issued inside `transaction()`")
        return super().token(type_name, value)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with os_errors(VaultError, f"{self.path}: cannot be locked"):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            try:
                lock(file, self.patience)
            except TimeoutError:
                raise VaultError(f"{self.path}: another process keeps it locked") from None
            try:
                yield
            finally:
                unlock(file)

    def refresh(self) -> None:
        """Read the file if it has changed since it was last read."""
        try:
            with open_file(self.path) as file:
                status = os.fstat(file.fileno())
                seen = (status.st_ino, status.st_mtime_ns, status.st_size)
                if seen == self._seen:
                    return
                sealed = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise VaultError(f"{self.path}: cannot be read: {error.strerror}") from None
        values = self._opened(sealed)
        mode = stat.S_IMODE(status.st_mode)
        if os.name == "posix" and mode & 0o077:
            raise VaultError(
                f"{self.path}: others may read the vault (mode {mode:04o}); run: "
                f"chmod 600 {self.path}"
            )
        self.add(values)
        self._seen = seen

    def _opened(self, sealed: bytes) -> dict[str, str]:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if not sealed.startswith(_MAGIC):
            raise VaultError(f"{self.path}: not a vault; name another file or move this one away")
        body = sealed[len(_MAGIC) :]
        try:
            opened = AESGCM(self._key).decrypt(body[:_NONCE_BYTES], body[_NONCE_BYTES:], _MAGIC)
        except (InvalidTag, ValueError):
            raise VaultError(
                f"{self.path}: cannot be opened: it was made with another key, or "
                "changed or damaged since; "
                f"check {KEY_VARIABLE} or the key file, else restore the vault from a backup"
            ) from None
        values: dict[str, str] = json.loads(opened)
        return values

    def _write(self) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        plain = json.dumps(dict(self.items()), separators=(",", ":")).encode()
        sealed = _MAGIC + nonce + AESGCM(self._key).encrypt(nonce, plain, _MAGIC)
        try:
            with replacing(self.path) as file:
                file.write(sealed)
                file.flush()
                status = os.fstat(file.fileno())
        except OSError as error:
            raise VaultError(
                f"{self.path}: cannot be written: {error.strerror}; no token was issued"
            ) from None
        self._seen = (status.st_ino, status.st_mtime_ns, status.st_size)
