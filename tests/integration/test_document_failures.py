"""A document that fails for good is visible: counted, logged, listed, explained, retried by reason."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.engine.engine import Engine
from penstock.errors import RunTooLong
from penstock.model import Parsed
from penstock.model.queue_names import INGEST, READ
from penstock.observe import Metrics, configure
from penstock.pipeline.job import Job
from penstock.pipeline.maintenance import MaintainDocuments
from penstock.pipeline.run_limit import within
from penstock.settings import Settings
from penstock.simulators import EmbeddingsSimulator, Fault, serving
from penstock.simulators.embeddings import KEY
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.workers import eventually

NOTE = "The sluice was opened at noon. The wheel began to turn."


@pytest.fixture
def log_lines() -> Iterator[io.StringIO]:
    """Everything logged, a JSON document a line."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure("info", "json", stream=stream)
    yield stream
    for handler in [known for known in root.handlers if known not in before]:
        root.removeHandler(handler)
    root.setLevel(level)


async def test_a_document_that_fails_for_good_counts_as_failed_and_is_logged_and_explained(
    database: Database, tmp_path: Path, log_lines: io.StringIO
) -> None:
    metrics = Metrics()
    async with works_on(database, tmp_path) as works:
        worker = works.engine.worker(metrics=metrics)
        await worker.start()
        try:
            good = await works.index(NOTE)
            bad = await works.settled((await works.hand_in("   \n", "empty.txt")).document_id)
            assert (bad.status, bad.reason_code) == ("failed", "empty")

            def counted() -> bool:
                completed = metrics.snapshot().completed
                return (
                    completed.get(("ingest-document", "failed")) == 1
                    and completed.get(("ingest-document", "success")) == 1
                )

            await eventually(counted)
        finally:
            await worker.stop()
        why = await works.engine.documents.explain(works.tenant_id, bad.document_id)
        assert [reason.reason for reason in why.waits_for] == ["failed"]
        assert "empty: " in why.waits_for[0].explanation
        assert f"penstock document retry {bad.document_id}" in why.waits_for[0].remedy
        well = await works.engine.documents.explain(works.tenant_id, good.document_id)
        assert well.waits_for == []
    logged = [json.loads(line) for line in log_lines.getvalue().splitlines()]
    (failed,) = [line for line in logged if line["event"] == "document_failed"]
    assert (failed["document_id"], failed["code"]) == (str(bad.document_id), "empty")
    assert failed["message"] in why.waits_for[0].explanation


async def test_a_document_whose_task_was_cancelled_is_logged_when_it_is_settled(
    database: Database, tmp_path: Path, log_lines: io.StringIO
) -> None:
    async with works_on(database, tmp_path) as works:
        taken = await works.hand_in(NOTE)
        async with database.connect() as admin:
            await admin.execute(
                "select queues.cancel_task(task_id) from ingest.document where document_id = $1",
                taken.document_id,
            )
            await admin.execute("update ingest.document set updated_at = updated_at - interval '1 hour'")
        await works.engine.maintenance(MaintainDocuments())
        assert (await works.settled(taken.document_id)).status == "failed"
    logged = [json.loads(line) for line in log_lines.getvalue().splitlines()]
    (failed,) = [line for line in logged if line["event"] == "document_failed"]
    assert (failed["document_id"], failed["code"]) == (str(taken.document_id), "cancelled")
    assert f"penstock explain {taken.document_id}" in failed["message"]
    (tended,) = [line for line in logged if line["event"] == "documents_maintained"]
    assert tended["settled"] == 1


async def test_documents_are_retried_by_their_reason_and_the_dead_letter_ends_with_success(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    async with serving(simulator.app) as url:
        openai: dict[str, Any] = {"embedder": "openai", "openai_base_url": f"{url}/v1", "openai_api_key": KEY}
        async with works_on(database, tmp_path, **openai) as works, works.working():
            simulator.faults.begin_outage(Fault("wrong_size"))
            broken = [await works.hand_in(f"{NOTE} Number {n}.", f"{n}.txt") for n in range(2)]
            empty = await works.hand_in(" ", "empty.txt")
            for taken in (*broken, empty):
                assert (await works.settled(taken.document_id)).status == "failed"

            async def became_dead_letter() -> bool:
                return bool(await works.value("select count(*) = 2 from queues.dead_letter"))

            await eventually(became_dead_letter)
            documents, tenant = works.engine.documents, works.tenant_id
            assert await documents.count_to_retry(tenant) == 3
            assert await documents.count_to_retry(tenant, reason="EmbedderFailed") == 2
            assert await documents.count_to_retry(tenant, reason="nothing") == 0
            simulator.faults.clear()
            assert await documents.retry_all(tenant, reason="EmbedderFailed", project="default") == 2
            for taken in broken:
                assert (await works.settled(taken.document_id)).status == "indexed"
            assert (await documents.show(tenant, empty.document_id)).status == "failed"
            assert await works.value("select count(*) from queues.dead_letter") == 0
            assert await works.value("select count(*) from queues.audit where action = 'end_dead'") == 2


async def test_a_run_that_takes_too_long_fails_and_names_the_setting(
    database: Database, tmp_path: Path
) -> None:
    class Endless:
        def reads(self, job: Job) -> bool:
            return True

        async def classify(self, job: Job, parsed: Parsed) -> None:
            await asyncio.Event().wait()

    async with works_on(database, tmp_path, classifier=Endless(), run_seconds=0.5) as works:
        async with works.working():
            taken = await works.hand_in(NOTE)
            document = await works.settled(taken.document_id)
        assert (document.status, document.reason_code) == ("failed", "RunTooLong")
        assert "longer than 0.5 s" in (document.error_message or "")
        assert "Raise PENSTOCK_RUN_SECONDS" in (document.error_message or "")
        assert "run_lost" not in await works.event_names(taken.document_id)
        [letter] = await works.rows("select error_code, error_message from queues.dead_letter")
        assert letter["error_code"] == "RunTooLong"
        assert "PENSTOCK_RUN_SECONDS" in letter["error_message"]


async def test_a_timeout_inside_a_run_is_not_taken_for_its_limit() -> None:
    with pytest.raises(TimeoutError, match="the mail server"):
        async with within(30):
            raise TimeoutError("the mail server")
    with pytest.raises(RunTooLong):
        async with within(0.01):
            await asyncio.Event().wait()


def test_a_worker_gives_a_run_a_little_longer_than_its_own_limit(tmp_path: Path) -> None:
    types = Engine(Settings(data_dir=tmp_path, run_seconds=7_200)).tasks.registry.types
    assert {types[name].options.time_limit for name in (INGEST, READ)} == {timedelta(seconds=7_230)}
