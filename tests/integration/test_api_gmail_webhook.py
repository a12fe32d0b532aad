"""Gmail's notifications wake syncs if Google signed them for us; everything else is rejected alike."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.db import Connection
from penstock.webhooks.google_push import GooglePush
from penstock.webhooks.public_keys import RETRY_SECONDS, USABLE_SECONDS, PublicKeys
from tests.integration.api_server import ApiServer, api_server
from tests.plugins.database import Database
from tests.plugins.documents import Works
from tests.plugins.google_keys import SERVICE_ACCOUNT, TOPIC, GoogleKeys, envelope, google_keys, rsa_key
from tests.plugins.pushed_source import PushedProvider, add_mailbox

if TYPE_CHECKING:
    import httpx2

ADDRESS = "invoices@example.com"
PUBLIC_URL = "http://penstock.example"


@dataclass(slots=True)
class Notified:
    server: ApiServer
    works: Works
    google: GoogleKeys
    admin: Connection
    client: httpx2.AsyncClient

    async def push(
        self, token: str | None = None, body: Any = None, address: str = ADDRESS, scheme: str = "Bearer"
    ) -> httpx2.Response:
        content = body if isinstance(body, bytes) else json.dumps(body or envelope(address)).encode()
        headers = {"Authorization": f"{scheme} {token}"} if token is not None else {}
        return await self.client.post("/webhooks/gmail", content=content, headers=headers)

    async def wanted(self) -> set[Any]:
        return {row[0] for row in await self.admin.fetch("select source_id from ingest.pending_sync")}

    async def quiet(self) -> None:
        await self.admin.execute("delete from ingest.pending_sync")
        await self.admin.execute("delete from queues.waiting")

    async def counted(self, outcome: str) -> float:
        text = (await self.client.get("/metrics")).text
        name = f'mail_notifications_total{{outcome="{outcome}",provider="gmail"}} '
        return sum(float(line.removeprefix(name)) for line in text.splitlines() if line.startswith(name))


@asynccontextmanager
async def notified(database: Database, folder: Path) -> AsyncIterator[Notified]:
    async with google_keys(f"{PUBLIC_URL}/webhooks/gmail") as google:
        settings = {
            "public_url": PUBLIC_URL,
            "gmail_push_topic": TOPIC,
            "gmail_push_service_account": SERVICE_ACCOUNT,
            "gmail_certs_url": google.url,
        }
        providers = {"gmail": PushedProvider()}
        async with api_server(database, folder, providers=providers, **settings) as server:
            async with server.working():
                pass  # the task types are declared
            works = Works(server.engine, database, server.tenant)
            async with database.connect("admin") as admin, server.client("") as client:
                yield Notified(server, works, google, admin, client)


async def test_a_genuine_notification_wakes_every_source_of_the_address(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here:
        ours = await add_mailbox(here.works, "gmail", address=ADDRESS)
        other, _ = await here.server.another_tenant("other")
        theirs = await add_mailbox(here.works, "gmail", address=ADDRESS, tenant_id=other.tenant_id)
        await add_mailbox(here.works, "gmail", name="else", address="else@example.com")
        await here.quiet()
        answer = await here.push(here.google.token(), address="Invoices@Example.com")
        assert (answer.status_code, answer.content) == (204, b"")
        assert await here.wanted() == {ours, theirs}
        tasks = await here.server.count("queues.task")
        for _ in range(5):
            assert (await here.push(here.google.token())).status_code == 204
        assert await here.server.count("queues.task") == tasks, "a sync that is wanted covers them"
        assert (await here.counted("woken"), await here.counted("pending")) == (2, 10)
        assert here.google.asked == 1


def tampered(token: str) -> str:
    head, body, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    changed = base64.urlsafe_b64encode(json.dumps({**claims, "sub": "2"}).encode()).decode().rstrip("=")
    return f"{head}.{changed}.{signature}"


def unsigned(google: GoogleKeys, algorithm: str) -> str:
    head = {"alg": algorithm, "typ": "JWT", "kid": "first"}
    parts = [
        base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=")
        for each in (head, google.claims())
    ]
    return ".".join([*parts, ""])


def by_public_key(google: GoogleKeys) -> str:
    """HS256 with the public key as its secret: the classic confusion."""
    signed = unsigned(google, "HS256").rstrip(".")
    digest = hmac.digest(rsa_key("first").as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


async def test_forged_notifications_are_refused_alike_and_write_nothing(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here:
        await add_mailbox(here.works, "gmail", address=ADDRESS)
        await here.quiet()
        google, now = here.google, int(time.time())
        forged: dict[str, str | None] = {
            "no token": None,
            "short": "-",
            "garbage": "a.b.c",
            "two parts": "a.b",
            "long": "a" * 10_000,
            "wrong audience": google.token(aud="https://else.example/webhooks/gmail"),
            "audience in a list": google.token(aud=[google.audience]),
            "no audience": google.token(aud=None),
            "wrong account": google.token(email="push@else.iam.gserviceaccount.com"),
            "unverified": google.token(email_verified=False),
            "verified as text": google.token(email_verified="true"),
            "wrong issuer": google.token(iss="https://accounts.example.com"),
            "expired": google.token(iat=now - 7_200, exp=now - 3_600),
            "never expires": google.token(exp=None),
            "expiry as text": google.token(exp="tomorrow"),
            "from the future": google.token(iat=now + 3_600, exp=now + 7_200),
            "another key": google.token(key="other", kid="first"),
            "unknown key": google.token(key="other"),
            "tampered": tampered(google.token()),
            "unsigned": unsigned(google, "none"),
            "unsigned RS256": unsigned(google, "RS256"),
            "HS256 by the public key": by_public_key(google),
        }
        before = await here.server.count("queues.task")
        bodies = set()
        for name, token in forged.items():
            answer = await here.push(token)
            assert answer.status_code == 401, name
            problem = answer.json()
            del problem["request_id"]
            bodies.add(json.dumps(problem, sort_keys=True))
        basic = await here.push(google.token(), scheme="Basic")
        assert basic.status_code == 401
        assert len(bodies) == 1, "no hint which part was wrong"
        assert await here.wanted() == set()
        assert await here.server.count("queues.task") == before
        assert await here.counted("refused") == len(forged) + 1
        assert here.google.asked == 1, "unknown keys do not make us ask Google again and again"
        assert (await here.push(google.token())).status_code == 204, "the genuine one works"


async def test_genuine_but_unknown_or_unreadable_is_accepted_and_counted(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here:
        source_id = await add_mailbox(here.works, "gmail", address=ADDRESS)
        await here.quiet()
        assert (await here.push(here.google.token(), address="nobody@example.com")).status_code == 204
        await here.server.engine.sources.pause(here.works.tenant_id, source_id)
        assert (await here.push(here.google.token())).status_code == 204
        assert await here.counted("unknown") == 2
        unreadable: list[Any] = [
            b"",
            b"garbage",
            b"[1]",
            {"message": {"data": "!!!"}},
            {"message": {"data": base64.b64encode(b"[]").decode()}},
            {"message": 1},
            envelope("a\0b"),
            envelope("x" * 400),
            b'{"message":' + b"[" * 50_000,
            b" " * 70_000,
        ]
        for body in unreadable:
            assert (await here.push(here.google.token(), body)).status_code == 204
        assert await here.counted("unreadable") == len(unreadable)
        assert await here.wanted() == set()


async def test_while_the_keys_cannot_be_fetched_the_sender_is_asked_to_come_again(
    database: Database, tmp_path: Path
) -> None:
    async with notified(database, tmp_path) as here:
        here.google.fails = True
        for token in (here.google.token(), here.google.token(key="other")):
            assert (await here.push(token)).status_code == 503
        assert here.google.asked == 1
        assert (await here.push("garbage")).status_code == 401


async def test_new_keys_are_fetched_at_most_once_a_minute_and_old_ones_used_meanwhile() -> None:
    import httpx2

    now = 1_000.0
    async with google_keys("audience") as google, httpx2.AsyncClient() as client:
        keys = PublicKeys(google.url, lambda: client, clock=lambda: now)
        push = GooglePush(keys, audience="audience", service_account=SERVICE_ACCOUNT)
        assert await push.is_genuine(f"Bearer {google.token()}")
        google.names = ["second"]
        for _ in range(20):
            assert not await push.is_genuine(f"Bearer {google.token(key='second')}")
        assert google.asked == 1
        now += RETRY_SECONDS
        assert await push.is_genuine(f"Bearer {google.token(key='second')}")
        assert not await push.is_genuine(f"Bearer {google.token()}"), "Google withdrew that key"
        assert google.asked == 2
        google.fails = True
        now += USABLE_SECONDS - 1
        assert await push.is_genuine(f"Bearer {google.token(key='second')}"), "an outage of the keys' server"
        assert google.asked == 3
