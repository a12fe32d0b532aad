"""Changes to the simulated mails, described as JSON: deliver, move, mark and delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.simulators.providers.world.mail import OWNER

if TYPE_CHECKING:
    from penstock.simulators.providers.world.world import World


def change_mail(world: World, action: str, target: str | None, fields: dict[str, Any]) -> str:
    """One change; the id of the mail, for Outlook the immutable one.

    `fields` are those of Delivery.deliver: `provider` (outlook), `template`, `raw`, `to`, `folder`, `labels`
    and what the template is changed by. Without an id the newest mail is meant. `trash` moves a mail to the
    bin.
    """
    given = dict(fields)
    provider = given.pop("provider", "outlook")
    if action == "add":
        return world.mails.deliver(provider, **given).id
    address = str(given.get("to") or OWNER).lower()
    if provider == "gmail":
        return _gmail(world, address, action, target, given)
    mailbox = world.outlook.mailbox(address)
    if target is None:
        target = next(mailbox.well_known["inbox"].before(None)).immutable_id
    match action:
        case "change":
            item = mailbox.mark(target, read=bool(given.get("read", True)))
        case "move":
            item = mailbox.move(target, str(given.get("folder", "archive")))
        case "trash":
            item = mailbox.move(target, "deleteditems")
        case _:
            item = mailbox.delete(target)
    return item.immutable_id


def _gmail(world: World, address: str, action: str, target: str | None, given: dict[str, Any]) -> str:
    mailbox = world.gmail_of(address)
    chosen = target or next(reversed(mailbox.messages))
    match action:
        case "change":
            mailbox.label(chosen, remove=("UNREAD",))
        case "move":
            mailbox.label(chosen, add=(str(given.get("folder", "Archived")).upper(),), remove=("INBOX",))
        case "trash":
            mailbox.label(chosen, add=("TRASH",), remove=("INBOX",))
        case _:
            mailbox.delete_message(chosen)
    return chosen
