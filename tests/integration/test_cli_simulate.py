"""`penstock simulate` runs the providers, prints the settings that lead to them, and stops on a signal."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2

from penstock.cli import simulate
from penstock.settings import Settings
from penstock.simulators.providers import ProviderSimulators, World
from tests.plugins.command_line import CommandLine

if TYPE_CHECKING:
    import pytest


def test_simulate_prints_the_settings_that_lead_to_it_and_stops_gracefully(tmp_path: Path) -> None:
    penstock = CommandLine(tmp_path, {})
    with penstock.running("simulate", "--port", "0", "--records", "20", "--json") as child:
        assert child.stdout is not None
        told = json.loads(child.stdout.readline())
        fields = {
            name.removeprefix("PENSTOCK_").lower(): value for name, value in told["environment"].items()
        }
        settings = Settings(_env_file=None, **fields)
        assert told["records"]["contacts"] == 20
        assert settings.allow_private_addresses
        assert settings.hubspot_mcp_url == f"{told['url']}/hubspot/mcp"
        page = httpx2.get(settings.gmail_authorize_url, params={"client_id": settings.gmail_client_id or ""})
        assert (page.status_code, "redirect_uri" in page.text) == (400, True)
        port = told["url"].rpartition(":")[2]
        refused = penstock("simulate", "--port", port, "--json")
        assert (refused.code, refused.error["field"]) == (1, "--port")
        away = penstock("simulate", "--port", "0", "--api-url", "https://example.com", "--json")
        assert (away.code, away.error["field"]) == (1, "--api-url")
        outlook = {name: told["environment"][f"PENSTOCK_OUTLOOK_{name}"] for name in ("API_URL", "TOKEN_URL")}
        assert outlook["TOKEN_URL"] == f"{told['url']}/outlook/organizations/oauth2/v2.0/token"
        assert httpx2.get(f"{outlook['API_URL']}/v1.0/me").status_code == 401
        certs = httpx2.get(told["environment"]["PENSTOCK_GMAIL_CERTS_URL"]).json()
        assert [key["alg"] for key in certs["keys"]] == ["RS256"]
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=20) == 0


def test_the_printed_exports_can_be_read_by_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    simulators = ProviderSimulators(World(contacts=1))
    simulators.url = "http://127.0.0.1:8791"
    simulate._show(simulators, "http://127.0.0.1:8001", sandbox=True, as_json=False)
    shown = capsys.readouterr()
    words = [shlex.split(line) for line in shown.out.splitlines()]
    assert {word for word, _ in words} == {"export"}
    assert dict(pair.split("=", 1) for _, pair in words) == {
        "PENSTOCK_PUBLIC_URL": "http://127.0.0.1:8001",
        **simulators.environment(sandbox=True),
    }
    assert "penstock source connect outlook" in shown.err


def test_simulate_runs_a_qdrant_server_where_asked(tmp_path: Path) -> None:
    penstock = CommandLine(tmp_path, {})
    with penstock.running("simulate", "--port", "0", "--records", "20", "--qdrant", "--json") as child:
        assert child.stdout is not None
        environment = json.loads(child.stdout.readline())["environment"]
        assert environment["PENSTOCK_INDEX"] == "qdrant"
        answer = httpx2.get(environment["PENSTOCK_QDRANT_URL"])
        assert answer.json()["title"] == "qdrant - vector search engine"
        child.terminate()
        assert child.wait(30) == 0
