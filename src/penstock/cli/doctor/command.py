"""`penstock doctor`: checks the database, queues and services, with a remedy for each problem."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.doctor.checks import Check, Thresholds
from penstock.cli.doctor.document_checks import check_documents
from penstock.cli.doctor.document_health import check_health
from penstock.cli.doctor.inlet_checks import check_inlets
from penstock.cli.doctor.process_checks import check_processes
from penstock.cli.doctor.push_checks import check_push
from penstock.cli.doctor.queue_checks import check_queues
from penstock.cli.doctor.server_checks import check_server
from penstock.cli.doctor.vault_checks import check_vault
from penstock.cli.exit_codes import Exit
from penstock.cli.session import database, run
from penstock.db.addresses import Addresses
from penstock.db.connect import assert_safe_role
from penstock.db.doctor_queries import ServerFacts, read_facts
from penstock.db.listen_check import notifications_arrive
from penstock.db.migrator import assert_migrated, status
from penstock.db.reach import reach
from penstock.errors import NotAllowed, PenstockError
from penstock.inlets.operations import InletOperations
from penstock.processes.operations import ProcessOperations
from penstock.queue.operations import Operations
from penstock.settings import Settings

OLDEST_SERVER = 150_000
NAME = "penstock doctor"

Old = Annotated[
    float, typer.Option("--old-seconds", min=0, help="Warn when a ready task has waited longer than this.")
]
Pinned = Annotated[
    float,
    typer.Option("--pinned-seconds", min=0, help="Warn when a transaction has been open longer than this."),
]
CompareBlobs = Annotated[
    bool, typer.Option("--blobs", help="Compare the blob store with the database instead.")
]


def command(
    old_seconds: Old = 300,
    pinned_seconds: Pinned = 60,
    blobs: CompareBlobs = False,
    as_json: output.AsJson = False,
) -> None:
    """Check the database, roles, workers, queues and services; exits with 4 if a check fails.

    With --blobs it compares the blob store with the database instead: blobs unknown to the database, and
    originals missing from the store. Nothing is changed.
    """
    if blobs:
        from penstock.cli.doctor.blobs import compare_blobs, show_comparison

        compared = run(compare_blobs(Settings()))
        show_comparison(compared, as_json=as_json)
        if compared.missing_count:
            raise typer.Exit(Exit.UNHEALTHY)
        return
    checks = run(_examine(Thresholds(old_seconds, pinned_seconds)))
    healthy = all(check.status != "fail" for check in checks)
    if as_json:
        output.document({"healthy": healthy, "checks": checks})
    else:
        for check in checks:
            output.write(f"{check.status:<5} {check.check:<14} {output.cell(check.message)}")
            if check.remedy:
                output.write(f"{'':<21}→ {output.cell(check.remedy)}")
    if not healthy:
        raise typer.Exit(Exit.UNHEALTHY)


async def _examine(thresholds: Thresholds) -> list[Check]:
    checks: list[Check] = []
    try:
        async with database(Settings()) as addresses:
            # The operator's login may not exist before the first migration.
            checks.append(await _migrations(addresses))
            migrated = checks[-1].status != "fail"
            async with reach(
                addresses.operator if migrated else addresses.admin, application_name=NAME
            ) as line:
                facts = await read_facts(line)
                checks[:0] = [Check("reachable", "ok", f"as {facts.login}"), _version(facts)]
                if migrated:
                    checks.append(await _runtime_role(addresses))
                    checks += await check_queues(Operations(line), thresholds.old_seconds)
                    checks += await check_inlets(InletOperations(line))
                    checks += await check_processes(ProcessOperations(line))
                    checks += await check_server(Operations(line), facts, thresholds.pinned_seconds)
                    checks.append(await _listen(addresses, Settings()))
                    vault = await check_vault(line, addresses.operator, Settings())
                    checks += await check_documents(facts, Settings(), vault)
                    checks += await check_health(line)
                    checks += await check_push(line, Settings())
    except PenstockError as error:
        name = "checks" if checks and checks[0].check == "reachable" else "reachable"
        checks.append(Check(name, "fail", error.message, error.remedy))
    from penstock.cli.doctor.sandbox_checks import check_sandbox

    checks.append(await check_sandbox())
    return checks


async def _listen(addresses: Addresses, settings: Settings) -> Check:
    if not settings.notify:
        return Check("listen", "ok", "off: workers poll")
    if await notifications_arrive(addresses.listen, addresses.runtime):
        return Check("listen", "ok", "a notification arrives")
    return Check(
        "listen",
        "fail",
        "notifications do not arrive: workers only poll",
        "Point PENSTOCK_LISTEN_URL past the transaction pooler, or set PENSTOCK_NOTIFY=false",
    )


def _version(facts: ServerFacts) -> Check:
    if facts.version_number < OLDEST_SERVER:
        return Check(
            "version", "fail", f"Postgres {facts.version} is too old", "Upgrade to Postgres 15 or newer"
        )
    return Check("version", "ok", f"Postgres {facts.version}")


async def _migrations(addresses: Addresses) -> Check:
    remedy = "Run: penstock migrate"
    try:
        async with reach(addresses.admin, application_name=NAME) as connection:
            found = await status(connection, folders=addresses.folders)
    except NotAllowed:
        async with reach(addresses.operator, application_name=NAME) as connection:
            await assert_migrated(connection, folders=addresses.folders)
        return Check("migrations", "ok", "current; functions are compared only if PENSTOCK_ADMIN_URL is set")
    if found.waiting:
        return Check("migrations", "fail", output.count(len(found.waiting), "pending file"), remedy)
    own = "".join(f", {folder.name} {folder.database_version}" for folder in found.folders)
    if absent := [folder.name for folder in found.folders if folder.path is None]:
        return Check(
            "migrations",
            "warn",
            f"version {found.database_version}{own}; the SQL of {', '.join(absent)} is missing here",
            "Install the package that contains it, or set PENSTOCK_SQL_DIR; its processes cannot be "
            "upgraded without it",
        )
    return Check("migrations", "ok", f"version {found.database_version}{own}")


async def _runtime_role(addresses: Addresses) -> Check:
    try:
        async with reach(addresses.runtime, application_name=NAME) as connection:
            await assert_safe_role(connection)
            login: str = await connection.fetchval("select session_user::text")
    except PenstockError as error:
        return Check("role", "fail", error.message, error.remedy)
    return Check("role", "ok", f"{login} is bound by row security")
