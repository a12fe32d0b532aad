"""`penstock ingest --prune`: deletes documents whose files are gone from their folder, count first."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from penstock.cli.file_identity import PREFIX, identity_of, prefix_of
from penstock.cli.ingest_files import all_paths
from penstock.cli.product_session import Stay
from penstock.errors import InvalidArgument, NotFound
from penstock.intake import Documents
from penstock.intake.rows import External
from penstock.model import DocumentId, TenantId


@dataclass(frozen=True, slots=True)
class Prune:
    """What to prune, and how sure the caller is. `empty`: also a folder that has no file at all."""

    roots: Sequence[Path]
    root_name: str | None
    yes: bool
    empty: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class Gone:
    """A document whose file is not in the folder any more."""

    document_id: DocumentId
    path: str


async def find_gone(prune: Prune, documents: Documents, owner: TenantId, project: str) -> list[Gone]:
    """Documents of these folders whose files are gone, once the caller confirmed to delete them."""
    gone: dict[DocumentId, Gone] = {}
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
        gone |= {each.document_id: Gone(each.document_id, each.path or each.external_id) for each in found}
    if gone:
        _confirm(prune, len(gone), empty)
    return list(gone.values())


async def remove(gone: Sequence[Gone], here: Stay, owner: TenantId) -> list[Gone]:
    removed = []
    for each in gone:
        try:
            await here.product.documents.delete(owner, each.document_id)
        except NotFound:  # somebody else deleted it
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
    """Only "no such file" counts: a folder that cannot be read, or a disk that fails, proves nothing."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _confirm(prune: Prune, count: int, empty: Sequence[str]) -> None:
    documents = f"{count:,} document{'' if count == 1 else 's'} whose files are gone"
    if empty and not prune.empty:
        folder = ", ".join(empty)
        if not prune.yes and not prune.as_json and sys.stdin.isatty():
            typer.confirm(
                f"There is no file at all in {folder}. Is it mounted? Delete {documents} all the same?",
                abort=True,
                err=True,
            )
            return
        raise InvalidArgument(
            f"there is no file at all in {folder}, and pruning would delete {documents}",
            "prune",
            "Check that the folder is mounted and readable; to delete them all the same, add --prune-empty",
        )
    if prune.yes:
        return
    if prune.as_json or not sys.stdin.isatty():
        raise InvalidArgument(f"nobody confirmed to delete {documents}", "yes", "Use --yes")
    typer.confirm(f"Delete {documents}?", abort=True, err=True)
