"""The deletion of an account by HTTP, by the client and by the command line."""

from __future__ import annotations

import signal
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from penstock.accounts.rows import hash_of_receipt
from penstock.client import ApiProblem, BlockingClient, Client
from penstock.client.results import Deletion
from tests.integration.api_server import api_server, assert_problem, form
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.terminal import on_a_terminal
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(180)


async def test_a_tenant_is_deleted_by_its_key_and_followed_by_its_token(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        server.client("") as nobody,
    ):
        assert (await client.post("/v1/documents/upload", files=form())).status_code == 202
        second = await server.another_key("documents:read")
        answer = await client.delete("/v1/tenant", params={"confirm": "acme"})
        assert answer.status_code == 202, answer.text
        accepted = answer.json()
        assert UUID(accepted["account_id"]) == server.tenant.tenant_id
        assert accepted["receipt_url"] == f"/v1/deletions/{accepted['receipt_token']}"

        assert_problem(await client.get("/v1/projects"), 401, "api_key")
        assert_problem(await client.post("/v1/documents/upload", files=form()), 401, "api_key")
        async with server.client(second) as other:
            assert_problem(await other.get("/v1/documents"), 401, "api_key")
        assert_problem(await client.delete("/v1/tenant", params={"confirm": "acme"}), 401, "api_key")

        running = (await nobody.get(accepted["receipt_url"])).json()
        assert (running["status"], running["files_left"], running["receipt"]) == ("running", 1, None)
        async with server.working():
            await eventually(lambda: _is_done(server.url, accepted["receipt_token"]), within=60)
        done = await nobody.get(accepted["receipt_url"])
        assert done.headers["ratelimit-limit"]
        told = done.json()
        assert (told["status"], told["files_left"], told["error"]) == ("succeeded", 0, None)
        assert told["flags"] == ["deleted", "anonymized"]
        assert hash_of_receipt(told["receipt"]) == told["receipt_sha256"]
        assert_problem(await client.get("/v1/projects"), 401, "api_key")


async def test_a_browser_reads_the_receipt_as_a_page_with_the_same_facts(
    database: Database, tmp_path: Path
) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    async with (
        api_server(database, tmp_path) as server,
        server.client() as client,
        server.client("") as nobody,
    ):
        assert (await client.post("/v1/documents/upload", files=form())).status_code == 202
        accepted = (await client.delete("/v1/tenant", params={"confirm": "acme"})).json()
        running = await nobody.get(accepted["receipt_url"], headers=browser)
        assert running.headers["content-type"].startswith("text/html")
        assert "script-src" not in running.headers["content-security-policy"]
        assert "The account is being deleted" in running.text
        assert "files 1," in running.text
        assert 'http-equiv="refresh"' in running.text
        async with server.working():
            await eventually(lambda: _is_done(server.url, accepted["receipt_token"]), within=60)
        told = (await nobody.get(accepted["receipt_url"])).json()
        page = (await nobody.get(accepted["receipt_url"], headers=browser)).text
        assert "The account was deleted" in page
        assert "The receipt matches its SHA-256." in page
        assert "refresh" not in page
        receipt = told["receipt"]
        for fact in (told["account_id"], told["receipt_sha256"], receipt["contents_sha256"], *told["flags"]):
            assert str(fact) in page
        for name, number in {**receipt["removed"], **receipt["overwritten"]}.items():
            assert f"{name.replace('_', ' ')} {number:,}" in page
        for name in ("requested_at", "files_removed_at", "anonymized_at", "completed_at"):
            assert receipt[name][:19].replace("T", " ") in page
        assert receipt["backups"]["held_until"][:19].replace("T", " ") in page
        unknown = await nobody.get("/v1/deletions/guess", headers=browser)
        assert (unknown.status_code, "There is no such receipt" in unknown.text) == (404, True)


async def _is_done(url: str, token: str) -> bool:
    async with Client(url, "pk_none") as client:
        return (await client.deletion(token)).status != "running"


async def test_a_deletion_must_be_confirmed_by_the_slug_with_the_scope(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        assert_problem(await client.delete("/v1/tenant"), 422, "confirm")
        for wrong in ("", "Acme", "other", str(server.tenant.tenant_id)):
            refused = await client.delete("/v1/tenant", params={"confirm": wrong})
            assert_problem(refused, 422, "confirm")
        async with server.client(await server.another_key("documents:write", "projects:write")) as weak:
            refused = await weak.delete("/v1/tenant", params={"confirm": "acme"})
            assert_problem(refused, 403, "scope")
        assert await server.count("accounts.account_flag") == 0
        async with server.client("") as nobody:
            assert_problem(await nobody.delete("/v1/tenant"), 401, "Authorization")
            for token in ("unknown", "pk_x", "%F0%9F%98%80", "a" * 200):
                assert_problem(await nobody.get(f"/v1/deletions/{token}"), 404, "deletion")
            assert_problem(await nobody.get("/v1/deletions/a%00b"), 422, "path")


async def test_whoever_asks_for_tokens_too_often_waits(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path, requests_per_minute=10) as server,
        server.client("") as nobody,
    ):
        answers = [(await nobody.get("/v1/deletions/guess")).status_code for _ in range(11)]
        assert answers == [404] * 10 + [429]


async def test_the_client_deletes_its_tenant(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, Client(server.url, server.key, attempts=1) as client:
        with pytest.raises(ApiProblem, match="confirm"):
            await client.delete_tenant("other")
        requested = await client.delete_tenant("acme")
        assert requested.receipt_token is not None
        assert requested.receipt_token not in repr(requested)
        found: Deletion = await client.deletion(requested.receipt_token)
        assert (found.account_id, found.status) == (requested.account_id, "running")
        with pytest.raises(ApiProblem) as refused:
            await client.projects()
        assert refused.value.status == 401
    assert BlockingClient.delete_tenant is not None


@pytest.fixture
def mill(penstock: CommandLine) -> CommandLine:
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    assert ours("tenant", "create", "default", "--json").json["slug"] == "default"
    (ours.folder / "gate.md").write_text("# The gate\n\nThe sluice gate opens at dawn.\n")
    assert ours("ingest", "gate.md", "--worker", "--json", timeout=120).code == 0
    return ours


def test_a_tenant_is_deleted_by_command_and_its_receipt_is_printed(mill: CommandLine) -> None:
    refused = mill("tenant", "delete", "default", "--json")
    assert (refused.code, refused.error["field"]) == (2, "--yes")
    assert mill("tenant", "delete", "nobody", "--yes", "--json").error["code"] == "not_found"
    asked = mill("tenant", "delete", "default", "--yes")
    assert asked.code == 0
    assert len(asked.out.strip()) == 43
    assert "No worker is running" in asked.err
    account_id = asked.err.rsplit("penstock tenant receipt ", 1)[1].strip()
    running = mill("tenant", "receipt", account_id, "--json").json
    assert (running["status"], running["files_left"], running["receipt"]) == ("running", 1, None)
    assert "files_left" in mill("tenant", "receipt", account_id).out
    with mill.running("worker"):
        waited = mill("tenant", "delete", "default", "--yes", "--wait", "--json", timeout=90)
    assert waited.code == 0, waited.err
    told = waited.json
    assert (told["account_id"], told["receipt_token"]) == (account_id, None)
    deletion = told["deletion"]
    assert (deletion["status"], deletion["files_left"]) == ("succeeded", 0)
    assert hash_of_receipt(deletion["receipt"]) == deletion["receipt_sha256"]
    assert mill("tenant", "receipt", account_id, "--json").json == deletion
    assert "held_until" in mill("tenant", "receipt", account_id).out
    assert mill("tenant", "receipt", str(uuid4()), "--json").error["code"] == "not_found"
    assert mill("document", "list", "--json").error["code"] == "not_found"


def test_on_a_terminal_the_slug_is_asked_for_and_an_interrupt_does_not_stop_the_deletion(
    mill: CommandLine,
) -> None:
    refused = on_a_terminal(mill, "tenant", "delete", "default", typed="no\n")
    assert "Nothing was deleted" in refused.text
    # Nobody types in the moment between the question and the wait for an answer, where input() misses it.
    aborted = on_a_terminal(mill, "tenant", "delete", "default", press_at="Type its slug", press_after=0.3)
    assert aborted.code == 130
    assert mill("tenant", "list", "--json").json["tenants"][0]["status"] == "active"
    left = on_a_terminal(
        mill, "tenant", "delete", "default", "--wait", typed="default\n", press_at="1 file left"
    )
    assert left.code == 130
    assert "The deletion continues" in left.text
    assert mill("tenant", "list", "--json").json["tenants"][0]["status"] == "deleted"


def test_one_ctrl_c_ends_a_wait_whenever_it_is_pressed(mill: CommandLine) -> None:
    delete = ("tenant", "delete", "default", "--yes", "--wait")
    for tenths in range(0, 6, 2):  # a look at the database is every half second
        waits = on_a_terminal(mill, *delete, press_at="1 file left", press_after=tenths / 10, within=30)
        assert waits.code == 130
        assert "The deletion continues" in waits.text
    for tenths in range(0, 20, 4):  # from the start of Python on, over imports and connections
        started = on_a_terminal(mill, *delete, press_at="", press_after=tenths / 10, within=60, fresh=True)
        before_us = started.code == 1 and "<frozen site>" in started.text and "penstock" not in started.text
        assert before_us or started.code in (130, -signal.SIGINT), started


def test_ctrl_c_while_a_command_is_loaded_ends_it_at_once(mill: CommandLine) -> None:
    """Some modules catch a KeyboardInterrupt while they are imported; then it never arrived."""
    loading = "import signal; assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL; raise SystemExit(7)"
    (mill.folder / "typer.py").write_text(loading)  # found before the real one: -m has the folder first
    assert on_a_terminal(mill, "tenant", "list", fresh=True).code == 7


def test_a_command_on_a_terminal_that_exceeds_its_time_is_killed(penstock: CommandLine) -> None:
    with pytest.raises(AssertionError, match="did not end"):
        on_a_terminal(penstock, "queue", "stats", "--watch", press_at="never shown", within=2)
