"""A mail server on loopback, in the test's own event loop, that keeps what came and fails as it is told."""

from __future__ import annotations

import asyncio
import email
import ipaddress
import ssl
import warnings
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any, Literal

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Security = Literal["starttls", "tls", "none"]
Step = Literal["EHLO", "MAIL", "RCPT", "DATA"]

HANG_UP = "hang up"
"""In place of an answer: the server closes the connection."""
STALL = "stall"
"""In place of an answer: nothing, ever."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that is its own authority, for 127.0.0.1 and localhost."""

    path: Path
    """The certificate alone: what a client trusts."""
    chain: Path
    """The key and the certificate: what a server holds."""


@dataclass(frozen=True, slots=True)
class ReceivedMail:
    sender: str
    recipients: tuple[str, ...]
    content: bytes
    tls: bool

    @property
    def message(self) -> EmailMessage:
        message = email.message_from_bytes(self.content, policy=default)
        assert isinstance(message, EmailMessage)
        return message


class MailServer:
    """What a test sees of it. `answer` puts answers in line, each for the next command of its kind."""

    def __init__(self, security: Security) -> None:
        self.security = security
        self.port = 0
        self.received: list[ReceivedMail] = []
        self.connections = 0
        self.refused: dict[str, str] = {}
        """Recipients that are refused, and by which answer."""
        self._answers: dict[Step, deque[str]] = defaultdict(deque)
        self.open: set[SMTP] = set()
        self.stalled = asyncio.Event()

    def answer(self, step: Step, answer: str, times: int = 1) -> None:
        self._answers[step].extend([answer] * times)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that lead here."""
        return {
            "smtp_host": "127.0.0.1",
            "smtp_port": self.port,
            "smtp_security": self.security,
            "smtp_from": "mill@example.org",
        }

    def hang_up(self) -> None:
        """Close every connection, as a server that is restarted does."""
        for protocol in self.open:
            if protocol.transport is not None:
                protocol.transport.close()

    async def _next(self, step: Step, server: SMTP) -> str | None:
        line = self._answers[step]
        answer = line.popleft() if line else None
        if answer == HANG_UP:
            assert server.transport is not None
            server.transport.close()
        if answer == STALL:
            self.stalled.set()
            await asyncio.Event().wait()
        return answer

    # The names are aiosmtpd's.
    async def handle_EHLO(  # noqa: N802
        self, server: SMTP, session: Any, envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        answer = await self._next("EHLO", server)
        return responses if answer is None else [answer]

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if (answer := await self._next("MAIL", server)) is not None:
            return answer
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if (answer := await self._next("RCPT", server) or self.refused.get(address)) is not None:
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Any) -> str:  # noqa: N802
        if (answer := await self._next("DATA", server)) is not None:
            return answer
        self.received.append(
            ReceivedMail(
                envelope.mail_from, tuple(envelope.rcpt_tos), envelope.content, _is_encrypted(server)
            )
        )
        return f"250 queued as {len(self.received)}"


def _is_encrypted(server: SMTP) -> bool:
    assert server.transport is not None
    return server.transport.get_extra_info("sslcontext") is not None


@asynccontextmanager
async def mail_server(
    security: Security = "none",
    *,
    certificate: Certificate | None = None,
    login: tuple[str, str] | None = None,
    smtputf8: bool = True,
) -> AsyncIterator[MailServer]:
    """A server while the block runs; with `login`, nobody else may send."""
    server = MailServer(security)
    loop = asyncio.get_running_loop()
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.chain)

    def authenticate(_server: SMTP, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
        given = (data.login.decode(), data.password.decode()) if isinstance(data, LoginPassword) else None
        return AuthResult(success=given == login, handled=False)

    class Protocol(SMTP):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            if self not in server.open:  # STARTTLS makes a second one
                server.connections += 1
                server.open.add(self)
            super().connection_made(transport)

        def connection_lost(self, error: Exception | None) -> None:
            server.open.discard(self)
            super().connection_lost(error)

    def greet() -> Protocol:
        with warnings.catch_warnings(action="ignore"):  # of a login without TLS, which is the test
            return Protocol(
                server,
                enable_SMTPUTF8=smtputf8,
                hostname="mail.example.org",
                tls_context=context if security == "starttls" else None,
                require_starttls=security == "starttls",
                auth_required=login is not None,
                auth_require_tls=security == "starttls",
                authenticator=authenticate,
                loop=loop,
            )

    listener = await loop.create_server(greet, "127.0.0.1", 0, ssl=context if security == "tls" else None)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        server.hang_up()
        await listener.wait_closed()
        # A handshake that failed after STARTTLS leaves its protocol waiting for a line.
        for protocol in server.open:
            if (handling := protocol._handler_coroutine) is not None:
                handling.cancel()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    folder = tmp_path_factory.mktemp("certificate")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public = made.public_bytes(Encoding.PEM)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "certificate.pem").write_bytes(public)
    (folder / "chain.pem").write_bytes(private + public)
    return Certificate(folder / "certificate.pem", folder / "chain.pem")
