"""Every page at desk and phone width, in both themes: labels, contrast, and nothing that scrolls sideways."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from tests.plugins.console import Site
from tests.web.settling import COUNT_REQUESTS, settled
from tests.web.uploading import handbook, upload

pytestmark = pytest.mark.timeout(240)

PATHS = (
    "/",
    "/documents",
    "/documents?status=failed,indexed&q=a",
    "/upload",
    "/search?q=mill",
    "/search?q=mill&compare=1&b.mode=text",
    "/sources",
    "/sources/connect",
    "/sources/skipped",
    "/clients",
    "/queues",
    "/tasks",
    "/failures",
    "/workers",
    "/schedules",
    "/inlets",
    "/processes",
    "/operations",
    "/access/keys",
    "/access/sessions",
    "/access/tenants",
    "/access/audit",
    "/no-such-page",
)

# Controls without a name, pictures without a text, and text that is too faint for what is behind it.
FAULTS = (Path(__file__).parent / "faults.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_control_has_a_name_and_every_text_stands_out(
    site: Site, scheme: Literal["light", "dark"]
) -> None:
    document = await upload(site, "labelled.pdf", handbook(), "application/pdf")
    broken = await upload(site, "unlabelled.pdf", b"%PDF-1.4 broken", "application/pdf")
    paths = (*PATHS, f"/documents/{document['document_id']}?chunk=1", f"/documents/{broken['document_id']}")
    found: dict[str, Any] = {}
    async with site.visit(tenant="acme", watch=False, color_scheme=scheme) as page:
        await page.add_init_script(COUNT_REQUESTS)
        for path in paths:
            await settled(page, path, load=scheme == "light")  # in the dark by going there within the console
            if faults := await page.evaluate(FAULTS):
                found[path] = faults
    assert found == {}


async def test_nothing_scrolls_sideways_at_phone_width(site: Site) -> None:
    long_name = await upload(site, f"{'a-long-name-without-any-spaces-' * 6}.txt", "Words. " * 30)
    right_to_left = await upload(site, "تقرير عن الطاحونة.txt", "يفتح السد عند الفجر ويغلق عند الغروب.")
    document = await upload(site, "phone.pdf", handbook(), "application/pdf")
    shown = [f"/documents/{each['document_id']}?chunk=0" for each in (long_name, right_to_left, document)]
    wider: dict[str, int] = {}
    async with site.visit(tenant="acme", watch=False, viewport={"width": 360, "height": 780}) as page:
        await page.add_init_script(COUNT_REQUESTS)
        for path in (*PATHS, *shown):
            await settled(page, path)
            over = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if over > 0:
                wider[path] = over
    assert wider == {}
