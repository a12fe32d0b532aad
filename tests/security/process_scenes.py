"""A real process for each registered function, in the state in which the function has work to do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from tests.plugins.workers import eventually
from tests.sql.document_calls import DocumentCalls, Tenant


@dataclass(frozen=True, slots=True)
class Scene:
    """A registered function, whose turn it is, and the payload it would be called with."""

    function: str
    tenant: Tenant
    payload: dict[str, object]

    @property
    def text(self) -> str:
        return json.dumps(self.payload)


async def scenes(calls: DocumentCalls) -> list[Scene]:
    """One for each function on the register, each with a tenant of its own."""
    registered = await calls.admin.fetch(
        "select function_name, process, part from internal.business_function order by 1"
    )
    return [
        await scene(calls, row["function_name"], row["process"], row["part"], f"scene-{number}")
        for number, row in enumerate(registered)
    ]


async def scene(calls: DocumentCalls, function: str, process: str, part: str, slug: str) -> Scene:
    tenant = await calls.create_tenant(slug)
    name = process.split(".")[1]
    root_id = await start(calls, tenant, process)
    if part == "supervisor":
        return Scene(function, tenant, {f"{name}_task_id": root_id})
    original: dict[str, object] = {f"{name}_attempt_id": await attempt(calls, tenant, process, root_id)}
    match part:
        case "before_handler" | "performer":
            return Scene(function, tenant, original)
        case "success_handler":
            answer: dict[str, object] = {"response": "250 taken"}
            return Scene(function, tenant, {"original_payload": original, "worker_payload": answer})
        case "error_handler":
            error = {"original_payload": original, "error": "550 refused", "retriable": False}
            return Scene(function, tenant, error)
    pytest.fail(f"{function} is a {part}: say here what it is called with")


async def start(calls: DocumentCalls, tenant: Tenant, process: str) -> int:
    """Start a process; the number of its root."""
    match process:
        case "accounts.account_deletion":
            await calls.document(tenant)
            return await request_deletion(calls, tenant)
        case "accounts.account_anonymization":
            root_id = await request_deletion(calls, tenant)
            await run(
                calls, tenant, "accounts.account_deletion_supervisor", {"account_deletion_task_id": root_id}
            )
            found: int = await calls.admin.fetchval(
                "select account_anonymization_task_id from accounts.account_anonymization_task"
                " where tenant_id = $1",
                tenant.tenant_id,
            )
            return found
    kickoff = process.replace(".", ".kickoff_")
    parameter = await calls.admin.fetchval(
        "select proargnames[1] from pg_proc where oid = to_regproc($1)", kickoff
    )
    return await kicked_off(calls, tenant, kickoff, await subject(calls, tenant, process, parameter))


async def subject(
    calls: DocumentCalls, tenant: Tenant, process: str, parameter: str | None
) -> int | str | UUID:
    """What a process is about, by the parameter of its kickoff; those of new processes are among them."""
    match parameter:
        case "_subject":
            return "the gate"
        case "_document_id":
            return await calls.document(tenant)
        case "_project_id":
            return tenant.project_id
        case "_source_id":
            return await calls.webhook(tenant)
        case "_file_id":
            document = await calls.document(tenant)
            await calls.of(tenant, "ingest.delete_document", document)
            file: UUID = (await calls.row(document))["file_id"]
            return file
        case "_email_message_id":
            to = ["anna@example.org"]
            return int(await calls.of(tenant, "comms.create_email_message", to, "Hello", "Good morning"))
        case "_sms_message_id":
            return int(await calls.of(tenant, "comms.create_sms_message", "+4930123456", "Good morning"))
    pytest.fail(f"say here how {process} is started, so that its functions are attacked too")


async def kicked_off(calls: DocumentCalls, tenant: Tenant, kickoff: str, about: int | str | UUID) -> int:
    ((message, root_id),) = await calls.rows(tenant, kickoff, about)
    assert message is None
    return int(root_id)


async def request_deletion(calls: DocumentCalls, tenant: Tenant) -> int:
    return await kicked_off(calls, tenant, "api.request_account_deletion", tenant.tenant_id)


async def attempt(calls: DocumentCalls, tenant: Tenant, process: str, root_id: int) -> int:
    """Have the supervisor look until it attempts; the number of the attempt."""
    name = process.split(".")[1]
    supervisor = await calls.admin.fetchval(
        "select supervisor from internal.process where process = $1", process
    )
    made: list[int] = []

    async def attempted() -> bool:
        answer = await run(calls, tenant, supervisor, {f"{name}_task_id": root_id})
        if answer["payload"]["outcome"] == "attempted":
            made.append(answer["payload"][f"{name}_attempt_id"])
        return bool(made)

    await eventually(attempted, what=f"{supervisor} attempts")
    return made[0]


async def run(
    calls: DocumentCalls, tenant: Tenant, function: str, payload: dict[str, object]
) -> dict[str, Any]:
    answer: dict[str, Any] = await calls.of(tenant, "internal.run_function", function, payload)
    assert answer["status"] == "succeeded", answer
    return answer
