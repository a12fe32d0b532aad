"""What keeps a demo on a terminal alive after its story: mails go on arriving until Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
from itertools import count
from typing import TYPE_CHECKING, Final

from penstock.cli import output
from penstock.cli.demo.mail import MAILBOXES, newsletter

if TYPE_CHECKING:
    from penstock.simulators.providers import ProviderSimulators

MAIL_SECONDS: Final = 12.0
NEWSLETTER_EVERY: Final = 5
FIRST_NUMBER: Final = 4713
WORKS: Final = (
    ("Foundry Fox", "Casting of a guide vane for Cedar Mill", "1,180"),
    ("Weir & Sons", "Inspection of the stop logs at Hazel Mill", "640"),
    ("Brook Electric", "New relay for the governor of turbine 2", "415"),
    ("Miller Hydraulics", "Forty litres of hydraulic oil, delivered", "268"),
    ("Larch Diving", "Under-water repair of the intake screen", "3,950"),
    ("Oak Surveying", "Level survey of the headrace", "1,020"),
    ("Foundry Fox", "Re-lining of the shaft bearing", "2,760"),
)


def things_to_try(console: str, worker: int) -> None:
    """Three things, in the order in which a newcomer can do them."""
    output.write("")
    output.write("The demo stays up, and a mail arrives every few seconds. Three things to try:")
    output.write(f"  1. Open the console:  {console}")
    output.write("     and watch documents flow. Drop a file of yours on its page Documents.")
    output.write("  2. Press / there and ask: who has to pay when a turbine does not run?")
    output.write(f"  3. kill -9 {worker}   # a worker; the other takes over what it held")
    output.write("Press Ctrl-C to stop.")


def set_by_ctrl_c() -> asyncio.Event:
    """An event that Ctrl-C or SIGTERM sets from now on; ask for it before anybody is told to press Ctrl-C."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)
    return stopped


async def mails_until(stopped: asyncio.Event, simulators: ProviderSimulators) -> None:
    """Deliver a mail every few seconds."""
    for turn in count():
        try:
            async with asyncio.timeout(MAIL_SECONDS):
                await stopped.wait()
        except TimeoutError:
            _deliver(simulators, turn)
        else:
            return


def _deliver(simulators: ProviderSimulators, turn: int) -> None:
    if turn % NEWSLETTER_EVERY == NEWSLETTER_EVERY - 1:
        simulators.deliver("outlook", raw=newsletter(turn))
        return
    company, work, price = WORKS[turn % len(WORKS)]
    number = FIRST_NUMBER + turn
    lines = [f"{company}, invoice {number}", f"{work}. Total due: {price} euros within 30 days."]
    attached = {"filename": f"invoice-{number}.pdf", "lines": lines}
    simulators.deliver(
        MAILBOXES[turn % 2], "signature_image", subject=f"Invoice {number}", attachments=[attached]
    )
