"""`penstock ingest`: takes files and folders in, and waits until each is indexed or says why it is not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.ingest_files import find_files
from penstock.cli.ingest_job import IngestJob, Labels
from penstock.cli.ingest_summary import show_summary
from penstock.cli.metadata_pairs import pairs
from penstock.cli.product_session import DEFAULT, ProjectSlug, TenantSlug
from penstock.cli.session import run
from penstock.errors import InvalidArgument

Paths = Annotated[
    list[Path], typer.Argument(metavar="PATH…", help="Files, or folders with all that is in them.")
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every document has ended.")]
Metadata = Annotated[
    list[str] | None, typer.Option("--metadata", metavar="KEY=VALUE", help="May be repeated.")
]
ExternalId = Annotated[str | None, typer.Option("--external-id", help="Your id of it; for one file.")]
Glob = Annotated[
    str | None, typer.Option("--glob", metavar="PATTERN", help="Of folders only these, as '*.pdf'.")
]
OwnWorker = Annotated[
    bool | None,
    typer.Option(
        "--worker/--no-worker",
        help="Work on them in this process. Default: on the embedded database, if no worker is alive.",
        show_default=False,
    ),
]


def command(
    paths: Paths,
    project: ProjectSlug = DEFAULT,
    tenant: TenantSlug = DEFAULT,
    metadata: Metadata = None,
    external_id: ExternalId = None,
    glob: Glob = None,
    wait: Wait = True,
    worker: OwnWorker = None,
    as_json: output.AsJson = False,
) -> None:
    """Take files and folders in and wait until each document is indexed, skipped or failed.

    Folders are read recursively; hidden files are left out unless they are named. Content that is indexed
    already is unchanged and costs nothing. Ctrl-C leaves what was accepted in the queue. Exits 1 if a file
    could not be read or a document failed.
    """
    noted = pairs(metadata)
    files = find_files(paths, glob)
    if not files:
        raise InvalidArgument("there is no file to take in", "PATH", "Name files, or folders that hold some")
    if external_id is not None and len(files) != 1:
        raise InvalidArgument(
            f"an external id is for one file, and these are {len(files)}", "external_id", "Name one file"
        )
    labels = Labels(project, noted, external_id)
    job = IngestJob(files, tenant, labels, wait=wait, worker=worker, quiet=as_json)
    try:
        summary = run(job.do())
    except asyncio.CancelledError:
        raise typer.Exit(Exit.INTERRUPTED) from None
    show_summary(summary, as_json=as_json)
    if not summary.whole:
        raise typer.Exit(Exit.REFUSED)
