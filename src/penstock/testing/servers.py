"""The Postgres server of a test run: an embedded one, or one of the user's own."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlsplit

from penstock.db.connect import connect
from penstock.db.embedded.cluster import SUPERUSER
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.logins import MEMBERSHIPS, OPERATOR, RUNTIME
from penstock.errors import InvalidArgument
from penstock.testing.blocking import run_blocking
from penstock.testing.shared_server import shared_server

Role = Literal["admin", "runtime", "operator"]

SERVER_VARIABLE = "PENSTOCK_TEST_DATABASE_URL"
_LOGINS: dict[Role, str] = {"runtime": "penstock_test_runtime", "operator": "penstock_test_operator"}
_MEMBERSHIPS = {_LOGINS["runtime"]: MEMBERSHIPS[RUNTIME], _LOGINS["operator"]: MEMBERSHIPS[OPERATOR]}


@dataclass(frozen=True, slots=True)
class Server:
    """A server on which tests may create databases; exactly one of the fields is set."""

    embedded: EmbeddedServer | None = None
    own_url: str | None = None

    def url(self, role: Role, database: str | None = None) -> str:
        """The address of a database for the administrator or one of Penstock's two kinds of login."""
        if self.embedded is not None:
            login = {"admin": SUPERUSER, "runtime": RUNTIME, "operator": OPERATOR}[role]
            return self.embedded.url(login, database or "postgres")
        assert self.own_url is not None
        parts = urlsplit(self.own_url)
        if database is not None:
            parts = parts._replace(path="/" + quote(database))
        if role != "admin":
            place = parts.netloc.rpartition("@")[2]
            parts = parts._replace(netloc=f"{_LOGINS[role]}:{self.password}@{place}")
        return parts.geturl()

    @property
    def password(self) -> str:
        """The password of the test logins: the same in every run that knows the administrator's address."""
        secret = urlsplit(self.own_url or "").netloc.rpartition("@")[0]
        return hmac.new(secret.encode(), b"penstock tests", hashlib.sha256).hexdigest()

    @property
    def logins(self) -> dict[str, tuple[str, ...]]:
        """The logins that a server of the user's own needs, with the roles they are members of."""
        return {} if self.own_url is None else dict(_MEMBERSHIPS)


@contextmanager
def embedded_server() -> Iterator[Server]:
    """A server in a temporary folder, shared by the workers of pytest-xdist and deleted after the last."""
    with shared_server("penstock-pytest-") as server:
        yield Server(embedded=server)


def own_server(url: str) -> Server:
    """A server that is there already; `url` is a superuser's, for databases and logins are created."""
    if not run_blocking(_is_superuser(url)):
        raise InvalidArgument(
            f"the login of {SERVER_VARIABLE} is not a superuser",
            SERVER_VARIABLE,
            "Name a superuser of a server that is only for tests, such as postgresql://postgres@localhost/postgres",
        )
    return Server(own_url=url)


async def _is_superuser(url: str) -> bool:
    connection = await connect(url, application_name="penstock testing")
    try:
        found: bool = await connection.fetchval(
            "select r.rolsuper from pg_catalog.pg_roles r where r.rolname = current_user"
        )
        return found
    finally:
        await connection.close()
