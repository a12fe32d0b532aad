"""A shop whose orders send a receipt at once, a reminder after a day, and a report every night."""

from datetime import timedelta

from pydantic import BaseModel

from penstock import Penstock, Table

app = Penstock()
outbox: list[str] = []  # stands for the mail server


class Order(BaseModel):
    order_id: int
    email: str


def mail(to: str, text: str) -> None:
    outbox.append(f"{to}: {text}")


@app.task(retry=Table((0, 60, 600)))
async def send_receipt(order: Order) -> None:
    mail(order.email, f"receipt for order {order.order_id}")


@app.task()
async def send_reminder(order: Order) -> None:
    mail(order.email, f"how do you like order {order.order_id}?")


@app.task()
async def report(payload: dict[str, str]) -> None:
    mail("owner@example.com", "the report")


app.schedule("0 3 * * *", report)


async def place_order(order: Order) -> None:
    async with app.transaction() as connection:
        await send_receipt.enqueue(order, conn=connection)
        await send_reminder.enqueue(order, conn=connection, delay=timedelta(days=1))
