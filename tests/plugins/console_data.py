"""What the console's site shows: tasks that fail on demand, and documents of every outcome."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import BaseModel

from penstock.engine.tasks import Tasks
from penstock.model import NoRetry, Table
from penstock.queue.task_type import TaskType
from tests.integration.api_server import ApiServer
from tests.plugins.workers import eventually

HOSTILE = "<img src=x onerror=alert(1)>"
LONG_NAME = "quarterly-report-of-the-northern-subsidiary-with-all-annexes-" * 3 + "final-v2.txt"
RIGHT_TO_LEFT = "تقرير سنوي עברית.txt"


class Report(BaseModel):
    """The payload of `report`; a password, because payloads have them."""

    month: str
    password: str = "swordfish"
    pages: int | None = None


@dataclass(slots=True)
class SiteTasks:
    """Those whose names are in `broken` fail; nobody serves `archive`, `idle` and `many`."""

    report: TaskType[Report]
    bill: TaskType[Report]
    canary: TaskType[Report]
    archive: TaskType[Report]
    idle: TaskType[Report]
    many: TaskType[Report]
    broken: set[str] = field(default_factory=set)

    QUEUES = {"reports": 4}  # noqa: RUF012 - served beside the engine's own queues


def declare(app: Tasks) -> SiteTasks:
    """The task types; before the worker starts."""
    broken: set[str] = {"report", "bill", "canary"}

    @app.task("report", queue="reports", max_attempts=2, retry=Table((0.0, 0.05)))
    async def report(payload: Report) -> None:
        if "report" in broken:
            raise ConnectionError(
                f"printer 10.0.0.7 did not answer after {len(payload.month)} tries {HOSTILE}"
            )

    @app.task("bill", queue="reports", max_attempts=1, retry=NoRetry())
    async def bill(payload: Report) -> None:
        if "bill" in broken:
            raise ValueError(f"no price list for {payload.month}")

    @app.task("archive", queue="archive")
    async def archive(payload: Report) -> None:
        raise AssertionError("nobody serves this queue")

    @app.task("canary", queue="reports", max_attempts=1, retry=NoRetry())
    async def canary(payload: Report) -> None:
        if "canary" in broken:
            raise RuntimeError("the mine is closed")

    @app.task("idle", queue="idle")
    async def idle(payload: Report) -> None:
        raise AssertionError("nobody serves this queue")

    @app.task("many", queue="many")
    async def many(payload: Report) -> None:
        raise AssertionError("nobody serves this queue")

    return SiteTasks(report, bill, canary, archive, idle, many, broken)


async def fill(server: ApiServer, tasks: SiteTasks) -> None:
    """Documents indexed and failed, dead letters of two causes, tasks that wait; returns when all ended."""
    tenant_id = server.tenant.tenant_id
    for number in range(6):
        await tasks.report.enqueue(Report(month=f"2026-0{number + 1}"), tenant_id=tenant_id)
    await tasks.bill.enqueue(Report(month="2026-07"), tenant_id=tenant_id)
    await tasks.archive.enqueue_many(
        [Report(month=f"2025-{n:02}") for n in range(1, 13)], tenant_id=tenant_id
    )
    await tasks.archive.enqueue(Report(month="2027-01"), tenant_id=tenant_id, delay=86_400)
    async with server.client() as client:
        sent = [
            (f"contract-{n:02}.txt", f"Contract {n}: the mill pays {n * 7} for water.\n".encode())
            for n in range(1, 9)
        ]
        sent += [
            (LONG_NAME, b"A report with a long name.\n"),
            (RIGHT_TO_LEFT, "تقرير سنوي عن المياه.\n".encode()),
            ("broken.pdf", b"%PDF-1.7\nnot a document\n%%EOF"),
            ("empty.txt", b" \n"),
            (f"{HOSTILE}.txt", f"{HOSTILE} in the text too.\n".encode()),
        ]
        for name, content in sent:
            answer = await client.post("/v1/documents/upload", files={"file": (name, content)})
            assert answer.status_code in (200, 201, 202), answer.text

    async def settled() -> bool:
        async with server.database.connect("admin") as admin:
            return bool(
                await admin.fetchval(
                    "select (select count(*) from queues.dead_letter) >= 7 and not exists (select from"
                    " ingest.document where status in ('pending', 'processing', 'embedding'))"
                )
            )

    await eventually(settled, within=60, every=0.2, what="the site is filled")
