"""Which host names the API answers to, and how often its shared secret may be guessed."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx2
import pytest

from penstock.api.problem import HttpRefused
from penstock.api.rate_limit import burst_of
from penstock.api.secret_guesses import IN_ALL, PER_ADDRESS, SecretGuesses
from penstock.errors import SettingInvalid
from penstock.settings import Settings
from tests.integration.api_server import api_server, assert_problem
from tests.plugins.database import Database

SECRET = "the brain's secret"


async def test_an_unknown_host_name_is_refused_everywhere(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for method, path in (
            ("GET", "/healthz"),
            ("GET", "/v1/documents"),
            ("POST", "/mcp"),
            ("GET", "/metrics"),
            ("POST", "/webhook/acme"),
            ("GET", "/docs"),
        ):
            for name in (
                "attacker.example",
                "attacker.example:8000",
                "127.0.0.1.attacker.example",
                "a" * 9_000,
            ):
                problem = assert_problem(
                    await client.request(method, path, headers={"Host": name}), 421, "Host"
                )
                assert "PENSTOCK_API_ALLOWED_HOSTS" in problem["remedy"]


async def test_our_own_names_and_addresses_pass(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        own = [
            "localhost",
            "LOCALHOST:8000",
            "localhost.",
            "127.0.0.1:99",
            "192.0.2.7",
            "[::1]:8000",
            "[2001:db8::1]",
        ]
        for name in (*own, socket.gethostname(), "demo.localhost"):
            assert (await client.get("/healthz", headers={"Host": name})).status_code == 200, name


async def test_listed_names_pass(database: Database, tmp_path: Path) -> None:
    async with api_server(
        database, tmp_path, api_allowed_hosts="API.example.com, *.internal.example"
    ) as server:
        async with server.client() as client:
            for name, status in (
                ("api.example.com:443", 200),
                ("a.internal.example", 200),
                ("localhost", 200),
                ("10.0.0.1", 200),
                ("internal.example", 421),
                ("example.com", 421),
                ("xapi.example.com", 421),
            ):
                assert (await client.get("/healthz", headers={"Host": name})).status_code == status, name


async def test_a_star_answers_to_every_name(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path, api_allowed_hosts="*") as server, server.client() as client:
        assert (await client.get("/healthz", headers={"Host": "anything.example"})).status_code == 200


@pytest.mark.parametrize("wrong", ["http://a.example", "a.example:8000", "a b", "a.*.example", "a/b"])
def test_an_invalid_list_of_hosts_is_refused_at_start(wrong: str) -> None:
    with pytest.raises(SettingInvalid, match="PENSTOCK_API_ALLOWED_HOSTS"):
        Settings(api_allowed_hosts=wrong)


async def test_guesses_of_the_shared_secret_are_limited_and_the_owner_is_not_shut_out(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path, brain_api_secret=SECRET) as server:
        stranger_from = httpx2.AsyncHTTPTransport(local_address="127.0.0.2")
        async with (
            server.client("", **{"X-Brain-Secret": SECRET}) as owner,
            httpx2.AsyncClient(base_url=server.url, transport=stranger_from) as stranger,
        ):
            statuses = []
            for number in range(PER_ADDRESS + 3):
                wrong = {"X-Brain-Secret": f"guess {number}"}
                answer = await stranger.post("/internal/embed", json={"texts": ["a"]}, headers=wrong)
                statuses.append(answer.status_code)
            assert statuses == [401] * PER_ADDRESS + [429] * 3
            assert int(answer.headers["retry-after"]) > 0
            # Even the right one has to wait there, or guessing would go on; the owner's address does not.
            right = {"X-Brain-Secret": SECRET}
            late = await stranger.post("/internal/embed", json={"texts": ["a"]}, headers=right)
            assert_problem(late, 429)
            assert (await owner.post("/internal/embed", json={"texts": ["a"]})).status_code == 200


def test_guesses_from_many_addresses_delay_only_new_addresses() -> None:
    now = 0.0
    guesses = SecretGuesses(lambda: now)
    guesses.right("192.0.2.1")
    refused = 0
    for number in range(200):
        try:
            guesses.refuse_over(f"198.51.100.{number}")
            guesses.wrong(f"198.51.100.{number}")
        except HttpRefused:
            refused += 1
    assert refused == 200 - burst_of(IN_ALL)
    guesses.refuse_over("192.0.2.1")
    with pytest.raises(HttpRefused):
        guesses.refuse_over("192.0.2.2")
    now = 120.0
    guesses.refuse_over("192.0.2.2")


def test_an_ipv6_client_counts_by_its_network() -> None:
    guesses = SecretGuesses(lambda: 0.0)
    for number in range(PER_ADDRESS):
        guesses.wrong(f"2001:db8::{number:x}")
    with pytest.raises(HttpRefused):
        guesses.refuse_over("2001:db8::ffff")
    guesses.refuse_over("2001:db8:0:1::1")
