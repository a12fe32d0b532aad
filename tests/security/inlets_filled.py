"""An inlet of a tenant, with a message taken in and one refused, for the probes of tenants."""

from __future__ import annotations

from tests.sql.document_calls import DocumentCalls, Tenant, call


async def fill_inlet(calls: DocumentCalls, prefix: str, tenant: Tenant, number: int) -> str:
    """An inlet of the tenant with a message taken in and one refused; its name."""
    name = f"inlet-{number}"
    config = f'{{"note": "{prefix}config"}}'
    await call(calls.operator, "queues.put_inlet", name, "sqs", f"sqs:{prefix}source", config, tenant.slug)
    messages = (
        f'[{{"key": "{prefix}key", "task_type": "job", "payload": {{"note": "{prefix}incoming"}},'
        ' "scheduled_at": "2100-01-01T00:00:00Z"},'
        f' {{"key": "{prefix}refused", "task_type": "job", "payload": []}}]'
    )
    await call(calls.runtime, "queues.take_in", name, messages)
    return name
