from __future__ import annotations

import base64
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from faults import full_disk

from dlpctl.errors import VaultError
from dlpctl.masking.apply import mask_text
from dlpctl.masking.masker import Masker
from dlpctl.masking.unmask import unmask
from dlpctl.masking.vault import KEY_VARIABLE, Vault, vault_key
from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from pathlib import Path

KEY = bytes(range(32))
posix_only = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")


def filled(path: Path) -> Vault:
    vault = Vault(path, KEY, create=True)
    with vault.transaction():
        assert vault.token("EMAIL", "ann@x.example") == "<EMAIL_1>"
        assert vault.token("EMAIL", "bob\ud800") == "<EMAIL_2>"
    return vault


def test_tokens_outlast_the_process_that_issued_them(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "vault"
    filled(path)
    again = Vault(path, KEY)
    assert (again.value("EMAIL_1"), again.value("EMAIL_2")) == ("ann@x.example", "bob\ud800")
    with again.transaction():
        assert again.token("EMAIL", "ann@x.example") == "<EMAIL_1>"
        assert again.token("EMAIL", "cid@x.example") == "<EMAIL_3>"
    assert b"x.example" not in path.read_bytes()


def test_a_document_goes_through_a_vault_and_back(tmp_path: Path) -> None:
    text = "ann@x.example wrote"
    vault = Vault(tmp_path / "vault", KEY, create=True)
    with vault.transaction():
        found = Finding("EMAIL", Category.PII, 0, 13, 0.9, "email")
        masked = mask_text(text, [(found, "token")], Masker(tokens=vault))
    assert masked == "<EMAIL_1> wrote"
    assert unmask(masked, Vault(tmp_path / "vault", KEY)) == text


def test_two_open_vaults_never_give_one_token_twice(tmp_path: Path) -> None:
    one, other = (Vault(tmp_path / "vault", KEY, create=True) for _ in range(2))
    for number in range(5):
        with one.transaction():
            mine = one.token("EMAIL", f"a{number}")
        with other.transaction():
            theirs = other.token("EMAIL", f"b{number}")
            assert other.token("EMAIL", f"a{number}") == mine
        assert mine != theirs


def test_processes_share_a_vault(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom dlpctl.masking.vault import Vault\n"
        "vault = Vault(Path(sys.argv[1]), bytes(range(32)), create=True)\n"
        "for number in range(15):\n"
        "    with vault.transaction():\n"
        "        print(vault.token('EMAIL', f'{sys.argv[2]}-{number}'), f'{sys.argv[2]}-{number}')\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "vault")]
    running = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "abc"
    ]
    given_out = [
        line.split() for each in running for line in each.communicate(timeout=300)[0].splitlines()
    ]
    assert len({token for token, _ in given_out}) == 45
    vault = Vault(tmp_path / "vault", KEY)
    assert all(vault.value(token.strip("<>")) == value for token, value in given_out)


def test_tokens_are_issued_only_in_a_transaction(tmp_path: Path) -> None:
    vault = Vault(tmp_path / "vault", KEY, create=True)
    with pytest.raises(VaultError, match="inside"):
        vault.token("EMAIL", "ann@x.example")


def test_a_token_that_was_not_stored_was_never_issued(tmp_path: Path) -> None:
    vault = filled(tmp_path / "vault")

    def fail_after_a_token() -> None:
        with vault.transaction():
            vault.token("EMAIL", "lost")
            raise KeyError

    with pytest.raises(KeyError):
        fail_after_a_token()
    assert len(Vault(tmp_path / "vault", KEY)) == 2
    with vault.transaction():
        assert vault.token("EMAIL", "kept") == "<EMAIL_3>"


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data[:16],
    ],
)
def test_a_changed_vault_is_refused_with_advice(tmp_path: Path, change: object) -> None:
    path = tmp_path / "vault"
    filled(path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(
        VaultError, match="another key, or changed or damaged since; check DLPCTL_VAULT_KEY"
    ):
        Vault(path, KEY)


def test_a_wrong_key_a_foreign_file_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "vault"
    filled(path)
    with pytest.raises(VaultError, match="another key"):
        Vault(path, b"x" * 32)
    path.write_bytes(b"something else")
    path.chmod(0o644)  # it is not made private, since it is not a vault
    with pytest.raises(VaultError, match="not a vault"):
        Vault(path, KEY)
    with pytest.raises(VaultError, match="there is no such vault"):
        Vault(tmp_path / "none", KEY)
    with pytest.raises(VaultError, match="cannot be"):
        Vault(tmp_path, KEY)


@posix_only
def test_only_the_owner_may_read_a_vault(tmp_path: Path) -> None:
    path = tmp_path / "vault"
    vault = filled(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == ["vault", "vault.lock"]
    path.chmod(0o640)
    with pytest.raises(VaultError, match=f"mode 0640.*run: chmod 600 {path}"):
        Vault(path, KEY)
    del vault


@posix_only
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_vault_issues_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        vault = Vault(tmp_path / "vault", KEY, create=True)
        with pytest.raises(VaultError, match="cannot be locked"), vault.transaction():
            pass
    finally:
        tmp_path.chmod(0o700)


def test_tokens_are_rolled_back_on_a_full_disk(tmp_path: Path) -> None:
    vault = filled(tmp_path / "vault")
    with (
        full_disk(),
        pytest.raises(VaultError, match="File too large; no token was issued"),
        vault.transaction(),
    ):
        vault.token("EMAIL", "lost")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["vault", "vault.lock"]
    with vault.transaction():
        assert vault.token("EMAIL", "kept") == "<EMAIL_3>"


def test_the_key_comes_from_the_environment_or_the_file(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "vault.key"
    encoded = base64.b64encode(KEY).decode()
    assert (
        vault_key(path, {KEY_VARIABLE: KEY.hex()})
        == vault_key(path, {KEY_VARIABLE: encoded})
        == KEY
    )
    made = vault_key(path, {}, create=True)
    assert len(made) == 32
    assert vault_key(path, {}) == vault_key(path, {KEY_VARIABLE: " "}, create=True) == made
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o644)
        with pytest.raises(VaultError, match=f"run: chmod 600 {path}"):
            vault_key(path, {})


def test_invalid_keys_are_refused_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "vault.key"
    with pytest.raises(VaultError, match="does not exist and DLPCTL_VAULT_KEY is not set"):
        vault_key(path, {})
    with pytest.raises(VaultError, match="must be 32 bytes in hexadecimal or base64") as error:
        vault_key(path, {KEY_VARIABLE: "correct horse"})
    assert "horse" not in error.value.message
    path.write_bytes(b"\xff")
    path.chmod(0o600)
    with pytest.raises(VaultError, match="not a key"):
        vault_key(path, {})
    with pytest.raises(VaultError, match="cannot be"):
        vault_key(path / "deeper", {}, create=True)
