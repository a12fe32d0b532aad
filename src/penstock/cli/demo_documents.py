"""The demo with documents: a folder becomes searchable though a worker is killed, then three searches."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from penstock.cli import output
from penstock.cli.demo_answers import QUESTIONS, DocumentsResult, answer
from penstock.cli.demo_folder import make_folder
from penstock.cli.demo_ground import own_database, own_folder
from penstock.cli.demo_show import Show, showing
from penstock.cli.demo_workers import Worker, kill_worker, start_worker, stop_workers, until_registered
from penstock.cli.following import Following
from penstock.cli.ingest_files import find_files
from penstock.cli.ingest_job import IngestJob, Labels
from penstock.cli.ingest_progress import stages
from penstock.cli.product_session import DEFAULT, Stay, stay
from penstock.db import Connection
from penstock.db.reach import reach
from penstock.errors import ModelInstallFailed
from penstock.model import TenantId
from penstock.pipeline.embed.minilm_install import install_minilm
from penstock.pipeline.embed.models_dir import models_dir
from penstock.settings import Settings

LOOK_SECONDS = 0.2
KILL_AT = 0.25
GIVE_UP_SECONDS = 300.0
LOST_RUNS = "select count(distinct document_id) from ingest.document_event where event = 'run_lost'"
INDEXED_TWICE = """
  select count(*) from (
    select from ingest.document_event where to_status = 'indexed' group by document_id having count(*) > 1
  ) as twice
"""


@dataclass(slots=True)
class _Stage:
    here: Stay
    owner: TenantId
    connection: Connection
    folder: Path
    show: Show
    workers: list[Worker] = field(default_factory=list)
    killed: int = 0
    held: int = 0


async def play(model: str | None, *, quiet: bool) -> DocumentsResult:
    """The whole piece; nothing of it runs when this returns."""
    with own_folder() as folder, showing(quiet=quiet) as show:
        embedder = await asyncio.to_thread(_choose, model, show)
        show.say(f"Postgres in {folder}, model {embedder} …")
        async with own_database(folder, embedder=embedder) as (addresses, settings):
            async with (
                stay(settings) as here,
                reach(addresses.admin, application_name="penstock demo") as line,
            ):
                stage = _Stage(here, await here.tenant(DEFAULT, create=True), line, folder, show)
                try:
                    return await _perform(stage)
                finally:
                    await stop_workers(stage.workers)


def _choose(model: str | None, show: Show) -> str:
    """MiniLM where it is there or can be had, else the model that came with Penstock."""
    if model is not None:
        return model
    try:
        install_minilm(Settings(), lambda step: show.say(f"MiniLM: {step}"))
    except ModelInstallFailed as error:
        show.say(f"The demo uses wordllama, for MiniLM cannot be installed: {error.reason}.")
        return "wordllama"
    return "minilm"


async def _perform(stage: _Stage) -> DocumentsResult:
    settings, show = stage.here.product.settings, stage.show
    made = await asyncio.to_thread(make_folder, stage.folder / "documents")
    for number in (1, 2):
        variables = {
            "PENSTOCK_DATA_DIR": str(stage.folder),
            "PENSTOCK_MODELS_DIR": str(models_dir(settings)),
            "PENSTOCK_PARSE_PROCESSES": "1",
            "PENSTOCK_INGEST_CONCURRENCY": "4",
        }
        worker = await start_worker(stage.here.addresses, stage.folder, number, ["worker"], variables)
        stage.workers.append(worker)
    await until_registered(stage.connection, stage.workers, stage.folder)
    first, second = stage.workers
    show.say(f"Two workers: processes {first.pid} and {second.pid}.")
    show.say(
        f"{output.count(len(made), 'file')} in {stage.folder / 'documents'}:"
        " PDF, DOCX, HTML, mail, scans, notes …"
    )
    started = monotonic()
    following = Following(stage.here.product.documents, stage.owner, DEFAULT)
    job = IngestJob(
        find_files([stage.folder / "documents"]),
        DEFAULT,
        Labels(DEFAULT, {}, None),
        wait=True,
        worker=False,
        quiet=True,
    )
    await job.hand_in(stage.here, stage.owner, following, lambda done, total, text: None)
    await _watch(stage, following, started)
    took = monotonic() - started
    await answer(stage.here.product, stage.owner, "the first search loads the model")
    answers = [await answer(stage.here.product, stage.owner, question) for question in QUESTIONS]
    return DocumentsResult(
        files=len(made),
        following=following,
        killed_pid=stage.killed,
        held_by_killed=stage.held,
        rescued=await stage.connection.fetchval(LOST_RUNS),
        indexed_twice=await stage.connection.fetchval(INDEXED_TWICE),
        seconds=took,
        embedder=settings.embedder,
        answers=answers,
        data_dir=stage.folder,
    )


async def _watch(stage: _Stage, following: Following, started: float) -> None:
    """Until all have ended; a worker is killed on the way."""
    first, second = stage.workers
    while monotonic() - started < GIVE_UP_SECONDS:
        changed = await following.look()
        ended, total = len(following.ended), len(following.ended) + len(following.under_way)
        stage.show.look(ended, total, stages(following.counts()))
        if not stage.killed and ended >= total * KILL_AT:
            stage.killed, stage.held = first.pid, await kill_worker(stage.connection, first)
            stage.show.say(
                f"kill -9 {first.pid}: it held {output.count(stage.held, 'document')},"
                f" {second.pid} takes them in seconds."
            )
        if not following.under_way and not changed and not await following.find_missed():
            return
        await asyncio.sleep(LOOK_SECONDS)
