"""`penstock source add|show|sync|schedule`: sources that Penstock reads on a schedule."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from penstock.cli import completion, output
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, ProjectSlug, TenantSession, TenantSlug, tenant_session
from penstock.cli.tenants.source_passwords import PasswordFile, given_password
from penstock.engine.local_worker import working
from penstock.errors import InvalidArgument
from penstock.model import SourceId, TenantId
from penstock.model.queue_names import SYNC
from penstock.model.rows import plain

if TYPE_CHECKING:
    from penstock.sources.sources import IngestionJob, Push, Source, SourceDetails

TheSource = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="The source's name, kind or id.", autocompletion=completion.sources
    ),
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the sync has ended.")]
Every = Annotated[
    str | None, typer.Option("--every", metavar="TIME", help="How often it is synced: 15m, 6h, 1d, or never.")
]

EVERY_SECONDS = 0.5
NO_WORKER = "No worker is running, so the sync waits. Start one with penstock up or penstock worker."
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_JOB = ("kind", "status", "items_seen", "items_written", "items_unchanged", "items_failed", "items_removed")


def add(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="The kind of source, such as folder.")],
    place: Annotated[
        str | None, typer.Argument(metavar="PLACE", help="What to read: a folder's path, or BUCKET/PREFIX.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="A name to recognise it by.")] = None,
    every: Every = None,
    host: Annotated[str | None, typer.Option("--host", help="The mail server of an imap source.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="The name to log in with there.")] = None,
    port: Annotated[int | None, typer.Option("--port", help="Its port; 993, or 143 with starttls.")] = None,
    security: Annotated[
        str | None, typer.Option("--security", help="tls, starttls, or none on this machine.")
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", help="Certificates to trust there instead of the usual ones.")
    ] = None,
    folder: Annotated[
        list[str] | None, typer.Option("--folder", help="A folder of the mailbox to read; repeatable.")
    ] = None,
    password_file: PasswordFile = None,
    project: ProjectSlug = DEFAULT,
    tenant: TenantSlug = DEFAULT,
    wait: Wait = True,
    as_json: output.AsJson = False,
) -> None:
    """Add a folder, a bucket (s3 BUCKET/PREFIX) or a mailbox.

    The first sync starts at once. After that it is synced every night (a mailbox every few minutes), or as
    often as --every says.
    """
    given = {"host": host, "user": user, "port": port, "security": security, "folders": folder}
    config: dict[str, Any] = {key: value for key, value in given.items() if value}
    if ca_file is not None:
        config["ca"] = _certificates(ca_file)
    if place is not None:
        config["path"] = str(Path(place).resolve()) if kind == "folder" else place
    sync_every: timedelta | Literal["default"] | None = "default" if every is None else _interval(every)
    password = given_password(password_file) if kind == "imap" or password_file is not None else None

    async def call() -> tuple[Source, IngestionJob | None]:
        async with tenant_session(create=True) as session:
            session.engine.sources.check(kind, config, password=password)
            tenant_id = await session.tenant(
                tenant, create=True, project=project, change="source add", target=kind
            )
            await session.declare()
            added = await session.engine.sources.add(
                tenant_id,
                kind,
                config,
                name=name or user or (place if kind == "s3" else None),
                project=project,
                sync_every=sync_every,
                password=password,
            )
            return added, await finished(session, tenant_id, added.source_id) if wait else None

    added, job = run(call())
    if as_json:
        output.document({"source": plain(added), "job": None if job is None else plain(job)})
        return
    output.write(f"Added {added.kind} source {added.source_id}.")
    report(job)


def show(source: TheSource, tenant: TenantSlug = DEFAULT, as_json: output.AsJson = False) -> None:
    """Show a source: its health, its streams and its last syncs."""

    async def call() -> SourceDetails:
        async with tenant_session() as session:
            sources, tenant_id = session.engine.sources, await session.tenant(tenant)
            return await sources.show(tenant_id, (await sources.find(tenant_id, source)).source_id)

    found = run(call())
    if as_json:
        output.document(plain(found))
        return
    health = found.health
    facts = {
        "source_id": found.source_id,
        "kind": found.kind,
        "name": found.name,
        "account": found.account,
        "project": found.project,
        "health": " ".join(filter(None, (health.state, _of(health.seen, health.expected)))),
        "reason": health.reason,
        "what to do": health.action,
        "connection": health.connection,
        "push": _push(health.push, found.sync_every_seconds),
        "classifier": found.classifier,
        "documents": found.documents,
        "last sync": found.synced_at,
        "next sync": found.next_sync_at,
        "estimate": next((_estimate(job.estimate) for job in found.jobs if job.estimate), None),
    }
    output.facts({name: value for name, value in facts.items() if value is not None})
    if found.streams:
        output.write("")
        output.records(("stream", "items", "left_out", "completed_at"), found.streams)
    if found.jobs:
        output.write("")
        output.records(("started_at", *_JOB, "error_message"), found.jobs)
    for failure in found.jobs[0].error_details[-5:] if found.jobs else ():
        warn(_failure(failure))


def sync(
    source: TheSource,
    full: Annotated[bool, typer.Option("--full", help="Read everything again, not only changes.")] = False,
    tenant: TenantSlug = DEFAULT,
    wait: Wait = True,
    as_json: output.AsJson = False,
) -> None:
    """Sync a source now and show the progress."""

    async def call() -> tuple[SourceId, IngestionJob | None]:
        async with tenant_session() as session:
            tenant_id = await session.tenant(tenant, change="source sync", target=source)
            source_id = (await session.engine.sources.find(tenant_id, source)).source_id
            await session.declare()
            before = await jobs_of(session, tenant_id, source_id)
            await session.engine.sources.sync(tenant_id, source_id, full=full)
            return source_id, await finished(session, tenant_id, source_id, before) if wait else None

    source_id, job = run(call())
    if as_json:
        output.document({"source_id": source_id, "job": None if job is None else plain(job)})
    else:
        report(job)
    if job is not None and job.status == "failed":
        raise typer.Exit(1)


def schedule(
    source: TheSource,
    every: Annotated[str, typer.Argument(metavar="TIME", help="15m, 6h, 1d, or never.")],
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Choose how often a source is synced."""
    interval = _interval(every)

    async def call() -> Source:
        async with tenant_session() as session:
            sources, tenant_id = (
                session.engine.sources,
                await session.tenant(tenant, change="source schedule", target=source),
            )
            source_id = (await sources.find(tenant_id, source)).source_id
            return await sources.schedule(tenant_id, source_id, interval)

    changed = run(call())
    if as_json:
        output.document(plain(changed))
    else:
        output.write(f"Synced every {every}." if interval else "Synced only when asked.")


async def jobs_of(session: TenantSession, tenant_id: TenantId, source_id: SourceId) -> frozenset[UUID]:
    """The syncs that there were already."""
    found = await session.engine.sources.show(tenant_id, source_id)
    return frozenset(job.job_id for job in found.jobs)


async def finished(
    session: TenantSession, tenant_id: TenantId, source_id: SourceId, before: Collection[UUID] = ()
) -> IngestionJob | None:
    """Wait for the sync, with a worker of our own if there is no other, and show how far it is.

    Returns the first that was not there `before`: a new subscription or a notification may cause another.
    None if nothing would happen: no worker is running, and on a server of their own users start them.
    """
    sources = session.engine.sources
    async with working(session.local_worker(queue=SYNC, no_worker=NO_WORKER)) as local:
        with _Progress() as progress:
            while True:
                await local.ensure()
                if local.is_missing:
                    return None
                found = await sources.show(tenant_id, source_id)
                health = found.health
                if health.state not in ("syncing", "retrying") or (
                    health.state == "retrying" and found.jobs and found.jobs[0].finished_at
                ):
                    return next((job for job in reversed(found.jobs) if job.job_id not in before), None)
                progress.show(health.seen or 0, health.expected, health.reason)
                await asyncio.sleep(EVERY_SECONDS)


class _Progress:
    """A line on the terminal; nothing in a pipe."""

    def __enter__(self) -> _Progress:
        self._shown = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._shown.add_task("Syncing", total=None, amount="")
            self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def show(self, seen: int, expected: int | None, reason: str | None) -> None:
        if self._shown is not None:
            self._shown.update(
                self._task,
                completed=seen,
                total=expected,
                description="Syncing" if reason is None else f"Waiting: {reason}",
                amount=_of(seen, expected) or "",
            )


def report(job: IngestionJob | None) -> None:
    if job is None:
        output.write("The sync was asked for; penstock source show follows it.")
        return
    output.write(
        f"{job.status.capitalize()}: {output.count(job.items_written, 'item')} written, "
        f"{job.items_unchanged:,} unchanged, {job.items_removed:,} removed, {job.items_failed:,} failed."
    )
    if job.items_left_out:
        warn(f"{output.count(job.items_left_out, 'item')} left out by the cap on the first sync.")
    for failure in job.error_details[-5:]:
        warn(_failure(failure))
    if job.items_remapped:
        output.write(f"{output.count(job.items_remapped, 'item')} mapped again by a new field map.")
    if job.error_message:
        warn(job.error_message)


def _failure(failure: dict[str, Any]) -> str:
    """The message of an item that failed, or of a run."""
    item = "/".join(str(failure[name]) for name in ("stream", "id") if name in failure)
    return f"{item}: {failure.get('message')}" if item else str(failure.get("message"))


def _push(push: Push | None, sync_every: int | None) -> str | None:
    """Whether the provider notifies us; without notifications the schedule is all there is."""
    if push is None:
        return None
    if push.state == "active":
        return f"active until {output.cell(push.expires_at)}"
    schedule = "synced only when asked" if sync_every is None else f"synced every {sync_every:,} s"
    return f"{push.state}{f' ({push.reason})' if push.reason else ''}; {schedule}"


def _of(seen: int | None, expected: int | None) -> str | None:
    if seen is None:
        return None
    return f"{seen:,}" if expected is None else f"{seen:,} of about {expected:,}"


def _estimate(found: Mapping[str, Any]) -> str:
    """What the first sync was expected to embed."""
    told = f"{'at least ' if found['is_at_least'] else 'about '}{output.count(found['texts'], 'text')} with "
    told += output.count(found["tokens"], "token")
    if found["cost"] is not None:
        told += f" (cost {found['cost']:,.2f})"
    return told + (f", and {output.count(found['files'], 'file')}" if found["files"] else "")


def _certificates(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except (OSError, UnicodeError):
        raise InvalidArgument(
            f"the certificates cannot be read from {file}", "ca-file", "Give a file in PEM format"
        ) from None


def _interval(text: str) -> timedelta | None:
    if text == "never":
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,6})([smhd])", text)
    if match is None:
        raise InvalidArgument(f"{text!r} is not a time", "every", "Use 15m, 6h, 1d, or never")
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])
