"""`penstock ingest`: takes files and folders in, and waits until each is indexed or says why it is not."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.ingest_files import find_files
from penstock.cli.ingest_job import IngestJob, Labels
from penstock.cli.ingest_prune import Prune
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
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Try unchanged files again that failed for good before.")
]
RootName = Annotated[
    str | None,
    typer.Option(
        "--root-name",
        metavar="NAME",
        help="Know files by this name and their path in the folder, not by the absolute path.",
    ),
]
PruneGone = Annotated[
    bool, typer.Option("--prune", help="Delete documents whose files are gone from the folders named.")
]
PruneEmpty = Annotated[
    bool, typer.Option("--prune-empty", help="Prune also a folder that has no file at all or is missing.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before pruning.")]


def command(
    paths: Paths,
    project: ProjectSlug = DEFAULT,
    tenant: TenantSlug = DEFAULT,
    metadata: Metadata = None,
    external_id: ExternalId = None,
    glob: Glob = None,
    retry_failed: RetryFailed = False,
    root_name: RootName = None,
    prune: PruneGone = False,
    prune_empty: PruneEmpty = False,
    yes: Yes = False,
    wait: Wait = True,
    worker: OwnWorker = None,
    as_json: output.AsJson = False,
) -> None:
    """Take files and folders in and wait until each document is indexed, skipped or failed.

    Folders are read recursively; hidden files are left out unless they are named. A file is known by its
    path: an edited one replaces its old version, an unchanged one costs nothing. Ctrl-C leaves what was
    accepted in the queue. Exits 1 if a file could not be read or a document failed.
    """
    noted = pairs(metadata)
    pruning = _pruning(paths, root_name, prune=prune, empty=prune_empty, yes=yes, as_json=as_json)
    files = find_files(paths, glob)
    if pruning is not None:
        files = [file for file in files if file.path not in pruning.roots]  # one that is gone, not unreadable
    elif not files:
        raise InvalidArgument("there is no file to take in", "PATH", "Name files, or folders that hold some")
    if external_id is not None and len(files) != 1:
        raise InvalidArgument(
            f"an external id is for one file, and these are {len(files)}", "external_id", "Name one file"
        )
    labels = Labels(project, noted, external_id, root_name, retry_failed)
    job = IngestJob(files, tenant, labels, wait=wait, worker=worker, quiet=as_json, prune=pruning)
    try:
        summary = run(job.do())
    except asyncio.CancelledError:
        raise typer.Exit(Exit.INTERRUPTED) from None
    show_summary(summary, as_json=as_json)
    if not summary.whole:
        raise typer.Exit(Exit.REFUSED)


def _pruning(
    paths: list[Path], root_name: str | None, *, prune: bool, empty: bool, yes: bool, as_json: bool
) -> Prune | None:
    folders = [path for path in paths if path.is_dir() or (prune and not os.path.lexists(path))]
    if root_name is not None:
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", root_name) is None:
            raise InvalidArgument(
                f"{root_name!r} is not a plain name", "root_name", "Use letters, digits, dots and dashes"
            )
        if len(folders) != 1 or len(paths) != 1:
            raise InvalidArgument("a root name is for one folder", "root_name", "Name one folder")
    if not prune:
        return None
    if not folders:
        raise InvalidArgument("there is no folder to prune", "prune", "Name a folder")
    return Prune(folders, root_name, yes=yes, empty=empty, as_json=as_json)
