"""Google's side of Pub/Sub push: signs tokens, and serves its public keys on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from joserfc import jwt
from joserfc.jwk import RSAKey

SERVICE_ACCOUNT = "push@project.iam.gserviceaccount.com"
TOPIC = "projects/project/topics/mail"


@cache
def rsa_key(name: str) -> RSAKey:
    """Made once per process: it takes a while."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig", "alg": "RS256"}, private=True)


@dataclass
class GoogleKeys:
    """`answers` is what it serves; `asked` counts requests."""

    audience: str
    names: list[str] = field(default_factory=lambda: ["first"])
    asked: int = 0
    fails: bool = False
    url: str = ""

    @property
    def body(self) -> bytes:
        return json.dumps({"keys": [rsa_key(name).as_dict(private=False) for name in self.names]}).encode()

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        claims = {
            "iss": "https://accounts.google.com",
            "aud": self.audience,
            "azp": "1",
            "sub": "1",
            "email": SERVICE_ACCOUNT,
            "email_verified": True,
            "iat": now,
            "exp": now + 3_600,
        }
        return {name: value for name, value in {**claims, **changes}.items() if value is not None}

    def token(self, key: str = "first", kid: str | None = None, **changes: Any) -> str:
        header = {"alg": "RS256", "typ": "JWT", "kid": kid or key}
        return jwt.encode(header, self.claims(**changes), rsa_key(key), algorithms=["RS256"])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        status, body = ("500 Error", b"") if self.fails else ("200 OK", self.body)
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def google_keys(audience: str) -> AsyncIterator[GoogleKeys]:
    keys = GoogleKeys(audience)
    server = await asyncio.start_server(keys._serve, "127.0.0.1", 0)  # its own
    keys.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/certs"
    try:
        yield keys
    finally:
        server.close()


def envelope(address: str, history: int = 7) -> dict[str, Any]:
    """What Pub/Sub pushes."""
    data = base64.b64encode(json.dumps({"emailAddress": address, "historyId": history}).encode()).decode()
    message = {"data": data, "messageId": "1", "publishTime": "2026-01-01T00:00:00Z"}
    return {"message": message, "subscription": "projects/project/subscriptions/mail"}
