"""Messages, removals and their facts of a tenant, every text marked."""

from __future__ import annotations

import json
from base64 import b64encode

from penstock.db import Connection
from tests.sql.document_calls import DocumentCalls, Tenant


async def fill_processes(calls: DocumentCalls, prefix: str, tenant: Tenant) -> tuple[int, int]:
    """Of each process that reaches outside one that failed and one that succeeded; ids of the messages."""
    for succeeds in (False, True):
        email = await calls.of(
            tenant,
            "comms.create_email_message",
            [f"{prefix}to@example.org"],
            prefix + "subject",
            prefix + "body",
            attachments=json.dumps(
                [{"filename": prefix + "attached", "content_base64": b64encode(prefix.encode()).decode()}]
            ),
        )
        sms = await calls.of(tenant, "comms.create_sms_message", "+4930123456", prefix + "body")
        document = await calls.document(tenant, f"{prefix}removed {succeeds}".encode())
        await calls.of(tenant, "ingest.delete_document", document)
        file_id = await calls.admin.fetchval(
            "select file_id from files.file where document_id = $1", document
        )
        for process, kickoff, subject in (
            ("comms.send_email", "comms.kickoff_send_email", email),
            ("comms.send_sms", "comms.kickoff_send_sms", sms),
            ("files.file_deletion", "files.kickoff_file_deletion", file_id),
        ):
            ((_, root_id),) = await calls.rows(tenant, kickoff, subject)
            await attempt(calls, tenant, process, root_id, prefix, succeeds=succeeds)
    return email, sms


async def attempt(
    calls: DocumentCalls, tenant: Tenant, process: str, root_id: int, prefix: str, *, succeeds: bool
) -> None:
    """Have the supervisor attempt, and tell the handler how that went."""
    parts = {
        row["part"]: row["function_name"]
        for row in await calls.admin.fetch(
            "select part, function_name from internal.business_function where process = $1", process
        )
    }
    name = process.split(".")[1]
    decided = await calls.of(
        tenant, "internal.run_function", parts["supervisor"], {f"{name}_task_id": root_id}
    )
    assert decided["payload"]["outcome"] == "attempted", decided
    told: dict[str, object] = {
        "original_payload": {f"{name}_attempt_id": decided["payload"][f"{name}_attempt_id"]}
    }
    if succeeds:
        told["worker_payload"] = {"response": prefix + "response"}
    else:
        told["error"] = prefix + "failure"
    handler = parts["success_handler" if succeeds else "error_handler"]
    recorded = await calls.of(tenant, "internal.run_function", handler, told)
    assert recorded["status"] == "succeeded", recorded


async def process_ids(admin: Connection, tenant: Tenant) -> dict[str, int]:
    """The numbers of a task and an attempt of every process, by the names payloads carry them under."""
    ids = {}
    for row in await admin.fetch("select process from internal.process"):
        schema, name = row["process"].split(".")
        for kind in ("task", "attempt"):
            ids[f"{name}_{kind}_id"] = await admin.fetchval(
                f"select min({name}_{kind}_id) from {schema}.{name}_{kind} where tenant_id = $1",
                tenant.tenant_id,
            )
    return ids
