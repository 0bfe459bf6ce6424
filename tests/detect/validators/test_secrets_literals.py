"""Literals against code, references, templates, labels and placeholders."""

from __future__ import annotations

import pytest

from dlpctl.detect.validators import secrets_literals as literals

PASSWORDS_TEXT = (
    "hunter2 Summer2024! p@ssW0rd! letmein MyS3cretP@ss 123456 dkjfh34 Tr0ub4dor&3 xK9#mP2$ password123 Passw0rd! qwerty123 "
    "P@ssw0rd root123 S3cr3t! correct-horse-battery-staple-9 welcome1 iloveyou 1q2w3e4r abc123! gj3k-2l4m"
)
PASSWORDS = PASSWORDS_TEXT.split()
NO_PASSWORDS_TEXT = (
    "password changeme ${DB_PASSWORD} {{password}} getPassword() os.environ['X'] process.env.PASS self.password user.password string "
    "required <password> **** xxxx your-password your_password_here /etc/passwd path/to/file.pem %s %s:%s :password null None user_password "
    "PASSWORD_FIELD form-control Contraseña Password: oauth2 password1 $PASSWORD @Value test test123 testpassword example required|min:8 "
    "enter_password new_password passwordConfirm md5 sha256 [a-z]+ /run/secrets/db vault:secret/data/x <redacted> ENC[AES256] "
    "placeholder %PASSWORD% {0} String.class Pass-phrase input-group #{password} a,b,c ... http://x.y/z "
    "%nexus.pw% 118/120 5GHz/80MHz 2.4GHz TLSv1.3"
)
NO_PASSWORDS = NO_PASSWORDS_TEXT.split()


@pytest.mark.parametrize("value", PASSWORDS)
def test_passwords_strong_and_weak(value: str) -> None:
    assert literals.password(value)


@pytest.mark.parametrize("value", NO_PASSWORDS)
def test_texts_that_are_not_passwords(value: str) -> None:
    assert not literals.password(value)


@pytest.mark.parametrize(
    "value", ["password2", "field1", "&value", "args[", "user_password", "1234"]
)
def test_without_quotes_code_is_likelier(value: str) -> None:
    assert not literals.unquoted_password(value)


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ("kQ7vZ2mXw9TfR4bN8sLc", True),
        ("dGhpcyBpcyBqdXN0IGEgc2FtcGxl/+9aZQ==", True),
        ("1.3.6.1.5.5.7.3.1", False),
        ("application/x-www-form-urlencoded", False),
        ("9f8c1c2e-1111-4222-8333-444455556666", False),
        ("arn:aws:secretsmanager:us-east-1:123456789012:secret:db", False),
        ("https://acme.example/oauth/token", False),
        ("isoWeekYear", False),
        ("2026-09-11T06:01:02Z", False),
        (f"00-{'4bf92f3577b34da6' * 2}-00f067aa0ba902b7-01", False),
    ],
)
def test_secrets_are_generated(value: str, accepted: bool) -> None:
    assert literals.secret(value) is accepted


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ("otter#4821", True),
        ("PKCS#8", False),
        ("OpenSSL3+", False),
        ("Ticket#2026-4471", False),
        ("4.54E+15", False),
    ],
)
def test_versions_and_numbers_of_issues_are_no_varied_passwords(value: str, accepted: bool) -> None:
    assert literals.varied_password(value) is accepted
