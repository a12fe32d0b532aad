"""The document demo: a folder becomes searchable while a worker is killed, then accounts and mails do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from penstock.cli import output
from penstock.cli.demo.answers import QUESTIONS, DocumentsResult, about, answer
from penstock.cli.demo.api import loopback_port, serving_api
from penstock.cli.demo.environment import own_database, own_folder
from penstock.cli.demo.folder import make_folder
from penstock.cli.demo.mail import INVOICE_QUESTION, PICTURE_QUESTION, DemoMail
from penstock.cli.demo.progress import DemoProgress, demo_progress
from penstock.cli.demo.sources import SIZES, settings_of, sync_sources
from penstock.cli.demo.staying import mails_until, set_by_ctrl_c, things_to_try
from penstock.cli.demo.workers import Worker, kill_worker, start_worker, stop_workers, until_registered
from penstock.cli.ingest.job import IngestJob
from penstock.cli.ingest.progress import stages
from penstock.cli.simulate import this_month
from penstock.cli.tenant_session import DEFAULT, TenantSession, tenant_session
from penstock.db import Connection
from penstock.db.pause import pause
from penstock.db.reach import reach
from penstock.documents.file_intake import Labels
from penstock.documents.files import find_files
from penstock.documents.progress import IngestProgress
from penstock.embed.local.minilm_install import install_minilm
from penstock.embed.models_dir import models_dir
from penstock.engine.operator_access import operator_pool
from penstock.errors import ModelInstallFailed
from penstock.model import TenantId
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.simulators.providers import ProviderSimulators

POLL_SECONDS = 0.2
KILL_AT = 0.25
GIVE_UP_SECONDS = 300.0
LOST_RUNS = "select count(distinct document_id) from ingest.document_event where event = 'run_lost'"
INDEXED_TWICE = """
  select count(*) from (
    select from ingest.document_event where to_status = 'indexed' group by document_id having count(*) > 1
  ) as twice
"""


@dataclass(slots=True)
class _Run:
    session: TenantSession
    owner: TenantId
    connection: Connection
    folder: Path
    progress: DemoProgress
    simulators: ProviderSimulators
    workers: list[Worker] = field(default_factory=list)
    killed: int = 0
    held: int = 0


async def run_demo(
    model: str | None, *, quiet: bool, stays: bool, tell: Callable[[DocumentsResult], None]
) -> DocumentsResult:
    """Run the whole demo and tell its result; with `stays`, mails go on arriving until Ctrl-C.

    Nothing of it is running when this returns.
    """
    with own_folder() as folder, loopback_port() as (port, url), ExitStack() as drawing:
        progress = drawing.enter_context(demo_progress(quiet=quiet))
        embedder = await asyncio.to_thread(_choose, model, progress)
        progress.say(f"Postgres in {folder}, model {embedder} …")
        async with (
            _simulated(url) as simulators,
            own_database(folder, embedder=embedder, **settings_of(simulators, url)) as (addresses, settings),
            tenant_session(settings) as session,
            serving_api(settings, port),
            reach(addresses.admin, application_name="penstock demo") as line,
        ):
            owner = await session.tenant(DEFAULT, create=True)
            run = _Run(session, owner, line, folder, progress, simulators)
            try:
                if stays and not quiet:
                    progress.say(f"Watch it in the console: {await _sign_in_link(run, url)}")
                result = await _run_demo(run)
                drawing.close()
                tell(result)
                if stays:
                    await _stay(run, url, as_json=quiet)
                return result
            finally:
                await stop_workers(run.workers)


@asynccontextmanager
async def _simulated(api_url: str) -> AsyncIterator[ProviderSimulators]:
    from penstock.simulators.providers import ProviderSimulators, World, serving_providers

    async with serving_providers(ProviderSimulators(World(**SIZES, anchor=this_month()))) as simulators:
        simulators.deliver("outlook", "two_files")  # for the first sync
        simulators.gmail.pubsub.push_to(f"{api_url}/webhooks/gmail")
        for provider in simulators.providers.values():
            provider.oauth.auto_consent = True
        yield simulators


def _choose(model: str | None, progress: DemoProgress) -> str:
    """MiniLM if it is installed or can be, else the model that comes with Penstock."""
    if model is not None:
        return model
    try:
        install_minilm(Settings(), lambda step: progress.say(f"MiniLM: {step}"))
    except ModelInstallFailed as error:
        progress.say(f"The demo uses wordllama, because MiniLM cannot be installed: {error.reason}.")
        return "wordllama"
    return "minilm"


async def _run_demo(run: _Run) -> DocumentsResult:
    settings, progress = run.session.engine.settings, run.progress
    made = await asyncio.to_thread(make_folder, run.folder / "documents")
    for _ in range(2):
        await _start_worker(run)
    await until_registered(run.connection, run.workers, run.folder)
    first, second = run.workers
    progress.say(f"Two workers: processes {first.pid} and {second.pid}.")
    progress.say(
        f"{output.count(len(made), 'file')} in {run.folder / 'documents'}: PDF, DOCX, HTML, "
        "email, scans, notes …"
    )
    started = monotonic()
    following = IngestProgress(run.session.engine.documents, run.owner, DEFAULT)
    job = IngestJob(
        find_files([run.folder / "documents"]),
        DEFAULT,
        Labels(DEFAULT, {}, None),
        wait=True,
        worker=False,
        quiet=True,
    )
    await job.submit(run.session, run.owner, following, lambda done, total, text: None)
    await _watch(run, following, started)
    took = monotonic() - started
    rescued = await run.connection.fetchval(LOST_RUNS)
    synced = await sync_sources(run.session.engine, run.owner, run.connection, progress)
    mail = await DemoMail(run.session.engine, run.owner, run.connection, run.simulators, progress).show(
        [(source.kind, source.source_id) for source in synced.sources]
    )
    await answer(run.session.engine, run.owner, "the first search loads the model")
    questions = [*QUESTIONS, *([about(synced.client.name)] if synced.client else [])]
    answers = [await answer(run.session.engine, run.owner, question) for question in questions]
    return DocumentsResult(
        files=len(made),
        following=following,
        killed_pid=run.killed,
        held_by_killed=run.held,
        rescued=rescued,
        indexed_twice=await run.connection.fetchval(INDEXED_TWICE),
        seconds=took,
        embedder=settings.embedder,
        answers=answers,
        found_invoice=await answer(run.session.engine, run.owner, INVOICE_QUESTION),
        found_picture=await answer(run.session.engine, run.owner, PICTURE_QUESTION),
        synced=synced,
        mail=mail,
        data_dir=run.folder,
    )


async def _start_worker(run: _Run) -> Worker:
    settings = run.session.engine.settings
    variables = {
        "PENSTOCK_DATA_DIR": str(run.folder),
        "PENSTOCK_MODELS_DIR": str(models_dir(settings)),
        "PENSTOCK_PARSE_PROCESSES": "1",
        "PENSTOCK_INGEST_CONCURRENCY": "4",
        "PENSTOCK_PUBLIC_URL": str(settings.public_url),
        **run.simulators.environment(),
    }
    number = len(run.workers) + 1
    worker = await start_worker(run.session.addresses, run.folder, number, ["worker"], variables)
    run.workers.append(worker)
    return worker


async def _sign_in_link(run: _Run, url: str) -> str:
    """An address that signs in once, as an administrator of the demo's installation."""
    from penstock.accounts.sessions import Sessions

    async with operator_pool(run.session.addresses, run.session.engine.settings) as pool:
        link = await Sessions(pool).create_link("demo", "admin", None)
    return f"{url}/login/{link.token}"


async def _stay(run: _Run, url: str, *, as_json: bool) -> None:
    """Replace the killed worker, say what to try, and let mails arrive until Ctrl-C."""
    worker = await _start_worker(run)
    console = await _sign_in_link(run, url)
    stopped = set_by_ctrl_c()
    if as_json:
        output.document({"event": "staying", "console": console, "worker_pid": worker.pid}, one_line=True)
    else:
        things_to_try(console, worker.pid)
    await mails_until(stopped, run.simulators)


async def _watch(run: _Run, following: IngestProgress, started: float) -> None:
    """Wait until all documents have ended; kill a worker on the way."""
    first, second = run.workers
    while monotonic() - started < GIVE_UP_SECONDS:
        changed = await following.look()
        ended, total = len(following.ended), len(following.ended) + len(following.under_way)
        run.progress.update(ended, total, stages(following.counts()))
        if not run.killed and ended >= total * KILL_AT:
            run.killed, run.held = first.pid, await kill_worker(run.connection, first)
            run.progress.say(
                f"kill -9 {first.pid}: it held {output.count(run.held, 'document')}; {second.pid} "
                "takes over within seconds."
            )
        if not following.under_way and not changed and not await following.find_missed():
            return
        await pause(POLL_SECONDS)
