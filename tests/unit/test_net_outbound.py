"""Answers are bounded in size and time, and the URL's host stays the one that is asked for."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from penstock.net import AddressRefused, ResponseRefused, check_url, open_client
from penstock.net.addresses import refusal
from penstock.simulators import serving

if TYPE_CHECKING:
    from starlette.requests import Request


async def answer(request: Request) -> Response:
    match request.url.path:
        case "/host":
            return PlainTextResponse(request.headers["host"])
        case "/long":
            return PlainTextResponse("x" * 100_000)
        case "/endless":
            return StreamingResponse(dripping(), media_type="text/plain")
        case "/bomb":
            return Response(gzip.compress(b"0" * 5_000_000), headers={"content-encoding": "gzip"})
        case "/cookie":
            kept = request.cookies.get("session", "none")
            return PlainTextResponse(kept, headers={"set-cookie": "session=one; Path=/"})
        case _:
            return Response(status_code=404)


async def dripping() -> AsyncIterator[bytes]:
    while True:
        yield b"."
        await asyncio.sleep(0.02)


@asynccontextmanager
async def running() -> AsyncIterator[str]:
    async with serving(Starlette(routes=[Route("/{path:path}", answer)])) as address:
        yield address


async def loopback(_host: str, _port: int) -> Sequence[str]:
    return ["127.0.0.1"]


async def test_clients_share_the_certificates_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_client():
        monkeypatch.setattr(httpx2, "create_ssl_context", lambda **_: pytest.fail("they were read again"))
        async with open_client(), open_client(allow_private=True):
            pass


async def test_the_host_header_is_the_urls_though_the_connection_is_pinned() -> None:
    async with running() as address:
        port = address.rpartition(":")[2]
        async with open_client(allow_private=True, resolver=loopback) as client:
            assert (await client.get(f"http://hooks.example:{port}/host")).text == f"hooks.example:{port}"


async def test_the_certificate_is_checked_against_the_urls_host(tmp_path: Path) -> None:
    trusted = certificate(tmp_path, "hooks.example")
    app = Starlette(routes=[Route("/{path:path}", answer)])
    files: dict[str, Any] = {
        "ssl_certfile": str(tmp_path / "cert.pem"),
        "ssl_keyfile": str(tmp_path / "key.pem"),
    }
    async with serving(app, **files) as address:
        port = address.rpartition(":")[2]
        async with open_client(allow_private=True, resolver=loopback, verify=trusted) as client:
            assert (await client.get(f"https://hooks.example:{port}/host")).status_code == 200
            with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await client.get(f"https://other.example:{port}/host")


async def test_a_second_address_is_tried_when_the_first_does_not_answer() -> None:
    async def two(_host: str, _port: int) -> Sequence[str]:
        return ["127.0.0.2", "127.0.0.1"]

    async with running() as address:
        port = address.rpartition(":")[2]
        async with open_client(allow_private=True, resolver=two) as client:
            assert (await client.get(f"http://hooks.example:{port}/host")).status_code == 200


async def test_a_long_answer_is_not_read_to_its_end() -> None:
    async with running() as address, open_client(allow_private=True, max_answer_bytes=50_000) as client:
        with pytest.raises(ResponseRefused, match="50000 bytes"):
            await client.get(f"{address}/long")
        assert (await client.get(f"{address}/host")).status_code == 200


async def test_a_compressed_answer_that_was_not_requested_is_not_unpacked() -> None:
    async with running() as address, open_client(allow_private=True) as client:
        with pytest.raises(ResponseRefused, match="compressed"):
            await client.get(f"{address}/bomb")


async def test_a_slowly_dripping_answer_ends_with_the_time_limit_of_the_request() -> None:
    async with running() as address, open_client(allow_private=True, total_seconds=0.3) as client:
        began = asyncio.get_running_loop().time()
        with pytest.raises(httpx2.ReadTimeout):
            await client.get(f"{address}/endless")
        assert asyncio.get_running_loop().time() - began < 5


async def test_a_slow_resolver_is_bounded_too() -> None:
    async def never(_host: str, _port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with open_client(resolver=never, total_seconds=0.2) as client:
        with pytest.raises(httpx2.TimeoutException):
            await client.get("http://hooks.example/")


async def test_no_cookie_is_kept_for_the_next_request() -> None:
    async with running() as address, open_client(allow_private=True) as client:
        assert (await client.get(f"{address}/cookie")).text == "none"
        assert (await client.get(f"{address}/cookie")).text == "none"


@pytest.mark.parametrize(
    "url", ["https://hooks.example/path?x=1", "http://93.184.216.34:8080/", "https://[2606:4700::1]/"]
)
def test_a_public_address_may_be_configured(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://hooks.example/", "scheme"),
        ("hooks.example", "scheme"),
        ("https://user@hooks.example/", "user name"),
        ("http://[::1]/", "loopback"),
        ("http://0177.0.0.1/", "not a valid URL"),
        ("https://", "host"),
    ],
)
def test_a_bad_address_is_refused_when_it_is_configured_with_a_remedy(url: str, reason: str) -> None:
    with pytest.raises(AddressRefused, match=reason) as refused:
        check_url(url)
    assert refused.value.remedy


@pytest.mark.parametrize("text", ["64:ff9b::5db8:d822", "2002:5db8:d822::1", "::ffff:93.184.216.34"])
def test_an_address_that_carries_a_public_one_is_public(text: str) -> None:
    assert refusal(ipaddress.ip_address(text), allow_private=False) is None


def certificate(folder: Path, host: str) -> ssl.SSLContext:
    """Write a certificate for the host, signed by itself; the context trusts it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return ssl.create_default_context(cafile=str(folder / "cert.pem"))
