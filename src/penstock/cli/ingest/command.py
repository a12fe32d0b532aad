"""`penstock ingest`: adds files and folders and waits until each document is indexed, skipped or failed."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.ingest.job import IngestJob
from penstock.cli.ingest.prune import Prune, say_gone
from penstock.cli.ingest.summary import show_summary
from penstock.cli.metadata_pairs import pairs
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, ProjectSlug, TenantSlug
from penstock.documents.file_intake import Labels
from penstock.documents.files import find_files
from penstock.errors import InvalidArgument

Paths = Annotated[list[Path], typer.Argument(metavar="PATH", help="Files, or folders to read recursively.")]
Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Wait until every document is indexed, skipped or failed.")
]
Metadata = Annotated[
    list[str] | None,
    typer.Option(
        "--metadata", metavar="KEY=VALUE", help="Metadata to store with the documents; may be repeated."
    ),
]
ExternalId = Annotated[
    str | None, typer.Option("--external-id", help="Your own id for the document; only with one file.")
]
Glob = Annotated[
    str | None,
    typer.Option("--glob", metavar="PATTERN", help="In folders, only files that match, such as '*.pdf'."),
]
OwnWorker = Annotated[
    bool | None,
    typer.Option(
        "--worker/--no-worker",
        help=(
            "Process the documents in this command. Default: yes on the embedded database if no "
            "worker is running."
        ),
        show_default=False,
    ),
]
RetryFailed = Annotated[
    bool,
    typer.Option("--retry-failed", help="Also retry unchanged files that have permanently failed before."),
]
RootName = Annotated[
    str | None,
    typer.Option(
        "--root-name",
        metavar="NAME",
        help="Identify files by this name and their path inside the folder instead of their absolute path.",
    ),
]
PruneGone = Annotated[
    bool, typer.Option("--prune", help="Delete documents whose files no longer exist in the given folders.")
]
PruneEmpty = Annotated[
    bool, typer.Option("--prune-empty", help="With --prune: also prune a folder that is empty or missing.")
]
PruneDryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="With --prune: only say what it would delete; ingest and delete nothing."),
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
    dry_run: PruneDryRun = False,
    wait: Wait = True,
    worker: OwnWorker = None,
    as_json: output.AsJson = False,
) -> None:
    """Add files and folders and wait until each document is indexed, skipped or failed.

    Folders are read recursively; hidden files are left out unless you name them. A file is identified by its
    path: an edited file replaces its old version, an unchanged file is not processed again. If you press
    Ctrl-C, files already accepted stay in the queue. Exits with 1 if a file could not be read or a document
    failed.
    """
    noted = pairs(metadata)
    pruning = _pruning(paths, root_name, prune=prune, empty=prune_empty, yes=yes, as_json=as_json)
    if dry_run:
        if pruning is None:
            raise typer.BadParameter("it says what --prune would delete", param_hint="--dry-run")
        run(say_gone(replace(pruning, dry_run=True), tenant, project))
        return
    files = find_files(paths, glob)
    if pruning is not None:
        files = [
            file for file in files if file.path not in pruning.roots
        ]  # a root that is gone is pruned, not reported as unreadable
    elif not files:
        raise InvalidArgument("found no files to ingest", "PATH", "Name files, or folders that contain some")
    if external_id is not None and len(files) != 1:
        raise InvalidArgument(
            f"--external-id needs exactly one file, and there are {len(files)}",
            "external_id",
            "Name one file",
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
                f"{root_name!r} is not a valid root name",
                "root_name",
                ("Use letters, digits, dots, dashes and underscores, and start with a letter or digit"),
            )
        if len(folders) != 1 or len(paths) != 1:
            raise InvalidArgument("--root-name needs exactly one folder", "root_name", "Name one folder")
    if not prune:
        return None
    if not folders:
        raise InvalidArgument("--prune needs a folder", "prune", "Name a folder")
    return Prune(folders, root_name, yes=yes, empty=empty, as_json=as_json)
