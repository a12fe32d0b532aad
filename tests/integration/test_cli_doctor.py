"""doctor finds what is wrong, names it and its remedy, and exits 4 only when a check fails."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from time import monotonic
from typing import Any

from penstock.cli.doctor.sandbox_checks import describe
from penstock.sandbox import Sandbox
from penstock.sandbox.layers import NAMES
from penstock.simulators import EmbeddingsSimulator, serving
from penstock.simulators.embeddings import KEY
from tests.plugins.busy import stretched
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.smtp import mail_server


def findings(penstock: CommandLine, *words: str, code: int = 0) -> dict[str, dict[str, Any]]:
    ended = penstock("doctor", *words, "--json")
    assert ended.code == code, ended
    assert ended.json["healthy"] is (code == 0)
    return {check["check"]: check for check in reversed(ended.json["checks"])}


def test_a_fresh_database_is_healthy(penstock: CommandLine) -> None:
    checks = findings(penstock, "--pinned-seconds", "3600")
    # What a sandbox lacks depends on the machine; it has a test of its own.
    assert {check["status"] for name, check in checks.items() if name != "sandbox"} == {"ok"}
    assert set(checks) == {
        *("reachable", "version", "migrations", "role", "workers", "queues", "dead letters", "promises"),
        "processes",
        *("dead tuples", "horizon", "autovacuum", "notifications", "listen", "partitions"),
        "blobs",
        "vault",
        "model",
        "vectors",
        "ocr",
        "documents",
        "sandbox",
    }
    assert penstock("doctor", "--pinned-seconds", "3600").out.startswith("ok    reachable ")


async def test_doctor_reports_every_layer_of_this_machines_sandbox(penstock: CommandLine) -> None:
    box = Sandbox(1, memory_mb=256)
    await box.start()
    layers = box.layers
    await box.close()
    found = (await asyncio.to_thread(findings, penstock, "--pinned-seconds", "3600"))["sandbox"]
    assert (found["status"] == "ok") == all(getattr(layers, name) for name in NAMES)
    assert found["message"] == describe(layers, root=os.geteuid() == 0).message


async def test_sessions_that_pin_the_horizon_are_named(penstock: CommandLine, database: Database) -> None:
    async with database.connect("runtime", name="a forgotten report") as connection:
        async with connection.transaction(isolation="repeatable_read"):
            pid = await connection.fetchval("select pg_backend_pid()")
            deadline = monotonic() + stretched(20)
            while True:
                found = penstock("doctor", "--pinned-seconds", "1", "--json").json["checks"]
                pins = [
                    check
                    for check in found
                    if check["check"] == "horizon" and f"pid {pid} " in check["message"]
                ]
                if pins or monotonic() > deadline:
                    break
    assert [pin["status"] for pin in pins] == ["warn"]
    assert "a forgotten report" in pins[0]["message"]
    assert pins[0]["remedy"] == f"Let it commit, or: select pg_terminate_backend({pid})"


async def test_a_backlog_without_a_worker_is_a_failure(penstock: CommandLine, database: Database) -> None:
    async with database.connect("operator") as connection:
        await connection.execute("select queues.enqueue('email', '{}')")
    checks = findings(penstock, "--pinned-seconds", "3600", code=4)
    assert checks["workers"]["status"] == "fail"
    assert "penstock worker" in checks["workers"]["remedy"]
    penstock("queue", "pause", "email")
    checks = findings(penstock, "--pinned-seconds", "3600")
    assert checks["queues"]["status"] == "warn"
    assert checks["queues"]["remedy"] == "penstock queue resume email"


def test_a_runtime_login_that_is_superuser_is_a_failure(penstock: CommandLine, database: Database) -> None:
    unsafe = penstock.with_variables(PENSTOCK_DATABASE_URL=database.admin_url)
    checks = findings(unsafe, "--pinned-seconds", "3600", code=4)
    assert checks["role"]["status"] == "fail"
    assert "superuser" in checks["role"]["message"]


def test_an_unmigrated_database_is_a_failure(penstock: CommandLine, empty_database: Database) -> None:
    empty = penstock.with_variables(PENSTOCK_ADMIN_URL=empty_database.admin_url)
    checks = findings(empty, code=4)
    assert checks["migrations"]["remedy"] == "Run: penstock migrate"


def test_an_unreachable_database_is_a_failure(penstock: CommandLine) -> None:
    away = penstock.with_variables(PENSTOCK_ADMIN_URL="postgresql://nobody@127.0.0.1:1/none")
    checks = findings(away, code=4)
    assert checks["reachable"]["status"] == "fail"


async def test_switched_off_vacuum_and_dead_letters_are_named(
    penstock: CommandLine, database: Database
) -> None:
    async with database.connect() as connection:
        await connection.execute("alter table queues.ready set (autovacuum_enabled = off)")
    penstock("worker", "--app", "shop", "--until-empty")
    penstock("db", "psql", "--", "-qc", "select queues.enqueue('shop.break', '{}')")
    penstock("worker", "--app", "shop", "--until-empty")
    checks = findings(penstock, "--pinned-seconds", "3600", code=4)
    assert "queues.ready" in checks["autovacuum"]["message"]
    assert "1 of shop.break: RuntimeError" in checks["dead letters"]["message"]
    assert "penstock dead replay --fingerprint" in checks["dead letters"]["remedy"]


def test_an_unusable_blob_store_and_a_missing_model_are_reported(
    penstock: CommandLine,
) -> None:
    (penstock.folder / "file").write_text("no folder")
    broken = penstock.with_variables(
        PENSTOCK_BLOB_URL=f"file://{penstock.folder}/file/blobs",
        PENSTOCK_EMBEDDER="minilm",
        PENSTOCK_MODELS_DIR=str(penstock.folder / "none"),
    )
    checks = findings(broken, "--pinned-seconds", "3600", code=4)
    assert checks["blobs"]["status"] == "fail"
    assert checks["model"]["status"] == "fail"
    assert "penstock model install minilm" in checks["model"]["remedy"]


async def test_documents_without_a_worker_are_a_failure_with_the_command_that_helps(
    penstock: CommandLine,
) -> None:
    documents = penstock.with_variables(PENSTOCK_DATA_DIR="data")
    checks = findings(documents, "--pinned-seconds", "3600")
    assert checks["workers"]["message"].startswith("none is running; documents and tasks wait")
    assert documents("tenant", "create", "default").code == 0
    (documents.folder / "note.md").write_text("# Note\n\nIt waits.")
    assert documents("ingest", "note.md", "--no-wait", "--no-worker").code == 0
    # A worker of another app does not help.
    with documents.running("worker", "--app", "shop") as child:
        await until_alive(documents, child.pid)
        checks = findings(documents, "--pinned-seconds", "3600", code=4)
        child.terminate()
        child.wait(30)
    assert checks["workers"]["status"] == "fail"
    assert checks["workers"]["message"] == (
        "1 document in the queue ingest-document is waiting and no worker serves that queue"
    )
    assert checks["workers"]["remedy"] == "Start one: penstock up, or penstock worker"


async def test_a_re_index_whose_driver_on_ray_died_is_named_with_the_command_that_gives_it_to_the_workers(
    penstock: CommandLine, database: Database
) -> None:
    tenant = penstock("tenant", "create", "acme", "--json").json
    async with database.connect("runtime") as driver:
        await driver.execute("select set_config('penstock.tenant_id', $1, false)", tenant["tenant_id"])
        run_id = await driver.fetchval("select ingest.start_bulk('default', null, 'ray') ->> 'run_id'")
    assert "reindex" not in findings(penstock, "--pinned-seconds", "3600")
    async with database.connect("admin") as admin:
        await admin.execute("update ingest.bulk_run set updated_at = now() - interval '11 minutes'")
    found = findings(penstock, "--pinned-seconds", "3600")["reindex"]
    assert found["status"] == "warn"
    assert run_id in found["message"]
    (remedy,) = re.findall(r"penstock (reindex resume .+?)\. ", found["remedy"])
    assert penstock(*remedy.split(), "--no-wait", "--json").json["task_id"] is not None
    assert "reindex" not in findings(penstock, "--pinned-seconds", "3600")


async def until_alive(penstock: CommandLine, pid: int) -> None:
    query = f"select count(*) from queues.workers() where lost_at is null and worker_name like '%:{pid}'"
    deadline = monotonic() + stretched(30)
    while penstock("db", "psql", "--", "-Atqc", query).out.strip() != "1":
        assert monotonic() < deadline


def test_doctor_connects_to_what_it_reports_on(penstock: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    away = penstock.with_variables(
        PENSTOCK_INDEX="qdrant",
        PENSTOCK_QDRANT_URL=f"http://127.0.0.1:{port}",
        PENSTOCK_EMBEDDER="openai:text-embedding-3-small",
        PENSTOCK_OPENAI_BASE_URL=f"http://127.0.0.1:{port}/v1",
        PENSTOCK_SMTP_HOST="127.0.0.1",
        PENSTOCK_SMTP_PORT=str(port),
        PENSTOCK_DOCLING_URL=f"http://127.0.0.1:{port}",
    )
    checks = findings(away, "--pinned-seconds", "3600", code=4)
    for name in ("vectors", "model", "email", "docling"):
        assert checks[name]["status"] == "fail", checks[name]
        assert checks[name]["remedy"], checks[name]
    local = penstock.with_variables(PENSTOCK_INDEX="qdrant", PENSTOCK_QDRANT_URL="vectors")
    assert findings(local, "--pinned-seconds", "3600")["vectors"]["status"] == "ok"


async def test_doctor_calls_the_fallback_and_the_embedders_of_projects_and_no_other(
    penstock: CommandLine,
) -> None:
    first, second, third, unused = (EmbeddingsSimulator() for _ in range(4))
    async with (
        serving(first.app) as cohere,
        serving(second.app) as openai,
        serving(third.app) as brain,
        serving(unused.app) as voyage,
    ):
        models = penstock.with_variables(
            PENSTOCK_EMBEDDER="cohere:embed-v4.0",
            PENSTOCK_COHERE_BASE_URL=cohere,
            PENSTOCK_COHERE_API_KEY=KEY,
            PENSTOCK_EMBEDDER_FALLBACK="openai:text-embedding-3-small",
            PENSTOCK_OPENAI_BASE_URL=f"{openai}/v1",
            PENSTOCK_OPENAI_API_KEY=KEY,
            PENSTOCK_BRAIN_URL=brain,
            PENSTOCK_BRAIN_API_SECRET=KEY,
            PENSTOCK_VOYAGE_BASE_URL=voyage,
            PENSTOCK_VOYAGE_API_KEY=KEY,
        )
        assert (await asyncio.to_thread(models, "tenant", "create", "default")).code == 0
        made = await asyncio.to_thread(models, "project", "create", "notes", "--embedder", "brain")
        assert made.code == 0, made.err
        for simulator in (first, second, third, unused):
            simulator.calls = 0
        well = (await asyncio.to_thread(findings, models, "--pinned-seconds", "3600"))["model"]
        assert [simulator.calls for simulator in (first, second, third, unused)] == [1, 1, 1, 0]
        assert "answered: cohere:embed-v4.0, openai:text-embedding-3-small, brain" in well["message"]
        assert "not tried, because nothing uses it: voyage:" in well["message"]
        second.faults.begin_outage()
        third.key = "another"
        ended = await asyncio.to_thread(models, "doctor", "--pinned-seconds", "3600", "--json")
        wrong = [check for check in ended.json["checks"] if check["check"] == "model"]
    assert (ended.code, [check["status"] for check in wrong]) == (4, ["fail", "fail"])
    assert "(the fallback)" in wrong[0]["message"]
    assert "(the embedder of some projects)" in wrong[1]["message"]
    assert all(check["remedy"] for check in wrong)


async def test_a_mail_server_that_answers_is_named(penstock: CommandLine) -> None:
    async with mail_server() as server:
        reached = penstock.with_variables(
            PENSTOCK_SMTP_HOST="127.0.0.1",
            PENSTOCK_SMTP_PORT=str(server.port),
            PENSTOCK_SMTP_SECURITY="none",
        )
        checks = await asyncio.to_thread(findings, reached, "--pinned-seconds", "3600")
    assert checks["email"]["message"] == f"127.0.0.1:{server.port} answers"
