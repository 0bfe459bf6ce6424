from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest

from dlpctl.control.access import LOCAL
from dlpctl.control.service import ControlPlane
from dlpctl.errors import NotFoundError, StoreError, UnauthorizedError

EMAIL = "write to jane.doe@corp.example.net"
_KILLED = """
import os, signal, sys
from pathlib import Path
from dlpctl.control import keyfile
from dlpctl.control.service import ControlPlane

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

with ControlPlane.open(Path(sys.argv[1]), lambda: None, database=sys.argv[3] or None) as control:
    if sys.argv[2] == "before":
        control._core.chain.write = die
    else:
        keyfile.KeyFile.replace = die
    control.maintenance.rotate_key_file()
"""


@pytest.fixture
def other(control, detector, clock, database):
    """Open the database in a second control plane that stays open."""
    with ControlPlane.open(
        control.folder, lambda: detector, clock=clock, database=database
    ) as opened:
        yield opened


def test_everything_works_with_the_new_key_file(control, acme, key, other):
    token = control.tokens.create(LOCAL, {"role": "auditor", "org_id": acme})
    (license_,) = control.licenses.list(LOCAL, acme)
    before = other.checks.check_text(key, EMAIL, "VENDOR")
    signed = other.licenses.validate(license_.license_key).jwt_token
    masked = control.checks.check_file(key, EMAIL.encode(), "a.txt", "VENDOR")
    head = control.audit.head(LOCAL).head
    file = control.folder / "control.key"
    old = file.read_text()
    for _ in range(2):
        control.maintenance.rotate_key_file()
    assert file.read_text() != old
    assert file.stat().st_mode & 0o077 == 0
    assert [one.name for one in control.folder.glob("control.key*")] == ["control.key"]
    query = dict(parse_qsl(urlsplit(masked.masked_file_url).query))
    for one in (other, control):
        assert one.checks.check_text(key, EMAIL, "VENDOR").decision == "ALLOWED_WITH_MASKING"
        assert one.checks.get(key, before.preflight_id).decision == before.decision
        assert one.checks.file(key, masked.preflight_id, **query).name == "a.txt"
        assert one.tokens.authenticate(token.token).org_id == acme
        assert one.policies.list(LOCAL, acme)[0].api_key == key
        assert one.licenses.list(LOCAL, acme)[0].license_key == license_.license_key
        pem = one.licenses.public_key(jwt.get_unverified_header(signed)["kid"]).public_key
        assert jwt.decode(
            signed, pem, algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
        )
        assert one.licenses.validate(license_.license_key).valid
        assert one.audit.verify(LOCAL, head).problems == ()


def test_a_head_of_before_that_is_forged_with_the_old_key_does_not_help(control, acme, key):
    """The links of before are anchored by those that came after."""
    control.checks.check_text(key, EMAIL, "VENDOR")
    control.maintenance.rotate_key_file()
    head = control.audit.head(LOCAL).head
    parts = head.split(":")
    assert not control.audit.verify(LOCAL, ":".join([*parts[:3], "0" * 64, *parts[4:]])).intact


def test_a_token_that_is_not_used_for_a_month_is_unknown(control, clock):
    used, unused = (control.tokens.create(LOCAL, {"role": "auditor"}).token for _ in range(2))
    control.maintenance.rotate_key_file()
    control.tokens.authenticate(used)
    clock.forward(days=29)
    control.tokens.authenticate(used)
    clock.forward(days=1)
    assert control.tokens.authenticate(used)
    with pytest.raises(UnauthorizedError):
        control.tokens.authenticate(unused)
    assert control.audit.verify(LOCAL).problems == ()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_in_the_middle_nothing_is_lost(
    control, acme, key, detector, clock, moment, database
):
    """Before the database is sealed with the new key, and after that, before the file has its
    place.
    """
    control.checks.check_text(key, EMAIL, "VENDOR")
    token = control.tokens.create(LOCAL, {"role": "admin"}).token
    old = (control.folder / "control.key").read_text()
    ran = subprocess.run(
        [sys.executable, "-c", _KILLED, str(control.folder), moment, database or ""],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert ran.returncode == -signal.SIGKILL
    assert (control.folder / "control.key.next").exists()
    with ControlPlane.open(
        control.folder, lambda: detector, clock=clock, database=database
    ) as again:
        for one in (again, control):
            one.checks.check_text(key, EMAIL, "VENDOR")
            one.tokens.authenticate(token)
            assert one.audit.verify(LOCAL).problems == ()
        assert ((control.folder / "control.key").read_text() == old) is (moment == "before")
        again.maintenance.rotate_key_file()
        control.checks.check_text(key, EMAIL, "VENDOR")
        assert again.audit.verify(LOCAL).checked == 4


def test_nobody_is_refused_while_key_files_are_replaced(control, acme, key, other):
    control.licenses.create(LOCAL, acme, {"license_type": "enterprise"})
    token = control.tokens.create(LOCAL, {"role": "auditor"}).token
    stop, problems, made = threading.Event(), [], []

    def work(one):
        while not stop.is_set():
            try:
                made.append(one.checks.check_text(key, EMAIL, "VENDOR"))
                one.tokens.authenticate(token)
            except Exception as error:
                problems.append(error)

    threads = [threading.Thread(target=work, args=(one,)) for one in (control, control, other)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        control.maintenance.rotate_key_file()
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    report = control.audit.verify(LOCAL)
    assert (report.problems, report.checked) == ((), len(made))


@pytest.mark.of_a_file
def test_a_backup_of_before_needs_the_key_file_of_before(
    control, acme, key, tmp_path, detector, clock
):
    control.checks.check_text(key, EMAIL, "VENDOR")
    control.maintenance.backup(tmp_path / "copy.db")
    folder = tmp_path / "elsewhere"
    folder.mkdir(mode=0o700)
    (folder / "control.key").touch(0o600)
    (folder / "control.key").write_text((control.folder / "control.key").read_text())
    control.maintenance.rotate_key_file()
    with pytest.raises(StoreError, match="another key file"):
        control.maintenance.restore(tmp_path / "copy.db")
    with ControlPlane.open(folder, lambda: detector, clock=clock) as again:
        again.maintenance.restore(tmp_path / "copy.db")
        assert again.checks.check_text(key, EMAIL, "VENDOR").decision == "ALLOWED_WITH_MASKING"
        assert again.audit.verify(LOCAL).problems == ()


def test_a_signing_key_that_was_replaced_is_given_until_all_that_it_signed_has_expired(
    control, acme, clock
):
    (license_,) = control.licenses.list(LOCAL, acme)
    token = control.licenses.validate(license_.license_key).jwt_token
    key_id = jwt.get_unverified_header(token)["kid"]
    new = control.licenses.rotate_keys(LOCAL)
    clock.forward(hours=24)
    assert control.licenses.public_key(key_id).key_id == key_id
    clock.forward(hours=1)
    with pytest.raises(NotFoundError):
        control.licenses.public_key(key_id)
    assert control.licenses.public_key() == new
