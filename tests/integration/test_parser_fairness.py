"""One tenant's slow files do not keep another tenant's documents waiting: in the claim and in the parsers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic

import pytest

from penstock.accounts import Accounts
from penstock.db.tenancy import TenantPool
from penstock.sandbox import Sandbox
from penstock.sandbox.fair_slots import FairSlots
from tests.integration.sandbox_work import add, hang
from tests.plugins.busy import stretched
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(180)


def slow_page(number: int) -> str:
    """HTML that keeps a parser busy for many seconds."""
    rows = "".join(
        f"<p>turbine {number} <b>weir</b> {n}</p><table><tr><td>a{n}</td><td>b</td></tr></table>"
        for n in range(60_000)
    )
    return f"<html><body>{rows}</body></html>"


@pytest.mark.parametrize("processes", [2, 1])
async def test_a_small_document_starts_within_a_second_beside_eight_slow_ones_of_another_tenant(
    database: Database, tmp_path: Path, processes: int
) -> None:
    async with works_on(database, tmp_path, parse_processes=processes) as slow:
        small = await neighbour(slow, "small")
        worker = slow.engine.worker()
        await worker.start()
        try:
            first = await slow.hand_in("# Warm\n\nThe parsers are warm.", "warm.md")
            assert (await slow.settled(first.document_id)).status == "indexed"
            for number in range(8):
                await slow.hand_in(slow_page(number), f"slow-{number}.html")
            assert slow.engine._parsers is not None
            children = slow.engine._parsers.sandbox

            async def at_work() -> bool:
                running: int = await slow.value("select count(*) from queues.lease")
                return running >= 5 and len(children.pids) == processes + 1

            await eventually(at_work, within=60)
            handed_in_at = monotonic()
            document = (await small.hand_in("# Note\n\nA small note.", "note.md")).document_id

            async def processing() -> bool:
                return "processing" in await small.moves(document)

            await eventually(processing, within=stretched(10), every=0.01)
            started = monotonic() - handed_in_at
            assert (await small.settled(document, stretched(20))).status == "indexed"
            ended = monotonic() - handed_in_at
            print(f"started after {started:.2f} s, indexed after {ended:.2f} s")
            assert started < stretched(1.0)
            assert ended < stretched(10.0)
            still = await slow.value("select count(*) from ingest.document where status <> 'indexed'")
            assert still >= 7, "the slow ones must have been in the way all the time"
        finally:
            worker.hurry()
            await worker.stop(0.0)


async def neighbour(works: Works, slug: str) -> Works:
    operators = await TenantPool.open(works.database.operator_url, application_name="operator", size=1)
    try:
        tenant = await Accounts(operators, works.engine.settings).create_tenant(slug)
    finally:
        await operators.close()
    return Works(works.engine, works.database, tenant)


async def test_a_seat_goes_to_the_tenant_with_the_fewest_and_first_to_one_with_none() -> None:
    slots = FairSlots(2)
    for _ in range(2):
        await slots.take("a")
    assert slots.one_has_all
    order: list[str] = []

    async def want(owner: str) -> None:
        await slots.take(owner)
        order.append(owner)

    waiting = [asyncio.create_task(want(owner)) for owner in "aabbc"]
    for returned, served in [(None, "b"), ("a", "c"), ("a", "a"), ("b", "b"), ("c", ""), ("b", "a")]:
        if returned is not None:
            slots.give_back(returned)
        before = len(order)
        await asyncio.gather(*(asyncio.sleep(0) for _ in range(3)))
        assert "".join(order[before:]) == served, order
    await asyncio.gather(*waiting)
    assert slots.taken == 2


async def test_a_third_owner_waits_for_one_call_while_two_have_every_seat() -> None:
    """However many calls the two have waiting: a seat that becomes free goes to the owner who has none."""
    slots = FairSlots(2)
    for owner in "aab":  # all slots, and the one beyond
        await slots.take(owner)
    order: list[str] = []

    async def want(owner: str) -> None:
        await slots.take(owner)
        order.append(owner)

    waiting = [asyncio.create_task(want(owner)) for owner in "aaaabbbbcd"]
    await asyncio.gather(*(asyncio.sleep(0) for _ in range(3)))
    assert order == []
    for returned, served in [("a", ["c"]), ("b", ["c", "d"])]:
        slots.give_back(returned)
        await asyncio.gather(*(asyncio.sleep(0) for _ in range(3)))
        assert order == served
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_cancelled_wait_takes_no_seat() -> None:
    slots = FairSlots(1)
    await slots.take("a")
    waiting = asyncio.create_task(slots.take("a"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    slots.give_back("a")
    assert slots.taken == 0
    await asyncio.wait_for(slots.take("b"), 1)


async def test_calls_of_one_owner_do_not_keep_another_from_a_child() -> None:
    sandbox = Sandbox(1, memory_mb=256)
    await sandbox.start()
    try:
        slow = [asyncio.create_task(sandbox.run(hang, seconds=100, owner="a")) for _ in range(8)]
        await eventually(lambda: len(sandbox.pids) == 2)
        await asyncio.wait_for(sandbox.run(add, 1, 2, seconds=30, owner="b"), stretched(5))
        assert not any(task.done() for task in slow)
    finally:
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        await sandbox.close()
