"""`penstock message`: sends emails and text messages of a tenant through their supervised processes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from penstock.channels import Sending, Sent
from penstock.cli import output
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.message_content import attached, body_of, text_of, time_of
from penstock.cli.product_session import DEFAULT, Stay, stay
from penstock.cli.session import run
from penstock.errors import InvalidArgument
from penstock.model import TenantId
from penstock.observe.formats import escape

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Owner = Annotated[str, typer.Option("--tenant", metavar="SLUG", help="Who sends it.")]
To = Annotated[list[str], typer.Option("--to", metavar="ADDRESS", help="Who gets it; may be repeated.")]
Cc = Annotated[list[str] | None, typer.Option("--cc", metavar="ADDRESS", help="May be repeated.")]
Bcc = Annotated[list[str] | None, typer.Option("--bcc", metavar="ADDRESS", help="May be repeated.")]
Subject = Annotated[str, typer.Option("--subject", help="One line.")]
Text = Annotated[str | None, typer.Option("--text", help="What it says.")]
TextFile = Annotated[
    Path | None, typer.Option("--text-file", metavar="FILE", help="The same from a file; - is stdin.")
]
HtmlFile = Annotated[
    Path | None, typer.Option("--html-file", metavar="FILE", help="The same as HTML; - is stdin.")
]
Attach = Annotated[
    list[Path] | None, typer.Option("--attach", metavar="FILE", help="Attach it; may be repeated.")
]
Sender = Annotated[str | None, typer.Option("--from", metavar="ADDRESS", help="Default: PENSTOCK_SMTP_FROM.")]
ReplyTo = Annotated[str | None, typer.Option("--reply-to", metavar="ADDRESS", help="Where answers go.")]
Number = Annotated[str, typer.Option("--to", metavar="NUMBER", help="In international form, as +4930123456.")]
FromNumber = Annotated[
    str | None,
    typer.Option("--from", metavar="NUMBER", help="Or a messaging service. Default: PENSTOCK_SMS_FROM."),
]
At = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Not before it, as 2030-01-31T09:00; UTC without a zone."),
]
Wait = Annotated[
    float | None,
    typer.Option(min=0, metavar="SECONDS", help="Wait so long for the outcome; exits 1 unless it was sent."),
]


@group.command("email")
def email(
    to: To,
    subject: Subject,
    text: Text = None,
    text_file: TextFile = None,
    html_file: HtmlFile = None,
    attach: Attach = None,
    cc: Cc = None,
    bcc: Bcc = None,
    reply_to: ReplyTo = None,
    sender: Sender = None,
    at: At = None,
    wait: Wait = None,
    tenant: Owner = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Send an email; a worker does it, and tries again what may pass."""
    if str(text_file) == "-" and str(html_file) == "-":
        raise InvalidArgument("stdin cannot be both", "html_file", "Give one of them as a file")
    body = body_of(text, text_file)
    html = None if html_file is None else text_of(html_file, "html_file")
    files = [attached(path) for path in attach or ()]
    due = time_of(at)

    async def send(here: Stay, owner: TenantId) -> Sent:
        return await here.product.messages.send_email(
            owner,
            to=to,
            subject=subject,
            text=body,
            html=html,
            sender=sender,
            cc=cc or (),
            bcc=bcc or (),
            reply_to=reply_to,
            attachments=files,
            at=due,
        )

    _send(send, tenant, wait, as_json=as_json)


@group.command("sms")
def sms(
    to: Number,
    text: Text = None,
    text_file: TextFile = None,
    sender: FromNumber = None,
    at: At = None,
    wait: Wait = None,
    tenant: Owner = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Send a text message; a worker does it, and tries again what may pass."""
    body = body_of(text, text_file)
    due = time_of(at)

    async def send(here: Stay, owner: TenantId) -> Sent:
        return await here.product.messages.send_sms(owner, to=to, text=body or "", sender=sender, at=due)

    _send(send, tenant, wait, as_json=as_json)


def _send(
    send: Callable[[Stay, TenantId], Awaitable[Sent]], tenant: str, wait: float | None, *, as_json: bool
) -> None:
    async def call() -> tuple[Sent, Sending]:
        async with stay() as here:
            owner = await here.tenant(tenant)
            sent = await send(here, owner)
            return sent, await here.product.messages.wait(owner, sent.process_id, wait or 0)

    sent, sending = run(call())
    if as_json:
        output.document(
            {
                "message_id": sent.message_id,
                "process_id": sent.process_id,
                "state": sending.state,
                "attempts": sending.attempts,
                "error_message": sending.error_message,
            }
        )
    else:
        output.write(f"{sent.process_id}  {sending.state}")
        if wait is not None and sending.state != "succeeded":
            warn(f"error: {_why(sent, sending)}")
    if wait is not None and sending.state != "succeeded":
        raise typer.Exit(Exit.REFUSED)


def _why(sent: Sent, sending: Sending) -> str:
    said = escape(sending.error_message or "")
    if sending.state == "failed":
        return f"it was not sent: {said}"
    if said:
        return f"not sent yet, and tried again: {said} (penstock process show {sent.process_id})"
    return f"not sent yet; does a worker run? (penstock process show {sent.process_id})"
