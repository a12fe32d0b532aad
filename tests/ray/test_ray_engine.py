"""A re-index on Ray: each document once, whatever happens to nodes and drivers. `make test-ray` runs it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock.documents.reindexes import ReindexRun
from penstock.errors import InvalidArgument
from tests.integration.test_reindex import ended, hand_in_some, start, times
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on

ROOT = Path(__file__).parents[2]
NAMESPACE = ("unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child")
LONG = bool(os.environ.get("PENSTOCK_CHAOS_LONG"))
DOCUMENTS = 240 if LONG else 24


def _why_not() -> str | None:
    if find_spec("ray") is None:
        return "ray is not installed here; make test-ray has an environment with it"
    if (
        shutil.which("unshare") is None
        or subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode
    ):
        return "this user may not create a network namespace (unshare --net)"
    return None


needs_cluster = pytest.mark.skipif(_why_not() is not None, reason=_why_not() or "")
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed here: make test-ray")
pytestmark = [pytest.mark.timeout(600), pytest.mark.chaos]


async def drive(works: Works, run_id: UUID, what: str, **variables: str) -> dict[str, Any] | None:
    """A cluster with a driver in a namespace of its own; what it says, or None if it was killed."""
    chosen = works.engine.settings
    environment = {
        **{
            name: value for name, value in os.environ.items() if not name.startswith(("PENSTOCK_", "PYTEST_"))
        },
        "PENSTOCK_DATABASE_URL": works.database.runtime_url,
        "PENSTOCK_DATA_DIR": str(chosen.data_dir),
        "PENSTOCK_PARSE_PROCESSES": "1",
        "PENSTOCK_LEASE_SECONDS": "6",
        "PENSTOCK_BEAT_SECONDS": "1",
        "PYTHONPATH": str(ROOT),
        "RAY_USAGE_STATS_ENABLED": "0",
        **variables,
    }
    words = (*NAMESPACE, sys.executable, "-m", "tests.ray.cluster", str(works.tenant_id), str(run_id), what)
    program = await asyncio.create_subprocess_exec(
        *words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await program.communicate()
    if what == "driver":
        assert program.returncode == 9, err.decode()[-4000:]
        return None
    assert program.returncode == 0, err.decode()[-4000:]
    return dict(json.loads(out.decode().splitlines()[-1]))


async def assert_each_once(works: Works, documents: list[UUID], run_id: UUID) -> ReindexRun:
    run = await works.engine.reindexes.show(works.tenant_id, run_id)
    assert run.state == "done", run
    assert (run.documents, run.indexed, run.failed) == (len(documents), len(documents), 0)
    assert await times(works, "reindexed") == dict.fromkeys(documents, 1)
    doubled = await works.value(
        "select count(*) from (select 1 from ingest.chunk c join ingest.document d using (document_id)"
        " where c.generation = d.live_generation group by c.document_id, c.ordinal having count(*) > 1) x"
    )
    assert doubled == 0
    assert run.embedded == 0, "every text was in the cache"
    return run


@needs_cluster
async def test_a_killed_node_leaves_every_document_indexed_once(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path) as works:
        async with works.working():
            documents = await hand_in_some(works, DOCUMENTS)
        run = await start(works, engine="ray", shard_documents=2)
        told = await drive(works, run.run_id, "node")
        assert told is not None
        assert told["states"] == ["done"]
        assert told["killed"] > 0, "the kill hit no node"
        assert told["held"] > 0, "the node held no shard when it was killed"
        await assert_each_once(works, documents, run.run_id)


@needs_cluster
async def test_a_killed_driver_is_replaced_by_two_and_only_what_is_open_is_done(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        async with works.working():
            documents = await hand_in_some(works, DOCUMENTS)
        run = await start(works, engine="ray", shard_documents=2)
        assert await drive(works, run.run_id, "driver") is None
        shown = await works.engine.reindexes.show(works.tenant_id, run.run_id)
        assert shown.state in ("planning", "running")
        assert 0 < shown.closed_shards < shown.shards
        told = await drive(works, run.run_id, "two")
        assert told is not None
        assert told["states"] == ["done", "done"]
        await assert_each_once(works, documents, run.run_id)


@needs_cluster
async def test_a_node_without_a_database_says_so_and_the_run_can_be_resumed(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        async with works.working():
            documents = await hand_in_some(works, 3)
        run = await start(works, engine="ray")
        told = await drive(works, run.run_id, "unset")
        assert told is not None
        assert told["states"] == ["failed"]
        shown = await works.engine.reindexes.show(works.tenant_id, run.run_id)
        assert "PENSTOCK_DATABASE_URL" in (shown.reason or "")
        await works.engine.reindexes.resume(works.tenant_id, run.run_id, "queue")
        async with works.working():
            await ended(works, run.run_id)
        await assert_each_once(works, documents, run.run_id)


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere.invalid:6379", "ray://here:10001", "here"])
async def test_a_wrong_address_is_refused_at_once(address: str) -> None:
    from penstock.engine.ray_engine import connect

    with pytest.raises(InvalidArgument) as refused:
        await connect(address)
    assert refused.value.field == "address"
    assert refused.value.remedy
