"""Keys of the whole installation: a program may do with one what somebody signed in with its role may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from penstock.accounts.caller import Role
from penstock.accounts.installation_keys import create_installation_key
from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.integration.console_client import signed_in
from tests.integration.console_routes import guarded_calls, unsafe_calls
from tests.integration.test_console_roles import FOR_ADMINS, NO_CALL_ENDS, VIEWERS_MAY, rows_of
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database

if TYPE_CHECKING:
    import httpx2

TENANT = {"X-Penstock-Tenant": "acme"}


@asynccontextmanager
async def program(server: ApiServer, role: Role) -> AsyncIterator[httpx2.AsyncClient]:
    """A program with a key of the installation."""
    async with server.database.connect("operator") as conn:
        made = await create_installation_key(conn, f"the {role}", role)
    async with server.client(made.secret) as client:
        yield client


async def test_a_key_of_the_installation_may_do_what_a_session_of_its_role_may(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        program(server, "viewer") as viewer,
        program(server, "operator") as operator,
        program(server, "admin") as admin,
        signed_in(server, "viewer") as viewing,
        signed_in(server, "operator") as operating,
        signed_in(server, "admin") as administering,
    ):
        before = await rows_of(server)
        for call in unsafe_calls():
            if call.operation_id not in VIEWERS_MAY:
                answer = await viewer.request(call.method, call.path, headers=TENANT)
                assert answer.status_code == 403, f"{call.action}: {answer.text}"
            if call.operation_id in FOR_ADMINS:
                answer = await operator.request(call.method, call.path, headers=TENANT)
                assert answer.status_code == 403, f"{call.action}: {answer.text}"
        assert await rows_of(server) == before
        for call in guarded_calls():
            if call.operation_id in NO_CALL_ENDS:
                continue
            for key, session in ((viewer, viewing), (operator, operating), (admin, administering)):
                for named in ({}, TENANT):
                    mine = await key.request(call.method, call.path, headers=named)
                    theirs = await session.request(call.method, call.path, headers=named)
                    refused = [each.status_code == 403 for each in (mine, theirs)]
                    assert refused[0] == refused[1], f"{call.action}: {mine.text} {theirs.text}"


async def test_a_tenants_key_is_refused_where_only_the_installation_may_act(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as tenant,
        program(server, "operator") as operator,
        program(server, "admin") as admin,
    ):
        for path in ("/v1/queues/default/pause", "/v1/queues/default/resume"):
            problem = assert_problem(await tenant.post(path), 403, "role")
            assert "penstock key create" in problem["remedy"]
            paused = await operator.post(path)
            assert paused.status_code == 200, paused.text
        assert_problem(await tenant.get("/v1/installation/keys"), 403, "role")
        assert_problem(await operator.get("/v1/installation/keys"), 403, "scope")
        listed = (await admin.get("/v1/installation/keys")).json()["items"]
        assert {(key["name"], key["role"]) for key in listed} == {
            ("the admin", "admin"),
            ("the operator", "operator"),
        }
        assert not any({"secret", "key_sha256"} & set(key) for key in listed)
        assert_problem(await admin.get("/v1/projects"), 422, "X-Penstock-Tenant")
        assert (await admin.get("/v1/projects", headers=TENANT)).status_code == 200
        assert_problem(
            await admin.get("/v1/projects", headers={"X-Penstock-Tenant": "nobody"}),
            404,
            "X-Penstock-Tenant",
        )
        (old,) = [key["key_id"] for key in listed if key["role"] == "operator"]
        assert (await admin.delete(f"/v1/installation/keys/{old}")).status_code == 204
        assert_problem(await operator.get("/v1/queues"), 401, "api_key")
        assert_problem(await admin.delete(f"/v1/installation/keys/{uuid4()}"), 404, "key_id")
        rows = (await admin.get("/v1/audit", params={"action": "installation/keys"})).json()["items"]
        assert [(row["status"], row["who"], row["via"]) for row in rows] == [
            (404, "the admin", "key"),
            (204, "the admin", "key"),
        ]


async def test_a_key_of_the_installation_is_created_listed_and_revoked_by_the_command_line(
    penstock: CommandLine, database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, program(server, "admin") as admin:
        made = penstock("key", "create", "--role", "operator", "--name", "deploy", "--json").json
        assert (made["role"], made["name"], made["secret"][:4]) == ("operator", "deploy", "pki_")
        async with server.client(made["secret"]) as client:
            assert (await client.get("/v1/session")).json()["role"] == "operator"
            async with database.connect("admin") as conn:
                stored = await conn.fetchval("select string_agg(k::text, ' ') from internal.operator_key k")
            assert made["secret"] not in stored
            listed = penstock("key", "list", "--json").json["keys"]
            assert made["key_id"] in [key["key_id"] for key in listed]
            assert "secret" not in listed[0]
            would = penstock("key", "revoke", made["key_id"], "--dry-run", "--json").json
            assert would["count"] == 1
            assert (await client.get("/v1/session")).status_code == 200
            assert penstock("key", "revoke", made["key_id"]).out == "Revoked.\n"
            assert_problem(await client.get("/v1/session"), 401, "api_key")
        rows = (await admin.get("/v1/audit", params={"who": "cli:"})).json()["items"]
        assert [(row["action"], row["via"], row["status"]) for row in rows] == [
            ("penstock key revoke", "session", 200),
            ("penstock key create", "session", 200),
        ]
        assert made["secret"] not in str(rows)
