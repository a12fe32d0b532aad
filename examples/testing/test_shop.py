"""Tests of the shop: what it enqueues, what its tasks do, and what happens later or after an error."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import shop
from shop import Order, place_order, report, send_receipt, send_reminder

from penstock import Penstock
from penstock.testing import Clock, assert_enqueued, assert_not_enqueued, enqueued, run_until_empty

pytestmark = pytest.mark.anyio  # or pytest-asyncio, if you use that
ORDER = Order(order_id=7, email="ada@example.com")


async def test_an_order_enqueues_a_receipt_and_a_reminder(app: Penstock) -> None:
    async with app:
        await place_order(ORDER)
    assert_enqueued(app, send_receipt, payload={"order_id": 7}, count=1)
    assert_enqueued(app, send_reminder, payload=ORDER, delay=timedelta(days=1))
    assert_not_enqueued(app, report)


async def test_the_receipt_is_sent_at_once_and_the_reminder_a_day_later(
    app: Penstock, penstock_clock: Clock
) -> None:
    async with app:
        await place_order(ORDER)
        await run_until_empty(app)
        assert shop.outbox == ["ada@example.com: receipt for order 7"]
        penstock_clock.advance(days=1)
        await run_until_empty(app)
    assert shop.outbox[1:] == ["owner@example.com: the report", "ada@example.com: how do you like order 7?"]


async def test_a_receipt_is_tried_again_after_a_minute(
    app: Penstock, penstock_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(to: str, text: str) -> None:
        raise ConnectionError("the mail server is down")

    async with app:
        await send_receipt.enqueue(ORDER)
        with monkeypatch.context() as broken:
            broken.setattr(shop, "mail", refuse)
            with pytest.raises(ConnectionError, match="mail server"):
                await run_until_empty(app)
        (task,) = enqueued(app, send_receipt)
        assert task.due_at == penstock_clock.now + timedelta(minutes=1)
        penstock_clock.advance(minutes=1)
        (result,) = await run_until_empty(app)
    assert (result.outcome, result.attempt) == ("completed", 2)


async def test_the_report_comes_every_night(app: Penstock, penstock_clock: Clock) -> None:
    penstock_clock.set(datetime(2026, 1, 5, 2, 59, tzinfo=UTC))
    async with app:
        assert not await run_until_empty(app)
        penstock_clock.advance(minutes=1)
        assert [result.task_type for result in await run_until_empty(app)] == ["report"]


async def test_a_contract_is_found(app: Penstock, tmp_path: Path) -> None:
    (tmp_path / "delivery.md").write_text("# Delivery\n\nIf the delivery is late, the supplier pays.\n")
    async with app:
        await app.ingest(tmp_path)
        hits = await app.search("late delivery")
    assert [hit.title for hit in hits] == ["Delivery"]
