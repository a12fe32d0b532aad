"""Passwords of the embedded server's logins, in a file that libpq and the driver read."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from penstock.db.private_files import write_private

FILE_NAME = "pgpass"
ITERATIONS = 1
"""Iterations slow down guessing; 256 random bits need none, and 4,096 cost 5 ms per connection."""


def new_passwords(logins: Iterable[str]) -> dict[str, str]:
    return {login: secrets.token_hex(32) for login in logins}


def write_passwords(path: Path, passwords: Mapping[str, str]) -> None:
    """Write them with mode 0600 in the format of ~/.pgpass."""
    write_private(path, "".join(f"*:*:*:{login}:{password}\n" for login, password in passwords.items()))


def scram_verifier(password: str) -> str:
    """What the server stores instead of the password; computed here, so that no log can show the password."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    return f"SCRAM-SHA-256${ITERATIONS}:{_base64(salt)}${_base64(stored)}:{_base64(server)}"


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()
