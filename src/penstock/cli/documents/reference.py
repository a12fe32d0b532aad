"""Finds the document a command line names: by id, external id, path, end of a path, file name or title."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from penstock.cli.tenant_session import TenantSession
from penstock.documents.file_identity import identity_of, shown_path
from penstock.errors import InvalidArgument, NotFound
from penstock.model import DocumentId, TenantId


async def document_of(session: TenantSession, owner: TenantId, text: str) -> DocumentId:
    """The one document with this name; if there are several, the error lists them."""
    try:
        return DocumentId(UUID(text))
    except ValueError:
        pass
    path = Path(text)
    found = await session.engine.documents.find(owner, text, (shown_path(path), identity_of(path)))
    if not found:
        raise NotFound(
            f"no document is called {text!r}",
            "DOCUMENT",
            "See penstock document list for ids, paths and names",
        )
    if len(found) > 1:
        several = "".join(f"\n  {each.document_id}  {each.project}  {each.name}" for each in found)
        raise InvalidArgument(
            f"{text!r} matches several documents:{several}\n",
            "DOCUMENT",
            "Use an id, or more of a path, as DOCUMENT",
        )
    return found[0].document_id
