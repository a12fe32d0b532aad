"""An outgoing request reaches nothing it must not, however the address is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpcore2
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from penstock.net import AddressRefused, check_url, open_client
from penstock.net.outbound import MAX_REDIRECTS
from penstock.simulators import serving

if TYPE_CHECKING:
    from starlette.requests import Request

PUBLIC = "93.184.216.34"


def hosts(text: str) -> list[str]:
    return text.split()


LOOPBACK = hosts("""
    127.0.0.1 127.1 127.0.1 127.0.0.53 127.255.255.254 2130706433 0x7f000001 0x7f.1 0x7f.0x0.0x0.0x1
    017700000001 0177.0.0.1 0177.0.0.01 00000177.0.0.1 127.0.0.1. 127。0。0。1 ①②⑦.⓪.⓪.① %31%32%37.0.0.1
    localhost LOCALHOST LocalHost localhost. %6c%6f%63alhost
    [::1] [0:0:0:0:0:0:0:1] [0000::0001] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::127.0.0.1]
    [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] [::ffff:0:127.0.0.1]
    0 0.0.0.0 0.0.0.1 [::] [::ffff:0.0.0.0]
""")
METADATA = hosts("""
    169.254.169.254 169.254.169.254. 2852039166 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376
    169.254.43518 [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::]
    [fd00:ec2::254] [fd20:ce::254] 168.63.129.16 100.100.100.200 192.0.0.192
""")
PRIVATE = hosts("""
    10.0.0.5 10.255.255.255 167772165 012.0.0.5 172.16.0.1 172.31.255.255 192.168.0.1 3232235521 100.64.0.1
    [fc00::1] [fd12:3456::1] [::ffff:10.0.0.5] [64:ff9b::a00:5] [fec0::1]
""")
NEVER = hosts("""
    169.254.0.1 [fe80::1] [fe80::1%25lo] 224.0.0.1 239.255.255.255 [ff02::1] 255.255.255.255 240.0.0.1
    198.18.0.1 192.0.2.1 198.51.100.1 203.0.113.1 [2001:db8::1] [100::1]
""")
TRICKS = [
    "http://public.example@127.0.0.1/", "http://127.0.0.1#@public.example/",
    "http://public.example:80@127.0.0.1:80/",
    "http://127.0.0.1\\@public.example/", "http://user:pass@public.example/", "http://[::1%25lo]/",
    "file:///etc/passwd", "gopher://127.0.0.1:6379/_INFO", "ftp://127.0.0.1/", "dict://127.0.0.1:11211/",
    "data:,x", "ws://127.0.0.1/", "//127.0.0.1/", "http:///etc", "http://", "", "javascript:1",
    "http:127.0.0.1", "http://127.0.0.1:99999/", "http://exa mple/", "http://\t127.0.0.1/",
    "unix:///var/run/docker.sock",
]  # fmt: skip
HOSTS = [*LOOPBACK, *METADATA, *PRIVATE, *NEVER]


@dataclass
class Canary:
    """Listens where nobody must come."""

    port: int
    visits: int = 0


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses connections were opened to; a public one is not really dialled."""
    seen: list[str] = []
    real = httpcore2.AnyIOBackend.connect_tcp

    async def dial(self: Any, host: str, port: int, **options: Any) -> Any:
        seen.append(host)
        if host == PUBLIC:
            raise httpcore2.ConnectError("the tests stay on loopback")
        return await real(self, host, port, **options)

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", dial)
    return seen


@asynccontextmanager
async def canary() -> AsyncIterator[Canary]:
    """A listener on 127.0.0.1 and, where there is one, on ::1."""
    found = Canary(0)

    async def visit(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.visits += 1
        writer.close()

    async with AsyncExitStack() as listeners:
        four = await listeners.enter_async_context(await asyncio.start_server(visit, "127.0.0.1", 0))
        found.port = four.sockets[0].getsockname()[1]
        with suppress(OSError):  # a machine without IPv6
            await listeners.enter_async_context(await asyncio.start_server(visit, "::1", found.port))
        yield found


async def test_no_form_of_address_reaches_what_it_must_not(dialled: list[str]) -> None:
    assert len(HOSTS) + len(TRICKS) >= 80
    reached = []
    async with canary() as bird, open_client() as client:
        for url in [f"http://{host}:{bird.port}/" for host in HOSTS] + TRICKS:
            try:
                await client.get(url)
                reached.append(url)
            except (AddressRefused, httpx2.InvalidURL):
                pass
            except httpx2.ConnectError as error:  # a name that does not exist
                assert "does not resolve" in str(error), url  # noqa: PT017 - one of three ways to be refused
        assert reached == []
        assert bird.visits == 0
        assert dialled == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::ffff:10.0.0.5]", "192.168.0.1", "[fd12:3456::1]", "[::1]"])
def test_allow_private_opens_loopback_and_private_networks(host: str) -> None:
    check_url(f"http://{host}/", allow_private=True)
    with pytest.raises(AddressRefused, match="PENSTOCK_ALLOW_PRIVATE_ADDRESSES"):
        check_url(f"http://{host}/")


@pytest.mark.parametrize("host", [host for host in (*METADATA, *NEVER) if "." in host or "[" in host])
async def test_allow_private_opens_neither_metadata_nor_link_local_nor_multicast(
    host: str, dialled: list[str]
) -> None:
    async with open_client(allow_private=True) as client:
        with pytest.raises((AddressRefused, httpx2.InvalidURL, httpx2.ConnectError)):
            await client.get(f"http://{host}/")
    assert dialled == []


@pytest.mark.parametrize(
    "answers",
    [["127.0.0.1"], [PUBLIC, "127.0.0.1"], ["169.254.169.254", PUBLIC], ["::1"], [PUBLIC, "::ffff:10.0.0.5"]],
)
async def test_a_name_with_one_bad_address_is_refused_whole(answers: list[str], dialled: list[str]) -> None:
    async def resolver(_host: str, _port: int) -> Sequence[str]:
        return answers

    async with open_client(resolver=resolver) as client:
        with pytest.raises(AddressRefused, match=r"inner\.example") as refused:
            await client.get("http://inner.example/")
    assert refused.value.host == "inner.example"
    assert all(address not in str(refused.value) for address in answers)
    assert dialled == []


async def test_a_dns_name_that_changes_after_the_check_is_connected_to_the_checked_address(
    dialled: list[str],
) -> None:
    asked = 0

    async def rebinding(_host: str, _port: int) -> Sequence[str]:
        nonlocal asked
        asked += 1
        return [PUBLIC] if asked == 1 else ["127.0.0.1"]

    async with open_client(resolver=rebinding) as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get("http://rebound.example/")
        assert (asked, dialled) == (1, [PUBLIC])
        with pytest.raises(AddressRefused):
            await client.get("http://rebound.example/")
    assert dialled == [PUBLIC]


@asynccontextmanager
async def redirecting() -> AsyncIterator[tuple[str, list[str]]]:
    """/to?url=… redirects there, /loop to itself, /end answers."""
    hits: list[str] = []

    async def to(request: Request) -> Response:
        hits.append(request.url.path)
        if request.url.path == "/end":
            return Response("end")
        return RedirectResponse(request.query_params.get("url", "/loop"))

    routes = [Route(path, to) for path in ("/to", "/loop", "/end")]
    async with serving(Starlette(routes=routes)) as address:
        yield address, hits


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fe80::1]/",
        "file:///etc/passwd",
        "//0.0.0.0/",
        "ftp://x/",
    ],
)
async def test_a_redirect_is_judged_like_the_first_address(target: str, dialled: list[str]) -> None:
    async with redirecting() as (address, hits):
        async with open_client(allow_private=True, follow_redirects=True) as client:
            with pytest.raises((AddressRefused, httpx2.UnsupportedProtocol)):
                await client.get(f"{address}/to", params={"url": target})
        assert hits == ["/to"]
    assert dialled == ["127.0.0.1"]


async def test_a_redirect_from_outside_to_inside_is_refused(dialled: list[str]) -> None:
    """The first hop is let through as if it were public; the second names the loopback."""
    async with redirecting() as (address, hits):
        port = address.rpartition(":")[2]

        async def resolver(host: str, _port: int) -> Sequence[str]:
            return ["127.0.0.1"] if host == "outside.example" else ["169.254.169.254"]

        async with open_client(allow_private=True, follow_redirects=True, resolver=resolver) as client:
            with pytest.raises(AddressRefused, match="metadata"):
                await client.get(
                    f"http://outside.example:{port}/to", params={"url": "http://inside.example/"}
                )
        assert hits == ["/to"]
    assert dialled == ["127.0.0.1"]


async def test_redirects_are_not_followed_unless_asked_and_then_a_few_at_most() -> None:
    async with redirecting() as (address, hits):
        async with open_client(allow_private=True) as client:
            assert (await client.get(f"{address}/loop")).status_code == 307
        async with open_client(allow_private=True, follow_redirects=True) as client:
            assert (await client.get(f"{address}/to", params={"url": "/end"})).text == "end"
            hits.clear()
            with pytest.raises(httpx2.TooManyRedirects):
                await client.get(f"{address}/loop")
        assert len(hits) == MAX_REDIRECTS + 1


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with redirecting() as (address, _):
        async with open_client(allow_private=True) as client:
            assert (await client.get(f"{address}/end")).text == "end"
