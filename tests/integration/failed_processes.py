"""Processes that have failed, without the hours that a supervisor would wait."""

from __future__ import annotations

from penstock.db import Connection
from penstock.model import TenantId

SMS = "comms.send_sms"
START = "select send_sms_task_id from comms.kickoff_send_sms(comms.create_sms_message($1, $2))"


async def failed_process(admin: Connection, tenant_id: TenantId, body: str = "The mill is open.") -> str:
    """The full id of a process that nobody watches any more and that has not succeeded: it has failed."""
    async with admin.transaction():
        await admin.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant_id))
        root = await admin.fetchval(START, "+4915112345678", body)
        await admin.execute("delete from internal.open_root where process = $1 and root_id = $2", SMS, root)
    return f"{SMS}/{root}"
