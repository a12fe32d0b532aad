"""What each role may do, and what is left of it in the audit; driven from the route table."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from penstock.accounts.caller import SCOPES_OF, Role
from penstock.api.auditing import AUDITED_PAGES, UNAUDITED
from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.integration.console_client import SAME_ORIGIN, browser, make_link, signed_in
from tests.integration.console_routes import (
    GETS_THAT_CHANGE,
    SAFE,
    SENT_BY_PROGRAMS,
    SHOWN_TO_ADMINS,
    changing_calls,
    guarded_calls,
    open_calls,
    unsafe_calls,
)
from tests.plugins.database import Database

VIEWERS_MAY = {"previewOperation", "search"}
"""Calls that only read, although they are a POST."""
FOR_ADMINS = {
    *("createKey", "revokeKey", "setCompletionWebhook", "setContact", "endSession", "deleteTenant"),
    *("createWebhookSource", "rotateWebhookSource", "removeSource", "addImapSource", "setSourcePassword"),
    *("scheduleSource", "configureSource", "changeSourceRules", "createTenant", "changeTenant"),
    *("revokeInstallationKey", "connectSource"),
}
NO_CALL_ENDS = {"followChanges"}
"""A stream without an end."""


async def test_a_viewer_changes_nothing_and_an_operator_administers_nothing(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        signed_in(server, "viewer", "acme") as viewer,
        signed_in(server, "operator", "acme") as operator,
    ):
        before = await rows_of(server)
        for call in changing_calls():
            if call.operation_id not in VIEWERS_MAY:
                answer = await viewer.request(call.method, call.path)
                assert answer.status_code == 403, f"{call.action}: {answer.text}"
            if call.operation_id in FOR_ADMINS:
                answer = await operator.request(call.method, call.path)
                assert answer.status_code == 403, f"{call.action}: {answer.text}"
        assert await rows_of(server) == before


async def test_every_call_needs_a_session_or_key_and_a_change_needs_our_own_page(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        browser(server) as nobody,
        signed_in(server, "admin", "acme") as admin,
    ):
        for call in guarded_calls():
            if call.operation_id not in NO_CALL_ENDS:
                assert_problem(await nobody.request(call.method, call.path), 401, "Authorization")
        for site in ("cross-site", "same-site", "none"):
            for call in unsafe_calls():
                headers = {"Sec-Fetch-Site": site}
                answer = await admin.request(call.method, call.path, headers=headers)
                problem = assert_problem(answer, 403, "Sec-Fetch-Site")
                assert problem["type"].endswith("cross-site")
        del admin.headers["Sec-Fetch-Site"]  # a program with a stolen cookie, or an old browser
        assert_problem(await admin.post("/v1/projects", json={"slug": "x"}), 403, "Sec-Fetch-Site")
        evil = {"Origin": "https://evil.example"}
        assert_problem(
            await admin.post("/v1/projects", json={"slug": "x"}, headers=evil), 403, "Sec-Fetch-Site"
        )
        ours = {"Origin": server.url}  # how a browser says it over plain HTTP to another machine
        assert (await admin.post("/v1/projects", json={"slug": "x"}, headers=ours)).status_code == 201
        assert_problem(await admin.post("/login", headers=evil), 403, "Sec-Fetch-Site")
        assert_problem(await admin.post(await make_link(server)), 403, "Sec-Fetch-Site")
        assert_problem(await admin.post("/logout"), 403, "Sec-Fetch-Site")


async def test_every_change_leaves_a_row_in_the_audit(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        signed_in(server) as admin,
        signed_in(server, "viewer", "acme") as viewer,
    ):
        headers = {**SAME_ORIGIN, "X-Penstock-Tenant": "acme"}
        asked: list[tuple[str, int, str]] = []
        for call in changing_calls():
            answer = await admin.request(call.method, call.path, headers=headers)
            assert answer.status_code < 500, f"{call.action}: {answer.text}"
            if call.operation_id not in UNAUDITED:
                asked.append((call.action, answer.status_code, answer.headers["x-request-id"]))
        found = (await admin.get("/v1/audit", params={"limit": 1_000})).json()["items"]
        signed_in_rows, found = found[-2:], found[:-2]
        assert [(row["action"], row["tenant"]) for row in signed_in_rows] == [
            ("POST /login/{token}", "acme"),
            ("POST /login/{token}", None),
        ]
        assert [(row["action"], row["status"], row["request_id"]) for row in found] == asked[::-1]
        assert {(row["who"], row["via"], row["role"]) for row in found} == {("ada", "session", "admin")}
        refused = await viewer.delete("/v1/documents/00000000-0000-7000-8000-000000000000")
        (row,) = (await admin.get("/v1/audit", params={"who": "ADA", "limit": 1})).json()["items"]
        assert (row["status"], row["role"]) == (refused.status_code, "viewer")
        assert (row["target"], row["detail"]) == (
            "00000000-0000-7000-8000-000000000000",
            {"problem": "forbidden"},
        )


async def test_signing_in_and_out_leaves_a_row_in_the_audit(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        signed_in(server) as admin,
        signed_in(server, "viewer", "acme") as viewer,
        browser(server) as holder,
    ):
        assert (await holder.post("/login", data={"key": server.key})).status_code == 303
        assert (await holder.post("/logout")).status_code == 303
        assert (await viewer.post("/logout")).status_code == 303
        assert (await viewer.post("/logout")).status_code == 303  # nobody is signed in any more
        found = (await admin.get("/v1/audit")).json()["items"]
        assert [(row["action"], row["who"], row["via"], row["tenant"], row["status"]) for row in found] == [
            ("POST /logout", "ada", "session", "acme", 303),
            ("POST /logout", "test", "session", "acme", 303),
            ("POST /login", "test", "key", "acme", 303),
            ("POST /login/{token}", "ada", "session", "acme", 303),
            ("POST /login/{token}", "ada", "session", None, 303),
        ]
        assert (await admin.post("/logout")).status_code == 303
        async with database.connect("admin") as looking:
            of_all = await looking.fetch("select action from internal.operator_audit order by audit_id")
        assert [row["action"] for row in of_all] == ["POST /login/{token}", "POST /logout"]


def test_no_call_that_changes_something_is_outside_of_the_audit() -> None:
    """A new GET for more than viewers, and a new call without a key or session, must be named here."""
    reads = [call for call in guarded_calls() if call.method in SAFE]
    may_read = (None, *SCOPES_OF["viewer"])
    not_for_viewers = {
        call.operation_id for call in reads if any(scope not in may_read for scope in call.scopes)
    }
    assert not_for_viewers == GETS_THAT_CHANGE | SHOWN_TO_ADMINS
    changing = {call for call in open_calls() if call.split()[0] not in SAFE}
    assert changing == {page for page in AUDITED_PAGES if not page.startswith("GET ")} | SENT_BY_PROGRAMS
    assert open_calls() >= AUDITED_PAGES
    assert "GET /oauth/callback" in AUDITED_PAGES


async def test_the_audit_is_filtered_and_paged(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for slug in ("one", "two", "three"):
            await client.post("/v1/projects", json={"slug": slug})
        await client.delete("/v1/projects/one", params={"confirm": "one"})
        first = (await client.get("/v1/audit", params={"limit": 3})).json()
        rest = (await client.get("/v1/audit", params={"limit": 3, "cursor": first["cursor"]})).json()
        assert [len(first["items"]), len(rest["items"]), rest["cursor"]] == [3, 1, None]
        (deleted,) = (await client.get("/v1/audit", params={"action": "DELETE"})).json()["items"]
        assert (deleted["who"], deleted["via"], deleted["tenant"]) == ("test", "key", "acme")
        assert (await client.get("/v1/audit", params={"who": "nobody"})).json()["items"] == []


def test_each_role_may_do_what_the_one_before_it_may() -> None:
    order: tuple[Role, ...] = ("viewer", "operator", "admin")
    for lesser, greater in pairwise(order):
        assert set(SCOPES_OF[lesser]) < set(SCOPES_OF[greater])


async def rows_of(server: ApiServer) -> dict[str, Any]:
    """How many rows there are of what a call could make."""
    tables = ("accounts.project", "accounts.api_key", "ingest.document", "ingest.source", "queues.task")
    return {table: await server.count(table) for table in tables}
