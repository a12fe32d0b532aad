"""`penstock inlet add bullmq`: jobs that BullMQ 6 keeps in Penstock's own Postgres."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.inlets.add import Name, Tenant, put, say_added
from penstock.cli.session import database, run
from penstock.db.addresses import prepare
from penstock.db.reach import reach
from penstock.errors import InvalidArgument
from penstock.settings import Settings

KIND = "bullmq_postgres"
"""Not `bullmq`: that is the kind of the bridge in Node, which workers do not read."""
MOST_LEVELS = 9


def job_types(jobs: list[str]) -> dict[str, str]:
    """The task type of each job name, from NAME=TASK_TYPE; InvalidArgument names what is neither."""
    types = {}
    for job in jobs:
        name, sign, task_type = job.rpartition("=")
        if not sign or not name or not task_type:
            raise InvalidArgument(
                f"{job!r} is not a job name and its task type", "job", "Write --job ingest=ingest_document"
            )
        types[name] = task_type
    return types


def add_bullmq(
    name: Name,
    queue: Annotated[str, typer.Option(metavar="QUEUE", help="BullMQ's queue.")],
    jobs: Annotated[
        list[str],
        typer.Option(
            "--job",
            metavar="NAME=TASK_TYPE",
            help="The task type of jobs with this name; repeated. Jobs with other names are refused.",
        ),
    ],
    schema: Annotated[str, typer.Option(metavar="SCHEMA", help="The schema of BullMQ's tables.")] = "bullmq",
    tenant: Tenant = None,
    tenant_key: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="The field of a job's data that has its tenant's slug."),
    ] = None,
    levels: Annotated[
        list[int] | None,
        typer.Option(
            "--level",
            metavar="PRIORITY",
            help="A priority of BullMQ at which a new level of Penstock starts; up to 9. Default: 1 to 9.",
        ),
    ] = None,
    as_json: output.AsJson = False,
) -> None:
    """Read a queue that BullMQ 6 keeps in Penstock's own database; on Redis use the bridge in Node."""
    types = job_types(jobs)
    if levels and (len(levels) > MOST_LEVELS or min(levels) < 1):
        raise InvalidArgument(
            f"{len(levels)} levels from priority {min(levels)}",
            "level",
            f"Name at most {MOST_LEVELS} priorities, each at least 1",
        )
    source = f"bullmq:{schema}.{queue}"
    config: dict[str, object] = {"queue": queue, "schema": schema, "jobs": types}
    config |= {"tenant_key": tenant_key} if tenant_key else {}
    config |= {"levels": sorted(levels)} if levels else {}

    async def call() -> None:
        from penstock.db.bullmq import prepare_schema

        async with database(Settings()) as addresses:
            if addresses.embedded is not None:
                await prepare(addresses)
            async with reach(addresses.admin, application_name="penstock cli") as admin:
                await prepare_schema(admin, schema)
        await put(name, KIND, source, config, tenant=tenant, types=None, allowed=sorted(set(types.values())))

    run(call())
    say_added(name, KIND, source, as_json=as_json)
