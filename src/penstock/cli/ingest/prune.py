"""`penstock ingest --prune`: deletes documents whose files are gone, after showing how many."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from penstock.cli import output
from penstock.cli.confirmation import confirm, would
from penstock.cli.tenant_session import TenantSession, tenant_session
from penstock.documents.documents import Documents
from penstock.documents.file_identity import PREFIX, identity_of, prefix_of
from penstock.documents.files import all_paths
from penstock.documents.rows import External
from penstock.errors import InvalidArgument, NotFound
from penstock.model import DocumentId, TenantId


@dataclass(frozen=True, slots=True)
class Prune:
    """What to prune, and what the caller has confirmed. `empty`: also folders without any file."""

    roots: Sequence[Path]
    root_name: str | None
    yes: bool
    empty: bool
    as_json: bool
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class RemovedFile:
    """A document whose file no longer exists in the folder."""

    document_id: DocumentId
    path: str


async def find_gone(prune: Prune, documents: Documents, owner: TenantId, project: str) -> list[RemovedFile]:
    """Documents of these folders whose files are gone, after the user has confirmed."""
    gone: dict[DocumentId, RemovedFile] = {}
    empty: list[str] = []
    for root in prune.roots:
        there = {identity_of(path, root, prune.root_name) for path in all_paths(root)}
        found = [
            each
            async for each in _known(documents, owner, project, prefix_of(root, prune.root_name))
            if each.external_id not in there and _is_gone(_place(each, root, prune.root_name))
        ]
        if found and not there:
            empty.append(str(root))
        gone |= {
            each.document_id: RemovedFile(each.document_id, each.path or each.external_id) for each in found
        }
    if gone and not prune.dry_run:
        _confirm(prune, len(gone), empty)
    return list(gone.values())


async def say_gone(prune: Prune, tenant: str, project: str) -> None:
    """Say which documents would be deleted; nothing is ingested and nothing deleted."""
    async with tenant_session() as session:
        owner = await session.tenant(tenant)
        gone = await find_gone(prune, session.engine.documents, owner, project)
    paths = sorted(each.path for each in gone)
    if not prune.as_json:
        for path in paths:
            output.write(output.cell(path))
    would(f"delete {_counted(len(gone))}", as_json=prune.as_json, count=len(gone), paths=paths)


async def remove(gone: Sequence[RemovedFile], session: TenantSession, owner: TenantId) -> list[RemovedFile]:
    removed = []
    for each in gone:
        try:
            await session.engine.documents.delete(owner, each.document_id)
        except NotFound:  # deleted by someone else meanwhile
            continue
        removed.append(each)
    return removed


async def _known(documents: Documents, owner: TenantId, project: str, prefix: str) -> AsyncIterator[External]:
    after: DocumentId | None = None
    while page := await documents.external(owner, project, prefix, after=after):
        for each in page:
            yield each
        after = page[-1].document_id


def _place(each: External, root: Path, root_name: str | None) -> Path:
    """Where the file would be now."""
    if root_name is None:
        return Path(each.path or each.external_id.removeprefix(PREFIX))
    return root / each.external_id.removeprefix(prefix_of(root, root_name))


def _is_gone(path: Path) -> bool:
    """Only "no such file" counts: an unreadable folder or a failing disk proves nothing."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _confirm(prune: Prune, count: int, empty: Sequence[str]) -> None:
    documents = _counted(count)
    if empty and not prune.empty:
        folder = ", ".join(empty)
        if not prune.yes and not prune.as_json and sys.stdin.isatty():
            typer.confirm(
                f"{folder} contains no files. Is it mounted? Delete {documents} anyway?",
                abort=True,
                err=True,
            )
            return
        raise InvalidArgument(
            f"{folder} contains no files, and pruning would delete {documents}",
            "prune",
            "Check that the folder is mounted and readable; to delete them anyway, add --prune-empty",
        )
    confirm(f"delete {documents}", yes=prune.yes, as_json=prune.as_json)


def _counted(count: int) -> str:
    return f"{output.count(count, 'document')} whose {'file is' if count == 1 else 'files are'} gone"
