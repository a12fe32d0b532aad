"""Which document a command line means: by id, external id, path, the end of a path, file name or title."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from penstock.cli.file_identity import identity_of, shown_path
from penstock.cli.product_session import Stay
from penstock.errors import InvalidArgument, NotFound
from penstock.model import DocumentId, TenantId


async def document_of(here: Stay, owner: TenantId, text: str) -> DocumentId:
    """The one document called so; of several, the error lists them."""
    try:
        return DocumentId(UUID(text))
    except ValueError:
        pass
    path = Path(text)
    found = await here.product.documents.find(owner, text, (shown_path(path), identity_of(path)))
    if not found:
        raise NotFound(
            f"there is no document {text!r}", "DOCUMENT", "penstock document list shows ids, paths and names"
        )
    if len(found) > 1:
        several = "".join(f"\n  {each.document_id}  {each.project}  {each.name}" for each in found)
        raise InvalidArgument(
            f"{text!r} may be any of these documents:{several}\n",
            "DOCUMENT",
            "Use the id, or more of the path",
        )
    return found[0].document_id
