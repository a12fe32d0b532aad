"""The mail server of a source, as its configuration names it."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal, TypeAlias, get_args

from penstock.errors import InvalidArgument

Security: TypeAlias = Literal["tls", "starttls", "none"]
PORTS: Final[Mapping[Security, int]] = {"tls": 993, "starttls": 143, "none": 143}
LONGEST_CA: Final = 65_536
LONGEST_HOST: Final = 253
LONGEST_USER: Final = 320
_HOST: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-:_")


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """`ca` are the certificates to trust instead of the usual ones, as PEM."""

    host: str
    port: int
    user: str
    security: Security
    ca: str | None = field(default=None, repr=False)

    @property
    def account(self) -> str:
        return f"{self.user} at {self.host}:{self.port}"

    @property
    def place(self) -> str:
        """Where the password may be sent, and how it is protected on its way."""
        ca = None if self.ca is None else hashlib.sha256(self.ca.encode()).hexdigest()
        return json.dumps([self.host, self.port, self.user, self.security, ca])


def server_of(config: Mapping[str, Any]) -> MailServer:
    """InvalidArgument names a setting that cannot be used."""
    security = config.get("security", "tls")
    if security not in get_args(Security):
        raise InvalidArgument("security must be tls, starttls or none", "security", "The default is tls")
    host = _host(config.get("host"))
    if security == "none" and not _is_here(host):
        raise InvalidArgument(
            "without TLS the password could be read on its way", "security", "Use tls or starttls"
        )
    port = config.get("port", PORTS[security])
    if not isinstance(port, int) or isinstance(port, bool) or not 0 < port < 65_536:
        raise InvalidArgument(
            "port must be a number from 1 to 65535", "port", "Usually 993, or 143 with starttls"
        )
    return MailServer(
        host=host, port=port, user=_user(config.get("user")), security=security, ca=_ca(config.get("ca"))
    )


def trusted(server: MailServer) -> ssl.SSLContext:
    """What checks the server's certificate; it reads files, so call it in a thread."""
    return _system_trust() if server.ca is None else ssl.create_default_context(cadata=server.ca)


@cache
def _system_trust() -> ssl.SSLContext:
    """Not the one of the HTTP clients: it offers a server their protocol."""
    import httpx2

    return httpx2.create_ssl_context(verify=True, trust_env=False)


def _host(given: Any) -> str:
    host = given.strip().lower().rstrip(".") if isinstance(given, str) else ""
    if not 0 < len(host) <= LONGEST_HOST or not set(host) <= _HOST:
        raise InvalidArgument("host must be the name of a mail server", "host", "Such as imap.example.com")
    return host


def _user(given: Any) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST_USER or not given.isprintable():
        raise InvalidArgument(
            "user must be the name to log in with", "user", "Usually the address, such as info@example.com"
        )
    return given


def _ca(given: Any) -> str | None:
    if given is None:
        return None
    if isinstance(given, str) and len(given) <= LONGEST_CA and given.isascii():
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=given)
        except (ssl.SSLError, ValueError):
            pass
        else:
            return given
    raise InvalidArgument(
        "ca must be certificates in PEM format", "ca", "Such as the content of your authority's ca.pem"
    )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
