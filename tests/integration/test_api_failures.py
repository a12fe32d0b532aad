"""Causes of failures over HTTP: the newest are in the list, however many there are, and act together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.integration.console_client import signed_in
from tests.plugins.database import Database

LETTERS = """
insert into queues.dead_letter (task_id, task_type, payload, tenant_id, enqueued_at, scheduled_at, queue_id,
  priority, attempts, losses, reason, error_code, error_message, fingerprint, errors, died_at)
select nextval('queues.task_id_seq'), 'order', '{}', $1, now(), now(), q.queue_id, 4, 5, 0, 'exhausted',
  'Error', 'cause ' || n, lpad(n::text, 12, '0'), '[]', now() - make_interval(secs => $2 - n)
from generate_series(1, $2::integer) n, (select queue_id from queues.queue where queue_name = 'default') q
"""
"""One of each cause; a later cause has a later fingerprint, too."""
DOCUMENTS = """
insert into ingest.document (document_id, tenant_id, project_id, identity, external_id, status, mime_type,
  filename, size_bytes, content_sha256, reason_code, error_message, fingerprint, created_at, updated_at)
select internal.uuid7(), $1, p.project_id, 'item', n::text, 'failed', 'text/plain', n || '.txt', 1,
  sha256(convert_to(n::text, 'UTF8')), 'crash', 'cause ' || n, lpad(n::text, 12, '0'), now(),
  now() - make_interval(secs => $2 - n)
from accounts.project p, generate_series(1, $2::integer) n where p.tenant_id = $1
"""


@asynccontextmanager
async def failing(database: Database, folder: Path, causes: int) -> AsyncIterator[ApiServer]:
    """A tenant with this many causes, each of one dead letter and one failed document."""
    async with api_server(database, folder) as server:
        async with database.connect("runtime") as runtime:
            await runtime.execute("select queues.put_task_type('order')")
        async with database.connect("admin") as admin:
            await admin.execute(LETTERS, server.tenant.tenant_id, causes)
            await admin.execute(DOCUMENTS, server.tenant.tenant_id, causes)
        yield server


def cause(number: int) -> str:
    return str(number).zfill(12)


async def test_the_newest_causes_are_listed_and_the_answer_says_that_there_are_more(
    database: Database, tmp_path: Path
) -> None:
    async with (
        failing(database, tmp_path, 600) as server,
        server.client() as own,
        signed_in(server) as all_of,
    ):
        for client in (own, all_of):
            for kind in ("task", "document"):
                answer = (await client.get("/v1/failures", params={"kind": kind})).json()
                found = [group["fingerprint"] for group in answer["items"]]
                assert found == [cause(number) for number in range(600, 100, -1)]
                assert (answer["truncated"], answer["partial"]) == (True, False)
        assert (await own.get(f"/v1/failures/task-{cause(1)}")).json()["count"] == 1
        async with database.connect("admin") as admin:
            await admin.execute("delete from queues.dead_letter where fingerprint <= $1", cause(100))
        tasks = (await own.get("/v1/failures", params={"kind": "task"})).json()
        assert (len(tasks["items"]), tasks["truncated"]) == (500, False)
        both = (await own.get("/v1/failures")).json()
        assert (len(both["items"]), both["truncated"]) == (1_000, True)


async def test_the_answer_says_so_when_not_every_cause_could_be_compared(
    database: Database, tmp_path: Path
) -> None:
    async with failing(database, tmp_path, 5_001) as server, server.client() as client:
        answer = (await client.get("/v1/failures")).json()
        assert len(answer["items"]) == 1_000
        assert answer["items"][0]["fingerprint"] == cause(5_000)
        assert (answer["truncated"], answer["partial"]) == (True, True)


async def test_all_causes_of_the_list_can_be_acted_on_together(database: Database, tmp_path: Path) -> None:
    async with failing(database, tmp_path, 500) as server, server.client() as client:
        for count in (200, 500):
            together = ",".join(cause(number) for number in range(1, count + 1))
            for action, more in (
                ("dead.replay", {}),
                ("dead.purge", {}),
                ("documents.retry", {"status": "failed"}),
            ):
                target = {"action": action, "filter": {"fingerprint": together, **more}}
                answer = await client.post("/v1/operations/preview", json=target)
                assert answer.status_code == 200, answer.text
                assert answer.json()["count"] == count
        target = {"action": "dead.purge", "filter": {"fingerprint": together}}
        started = await client.post("/v1/operations", json={**target, "expected_count": 500})
        assert started.status_code == 202, started.text
        for name, length in (("fingerprint", 7_001), ("q", 2_001)):
            target = {"action": "dead.purge", "filter": {name: "x" * length}}
            answer = await client.post("/v1/operations/preview", json=target)
            problem = assert_problem(answer, 422, f"filter.{name}")
            assert f"{length - 1:,} characters" in problem["detail"]
