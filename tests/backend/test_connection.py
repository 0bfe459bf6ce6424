"""Every failure to reach a server is a one-line error with advice."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dlpctl.backend.address import Address
from dlpctl.backend.connection import Connection
from dlpctl.backend.remote import RemoteBackend
from dlpctl.control.access import FIRST_ADMIN
from dlpctl.errors import (
    DlpctlError,
    ForbiddenError,
    NotFoundError,
    QuotaError,
    ServerError,
    TooLargeError,
    UnauthorizedError,
    UsageError,
)
from tests.backend.conftest import Daemon

_ORGANIZATIONS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"


@contextmanager
def answering(
    *answers: bytes, context: ssl.SSLContext | None = None
) -> Iterator[tuple[str, list[bytes]]]:
    """A server that gives one of the answers to each connection, and records the requests."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for answer in answers:
                try:
                    connection, _ = listening.accept()
                    with (
                        connection
                        if context is None
                        else context.wrap_socket(connection, server_side=True) as one
                    ):
                        one.settimeout(300)
                        asked.append(one.recv(65_536))
                        one.sendall(answer)
                except OSError:
                    return

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http{'s' if context else ''}://localhost:{listening.getsockname()[1]}", asked
        with socket.socket() as end:  # wakes a server that is still waiting
            end.connect(listening.getsockname())
            end.shutdown(socket.SHUT_RDWR)
        thread.join(300)


def asking(url: str, token: str | None, **seconds: float) -> closing[RemoteBackend]:
    return closing(RemoteBackend(Connection(Address.parse(url), **seconds), token))


def _said(url: str, **seconds: float) -> str:
    with asking(url, None, **seconds) as backend, pytest.raises(DlpctlError) as caught:
        backend.list_organizations()
    assert "\n" not in caught.value.message
    assert caught.value.exit_status == 1
    return caught.value.message


def _refusal(status: int, headers: str = "", detail: str = "why") -> bytes:
    body = f'{{"detail": "{detail}"}}'
    return (
        f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n{body}"
    ).encode()


def _failure(status: int, headers: str = "", detail: str = "why") -> DlpctlError:
    with (
        answering(_refusal(status, headers, detail)) as (url, _),
        asking(url, "t") as backend,
        pytest.raises(DlpctlError) as caught,
    ):
        backend.list_organizations()
    return caught.value


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:8686", "http://127.0.0.1:8686"),
        ("https://dlp.example.com/", "https://dlp.example.com"),
        ("https://example.com/dlp/", "https://example.com/dlp"),
        ("http://[::1]:8686", "http://[::1]:8686"),
        ("unix:/run/dlpctl.sock", "unix:/run/dlpctl.sock"),
        ("unix:///run/dlpctl.sock", "unix:/run/dlpctl.sock"),
    ],
)
def test_addresses(url: str, shown: str) -> None:
    assert str(Address.parse(url)) == shown
    assert Address.parse(url).is_local == ("example" not in url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8686",
        "ftp://h",
        "http://",
        "http://h:x",
        "http://h:99999",
        "unix:s",
        "http://h/?a=1",
        "http://[::1",
    ],
)
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        Address.parse(url)


def test_an_address_with_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(UsageError) as caught:
        Address.parse("http://user:hunter2@h")
    assert "hunter2" not in caught.value.message


def test_an_unreachable_server(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert "is 'dlpctl serve' running" in _said(f"http://127.0.0.1:{port}")
    assert "there is no such socket" in _said(f"unix:{tmp_path / 's'}")
    assert "there is no such host" in _said("http://nowhere.invalid")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi",
            "status 200, text/html",
        ),
        (
            b"HTTP/1.1 404 X\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi",
            "status 404, text/html",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[x",
            "does not answer like",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
            "does not answer like",
        ),
        (
            b"HTTP/1.1 404 X\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]",
            "does not answer like",
        ),
        (
            b"HTTP/1.1 301 X\r\nLocation: https://a.example/\r\nContent-Length: 0\r\n\r\n",
            "https://a.example/",
        ),
        (b"220 mail ready\r\n", "is it a dlpctl server?"),
        (b"", "is it a dlpctl server?"),
        (_ORGANIZATIONS[:-1], "is it a dlpctl server?"),
    ],
)
def test_a_server_that_is_not_ours(answer: bytes, said: str) -> None:
    with answering(answer) as (url, _):
        assert said in _said(url)


def test_a_silent_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert "gave no answer within 0.1 seconds" in _said(url, seconds=0.1)


def test_errors_are_those_of_the_server_with_their_statuses() -> None:
    assert type(_failure(403)) is ForbiddenError
    assert type(_failure(413)) is TooLargeError
    assert _failure(404, "X-Error-Code: policy\r\n").exit_status == 2
    assert type(_failure(404, "X-Error-Code: of-tomorrow\r\n")) is NotFoundError
    assert "why" in _failure(500).message
    quota = _failure(429, "X-Error-Code: quota\r\nRateLimit-Limit: 1000\r\nRetry-After: 9\r\n")
    assert isinstance(quota, QuotaError)
    assert (quota.limit, quota.retry_after) == (1_000, 9)
    wrong = _failure(401, detail="the admin token is unknown")
    assert isinstance(wrong, UnauthorizedError)
    assert wrong.message.endswith("the admin token is unknown; set DLPCTL_TOKEN to another one")


def test_a_refusal_is_read_even_if_the_server_did_not_read_the_complete_request() -> None:
    with (
        answering(_refusal(413)) as (url, _),
        asking(url, None) as backend,
        pytest.raises((TooLargeError, ServerError)),
    ):
        backend.check_file("k", bytes(20 << 20), "a", "VENDOR", org_id=None, policy_id=None)


def test_a_connection_is_reused(daemon: Daemon) -> None:
    with closing(RemoteBackend.open(daemon.url, daemon.home / "data" / "dlpctl", {})) as backend:
        backend.list_organizations()
        before = backend._connection._open
        assert before is not None
        backend.list_organizations()
        assert backend._connection._open is before


def test_a_closed_connection_is_reopened(wait_for: Callable[..., None]) -> None:
    with answering(_ORGANIZATIONS, _ORGANIZATIONS) as (url, asked), asking(url, None) as backend:
        for _ in range(2):
            assert backend.list_organizations() == []
            connection = backend._connection._open
            assert connection is not None
            wait_for(
                lambda sock=connection.sock: sock is None or select.select([sock], [], [], 0)[0]
            )
        assert len(asked) == 2


def test_an_export_that_is_not_read_to_its_end_does_not_break_later_requests(
    server, service, acme
) -> None:
    from dlpctl.control.access import LOCAL

    key = service.control.policies.list(LOCAL, acme)[0].api_key
    for _ in range(3):
        service.control.checks.check_text(key, "x", "VENDOR")
    items = server.export_audit(org_id=None, search=None)
    next(items)
    items.close()
    assert len(list(server.export_audit(org_id=None, search=None))) == 3
    with pytest.raises(NotFoundError):
        server.get_organization("none")


def test_the_token_of_this_machine_is_sent_to_no_other(tmp_path: Path) -> None:
    (tmp_path / FIRST_ADMIN).write_text("secret\n")
    assert RemoteBackend.open("http://127.0.0.1:1", tmp_path, {})._credential == {
        "Authorization": "Bearer secret"
    }
    assert RemoteBackend.open("unix:/s", tmp_path, {})._credential
    assert RemoteBackend.open("https://dlp.example.com", tmp_path, {})._credential == {}
    environ = {"DLPCTL_TOKEN": "mine"}
    assert RemoteBackend.open("https://dlp.example.com", tmp_path, environ)._credential == {
        "Authorization": "Bearer mine"
    }


def _certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A self-signed certificate for localhost."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding, private = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(encoding))
    files[1].write_bytes(key.private_bytes(encoding, private, serialization.NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    return files[0], context


def test_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, context = _certificate(tmp_path)
    with answering(_ORGANIZATIONS, context=context) as (url, _):
        assert "set SSL_CERT_FILE" in _said(url)
    with answering(_ORGANIZATIONS) as (url, _):
        assert "http://" in _said(url.replace("http:", "https:"))
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with (
        answering(_ORGANIZATIONS, context=context) as (url, asked),
        asking(f"{url}/dlp", None) as backend,
    ):
        assert backend.list_organizations() == []
        assert asked[0].startswith(b"GET /dlp/api/organizations HTTP/1.1")
