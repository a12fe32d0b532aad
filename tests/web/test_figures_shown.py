"""Figures in a browser: a queue's charts over an hour, a day and a week, and every number of the overview."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.async_api import expect

from penstock.model import uuid7
from tests.plugins.console import Site
from tests.plugins.console_data import Report
from tests.plugins.workers import eventually
from tests.web.acting import dead_letters
from tests.web.test_console_accessibility import FAULTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Locator, Page

    from penstock.accounts import Tenant
    from penstock.db import Connection

# The tenant's own samples of a queue, whose tasks waited for 2 s and ran for 0.5 s.
SAMPLE = """
insert into queues.sample
  (queue_id, tenant_id, minute, ready, running, waiting, dead, done, failed, waited, ran)
select q.queue_id, $1, date_trunc('minute', now()) - make_interval(mins => $3), $4, $5, $6, 0, $7, $8,
  internal.histogram(jsonb_build_object(internal.bucket(2), $7::bigint)),
  internal.histogram(jsonb_build_object(internal.bucket(0.5), $7::bigint))
from queues.queue q where q.queue_name = $2
"""
# Minutes ago, then ready, running, waiting, done, failed. The first two are of the week only, the next two of
# the day, too.
SAMPLES: Final = (
    (6 * 24 * 60, 700, 7, 70, 60, 6),
    (3 * 24 * 60, 350, 300, 5, 600, 100),
    (20 * 60, 90, 4, 20, 50, 5),
    (10 * 60, 20, 30, 60, 100, 70),
    (50, 30, 2, 10, 40, 4),
    (30, 5, 20, 28, 20, 30),
    (3, 12, 3, 5, 30, 10),
)
LINES: Final = {
    "Depth": ["--wait", "--run", "--hold"],
    "Ended": ["--good", "--bad"],
    "Latency": ["--wait", "--run"],
}
# How many points of a chart's canvas are of each of these colours, and how well the strongest point of the
# text left of its plot stands out from what is behind it.
PAINTED = """(figure, tokens) => {
  const canvas = figure.querySelector('canvas'), whole = canvas.getBoundingClientRect();
  const read = (width) =>
    canvas.getContext('2d', { willReadFrequently: true }).getImageData(0, 0, width, canvas.height).data;
  const one = document.createElement('canvas').getContext('2d'), all = read(canvas.width);
  const painted = tokens.map((token) => {
    one.fillStyle = getComputedStyle(figure).getPropertyValue(token).trim();
    one.fillRect(0, 0, 1, 1);
    const colour = one.getImageData(0, 0, 1, 1).data;
    let count = 0;
    for (let at = 0; at < all.length; at += 4)
      if (all[at + 3] > 80 && [0, 1, 2].every((n) => Math.abs(all[at + n] - colour[n]) < 10)) count += 1;
    return count;
  });
  const light = (rgb) => {
    const part = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(rgb[0] / 255) + 0.7152 * part(rgb[1] / 255) + 0.0722 * part(rgb[2] / 255);
  };
  const plot = figure.querySelector('.u-over').getBoundingClientRect();
  const text = read(Math.floor(((plot.left - whole.left - 2) * canvas.width) / whole.width));
  const colour = getComputedStyle(figure.closest('.section')).backgroundColor;
  const behind = colour.match(/[0-9.]+/g).map(Number).slice(0, 3);
  let contrast = 1;
  for (let at = 0; at < text.length; at += 4) {
    const over = behind.map((below, n) => below + ((text[at + n] - below) * text[at + 3]) / 255);
    const [high, low] = [light(over), light(behind)].sort((a, b) => b - a);
    contrast = Math.max(contrast, (high + 0.05) / (low + 0.05));
  }
  return [painted, contrast];
}"""


def chart(page: Page, name: str) -> Locator:
    return page.locator(".charts figure").filter(has=page.locator("figcaption", has_text=name))


async def first_point(figure: Locator, *values: str) -> None:
    """Below the mouse at the left end of a chart, the legend has these values."""
    await figure.locator(".u-over").hover(position={"x": 1, "y": 60})
    await expect(figure.locator(".u-legend .u-series:not(:first-child) .u-value")).to_have_text([*values])


async def drawn(page: Page) -> None:
    """Every chart has all its lines in the colours of the theme, and text beside them that can be read."""
    found: dict[str, Any] = {}

    async def painted() -> bool:
        for name, tokens in LINES.items():
            found[name] = await chart(page, name).evaluate(PAINTED, tokens)
        return all(min(points) > 40 and contrast >= 4.5 for points, contrast in found.values())

    try:
        await eventually(painted, what="the charts are drawn in the colours of the theme")
    except pytest.fail.Exception as error:
        pytest.fail(f"{error}: {found}")
    assert await page.evaluate(FAULTS) == []


async def test_a_queue_draws_its_depth_rate_and_latency_over_an_hour_a_day_and_a_week(site: Site) -> None:
    tenant, _ = await site.server.another_tenant("gauges")
    async with site.server.database.connect("admin") as admin:
        for sample in SAMPLES:
            await admin.execute(SAMPLE, tenant.tenant_id, "archive", *sample)
    async with site.visit("viewer", "gauges", color_scheme="light") as page:
        await page.goto("/queues?q=archive")
        row = page.get_by_role("table", name="Queues").get_by_role("row").filter(has_text="archive")
        await expect(row).to_contain_text(re.compile(r"6/min\s*2\.2 s\s*646 ms"))
        await row.get_by_role("link", name="archive", exact=True).click()
        depth, ended, latency = (chart(page, name) for name in LINES)
        await expect(depth.get_by_role("img")).to_have_attribute(
            "aria-label", "Depth; now ready 12, running 3, waiting 5"
        )
        await expect(page.locator(".figure", has_text="last five minutes")).to_contain_text("6/min")
        await first_point(depth, "30", "2", "10")
        await first_point(ended, "40", "4")
        await first_point(latency, "2.2 s", "646 ms")
        span = page.get_by_role("group", name="Span")
        for link, query, oldest in (
            ("1 day", "?hours=24", ("90", "4", "20")),
            ("1 hour", "", ("30", "2", "10")),
            ("1 week", "?hours=168", ("700", "7", "70")),
        ):
            await span.get_by_role("link", name=link).click()
            await expect(page).to_have_url(f"{site.server.url}/queues/archive{query}")
            await expect(span.locator("[aria-current=true]")).to_have_text(link)
            await first_point(depth, *oldest)
        await page.reload()  # the address leads another person to the same week
        await first_point(depth, "700", "7", "70")
        await first_point(ended, "60", "6")
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            await drawn(page)
            await site.shoot(page, f"queue-history-{scheme}")


# What left a stage in a minute; its p95 is that of 2 s.
STAGE = """
insert into ingest.stage_sample (tenant_id, stage, minute, done, failed, took)
values ($1, $2, date_trunc('minute', now()) - make_interval(mins => $3), $4, $5,
  internal.histogram(jsonb_build_object(internal.bucket(2), $4::bigint)))
"""
# With an open task: what waits for none would be settled.
DOCUMENTS = """
insert into ingest.document (document_id, tenant_id, project_id, identity, external_id, status, mime_type,
  filename, size_bytes, content_sha256, reason_code, error_message, fingerprint, task_id, created_at,
  updated_at)
select internal.uuid7(), $1, p.project_id, 'item', $2 || n, $2::ingest.document_status, 'text/plain',
  $2 || '-' || n || '.txt', 1, sha256(convert_to($2 || n, 'UTF8')), f.code, f.code, f.code, $4,
  now() - interval '1 hour', now() - make_interval(mins => 4 * n::integer)
from accounts.project p
cross join generate_series(1, $3) n
cross join lateral (select case when $2 = 'failed' then 'crash' end as code) f
where p.tenant_id = $1
"""
SOURCE = """
insert into ingest.source
  (source_id, tenant_id, project_id, kind, name, status, status_message, created_at, updated_at)
select $1, $2, p.project_id, 'gmail', $3, 'token_refresh_failed', $4, now(), now()
from accounts.project p where p.tenant_id = $2
"""
USAGE = """
insert into accounts.usage (tenant_id, day, model, tokens, calls, texts, reused)
values ($1, (now() at time zone 'UTC')::date, $2, $3, $4, $5, $6)
"""
SILENT = """
insert into queues.worker (worker_name, queue_names, lease_for, started_at, beat_at, lost_at)
values ('gauge-keeper', '{many}', '15 s', now(), now(), now()) returning worker_id
"""
ALIVE = """
select count(*) from queues.worker w where w.worker_id > 0 and queues.worker_state(w) = 'alive'
"""
COUNTS: Final = {"pending": 4, "processing": 2, "embedding": 1, "indexed": 7, "skipped": 3, "failed": 5}
# What is done, failed and shown of each stage.
STAGES: Final = {
    "received": (15, 0, "Received", "4 waiting", "passed 115 failed 1 rate 3/min p95 2.2 s", "pending"),
    "parsing": (10, 2, "Parsing", "2 in progress", "passed 110 failed 3 rate 2/min p95 2.2 s", "processing"),
    "embedding": (
        8,
        0,
        "Embedding",
        "1 in progress",
        "passed 108 failed 1 rate 1.6/min p95 2.2 s",
        "embedding",
    ),
    "indexed": (7, 2, "Indexed", "7 searchable", "passed 107 failed 3 rate 1.4/min p95 2.2 s", "indexed"),
}


@asynccontextmanager
async def planted(site: Site, admin: Connection, tenant: Tenant, key: str) -> AsyncIterator[dict[str, Any]]:
    """Known numbers of everything that the overview counts; within the block a worker is lost."""
    await site.tasks.bill.enqueue_many([Report(month=month) for month in "ab"], tenant_id=tenant.tenant_id)
    task = await site.tasks.idle.enqueue(Report(month="held"), tenant_id=tenant.tenant_id)
    for status, count in COUNTS.items():
        await admin.execute(DOCUMENTS, tenant.tenant_id, status, count, task)
    for stage, (done, failed, *_) in STAGES.items():
        await admin.execute(STAGE, tenant.tenant_id, stage, 3, done, failed)
        await admin.execute(STAGE, tenant.tenant_id, stage, 30, 100, 1)
    source = uuid7()
    await admin.execute(SOURCE, source, tenant.tenant_id, "clerk@gauge.example", "The password was changed.")
    for model, tokens in (("small", 1_200_000), ("large", 34_000)):
        await admin.execute(USAGE, tenant.tenant_id, model, tokens, 1_100, 800, 200)
    await dead_letters(site, key, 2)
    oldest = await admin.fetchval(
        "select document_id from ingest.document where tenant_id = $1 and filename = 'pending-4.txt'",
        tenant.tenant_id,
    )
    lost = await admin.fetchval(SILENT)
    try:
        yield {"source": source, "oldest": oldest, "alive": await admin.fetchval(ALIVE)}
    finally:
        await admin.execute("delete from queues.worker where worker_id = $1", lost)


async def test_the_overview_has_the_right_numbers_and_each_leads_to_what_it_counts(site: Site) -> None:
    tenant, key = await site.server.another_tenant("tidemark")
    async with (
        site.server.database.connect("admin") as admin,
        planted(site, admin, tenant, key) as known,
        site.visit("viewer", "tidemark") as page,
    ):
        await page.goto("/")
        figures, rows = page.locator(".figures .figure"), page.locator(".vtable-body .vtable-row")
        await expect(figures).to_have_text(
            [
                re.compile(r"^Oldest waiting1[67] min( \d+ s)?pending-4\.txt$"),
                "Failed documents5see why, by cause",
                "Dead letters2tasks out of attempts",
                "Skipped3each with its reason",
                f"Workers{known['alive']}1 not responding",
            ]
        )
        stages = page.locator(".path-stage")
        for place, (_, _, title, now, numbers, _) in enumerate(STAGES.values()):
            await expect(stages.nth(place).locator("a")).to_have_text(f"{title}{now}")
            told = await stages.nth(place).locator("dl > div").all_inner_texts()
            assert " ".join(told).replace("\n", " ") == numbers
        cost = page.get_by_role("region", name="Embedding cost")
        await expect(cost.locator("dd")).to_have_text(
            ["1.2M", "2,200", "400 texts reused, 25 %", "no price set"]
        )
        verdict = page.get_by_role("status", name="Verdict")
        await expect(verdict.get_by_role("link")).to_have_text(
            [
                "No worker serves the queue idle, where 1 task is ready.",
                "clerk@gauge.example: The password was changed.",
                "5 documents failed.",
                "2 tasks are dead letters.",
                "1 worker stopped answering within the last day.",
                re.compile("^A document has waited for 1[67] minutes.$"),
            ]
        )
        sources = page.get_by_role("region", name="Sources that need attention")
        await expect(sources).to_contain_text("The password was changed.")
        for link, path, shown in (
            *(
                (stages.nth(place).locator("a"), f"/documents?status={status}", COUNTS[status])
                for place, (*_, status) in enumerate(STAGES.values())
            ),
            (figures.nth(0), f"/documents/{known['oldest']}", "pending-4.txt"),
            (figures.nth(1), "/failures?kind=document", "Documents: crash"),
            (figures.nth(2), "/failures?kind=task", "bill: ValueError"),
            (figures.nth(3), "/documents?status=skipped", COUNTS["skipped"]),
            (figures.nth(4), "/workers", "Last beat"),  # the list may be long, and draws only what is in view
            (sources.get_by_role("link"), f"/sources/{known['source']}", "clerk@gauge.example"),
            (verdict.get_by_role("link").nth(0), "/queues/idle", "no worker serves it"),
            (verdict.get_by_role("link").nth(5), f"/documents/{known['oldest']}", "pending-4.txt"),
        ):
            await link.click()
            await expect(page).to_have_url(f"{site.server.url}{path}")
            if isinstance(shown, int):
                await expect(rows).to_have_count(shown)
            else:
                await expect(page.locator("main")).to_contain_text(str(shown))
            await page.go_back()
            await expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
