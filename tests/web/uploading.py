"""What tests of pages put in: documents of the site's tenant, uploaded over HTTP and awaited."""

from __future__ import annotations

from typing import Any

from penstock.cli.demo import files as demo_files
from tests.plugins.console import Site

PAGES = [[f"# Chapter {n}", f"Penstock {n} lets water into the mill at dawn. " * 30] for n in range(1, 4)]


async def upload(
    site: Site, name: str, content: bytes | str, kind: str = "text/plain", *, key: str | None = None
) -> Any:
    """The document, as soon as it is indexed, skipped or failed."""
    sent = content.encode() if isinstance(content, str) else content
    async with site.server.client(key) as client:
        answer = await client.post("/v1/documents/upload?wait=30", files={"file": (name, sent, kind)})
        assert answer.status_code in (200, 202), answer.text
        return (await client.get(f"/v1/documents/{answer.json()['document_id']}")).json()


def handbook() -> bytes:
    return demo_files.pdf("Handbook of the mill", PAGES)
