"""`penstock source connect` opens the consent page and waits for the browser itself if no API does."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
from pathlib import Path
from typing import Any

import httpx2

from penstock.simulators.providers import ProviderSimulators, serving_providers
from tests.integration.api_server import make_tenant
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.documents import settings_for


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


async def read_until(child: subprocess.Popen[str], pattern: str) -> str:
    """What the pattern finds in what the command says to people."""
    assert child.stderr is not None
    while line := await asyncio.to_thread(child.stderr.readline):
        if found := re.search(pattern, line):
            return found[1]
    raise AssertionError(f"the command ended without {pattern!r}")


async def visit(url: str) -> httpx2.Response:
    """What a browser shows in the end."""
    async with httpx2.AsyncClient(follow_redirects=True, timeout=30) as browser:
        return await browser.get(url)


async def connected(penstock: CommandLine, simulators: ProviderSimulators) -> Any:
    """A source connected by the command, without an API."""
    simulators.hubspot.oauth.auto_consent = True
    with penstock.running(
        "source", "connect", "hubspot", "--no-browser", "--tenant", "acme", "--json"
    ) as child:
        page = await visit(await read_until(child, r"Grant access in the browser: (\S+)"))
        assert page.status_code == 200, page.text
        assert "HubSpot is connected" in page.text
        out, _ = await asyncio.to_thread(child.communicate)
        assert child.returncode == 0
    return json.loads(out)["source"]


async def test_the_command_connects_without_an_api_and_disconnects(
    penstock: CommandLine, database: Database, tmp_path: Path
) -> None:
    async with serving_providers(contacts=5) as simulators:
        await make_tenant(database, settings_for(database, tmp_path), "acme")
        penstock = penstock.with_variables(
            **simulators.environment(), PENSTOCK_PUBLIC_URL=f"http://localhost:{free_port()}"
        )
        source = await connected(penstock, simulators)
        assert (source["kind"], source["name"], source["status"]) == (
            "hubspot",
            "millbrook.example",
            "active",
        )

        for words in (("pause", "hubspot"), ("resume", "millbrook.example"), ("show", "HUBSPOT")):
            done = await asyncio.to_thread(penstock, "source", *words, "--tenant", "acme", "--json")
            assert (done.code, done.json["source_id"]) == (0, source["source_id"]), done.err

        refused = await asyncio.to_thread(penstock, "source", "disconnect", "hubspot", "--tenant", "acme")
        assert refused.code != 0
        assert "--keep-documents or --delete-documents" in refused.err
        done = await asyncio.to_thread(
            penstock, "source", "disconnect", "hubspot", "--delete-documents", "--tenant", "acme", "--json"
        )
        assert done.code == 0, done.err
        assert (done.json["source_id"], done.json["deleted"], done.json["revoking"]) == (
            source["source_id"], True, True,
        )  # fmt: skip
        missing = await asyncio.to_thread(
            penstock, "source", "disconnect", "hubspot", "--keep-documents", "--tenant", "acme"
        )
        assert "there is no source 'hubspot'" in missing.err


async def test_the_command_says_when_access_was_denied_and_when_nobody_can_answer_the_callback(
    penstock: CommandLine, database: Database, tmp_path: Path
) -> None:
    async with serving_providers(contacts=5) as simulators:
        await make_tenant(database, settings_for(database, tmp_path), "acme")
        url = f"http://localhost:{free_port()}"
        here = penstock.with_variables(**simulators.environment(), PENSTOCK_PUBLIC_URL=url)
        with here.running("source", "connect", "hubspot", "--no-browser", "--tenant", "acme") as child:
            consent = await read_until(child, r"Grant access in the browser: (\S+)")
            form = {"request": re.search(r'name="request" value="([^"]+)"', (await visit(consent)).text)}
            assert form["request"] is not None
            async with httpx2.AsyncClient(follow_redirects=True) as browser:
                answer = await browser.post(consent, data={"request": form["request"][1], "decision": "deny"})
            assert answer.status_code == 400
            assert "Access was denied" in answer.text
            _, err = await asyncio.to_thread(child.communicate)
            assert child.returncode != 0
            assert "access_denied" in err

        away = penstock.with_variables(**simulators.environment(), PENSTOCK_PUBLIC_URL="https://127.0.0.1:9")
        unreachable = await asyncio.to_thread(away, "source", "connect", "hubspot", "--tenant", "acme")
        assert unreachable.code != 0
        assert "no API answers at https://127.0.0.1:9" in unreachable.err
