"""`penstock inlet add`: one command per kind of sender."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.auditing import audited, over
from penstock.cli.failures import warn
from penstock.cli.session import database, operator, run
from penstock.db.addresses import prepare
from penstock.db.reach import reach
from penstock.errors import Conflict, InvalidArgument
from penstock.inlets.operations import InletOperations
from penstock.model.queue_names import READ
from penstock.settings import Settings

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name of your own for the inlet.")]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TASK_TYPE",
        help="The task type of its messages; repeated: the types they may name.",
    ),
]
AnyType = Annotated[
    bool, typer.Option("--any-type", help="Let messages name any task type, those of Penstock included.")
]
Tenant = Annotated[
    str | None,
    typer.Option(metavar="SLUG", help="All its messages belong to this tenant; others are refused."),
]
Envelope = Annotated[
    bool,
    typer.Option(
        "--envelope",
        help="Messages are envelopes (task_type, payload, …); by default they are payloads.",
    ),
]


def task_types(types: Sequence[str] | None, *, any_type: bool) -> tuple[str | None, list[str] | None]:
    """The type of messages that name none, and the types they may name; None is any."""
    named = list(dict.fromkeys(types or ()))
    if not named and not any_type:
        raise InvalidArgument(
            "an inlet needs to know which task types its messages may become",
            "type",
            "Add --type TASK_TYPE, or --any-type",
        )
    return (named[0] if named else None), (None if any_type else named)


async def put(
    name: str,
    kind: str,
    source: str,
    config: Mapping[str, object],
    *,
    tenant: str | None,
    types: Sequence[str] | None,
    any_type: bool = False,
    allowed: Sequence[str] | None = None,
    retention: timedelta = timedelta(days=31),
) -> None:
    """Add the inlet as an operator; `allowed`: the types its messages may become, none of them by default."""
    default = None
    if allowed is None:
        default, allowed = task_types(types, any_type=any_type)
    if default is not None:
        config = {**config, "task_type": default}
    async with operator() as connection, audited(over(connection), "inlet add", name):
        await InletOperations(connection).add(
            name, kind, source, config, tenant=tenant, task_types=allowed, retention=retention
        )


def say_added(name: str, kind: str, source: str, *, as_json: bool) -> None:
    if as_json:
        output.document({"inlet": name, "kind": kind, "source": source})
    else:
        output.write(f"Added the inlet {name}. Workers read it; alone: penstock inlet {name}")


@group.command("pgmq")
def add_pgmq(
    queue: Annotated[str, typer.Option(metavar="QUEUE", help="The pgmq queue to read.")],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A name of your own for the inlet; required without --wrappers-only."
        ),
    ] = None,
    types: Types = None,
    any_type: AnyType = False,
    tenant: Tenant = None,
    envelope: Envelope = False,
    wrappers: Annotated[
        bool,
        typer.Option(
            "--wrappers",
            help="Also create public.ingestion_enqueue, _read, _delete and _archive for service_role.",
        ),
    ] = False,
    wrappers_only: Annotated[
        bool,
        typer.Option(
            "--wrappers-only",
            help="Only create these functions, for a consumer of your own: no inlet competes with it.",
        ),
    ] = False,
    as_json: output.AsJson = False,
) -> None:
    """Read a pgmq queue of Penstock's own database."""
    source = f"pgmq:{queue.lower()}"
    if wrappers_only:
        _needs_no_inlet(name=name, type=types, any_type=any_type, tenant=tenant, envelope=envelope)
        run(_only_wrappers(queue, source))
        if as_json:
            output.document({"queue": queue, "wrappers": True})
        else:
            output.write(f"Created public.ingestion_* for the queue {queue}. No inlet reads it.")
        return
    if name is None:
        raise InvalidArgument(
            "the inlet needs a name",
            "name",
            "Write: penstock inlet add pgmq NAME --queue QUEUE …; or add --wrappers-only for no inlet",
        )
    named = name
    task_types(types, any_type=any_type)

    async def call() -> None:
        await _prepare_pgmq(queue, wrappers=wrappers)
        shape = "envelope" if envelope else "payload"
        config = {"queue": queue, "shape": shape}
        await put(named, "pgmq", source, config, tenant=tenant, types=types, any_type=any_type)

    run(call())
    say_added(named, "pgmq", source, as_json=as_json)


def _needs_no_inlet(**given: object) -> None:
    """InvalidArgument names what would have no effect with --wrappers-only."""
    for field, value in given.items():
        if value:
            option = "the NAME" if field == "name" else f"--{field.replace('_', '-')}"
            raise InvalidArgument(
                f"--wrappers-only adds no inlet, so {option} would have no effect",
                field,
                f"Remove {option}; or write --wrappers, for an inlet and the functions",
            )


async def _prepare_pgmq(queue: str, *, wrappers: bool) -> None:
    from penstock.db.pgmq import prepare_queue

    async with database(Settings()) as addresses:
        if addresses.embedded is not None:
            await prepare(addresses)
        async with reach(addresses.admin, application_name="penstock cli") as admin:
            await prepare_queue(admin, queue, wrappers=wrappers)


async def _only_wrappers(queue: str, source: str) -> None:
    """Conflict if an inlet reads the queue: its mover would take messages before the team's consumer."""
    async with operator() as connection:
        reader = await InletOperations(connection).reader_of(source)
        if reader is not None:
            raise Conflict(
                f"the inlet {reader!r} reads {source} and would compete with your consumer",
                "queue",
                f"Remove it first: penstock inlet remove {reader}",
            )
        async with audited(over(connection), "inlet add", source):
            await _prepare_pgmq(queue, wrappers=True)


QueueUrl = Annotated[
    str, typer.Option("--queue-url", metavar="URL", help="The queue; a FIFO queue's groups stay in order.")
]
PayloadBucket = Annotated[
    str | None,
    typer.Option(
        metavar="BUCKET", help="The only bucket from which payloads too large for a message are read."
    ),
]
Visibility = Annotated[
    int,
    typer.Option("--visibility", metavar="SECONDS", help="How long a message in hand is hidden from others."),
]
SQS_RETENTION = timedelta(days=15)
"""SQS keeps a message for 14 days at most."""


@group.command("sqs")
def add_sqs(
    name: Name,
    queue_url: QueueUrl,
    types: Types = None,
    any_type: AnyType = False,
    tenant: Tenant = None,
    payload_bucket: PayloadBucket = None,
    visibility: Visibility = 60,
    as_json: output.AsJson = False,
) -> None:
    """Read an SQS queue.

    A message's body is the payload of a task; its attributes may name the rest.
    """
    config = _sqs_config(queue_url, payload_bucket, visibility)
    source = f"sqs:{queue_url}"
    retention = SQS_RETENTION
    task_types(types, any_type=any_type)
    run(put(name, "sqs", source, config, tenant=tenant, types=types, any_type=any_type, retention=retention))
    say_added(name, "sqs", source, as_json=as_json)
    _warn_of_redrive("sqs", config, as_json=as_json)


@group.command("s3")
def add_s3(
    name: Name,
    queue_url: QueueUrl,
    tenant: Tenant = None,
    payload_bucket: PayloadBucket = None,
    visibility: Visibility = 60,
    as_json: output.AsJson = False,
) -> None:
    """Read bucket events from an SQS queue.

    For the sources added with `penstock source add s3`.
    """
    config = _sqs_config(queue_url, payload_bucket, visibility)
    source = f"s3:{queue_url}"
    run(put(name, "s3", source, config, tenant=tenant, types=[READ], any_type=False, retention=SQS_RETENTION))
    say_added(name, "s3", source, as_json=as_json)
    _warn_of_redrive("s3", config, as_json=as_json)


def _sqs_config(queue_url: str, payload_bucket: str | None, visibility: int) -> dict[str, object]:
    """InvalidArgument names an option that cannot be used."""
    from penstock.inlets.sqs_queue import queue_of

    config: dict[str, object] = {"queue_url": queue_url, "visibility_seconds": visibility}
    queue_of(Settings(), config)
    return config if payload_bucket is None else {**config, "payload_bucket": payload_bucket}


def _warn_of_redrive(kind: str, config: Mapping[str, object], *, as_json: bool) -> None:
    from penstock.inlets.redrive import REMEDY, missing_redrive

    what = run(missing_redrive(Settings(), kind, config))
    if what is not None:
        warning = {"message": what, "remedy": REMEDY}
        warn(json.dumps({"warning": warning}) if as_json else f"warning: {what}. {REMEDY}")
