"""A re-index on Ray: each document once, whatever happens to nodes and drivers. `make test-ray` runs it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock.documents.reindexes import ReindexRun
from penstock.engine.ray_cluster import LONGEST_TEXT
from penstock.errors import InvalidArgument
from penstock.simulators import EmbeddingsSimulator, serving
from tests.integration.test_reindex import ended, hand_in_some, openai, start, times
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.ray.cluster import BLOCKED_AT

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
    told: dict[str, Any] = json.loads(out.decode().splitlines()[-1])
    assert_no_document_crossed(told["arguments"], told["answers"])
    return told


def assert_no_document_crossed(arguments: list[list[Any]], answers: list[dict[str, Any]]) -> None:
    """Ray carries numbers and short strings: ids, names and outcomes, or the text of an error."""
    assert arguments
    assert answers
    for each in [
        *(value for given in arguments for value in given),
        *(v for a in answers for v in a.values()),
    ]:
        assert isinstance(each, (int, float, str)), each
        if isinstance(each, str):
            assert len(each) <= LONGEST_TEXT, each
            assert "sluice" not in each, "a document's text"
    assert all(len(value) <= 50 for given in arguments for value in given if isinstance(value, str))


async def assert_each_once(works: Works, documents: list[UUID], run_id: UUID) -> ReindexRun:
    run = await works.engine.reindexes.show(works.tenant_id, run_id)
    assert run.state == "done", run
    assert (run.documents, run.indexed, run.failed) == (len(documents), len(documents), 0)
    for event in ("staged", "embedder_switched") if run.switches else ("reindexed",):
        assert await times(works, event) == dict.fromkeys(documents, 1), event
    doubled = await works.value(
        "select count(*) from (select 1 from ingest.chunk c join ingest.document d using (document_id)"
        " where c.generation = d.live_generation group by c.document_id, c.ordinal having count(*) > 1) x"
    )
    assert doubled == 0
    assert run.switches or run.embedded == 0, "every text was in the cache"
    return run


WATCH = f"""
create table public.kept (text_sha256 bytea not null, at timestamptz not null default clock_timestamp());
create table public.killed (at timestamptz not null default clock_timestamp());
create sequence public.staged;
grant select on public.staged to public;
grant insert on public.killed to public;
create function public.note_kept() returns trigger language plpgsql security definer as $$
begin
  insert into public.kept values (new.text_sha256);
  return new;
end;
$$;
-- Also fires for a text that is there already.
create trigger note_kept before insert on ingest.embedding_cache for each row
execute function public.note_kept();
-- Its texts are embedded and kept, and it is never staged: its worker is killed while it waits.
create function public.block_one() returns trigger language plpgsql security definer as $$
begin
  if nextval('public.staged') = {BLOCKED_AT} then
    while not exists (select from public.killed) loop
      perform pg_sleep(0.05);
    end loop;
  end if;
  return new;
end;
$$;
create trigger block_one before update on ingest.bulk_document for each row
when (old.outcome = 'begun' and new.outcome = 'staged') execute function public.block_one();
"""
KEPT = "select text_sha256, at > (select at from public.killed) as later from public.kept"


@needs_cluster
async def test_a_killed_node_embeds_no_text_twice_when_the_run_switches_to_another_model(
    database: Database, tmp_path: Path
) -> None:
    """What it had embedded and not stored may be repeated, as on the workers; what it had stored is not."""
    simulator = EmbeddingsSimulator()
    async with (
        serving(simulator.app) as url,
        works_on(database, tmp_path, embedder="openai", **openai(url)) as works,
    ):
        async with works.working():
            documents = await hand_in_some(works, DOCUMENTS)
        async with database.connect("admin") as admin:
            await admin.execute(WATCH)
        run = await start(works, engine="ray", embedder="wordllama", shard_documents=2)
        told = await drive(works, run.run_id, "node that embeds")
        assert told is not None
        assert told["states"] == ["done"]
        assert told["killed"] > 0, "the kill hit no node"
        assert told["held"] > 0, "the node held no shard when it was killed"
        over = await assert_each_once(works, documents, run.run_id)
        assert over.switches
        kept = await works.rows(KEPT)
        assert {row["later"] for row in kept} == {False, True}
        assert set(Counter(row["text_sha256"] for row in kept).values()) == {1}
        assert len(kept) == DOCUMENTS - DOCUMENTS // 3 + 1  # every third has the same text
        assert over.embedded < len(kept), "the node was not killed between keeping and staging"


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
